import { agentOf } from "../../protocol/facts/call.ts";
import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import { callsOf } from "../../protocol/facts/message.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import {
  callKey,
  callOfKey,
  isRunKey,
  parentCallOfKey,
  placeOfKey,
  rootCallOfKey,
  stepOfKey,
} from "../../protocol/key.ts";
import type { CallItem, Item, ReplyHead } from "./item.ts";
import type { Change } from "./requests.ts";
import { isOpen, standingOf } from "./standing.ts";

const MAX_OUTPUT_BYTES = 64 * 1024;

/** Calls of the current turn. Each function returns the changed items. */
type Calls = {
  change: Change;
  /** The call that a fact or a delta is about. */
  at(key: string): CallItem | undefined;
  /** Somebody has stopped the turn, or continues it: what fails from then on was stopped. */
  stopped(is: boolean): void;
  /** The call of the root agent that the calls of a reply are made for, if it is a subagent's, and these. */
  made(fact: Fact<"model.replied">, reply: ReplyHead): CallItem[];
  judged(fact: Fact<"calls.judged">): CallItem[];
  started(fact: Fact<"call.started">): CallItem[];
  output(delta: Delta): CallItem[];
  finished(fact: Fact<"call.finished">): CallItem[];
  lost(fact: Fact<"call.unknown">): Item[];
  /** The turn has ended: its calls change no more. */
  ended(): CallItem[];
};

export function createCalls(): Calls {
  const calls = new Map<string, CallItem>();
  let stopped = false;
  const at = (key: string) => calls.get(callOfKey(key) ?? "");

  /** Every change of a call goes through here: its standing follows from the rest of it. */
  const change = (item: CallItem | undefined, more: Partial<CallItem> = {}): CallItem[] => {
    if (!item) return [];
    Object.assign(item, more);
    item.standing = standingOf(item);
    const root = calls.get(item.within[0] ?? "");
    return root ? [root, item] : [item];
  };
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

  return {
    change,
    at,
    stopped(is) {
      stopped = is;
    },
    made({ key, data }, reply) {
      const step = stepOfKey(key) ?? "";
      const parent = calls.get(parentCallOfKey(key) ?? "");
      const agent = parent ? [...parent.agent, String(agentOf(parent.input))] : [];
      const within = placeOfKey(key)?.within ?? [];
      const made = callsOf(data).map((call, n) => newCall({ key: callKey(step, n), within, agent, reply, call }));
      for (const item of made) calls.set(item.key, item);
      const root = parent && calls.get(rootCallOfKey(key) ?? "");
      root?.inner.push(...made);
      return [...(root ? [root] : []), ...made];
    },
    judged({ key, at, data }) {
      const call = callOfKey(key);
      const step = stepOfKey(key) ?? "";
      return data.verdicts.flatMap((verdict, n) => judge(calls.get(call ?? callKey(step, n)), verdict, at));
    },
    started({ key, at: since, data }) {
      const item = at(key);
      item?.runs.push({ startedAt: since, ...(data.confined && { confined: data.confined }) });
      return change(item, { since });
    },
    output({ key, attempt, text, whole: anew }) {
      const item = at(key);
      if (!item || item.result || attempt < item.attempt) return [];
      const again = attempt > item.attempt || anew === true;
      const whole = (again ? "" : item.output) + text;
      const output = whole.slice(-MAX_OUTPUT_BYTES);
      const gone = whole.slice(0, whole.length - output.length).split("\n").length - 1;
      return change(item, { attempt, output, outputBefore: (again ? 0 : (item.outputBefore ?? 0)) + gone });
    },
    finished({ key, at: endedAt, data }) {
      const item = at(key);
      if (!item) return [];
      if (isRunKey(key)) {
        const end = { endedAt, ok: data.ok, ...(stopped && !data.ok && { stopped: true as const }) };
        const open = item.runs.find((run) => run.endedAt === undefined && !run.unknown);
        if (open) Object.assign(open, end);
        else item.runs.push(end);
      }
      return change(item, { result: data, until: endedAt, ...(stopped && !data.ok && { turnStopped: true }) });
    },
    lost({ key, at: lostAt, data }) {
      const item = at(key);
      const open = item?.runs.at(-1);
      if (open && open.endedAt === undefined) open.unknown = true;
      return [...change(item), { type: "lost", at: lostAt, call: item, reason: data.reason }];
    },
    ended() {
      const left = [...calls.values()].flatMap((item) => {
        const open = isOpen(item.standing) || !item.result;
        return open ? change(item, { turnEnded: true }) : ((item.turnEnded = true), []);
      });
      calls.clear();
      stopped = false;
      return left;
    },
  };
}

function newCall(made: Pick<CallItem, "key" | "within" | "agent" | "reply" | "call">): CallItem {
  return {
    type: "call",
    ...made,
    input: made.call.input,
    standing: "new",
    asked: [],
    rules: [],
    runs: [],
    output: "",
    attempt: 0,
    inner: [],
  };
}
