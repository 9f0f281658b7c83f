import { blockedBy } from "../state/memory.ts";
import { restMessage } from "./finish.ts";
import { applyCompaction } from "../../context/compaction.ts";
import { callRecords, decisionsIn, withWork } from "../../context/extract.ts";
import { skillMessages } from "../../context/skills.ts";
import { endedMessages } from "../state/tasks.ts";
import type { RuleRemoval } from "../../protocol/facts/answer.ts";
import type { Blocked } from "../../protocol/confine.ts";
import type { BackgroundTask } from "../../protocol/facts/call.ts";
import type { Fact, FactData, Summary } from "../../protocol/facts/fact.ts";
import type { Call, Heard, Message, Reply, ToolResult } from "../../protocol/facts/message.ts";
import { callsOf } from "../../protocol/facts/message.ts";
import type { ToolUse, TurnEnd } from "../../protocol/facts/outcome.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import type { Restoring } from "../../protocol/facts/rewind.ts";
import { sessionRules, setAside, tasksIn } from "../../protocol/facts/session.ts";
import { callKey, isInSubagent, isWithinKey, placeInConversation, stepOfKey, turnNumber } from "../../protocol/key.ts";

/** A session as the fold of its facts. */
export type Folded = {
  /** The conversation up to the last turn that ended; an open turn is replayed, not folded. */
  messages: Message[];
  /** Messages of people up to this seq are in there. */
  sawUpTo: number;
  /** Tokens as the provider counted them, and how many messages they are for. */
  counted: { messages: number; tokens: number };
  summary: Summary | undefined;
  seen: Map<string, string> | undefined;
  /** Tools that the model searched for. */
  loaded: Set<string> | undefined;
  /** Things that confined commands were kept from, by command. */
  blocked: Map<string, readonly Blocked[]> | undefined;
  rules: Rule[];
  setAside: RuleRemoval[];
  /** Commands that were started in the background, and those whose end the model was told. */
  tasks: BackgroundTask[];
  toldTasks: Set<string>;
  /** Number of the turn that is open, or comes next. */
  turn: number;
  open: Fact<"turn.begun"> | undefined;
  ended: TurnEnd | undefined;
  /** The open turn was stopped for good while nobody ran it. */
  cancelledBy: string | undefined;
};

export function fold(facts: readonly Fact[]): Folded {
  const { tasks, told } = tasksIn(facts);
  const folded: Folded = {
    messages: [],
    sawUpTo: 0,
    counted: { messages: 0, tokens: 0 },
    summary: undefined,
    seen: undefined,
    loaded: undefined,
    blocked: undefined,
    rules: sessionRules(facts),
    setAside: setAside(facts),
    tasks,
    toldTasks: told,
    turn: 0,
    open: undefined,
    ended: undefined,
    cancelledBy: undefined,
  };
  let ofTurn: Fact[] = [];
  for (const fact of facts) {
    if (fact.type === "turn.begun") {
      folded.open = fact;
      folded.turn = turnNumber(fact.key) ?? folded.turn;
      folded.cancelledBy = undefined;
    } else if (fact.type === "session.rewound") {
      folded.turn = fact.data.next;
      if (fact.data.what === "files" && fact.data.files.length > 0) folded.messages.push(putBack(fact.data.files));
    } else if (fact.type === "turn.interrupted" && folded.open && fact.data.to === "cancel")
      folded.cancelledBy = fact.data.by;
    if (fact.type !== "turn.ended") {
      ofTurn.push(fact);
      continue;
    }
    addTurn(folded, ofTurn, fact.data);
    folded.turn = (turnNumber(fact.key) ?? folded.turn) + 1;
    folded.open = undefined;
    folded.cancelledBy = undefined;
    folded.ended = fact.data;
    // A message that came during the turn and was not seen by it belongs to the next one.
    ofTurn = ofTurn.filter((fact) => fact.type === "user.said" && fact.seq > folded.sawUpTo);
  }
  return folded;
}

/** The conversation continues, and what the agent knows of these files is old. */
function putBack(files: readonly Restoring[]): Message {
  const list = files.map(({ path, to }) => `- ${path}${to === "" ? " (removed)" : ""}`).join("\n");
  return {
    role: "user",
    text: `[The person put these files back to what they were earlier; Read them again before you use them:]\n${list}`,
  };
}

function addTurn(folded: Folded, facts: readonly Fact[], atEnd: Partial<Heard>): void {
  const said = facts.filter((fact) => fact.type === "user.said");
  const hear = ({ sawUpTo = 0, without = [] }: Partial<Heard>) => {
    folded.messages.push(...between(said, folded.sawUpTo, { sawUpTo, without }));
    folded.sawUpTo = Math.max(folded.sawUpTo, sawUpTo);
  };
  let calls: readonly Call[] = [];
  let results: (ToolResult | undefined)[] = [];
  let step = "";
  const close = () => {
    if (calls.length > 0)
      folded.messages.push(
        toolMessage(
          calls,
          calls.map((_, n) => results[n] ?? unfinished(facts, callKey(step, n))),
        ),
      );
    [calls, results] = [[], []];
  };
  let rest: Message | undefined;
  // Only a reply that another one follows was asked to continue.
  const askForRest = () => {
    if (rest) folded.messages.push(rest);
    rest = undefined;
  };
  for (const fact of facts) {
    const place = placeInConversation(fact.key);
    if (fact.type === "turn.begun") hear(fact.data);
    else if (!place) continue;
    else if (fact.type === "model.replied") {
      askForRest();
      close();
      hear(fact.data);
      folded.messages.push(...addedBySage(fact.data), assistantMessage(fact.data));
      calls = callsOf(fact.data);
      step = stepOfKey(fact.key) ?? "";
      rest = restMessage(fact.data);
      const { inputTokens, outputTokens } = fact.data.usage;
      if (inputTokens > 0) folded.counted = { messages: folded.messages.length, tokens: inputTokens + outputTokens };
    } else if (fact.type === "reply.interrupted") {
      askForRest();
      close();
      hear(fact.data);
      folded.messages.push(...interruptedMessages(fact.data));
    } else if (fact.type === "context.compacted") {
      askForRest();
      close();
      folded.messages = applyCompaction(folded.messages, fact.data);
      folded.summary = fact.data.summary ?? folded.summary;
      folded.counted = { messages: 0, tokens: 0 };
    } else if (place.call === undefined) continue;
    else if (fact.type === "call.finished") {
      results[place.call] = fact.data;
      for (const tool of fact.data.loaded ?? []) (folded.loaded ??= new Set()).add(tool);
      for (const [path, hash] of Object.entries(fact.data.seen ?? {})) (folded.seen ??= new Map()).set(path, hash);
      const call = calls[place.call];
      if (call) folded.blocked = blockedBy(folded.blocked, call, fact.data);
    }
  }
  close();
  hear(atEnd);
}

/** The turn ended before this call had a result: what is known of it must not sound like nothing happened. */
function unfinished(facts: readonly Fact[], call: string): ToolResult {
  const own = facts.filter(({ key }) => isWithinKey(key, call));
  if (own.some(({ key }) => isInSubagent(key))) {
    const text = "The turn ended before the subagent had finished; what it did by then stays done.";
    return { ok: false, text: withWork(text, facts, call), end: "unknown" };
  }
  const said = decisionsIn(own, callRecords(facts)).map((line) => `\n${line}`);
  if (own.some(({ type }) => type === "call.started" || type === "call.unknown")) {
    const text = "This was started, and how it ended is not known: the turn ended before. Check what it left behind.";
    return { ok: false, text: text + said.join(""), end: "unknown" };
  }
  const answered = own.some(({ type }) => type === "input.resolved") ? "the person had answered, and " : "";
  return { ok: false, text: `Not run: ${answered}the turn ended before.${said.join("")}`, end: "not-run" };
}

/** The messages that a prompt has heard, after one that had heard so far. */
export function between(
  said: readonly Fact<"user.said">[],
  after: number,
  { sawUpTo, without = [] }: Heard,
): Message[] {
  if ((said.at(-1)?.seq ?? 0) <= after) return [];
  return said
    .filter(({ seq }) => seq > after && seq <= sawUpTo && !without.includes(seq))
    .map(({ data: { text, expanded, images } }) => ({
      role: "user",
      text: expanded ?? text,
      ...(images && { images }),
    }));
}

const nothing: readonly never[] = [];

/** Messages that Sage put before a reply, beside what people said. */
export function addedBySage({
  ended,
  skill,
  talk,
}: Pick<FactData["model.replied"], "ended" | "skill" | "talk">): readonly Message[] {
  if (!ended && !skill && talk === undefined) return nothing;
  const talked: Message[] =
    talk === undefined ? [] : [{ role: "user", text: `(From Sage, not from the person. ${talk})` }];
  return [...endedMessages(ended), ...talked, ...skillMessages(skill)];
}

export function assistantMessage({ parts, model }: Reply): Message {
  return { role: "assistant", parts, model };
}

/** A reply that an interrupt ended, as far as it had come. A call that was not whole is told, and is none. */
export function interruptedMessages({ text, calls, model, by }: FactData["reply.interrupted"]): Message[] {
  const who = by === "" ? "A person" : by;
  const begun = calls.length === 0 ? "" : ` You had begun to call ${calls.join(", ")}: not run.`;
  const said: Message[] = text.trim() === "" ? [] : [{ role: "assistant", parts: [{ type: "text", text }], model }];
  return [...said, { role: "user", text: `(From Sage, not from the person. ${who} interrupted you here.${begun})` }];
}

export function toolMessage(calls: readonly Call[], results: readonly ToolResult[]): Message {
  return {
    role: "tool",
    results: calls.map(({ id, tool }, n) => ({ call: id, tool, result: results[n] as ToolResult })),
  };
}

export function toolUse({ tool, input: sent }: Call, result: ToolResult): ToolUse {
  const { ran } = result;
  return ran ? { tool, input: ran.input, result, changed: { ...ran.changed, sent } } : { tool, input: sent, result };
}
