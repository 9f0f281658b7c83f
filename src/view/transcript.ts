import {
  agentOf,
  callKey,
  callOfKey,
  callsOf,
  createMail,
  isComplete,
  isInSubagent,
  isRunKey,
  needsConsent,
  parentCallOfKey,
  placeOfKey,
  reason,
  rootCallOfKey,
  stepOfKey,
  withoutEnd,
  type Delta,
  type Fact,
  type FactData,
  type InputResponse,
  type Reason,
  type Resolution,
  type Verdict,
  type Asked,
} from "../protocol/index.ts";
import type { AskedItem, CallItem, InquiryItem, Item, ReplyHead, SaidItem } from "./item.ts";
import { isOpen, standingOf } from "./standing.ts";
import { createStreams } from "./streams.ts";

/**
 * Folds facts and deltas into items. Both functions give the items that are new or have changed, new ones in their
 * order; an item keeps its identity while it changes, so a caller knows a new one by not having seen it before.
 * The transcript itself keeps only what may still change.
 */
export type Transcript = {
  fact(fact: Fact): Item[];
  delta(delta: Delta): Item[];
};

const LONGEST_OUTPUT = 64 * 1024;

/** All items of a session that is only read. */
export function transcriptOf(facts: readonly Fact[]): Item[] {
  const transcript = createTranscript();
  return [...new Set(facts.flatMap(transcript.fact))];
}

export function createTranscript({ now = Date.now }: { now?: () => number } = {}): Transcript {
  const streams = createStreams(now);
  const calls = new Map<string, CallItem>();
  /** By request id, while they are open. */
  const requests = new Map<string, { asked: Asked; item: CallItem | AskedItem }>();
  /** Inquiries about open requests, by their keys. */
  const inquiries = new Map<string, InquiryItem>();
  const mail = createMail();
  let unread: { seq: number; item: SaidItem }[] = [];
  let stopped = false;

  const replied = ({ key, at, data }: Fact<"model.replied">): Item[] => {
    const reply: ReplyHead = { key, at, model: data.model };
    const step = stepOfKey(key) ?? "";
    const parent = calls.get(parentCallOfKey(key) ?? "");
    const agent = parent ? [...parent.agent, String(agentOf(parent.input))] : [];
    const made = callsOf(data).map((call, n) => {
      const item: CallItem = {
        ...{ type: "call", key: callKey(step, n), within: placeOfKey(key)?.within ?? [], agent, reply, call },
        ...{ input: call.input, standing: "new", asked: [], rules: [], runs: [], output: "", attempt: 0, inner: [] },
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
    return [...read(at), ...ended, ...(skill ?? []), ...streams.replied(reply, data), ...(root ? [root] : []), ...made];
  };

  /** A fact has decided about messages: they were read, or left out because somebody had taken them back. */
  const read = (at: number): Item[] => {
    const settled = unread.filter(({ seq }) => seq <= mail.sawUpTo);
    unread = unread.filter(({ seq }) => seq > mail.sawUpTo);
    return settled.flatMap(({ seq, item }): Item[] => {
      if (mail.fateOf(seq) === "withdrawn") return [item];
      const { withdrawn: sender, text } = item;
      item.read = true;
      delete item.withdrawn;
      return sender ? [item, { type: "withdrawn", at, text, late: true, ...sender }] : [item];
    });
  };

  const withdrawn = ({ at, data: { message, by, surface } }: Fact<"message.withdrawn">): Item[] => {
    const item = unread.find(({ seq }) => seq === message)?.item;
    if (!item) return [{ type: "withdrawn", at, text: "", late: true, by, surface }];
    item.withdrawn = { by, surface };
    return [item, { type: "withdrawn", at, text: item.text, late: false, by, surface }];
  };

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

  const requested = ({ key, at, data }: Fact<"input.requested">): Item[] => {
    const asked: Asked = { request: data };
    const call = calls.get(callOfKey(key) ?? "");
    const own: AskedItem = { type: "asked", key, at, within: placeOfKey(key)?.within ?? [], request: data };
    requests.set(data.id, { asked, item: call ?? own });
    call?.asked.push(asked);
    return call ? change(call) : [own];
  };

  const approved = ({ at, data }: Fact<"input.approved">): Item[] => {
    const found = requests.get(data.requestId);
    if (!found || !needsConsent(found.asked.request)) return [];
    const { asked, item } = found;
    const approvals = (asked.approvals = [...(asked.approvals ?? []), data]);
    if (item.type === "asked") item.approvals = approvals;
    const { request } = asked;
    const needed = found.asked.request.consent.approvals;
    const told: Item = { type: "approved", at, request, approvals, needed };
    return [
      ...(item.type === "call" ? change(item) : [item]),
      ...(isComplete(found.asked.request, approvals) ? [] : [told]),
    ];
  };

  const resolved = ({ key, at, data }: Fact<"input.resolved">): Item[] => {
    const found = requests.get(data.requestId);
    const unreplied = [...inquiries.values()]
      .filter(({ request }) => request.id === data.requestId)
      .flatMap((one) => (inquiries.delete(one.key), tell(one, { over: true })));
    requests.delete(data.requestId);
    if (data.outcome === "cancelled") stopped = true;
    if (!found) return [];
    found.asked.resolution = data;
    return [...unreplied, ...answered(found, { key, at, data })];
  };

  const answered = (
    found: { asked: Asked; item: CallItem | AskedItem },
    { key, at, data }: Pick<Fact<"input.resolved">, "key" | "at" | "data">,
  ): Item[] => {
    if (found.item.type === "asked") return [Object.assign(found.item, { resolution: data })];
    const { item } = found;
    const edit = editOf(data);
    change(item, edit ? { input: edit, changed: { by: "person", who: { by: data.by, surface: data.surface } } } : {});
    if (!item.turnEnded) return change(item);
    // Its turn is over and was told; the answer comes on its own.
    const { request } = found.asked;
    return [item, { type: "asked", key, at, within: item.within, request, resolution: data, call: item }];
  };

  /** In the item, and with the request that it is about. */
  const tell = (item: InquiryItem, more: Pick<InquiryItem, "reply" | "over">): Item[] => {
    const { inquiries: all = [] } = requests.get(item.request.id)?.asked ?? {};
    Object.assign(all.find(({ made }) => made.inquiry === item.made.inquiry) ?? {}, more);
    return [Object.assign(item, more)];
  };

  const inquired = (fact: Fact<"inquiry.made" | "inquiry.replied">): Item[] => {
    const { key, at } = fact;
    if (fact.type === "inquiry.replied") {
      const item = inquiries.get(withoutEnd(key));
      inquiries.delete(withoutEnd(key));
      return item ? tell(item, { reply: { ...fact.data, at } }) : [];
    }
    const asked = requests.get(fact.data.requestId)?.asked;
    if (!asked) return [];
    const { request } = asked;
    (asked.inquiries ??= []).push({ made: fact.data });
    const within = placeOfKey(key)?.within ?? [];
    const item: InquiryItem = { type: "inquiry", key, at, within, request, made: fact.data };
    inquiries.set(key, item);
    return [item];
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
    return [...read(at), ...streams.end(), ...left, { type: "end", at, end: data }];
  };

  const output = ({ key, attempt, text, whole: anew }: Delta): Item[] => {
    const item = calls.get(callOfKey(key) ?? "");
    if (!item || item.result || attempt < item.attempt) return [];
    const again = attempt > item.attempt || anew === true;
    const whole = (again ? "" : item.output) + text;
    const output = whole.slice(-LONGEST_OUTPUT);
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
      mail.note(fact);
      switch (fact.type) {
        case "user.said": {
          const { by, surface, text, images = [] } = fact.data;
          const item: SaidItem = { type: "said", key, at, sender: { by, surface }, text, images, read: false };
          unread.push({ seq: fact.seq, item });
          stopped = false;
          return [item];
        }
        case "message.withdrawn":
          return withdrawn(fact);
        case "turn.begun":
          stopped = false;
          return read(at);
        case "model.replied":
          return replied(fact);
        case "calls.judged": {
          const call = callOfKey(key);
          const step = stepOfKey(key) ?? "";
          return fact.data.verdicts.flatMap((one, n) => judge(calls.get(call ?? callKey(step, n)), one, at));
        }
        case "input.requested":
          return requested(fact);
        case "input.approved":
          return approved(fact);
        case "input.reminded":
          return [{ type: "silence", at, requestId: fact.data.requestId }];
        case "input.escalated":
          return [{ type: "silence", at, ...fact.data }];
        case "input.resolved":
          return resolved(fact);
        case "inquiry.made":
        case "inquiry.replied":
          return inquired(fact);
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

/** The input a person put in the place of the model's. */
function editOf(resolution: Resolution): (InputResponse & { type: "granted" })["input"] {
  if (resolution.outcome === "superseded") return resolution.edited?.input;
  const response = "response" in resolution ? resolution.response : undefined;
  return response?.type === "granted" ? response.input : undefined;
}
