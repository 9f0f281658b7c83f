import { NeedsInput } from "../input/ask.ts";
import { asPersona, recordedPersona } from "../input/persona.ts";
import { taskHash, type Script, type ScriptedTurn } from "../models/scripted.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import type { InputResponse } from "../protocol/facts/answer.ts";
import { agentOf, type ToolInput } from "../protocol/facts/call.ts";
import { needsConsent } from "../protocol/facts/consent.ts";
import type { Fact } from "../protocol/facts/fact.ts";
import { callsOf, textOf, type Call, type Reply } from "../protocol/facts/message.ts";
import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import type { AutoResponder } from "../protocol/host/options.ts";
import { callKey, parentCallOfKey, stepOfKey } from "../protocol/key.ts";
import { misfits } from "../protocol/reasons/misfit.ts";
import { reason, reasonFrom, said, type Reason, SageError } from "../protocol/reasons/reason.ts";
import * as z from "../base/z.ts";
import type { Redaction } from "../config/secrets/redact.ts";

/** A request as a recording knows it again: without ids and times. */
export type RecordedRequest =
  | { kind: "permission"; tool: string; input: ToolInput }
  | { kind: "question"; questions: string[] }
  | { kind: "text"; prompt: string };

/** A recorded answer, and the request it belongs to. */
export type RecordedAnswer = { asked: RecordedRequest; by: string; response: RecordedResponse };

/** A response without the id of its request, which is another one in every session. */
export type RecordedResponse = InputResponse extends infer R
  ? R extends InputResponse
    ? Omit<R, "requestId">
    : never
  : never;

/** Replies of root and subagents as a script that plays them again, without ids of the provider or data that only it can read. */
export function scriptOf(facts: readonly Fact[]): Script {
  const scripts: Record<string, ScriptedTurn[]> = { "": [] };
  const tasks = new Map<string, Call>();
  for (const fact of facts) {
    if (fact.type === "context.compacted" && fact.data.summary?.text)
      scripts[[...taskPath(fact.key, tasks), "summary"].join("/")] = [{ text: fact.data.summary.text }];
    if (fact.type !== "model.replied") continue;
    const step = stepOfKey(fact.key) ?? "";
    for (const [n, call] of callsOf(fact.data).entries()) if (call.tool === "Task") tasks.set(callKey(step, n), call);
    const name = scriptName(fact.key, tasks);
    (scripts[name] ??= []).push(scriptedTurn(fact.data));
  }
  const { "": root = [], ...others } = scripts;
  return Object.keys(others).length === 0 ? root : { "": root, ...others };
}

/** Answers of people in a session, in the order in which they were asked. */
export function answersOf(facts: readonly Fact[]): RecordedAnswer[] {
  const ends = new Map(
    facts.flatMap((fact) => (fact.type === "input.resolved" ? [[fact.data.requestId, fact.data] as const] : [])),
  );
  return facts.flatMap((fact) => {
    const resolution = fact.type === "input.requested" ? ends.get(fact.data.id) : undefined;
    const response = resolution && responseOf(resolution);
    if (fact.type !== "input.requested" || !resolution || !response) return [];
    const { requestId: _, ...body } = response;
    return [{ asked: askedOf(fact.data), by: resolution.by, response: body }];
  });
}

/** Gives recorded answers in order. What nobody answered stays open (`needs-input`); recorded rules hold for this session alone. */
export function replayAnswers(
  recorded: readonly RecordedAnswer[],
  { redaction }: { redaction?: Redaction } = {},
): AutoResponder {
  const left = recorded.map((step) => ({
    key: canonicalJson(step.asked),
    by: step.by,
    response: step.response,
    used: false,
  }));
  return (request) => {
    const asked = askedOf(request);
    const key = canonicalJson(redaction ? fixed(redaction, asked) : asked);
    const found = left.find((step) => step.key === key && !step.used);
    if (!found) throw new NeedsInput(request.id);
    // Signatures are given, not played.
    if (found.response.type === "granted" && needsConsent(request)) throw new NeedsInput(request.id);
    found.used = true;
    const recordedBy = recordedPersona(found.by);
    const plain = { ...found.response, requestId: request.id };
    // A persona's yes is one in a recording as well.
    const response = recordedBy === undefined ? plain : asPersona(plain, recordedBy);
    if (response.type !== "granted") return response;
    const { rules, removeRules, ...granted } = response;
    const here = { destination: "session" } as const;
    return {
      ...granted,
      ...(rules && { rules: rules.map((rule) => ({ ...rule, ...here })) }),
      ...(removeRules && { removeRules: removeRules.map((rule) => ({ ...rule, ...here })) }),
    };
  };
}

/** For a file that is checked in with the code: without secrets, and identical each time it is recorded. */
export function fixed<T>(redaction: Redaction, recorded: T): T {
  return JSON.parse(JSON.stringify(redaction.value(recorded)).replace(/\[secret #[0-9a-f]{6}\]/g, "[secret]")) as T;
}

export function parseAnswers(text: string, path: string): RecordedAnswer[] {
  const input = z.record(z.string(), z.unknown());
  const asked = z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("permission"), tool: z.string(), input }),
    z.strictObject({ kind: z.literal("question"), questions: z.array(z.string()) }),
    z.strictObject({ kind: z.literal("text"), prompt: z.string() }),
  ]);
  const response = z.looseObject({ type: z.enum(["answers", "granted", "denied", "text", "cancelled"]) });
  const unfit = (problem: Reason) => new SageError("config-invalid", reason("answers-unfit", { path, problem }));
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw unfit(said(String(error)));
  }
  const checked = z.array(z.strictObject({ asked, by: z.string(), response })).safeParse(given);
  if (checked.success) return checked.data as unknown as RecordedAnswer[];
  throw unfit(misfits(checked.error, given));
}

function scriptedTurn(reply: Reply): ScriptedTurn {
  const reasoning = reply.parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("");
  const text = textOf(reply);
  const calls = callsOf(reply).map(({ tool, input, malformed }) => ({
    tool,
    input,
    ...(malformed !== undefined && { malformed }),
  }));
  const usage = Object.fromEntries(Object.entries(reply.usage).filter(([, tokens]) => tokens > 0));
  const usual = reply.finish === (calls.length > 0 ? "calls" : "stop");
  return {
    ...(reasoning !== "" && { reasoning }),
    ...(text !== "" && { text }),
    ...(calls.length > 0 && { calls }),
    ...(Object.keys(usage).length > 0 && { usage }),
    ...(!usual && { finish: reply.finish }),
  };
}

/** Several subagents of one kind are told apart by what they were asked to do. */
function scriptName(key: string, tasks: ReadonlyMap<string, Call>): string {
  const path = taskPath(key, tasks);
  if (path.length === 0) return "";
  const task = tasks.get(parentCallOfKey(key) ?? "");
  return `${path.join("/")}@${taskHash(String(task?.input["prompt"]))}`;
}

function taskPath(key: string, tasks: ReadonlyMap<string, Call>): string[] {
  const call = parentCallOfKey(key);
  if (call === undefined) return [];
  return [...taskPath(call, tasks), String(agentOf(tasks.get(call)?.input ?? {}))];
}

function askedOf(request: InputRequest): RecordedRequest {
  switch (request.kind) {
    case "permission":
      return { kind: "permission", tool: request.tool, input: request.input };
    case "question":
      return { kind: "question", questions: request.questions.map(({ question }) => question) };
    case "text":
      return { kind: "text", prompt: request.prompt };
    default:
      return request satisfies never;
  }
}

/** Undefined where nobody answered: a deadline, a rule and a run without people come about by themselves again. */
function responseOf(resolution: Resolution): InputResponse | undefined {
  const { requestId } = resolution;
  switch (resolution.outcome) {
    case "answered":
    case "partial":
      return resolution.response;
    case "declined":
      return { type: "denied", requestId, ...inWords(resolution.reason) };
    case "cancelled":
      return { type: "cancelled", requestId, ...inWords(resolution.reason) };
    case "timed_out":
    case "superseded":
    case "no_surface":
      return undefined;
    default:
      return resolution satisfies never;
  }
}

/** A person's own words. Sage's own reasons come about by themselves again. */
function inWords(stored: Reason | string | undefined): { reason?: string } {
  const why = stored === undefined ? undefined : reasonFrom(stored);
  return why?.code === "said" && why.args.text !== "" ? { reason: why.args.text } : {};
}
