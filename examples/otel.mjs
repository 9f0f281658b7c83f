// Loaded before Sage: NODE_OPTIONS="--import /path/to/otel.mjs" sage serve. Spans go to OTEL_EXPORTER_OTLP_ENDPOINT;
// Sage sends what is left when it leaves.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] }).register();
