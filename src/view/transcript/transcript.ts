import { agentOf } from "../../protocol/facts/call.ts";
import type { Delta, Fact, FactData } from "../../protocol/facts/fact.ts";
import { callsOf } from "../../protocol/facts/message.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import {
  callKey,
  callOfKey,
  isInSubagent,
  isRunKey,
  parentCallOfKey,
  placeOfKey,
  rootCallOfKey,
  stepOfKey,
} from "../../protocol/key.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import type { CallItem, Item, ReplyHead } from "./item.ts";
import { createMessages } from "./messages.ts";
import { createRequests } from "./requests.ts";
import { isOpen, standingOf } from "./standing.ts";
import { createStreams } from "./streams.ts";

/**
 * Folds facts and deltas into items. Both functions give the items that are new or have changed, new ones in their
 * order; an item keeps its identity while it changes, so a caller knows a new one by not having seen it before.
 * The transcript itself keeps only what may still change.
 */
type Transcript = {
  fact(fact: Fact): Item[];
  delta(delta: Delta): Item[];
};

const MAX_OUTPUT_BYTES = 64 * 1024;

/** All items of a session that is only read. */
export function transcriptOf(facts: readonly Fact[]): Item[] {
  const transcript = createTranscript();
  return [...new Set(facts.flatMap(transcript.fact))];
}

export function createTranscript({ now = Date.now }: { now?: () => number } = {}): Transcript {
  const streams = createStreams(now);
  const calls = new Map<string, CallItem>();
  const messages = createMessages();
  let stopped = false;

  const replied = ({ key, at, data }: Fact<"model.replied">): Item[] => {
    const reply: ReplyHead = { key, at, model: data.model };
    const step = stepOfKey(key) ?? "";
    const parent = calls.get(parentCallOfKey(key) ?? "");
    const agent = parent ? [...parent.agent, String(agentOf(parent.input))] : [];
    const made = callsOf(data).map((call, n) => {
      const item: CallItem = {
        type: "call",
        key: callKey(step, n),
        within: placeOfKey(key)?.within ?? [],
        agent,
        reply,
        call,
        input: call.input,
        standing: "new",
        asked: [],
        rules: [],
        runs: [],
        output: "",
        attempt: 0,
        inner: [],
      };
      calls.set(item.key, item);
      return item;
    });
    const root = parent && calls.get(rootCallOfKey(key) ?? "");
    root?.inner.push(...made);
    const ended = (data.ended ?? []).map(({ id, command, code }) =>
      noticed(reason("task-ended", { id, command, ...(code !== undefined && { code }) })),
    );
    const skill = data.skill && [noticed(reason("skill-injected", { name: data.skill.name }))];
    return [
      ...messages.settled(at),
      ...ended,
      ...(skill ?? []),
      ...streams.replied(reply, data),
      ...(root ? [root] : []),
      ...made,
    ];
  };

  /** Every change of a call goes through here: its standing follows from the rest of it. */
  const change = (item: CallItem | undefined, more: Partial<CallItem> = {}): CallItem[] => {
    if (!item) return [];
    Object.assign(item, more);
    item.standing = standingOf(item);
    const root = calls.get(item.within[0] ?? "");
    return root ? [root, item] : [item];
  };
  const requests = createRequests(change);

  const judge = (item: CallItem | undefined, verdict: Verdict, at: number): CallItem[] => {
    if (!item) return [];
    const changed = verdict.input && !item.changed ? { changed: { by: "hook" as const } } : {};
    const since = verdict.effect === "waits" && verdict.behavior === "allow" ? { since: at } : {};
    return change(item, {
      verdict,
      judgedAt: item.judgedAt ?? at,
      ...(verdict.input && { input: verdict.input }),
      ...changed,
      ...since,
    });
  };

  const finished = ({ key, at, data }: Fact<"call.finished">): Item[] => {
    const item = calls.get(callOfKey(key) ?? "");
    if (!item) return [];
    if (isRunKey(key)) {
      const end = { endedAt: at, ok: data.ok, ...(stopped && !data.ok && { stopped: true as const }) };
      const open = item.runs.find((run) => run.endedAt === undefined && !run.unknown);
      if (open) Object.assign(open, end);
      else item.runs.push(end);
    }
    return change(item, { result: data, until: at, ...(stopped && !data.ok && { turnStopped: true }) });
  };

  const lost = ({ key, at, data }: Fact<"call.unknown">): Item[] => {
    const item = calls.get(callOfKey(key) ?? "");
    const open = item?.runs.at(-1);
    if (open && open.endedAt === undefined) open.unknown = true;
    return [...change(item), { type: "lost", at, call: item, reason: data.reason }];
  };

  const ended = ({ at, data }: Fact<"turn.ended">): Item[] => {
    const left = [...calls.values()].flatMap((item) => {
      const open = isOpen(item.standing) || !item.result;
      return open ? change(item, { turnEnded: true }) : ((item.turnEnded = true), []);
    });
    calls.clear();
    stopped = false;
    return [...messages.settled(at), ...streams.end(), ...left, { type: "end", at, end: data }];
  };

  const output = ({ key, attempt, text, whole: anew }: Delta): Item[] => {
    const item = calls.get(callOfKey(key) ?? "");
    if (!item || item.result || attempt < item.attempt) return [];
    const again = attempt > item.attempt || anew === true;
    const whole = (again ? "" : item.output) + text;
    const output = whole.slice(-MAX_OUTPUT_BYTES);
    const gone = whole.slice(0, whole.length - output.length).split("\n").length - 1;
    return change(item, { attempt, output, outputBefore: (again ? 0 : (item.outputBefore ?? 0)) + gone });
  };

  return {
    delta(delta) {
      if (delta.kind === "state") return [];
      if (delta.kind === "notice")
        return [{ type: "notice", text: delta.text, ...(delta.reason && { reason: delta.reason }) }];
      if (delta.kind === "output") return output(delta);
      return isInSubagent(delta.key) ? [] : streams.delta(delta);
    },
    fact(fact) {
      const { at, key } = fact;
      messages.note(fact);
      switch (fact.type) {
        case "user.said":
          stopped = false;
          return messages.said(fact);
        case "message.withdrawn":
          return messages.withdrawn(fact);
        case "turn.begun":
          stopped = false;
          return messages.settled(at);
        case "model.replied":
          return replied(fact);
        case "calls.judged": {
          const call = callOfKey(key);
          const step = stepOfKey(key) ?? "";
          return fact.data.verdicts.flatMap((verdict, n) => judge(calls.get(call ?? callKey(step, n)), verdict, at));
        }
        case "input.requested":
          return requests.requested(fact, calls.get(callOfKey(key) ?? ""));
        case "input.approved":
          return requests.approved(fact);
        case "input.reminded":
          return [{ type: "silence", at, requestId: fact.data.requestId }];
        case "input.escalated":
          return [{ type: "silence", at, ...fact.data }];
        case "input.resolved":
          if (fact.data.outcome === "cancelled") stopped = true;
          return requests.resolved(fact);
        case "inquiry.made":
        case "inquiry.replied":
          return requests.inquired(fact);
        case "call.started": {
          const item = calls.get(callOfKey(key) ?? "");
          item?.runs.push({ startedAt: at, ...(fact.data.confined && { confined: fact.data.confined }) });
          return change(item, { since: at });
        }
        case "call.finished":
          return finished(fact);
        case "call.unknown":
          return lost(fact);
        case "rule.added": {
          calls.get(callOfKey(key) ?? "")?.rules.push(fact.data);
          return [{ type: "rule", at, ...ruleOf(fact.data) }];
        }
        case "rule.removed":
          if (fact.data.problem) return [noticed(fact.data.problem)];
          return [{ type: "ruleRemoved", at, ...fact.data }];
        case "context.compacted":
          return isInSubagent(key) ? [] : [{ type: "compacted", at, tokens: fact.data.tokens }];
        case "turn.interrupted":
          stopped = true;
          return [...streams.pause(), { type: "interrupted", at, ...fact.data }];
        case "turn.ended":
          return ended(fact);
        case "model.chosen":
          return [{ type: "model", at, ...fact.data }];
        case "session.rewound": {
          const { turn, what, files, by, surface } = fact.data;
          return [{ type: "rewound", at, turn, what, files, by, surface }];
        }
        case "rewind.ended":
          return [{ type: "restored", at, ...fact.data }];
        case "mode.chosen":
          return [{ type: "mode", at, ...fact.data }];
        case "session.opened":
        case "session.titled":
        case "workspace.made":
        case "session.removed":
        case "guest.joined":
        case "guest.parked":
        case "state.changed":
        case "draft.saved":
          return [];
        default:
          return fact satisfies never;
      }
    },
  };
}

function noticed(why: Reason): Item {
  return { type: "notice", text: "", reason: why };
}

function ruleOf({ rule, saved, problem, destination, by }: FactData["rule.added"]) {
  return { rule, destination, by, ...(saved !== undefined && { saved }), ...(problem !== undefined && { problem }) };
}
