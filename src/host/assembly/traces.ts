import { setTimeout as sleep } from "node:timers/promises";
import type { Attributes, Context, Link, Span, SpanContext } from "@opentelemetry/api";
import { context, isSpanContextValid, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { isInbound } from "../../agent/state/activity.ts";
import type { Traces } from "../../agent/state/context.ts";
import { version } from "../../config/version.ts";
import type { Model } from "../../models/model.ts";
import { checkReply } from "../../models/reply-form.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { Usage } from "../../protocol/facts/message.ts";
import type { AgentOutcome } from "../../protocol/facts/outcome.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import { SageError } from "../../protocol/reasons/reason.ts";

/** Spans by the semantic conventions for generative AI: what, how long, how it ended. No content, no path, no person's name. */
export function createTraces(): Traces {
  const tracer = trace.getTracer("sage-agent", version);
  const record = async <T>(span: Span, run: () => Promise<T>, ended: (value: T) => void): Promise<T> => {
    try {
      const value = await run();
      ended(value);
      return value;
    } catch (error) {
      fail(span, errorType(error));
      throw error;
    } finally {
      span.end();
    }
  };
  const waited = (within: Context, request: InputRequest, resolution: Resolution) =>
    tracer
      .startSpan(
        `wait ${request.kind}`,
        { startTime: request.at, attributes: waitAttributes(request, resolution) },
        within,
      )
      .end(resolution.at);

  return {
    turn({ log, facts, model }, run) {
      const begun = openTurn(facts);
      const attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "sage",
        "gen_ai.conversation.id": log.id,
        ...modelAttributes(model),
      };
      return tracer.startActiveSpan("invoke_agent sage", { attributes, links: linksTo(begun) }, (span) => {
        const within = context.active();
        const requests = new Map<string, InputRequest>();
        const notice = (fact: Fact) => {
          if (fact.type === "input.requested") requests.set(fact.data.id, fact.data);
          const request = fact.type === "input.resolved" ? requests.get(fact.data.requestId) : undefined;
          if (request && fact.type === "input.resolved") waited(within, request, fact.data);
        };
        for (const fact of facts) if (fact.type === "input.requested") requests.set(fact.data.id, fact.data);
        for (const fact of answeredMeanwhile(facts)) notice(fact);
        const stop = log.store.hub.subscribe(log.id, { fact: notice });
        return record(span, run, (outcome) => endTurn(span, outcome)).finally(stop);
      });
    },
    current: () => {
      const span = trace.getActiveSpan()?.spanContext();
      return span && isSpanContextValid(span) ? parentOf(span) : undefined;
    },
    model: (model): Model => ({
      id: model.id,
      reply(request, scope) {
        const attributes = {
          "gen_ai.operation.name": "chat",
          ...modelAttributes(model),
          "gen_ai.request.stream": true,
          ...(request.options.maxOutputTokens !== undefined && {
            "gen_ai.request.max_tokens": request.options.maxOutputTokens,
          }),
          ...agentAttributes(request.agent),
        };
        const name = `chat ${modelName(model)}`;
        return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, (span) =>
          record(
            span,
            async () => {
              const reply = await model.reply(request, scope);
              checkReply(reply, model.id); // before the span is told of it: the loop looks later
              return reply;
            },
            (reply) =>
              span.setAttributes({
                ...usageAttributes(reply.usage),
                "gen_ai.response.model": reply.model.replace(/^[^/]*\//, ""),
                "gen_ai.response.finish_reasons": [reply.finish === "calls" ? "tool_call" : reply.finish],
              }),
          ),
        );
      },
    }),
    tool({ call, agent }, run) {
      const attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.id,
        ...agentAttributes(agent),
      };
      return tracer.startActiveSpan(`execute_tool ${call.tool}`, { attributes }, (span) =>
        record(span, run, ({ ok, end }) => {
          if (!ok) fail(span, end ?? "failed");
        }),
      );
    },
  };
}

/** A collector that cannot be reached must not keep anybody from leaving. */
const FLUSH_MS = 2_000;

type Flushable = { getDelegate?(): Flushable; forceFlush?(): Promise<void> };

/** Sends what is left. The API has no word for that; every SDK has this one, behind the proxy of its own copy of the API. */
export async function flush(): Promise<void> {
  const registered = trace.getTracerProvider() as Flushable;
  const provider = registered.getDelegate?.() ?? registered;
  await Promise.race([provider.forceFlush?.().catch(() => {}), sleep(FLUSH_MS, undefined, { ref: false })]);
}

function openTurn(facts: readonly Fact[]): Fact<"turn.begun"> | undefined {
  const last = facts.findLast(({ type }) => type === "turn.begun" || type === "turn.ended");
  return last?.type === "turn.begun" ? last : undefined;
}

/** Answers after the last thing that an attempt did: they came while nobody ran the turn, so nobody has told of their waits. */
function answeredMeanwhile(facts: readonly Fact[]): Fact<"input.resolved">[] {
  const last = facts.findLastIndex(({ type }) => !isInbound(type));
  return facts.slice(last + 1).filter((fact) => fact.type === "input.resolved");
}

/** An attempt after a restart is a trace of its own: a person may take days, and no backend waits for a trace that long. */
function linksTo(begun: Fact<"turn.begun"> | undefined): Link[] {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(begun?.data.trace ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return [];
  const before: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags ?? "", 16), isRemote: true };
  return [{ context: before, attributes: { "sage.link": "earlier_attempt" } }];
}

/** The W3C's `traceparent`. */
function parentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

function endTurn(span: Span, outcome: AgentOutcome): void {
  const { stats, status } = outcome;
  span.setAttributes({
    ...usageAttributes(outcome.usage),
    "sage.turn.status": status,
    "sage.turn.steps": stats.steps,
    "sage.turn.tool_calls": stats.toolCalls,
  });
  if (outcome.status === "error") fail(span, outcome.error.code);
}

function waitAttributes(request: InputRequest, resolution: Resolution): Attributes {
  const { outcome, surface } = resolution;
  return {
    "gen_ai.conversation.id": request.session,
    "sage.request.kind": request.kind,
    "sage.request.source": request.source,
    "sage.request.outcome": outcome,
    "sage.request.surface": surface,
    ...(request.kind === "permission" && { "gen_ai.tool.name": request.tool }),
    ...(outcome === "answered" && { "sage.request.answer": resolution.response.type }),
    ...agentAttributes(request.agent),
  };
}

function usageAttributes(usage: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
  };
}

/** Names of the conventions, where they have one. */
const providers: Record<string, string> = { google: "gcp.gemini", xai: "x_ai", mistral: "mistral_ai" };

function modelAttributes({ id }: Pick<Model, "id">): Attributes {
  const provider = id.includes("/") ? (id.split("/")[0] ?? id) : id;
  return { "gen_ai.provider.name": providers[provider] ?? provider, "gen_ai.request.model": modelName({ id }) };
}

function modelName({ id }: Pick<Model, "id">): string {
  return id.replace(/^[^/]*\//, "");
}

function agentAttributes(agent: readonly string[]): Attributes {
  return agent.length > 0 ? { "gen_ai.agent.name": agent.join("/") } : {};
}

function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function errorType(error: unknown): string {
  if (error instanceof SageError) return error.code;
  return error instanceof Error ? error.name : "unknown";
}
