import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Machine } from "../support/cli.ts";
import { proxyServer, secured } from "../support/proxy.ts";
import { html, redirect, webServer } from "../support/web-server.ts";

const machine = new Machine();
after(() => machine[Symbol.dispose]());

const certificate = fileURLToPath(new URL("../fixtures/tls/cert.pem", import.meta.url));

function settings(content: object): void {
  mkdirSync(machine.env["SAGE_HOME"]!, { recursive: true });
  writeFileSync(join(machine.env["SAGE_HOME"]!, "settings.json"), JSON.stringify(content));
}

const textsOf = async () => (await machine.facts("call.finished")).map(({ data }) => String(data["text"]));

test("pages come through the person's proxy, with a certificate of their own, once for each session", async () => {
  await using site = await webServer({
    "/start": redirect("/guide"),
    "/guide": html("<h1>Guide</h1><p>Read <b>this</b>.</p>"),
    "/away": redirect("https://else.example.org/"),
  });
  await using front = await secured(site.port);
  await using proxy = await proxyServer({ secure: front.port });
  settings({ permissions: { allow: ["WebFetch(domain:docs.example.test)"] } });
  const fetch = (path: string) => ({
    calls: [{ tool: "WebFetch", input: { url: `https://docs.example.test${path}`, prompt: "what is it?" } }],
  });
  const model = machine.script(fetch("/start"), fetch("/guide"), fetch("/away"), { text: "read" });
  const { code, out, err } = await machine.sage(["-p", "read the guide", "--model", model], {
    env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificate },
  });
  assert.deepEqual([code, out.trim()], [0, "read"], err);
  const [first = "", second = "", away = ""] = await textsOf();
  assert.match(
    first,
    /^https:\/\/docs\.example\.test\/guide \(text\/html, by 1 redirect from [^]*\n# Guide\n\nRead \*\*this\*\*\.\n/,
  );
  assert.match(second, /\n# Guide\n/);
  assert.match(
    away,
    /^Not followed: .* redirects to https:\/\/else\.example\.org\/\nNo rule allows reading from else\.example\.org\./,
  );
  assert.deepEqual(site.asked, ["docs.example.test/start", "docs.example.test/guide", "docs.example.test/away"]);
});
