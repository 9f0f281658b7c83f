// Spans of a turn, its model calls, its tools and the time a person took, sent to a collector over OTLP. Sage itself needs only the
// OpenTelemetry API; the SDK is yours. Name your collector with OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318, or watch this
// program's own, which prints what it receives.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { SageAgentSDK, scripted } from "sage-agent";

type Received = { name: string; spanId: string; parentSpanId?: string; startTimeUnixNano: string };
const received: Received[] = [];
const collector = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as {
      resourceSpans: { scopeSpans: { spans: Received[] }[] }[];
    };
    received.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
    response.setHeader("content-type", "application/json").end("{}");
  });
});
await new Promise<void>((resolve) => void collector.listen(0, "127.0.0.1", resolve));
process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] ??= `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

// Registered before the first turn begins: Sage then finds it. Without it, Sage does not even load the API.
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
provider.register();

const model = scripted([{ calls: [{ tool: "Bash", input: { command: "env echo hello" } }] }, { text: "Said hello." }]);
const sage = new SageAgentSDK({ model });
const { handle, result } = sage.executeWithChannel("Say hello");
const request = await handle.nextRequest();
await handle.respond({ type: "granted", requestId: request?.id ?? "" });
console.log((await result).text);
await sage.close();
await provider.shutdown(); // sends what is left
collector.close();

const print = (parent: string | undefined, indent: string): void => {
  const children = received.filter(({ parentSpanId }) => (parentSpanId || undefined) === parent);
  for (const { name, spanId } of children.sort((a, b) => (a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1))) {
    console.log(indent + name);
    print(spanId, `${indent}  `);
  }
};
print(undefined, "");
