import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";

type Span = { name: string; attributes: { key: string; value: Record<string, unknown> }[] };

test("a provider that Node loads first gets the spans of `sage -p`, before the process ends", async () => {
  const spans: Span[] = [];
  const collector = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  using machine = new Machine();
  const model = machine.script({ calls: [bash("echo hi")] }, { text: "said" });
  const env = {
    NODE_OPTIONS: `--import ${join(import.meta.dirname, "../../examples/otel.mjs")}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    NO_PROXY: "127.0.0.1",
  };
  const { code, out, err } = await machine.sage(["-p", "hi", "--model", model], { env });
  collector.close();
  assert.equal(code, 0, err);
  assert.match(out, /said/);
  assert.deepEqual(
    spans.map(({ name }) => name),
    ["chat scripted", "execute_tool Bash", "chat scripted", "invoke_agent sage"],
  );
});
