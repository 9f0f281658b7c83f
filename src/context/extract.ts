import type { Answers } from "../protocol/facts/answer.ts";
import type { CallEnd, ToolInput } from "../protocol/facts/call.ts";
import type { Fact } from "../protocol/facts/fact.ts";
import { callsOf, type Call, type ToolResult } from "../protocol/facts/message.ts";
import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import { callKey, callOfKey, stepOfKey } from "../protocol/key.ts";
import { estimateTokens } from "./compaction.ts";

/** Tools that only look, whatever is known of a verdict. */
export const looking = ["Read", "Grep", "Glob"];

/** A call as the facts tell it. Without an end it is open, running, or has not begun. */
type CallRecord = Call & { reads: boolean; state?: "open" | "started"; asked?: true; result?: ToolResult };

const MAX_MESSAGE_LENGTH = 8_000;
const MAX_CUT_LENGTH = 200;
const MAX_WORDS_LENGTH = 1_000;
const MAX_INPUT_LENGTH = 160;
const MAX_RESULT_LENGTH = 500;
const MAX_WORK_TOKENS = 2_000;
/** Shares of the room: messages word for word, messages that are cut, decisions; calls take what is left. */
const SHARES = { messages: 0.6, cut: 0.1, decisions: 0.2, calls: 0.1 };

type ExtractOptions = {
  /** The call whose subagent it is about. */
  within?: string | undefined;
  /** Messages that still stand in the conversation: not repeated. */
  shown?: readonly string[];
  maxTokens: number;
  /** For a reader who has none of the results. */
  withResults?: true;
};

/** Words, decisions and calls, from facts without a model: nothing invented. */
export function extractOf(
  facts: readonly Fact[],
  { within, shown = [], maxTokens, withResults }: ExtractOptions,
): string {
  const own = within === undefined ? facts : facts.filter(({ key }) => key.startsWith(`${within}/`));
  const calls = callRecords(own);
  const sections = [
    section("The person's messages, word for word, oldest first:", [
      ...fitMessages(messagesIn(own, shown), maxTokens * SHARES.messages, maxTokens * SHARES.cut),
    ]),
    section("The person's other words and decisions:", fit(decisionsIn(own, calls), maxTokens * SHARES.decisions)),
    section("Calls that were to change something:", fit(callLines(calls, withResults), maxTokens * SHARES.calls)),
    section("Files changed by Edit and Write:", filesIn(calls)),
  ];
  return sections.filter((text) => text !== "").join("\n\n");
}

/** Adds the ends of a subagent's calls, and words that people said to it, for the agent above it. */
export function withWork(text: string, facts: readonly Fact[], call: string): string {
  const work = extractOf(facts, { within: call, maxTokens: MAX_WORK_TOKENS });
  return work === "" ? text : `${text} From the journal:\n${work}`;
}

/** Calls by their keys, in the model's order, each with its result as far as there is one. */
export function callRecords(facts: readonly Fact[]): Map<string, CallRecord> {
  const records = new Map<string, CallRecord>();
  for (const fact of facts) {
    if (fact.type === "model.replied") {
      const step = stepOfKey(fact.key);
      if (step === undefined) continue;
      for (const [n, call] of callsOf(fact.data).entries())
        records.set(callKey(step, n), { ...call, reads: looking.includes(call.tool) });
      continue;
    }
    if (fact.type === "calls.judged") {
      const step = stepOfKey(fact.key) ?? "";
      for (const [n, { effect }] of fact.data.verdicts.entries()) {
        const record = records.get(callOfKey(fact.key) ?? callKey(step, n));
        if (record) record.reads = effect === "reads";
      }
      continue;
    }
    const record = records.get(callOfKey(fact.key) ?? "");
    if (!record) continue;
    if (fact.type === "call.finished") record.result = fact.data;
    else if (fact.type === "call.started" || fact.type === "call.unknown") record.state = "started";
    else if (fact.type === "input.requested") [record.state, record.asked] = ["open", true];
    else if (fact.type === "input.resolved" && record.state === "open") delete record.state;
  }
  return records;
}

/** A call in a few words: its command, its file, or its input. */
function callText(tool: string, input: ToolInput): string {
  const { command, file_path: path } = input;
  const what = typeof command === "string" ? command : typeof path === "string" ? path : JSON.stringify(input);
  return `${tool} ${cut(what, MAX_INPUT_LENGTH)}`;
}

type Said = { text: string; by: string };

function messagesIn(facts: readonly Fact[], shown: readonly string[]): Said[] {
  let sawUpTo = 0;
  const without = new Set<number>();
  for (const fact of facts) {
    if (fact.type !== "turn.begun" && fact.type !== "model.replied" && fact.type !== "reply.interrupted") continue;
    sawUpTo = Math.max(sawUpTo, fact.data.sawUpTo);
    for (const seq of fact.data.without ?? []) without.add(seq);
  }
  const standing = [...shown];
  const messages: Said[] = [];
  for (const fact of facts.toReversed()) {
    if (fact.type !== "user.said" || fact.seq > sawUpTo || without.has(fact.seq)) continue;
    const at = standing.lastIndexOf(fact.data.expanded ?? fact.data.text);
    if (at >= 0) standing.splice(at, 1);
    else messages.push({ text: fact.data.text, by: fact.data.name ?? fact.data.by });
  }
  return messages.reverse();
}

/** The newest messages whole, older ones by their beginning, the oldest by their number. */
function fitMessages(messages: readonly Said[], maxTokens: number, maxCutTokens: number): string[] {
  const several = new Set(messages.map(({ by }) => by)).size > 1;
  const lines: string[] = [];
  let [whole, rest] = [maxTokens, maxCutTokens];
  for (let n = messages.length - 1; n >= 0; n--) {
    const { text, by } = messages[n] as Said;
    const head = `[message ${n + 1}${several ? ` from ${by}` : ""}]\n`;
    const full = head + cut(text, MAX_MESSAGE_LENGTH);
    whole -= estimateTokens(full);
    if (whole >= 0) {
      lines.push(full);
      continue;
    }
    const begun = head + cut(text, MAX_CUT_LENGTH);
    rest -= estimateTokens(begun);
    if (rest < 0) {
      lines.push(`[${n + 1} earlier ${n === 0 ? "message is" : "messages are"} left out to save room]`);
      break;
    }
    lines.push(begun);
  }
  return lines.reverse();
}

/** The person's decisions about calls and requests that are among the facts, and other words of theirs. */
export function decisionsIn(facts: readonly Fact[], calls: ReadonlyMap<string, CallRecord>): string[] {
  const requests = new Map<string, InputRequest>();
  return facts.flatMap((fact) => {
    switch (fact.type) {
      case "input.requested":
        requests.set(fact.data.id, fact.data);
        return [];
      case "input.resolved": {
        const request = requests.get(fact.data.requestId);
        const result = calls.get(callOfKey(fact.key) ?? "")?.result;
        return request ? decisionText(request, fact.data, result) : [];
      }
      case "call.finished": {
        // A fork has the result, and not the request.
        const call = calls.get(callOfKey(fact.key) ?? "");
        const isTold = call?.asked || (fact.data.end !== "refused-by-person" && call?.tool !== "AskUserQuestion");
        return !call || isTold ? [] : [`${callText(call.tool, call.input)}: ${words(fact.data.text)}`];
      }
      case "inquiry.made": {
        const request = requests.get(fact.data.requestId);
        return request ? [`About ${requestText(request)} the person asked: ${words(fact.data.text)}`] : [];
      }
      case "rule.added":
        return [`Rule of the person: ${fact.data.behavior} ${fact.data.rule}`];
      case "rule.removed":
        return [`Rule taken back by the person: ${fact.data.rule}`];
      case "turn.interrupted":
        return [fact.data.to === "cancel" ? "The person stopped the turn." : "The person interrupted the turn."];
      case "reply.interrupted":
        return fact.data.text === "" ? [] : [`The person interrupted while you wrote: ${words(fact.data.text)}`];
      default:
        return [];
    }
  });
}

/** A plain yes is left out: an old approval must not read like one for the next call. */
function decisionText(request: InputRequest, resolution: Resolution, result: ToolResult | undefined): string[] {
  const { outcome } = resolution;
  const what = requestText(request);
  if (outcome === "timed_out") return [`Nobody answered in time: ${what}`];
  if (outcome === "declined") return [`The person chose not to decide: ${what}`];
  if ((outcome !== "answered" && outcome !== "partial") || resolution.by === "auto") return [];
  const { response } = resolution;
  switch (response.type) {
    case "denied":
      return [`Refused: ${what}${quoted(response.reason)}`];
    case "granted": {
      const edited = response.input && result?.ran ? `, changed to ${callText("", result.ran.input).trim()}` : "";
      const plan = request.kind === "permission" && request.tool === "ExitPlanMode";
      if (!edited && !plan && !response.comment?.trim()) return [];
      return [`Approved${edited}: ${what}${quoted(response.comment)}`];
    }
    case "answers":
      return [`${what} Answered: ${answersText(response.answers)}${quoted(response.remark)}`];
    case "text":
      return [`${what} Answered: ${words(response.text)}`];
    case "cancelled":
      return [`Stopped the turn at: ${what}${quoted(response.reason)}`];
    default:
      return response satisfies never;
  }
}

function requestText(request: InputRequest): string {
  switch (request.kind) {
    case "permission":
      return callText(request.tool, request.input);
    case "question":
      return cut(request.questions.map(({ question }) => question).join(" "), MAX_WORDS_LENGTH);
    case "text":
      return cut(request.prompt, MAX_WORDS_LENGTH);
    default:
      return request satisfies never;
  }
}

function answersText(answers: Answers): string {
  const each = Object.values(answers).map(({ selected, other }) => [...selected, ...(other ? [other] : [])].join(", "));
  return words(each.join("; "));
}

const ends: Record<CallEnd, string> = {
  done: "done",
  failed: "failed",
  stopped: "stopped on its way",
  unknown: "end unknown",
  "refused-by-rule": "refused by a rule",
  "refused-by-person": "refused by the person",
  "not-run": "not run",
};

/** Tools whose outcome is told elsewhere: as an answer, as the list, as the plan. */
const ownWords = ["AskUserQuestion", "TodoWrite", "ExitPlanMode"];

function callLines(calls: ReadonlyMap<string, CallRecord>, withResults = false): string[] {
  const lines = [...calls.values()].flatMap((record) => {
    if (record.reads || ownWords.includes(record.tool)) return [];
    const line = `${standing(record)}: ${callText(record.tool, record.result?.ran?.input ?? record.input)}`;
    const text = withResults && record.result?.text;
    return [text ? `${line}\n  ${cut(text, MAX_RESULT_LENGTH)}` : line];
  });
  // The same call several times in a row is one line.
  return lines.flatMap((line, n) => {
    if (line === lines[n + 1]) return [];
    const times = n - lines.findLastIndex((other, at) => at < n && other !== line);
    return times > 1 ? [`${line} (${times} times)`] : [line];
  });
}

/** How a call stands, for a model that reads of it while others of its reply are open. */
export function standing({ result, state }: CallRecord): string {
  if (result) return ends[result.end ?? (result.ok ? "done" : "failed")];
  if (state === "open") return "waits for a person";
  return state === "started" ? "started, not ended yet" : "not begun";
}

function filesIn(calls: ReadonlyMap<string, CallRecord>): string[] {
  const paths = [...calls.values()].flatMap(({ tool, input, result }) => {
    const path = (result?.ran?.input ?? input)["file_path"];
    return (tool === "Edit" || tool === "Write") && result?.ok && typeof path === "string" ? [path] : [];
  });
  return [...new Set(paths)].map((path) => `- ${path}`);
}

/** As many of the newest entries as fit, oldest first. */
function fit(entries: readonly string[], maxTokens: number): string[] {
  let [left, from] = [maxTokens, entries.length];
  while (from > 0 && (left -= estimateTokens(entries[from - 1] as string)) >= 0) from--;
  const more = from > 0 ? [`[${from} earlier left out to save room]`] : [];
  return [...more, ...entries.slice(from).map((entry) => `- ${entry}`)];
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [title, ...lines].join("\n");
}

function quoted(text: string | undefined): string {
  return text?.trim() ? `; the person said: ${words(text)}` : "";
}

function words(text: string): string {
  return JSON.stringify(cut(text, MAX_WORDS_LENGTH));
}

/** Both ends say most. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, Math.ceil(max * 0.7)).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(text.length - Math.floor(max * 0.3)).replace(/^[\udc00-\udfff]/, "");
  return `${head} … ${text.length - head.length - tail.length} characters left out … ${tail}`;
}
