import type { Delta, Fact, FactData } from "../../protocol/facts/fact.ts";
import { isInSubagent } from "../../protocol/key.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import { createCalls } from "./calls.ts";
import type { Item } from "./item.ts";
import { createMessages } from "./messages.ts";
import { createRequests } from "./requests.ts";
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

/** All items of a session that is only read. */
export function transcriptOf(facts: readonly Fact[]): Item[] {
  const transcript = createTranscript();
  return [...new Set(facts.flatMap(transcript.fact))];
}

export function createTranscript({ now = Date.now }: { now?: () => number } = {}): Transcript {
  const streams = createStreams(now);
  const messages = createMessages();
  const calls = createCalls();
  const requests = createRequests(calls.change);
  const ended = new Set<string>(); // ids of background commands whose end was shown as it came

  return {
    delta(delta) {
      if (delta.kind === "state") return delta.sawUpTo === undefined ? [] : messages.asked(delta.sawUpTo);
      if (delta.kind === "notice") return [noticed(delta.reason, delta.text, ended)];
      if (delta.kind === "output") return calls.output(delta);
      return isInSubagent(delta.key) ? [] : streams.delta(delta);
    },
    fact(fact) {
      const { at, key } = fact;
      messages.note(fact);
      switch (fact.type) {
        case "user.said":
          return messages.said(fact);
        case "message.withdrawn":
          return messages.withdrawn(fact);
        case "turn.begun":
          calls.stopped(false);
          return messages.settled(at);
        case "model.replied":
          return replied({ streams, messages, calls, ended }, fact);
        case "reply.interrupted":
          return isInSubagent(key) ? [] : [...messages.settled(at), ...streams.interrupted(fact)];
        case "calls.judged":
          return calls.judged(fact);
        case "input.requested":
          return requests.requested(fact, calls.at(key));
        case "input.approved":
          return requests.approved(fact);
        case "input.reminded":
        case "input.escalated":
          return [silence(fact)];
        case "input.resolved":
          if (fact.data.outcome === "cancelled") calls.stopped(true);
          return requests.resolved(fact);
        case "guest.joined":
        case "answer.delivered":
        case "answer.undelivered":
          return requests.delivered(fact);
        case "inquiry.made":
        case "inquiry.replied":
          return requests.inquired(fact);
        case "call.started":
          return calls.started(fact);
        case "call.finished":
          return calls.finished(fact);
        case "call.unknown":
          return calls.lost(fact);
        case "rule.added":
          calls.at(key)?.rules.push(fact.data);
          return [{ type: "rule", at, ...ruleOf(fact.data) }];
        case "rule.removed":
          if (fact.data.problem) return [noticed(fact.data.problem)];
          return [{ type: "ruleRemoved", at, ...fact.data }];
        case "context.compacted":
          return isInSubagent(key) ? [] : [{ type: "compacted", at, tokens: fact.data.tokens }];
        case "turn.interrupted":
          calls.stopped(true);
          return [
            ...streams.pause(),
            ...messages.asked(0),
            { type: "interrupted", at, to: fact.data.to, ...whoIn(fact.data) },
          ];
        case "turn.ended":
          return [...messages.settled(at), ...streams.end(), ...calls.ended(), { type: "end", at, end: fact.data }];
        case "model.chosen":
          return [{ type: "model", at, ...fact.data }];
        case "mode.chosen":
          return [{ type: "mode", at, ...fact.data }];
        case "session.rewound":
        case "rewind.ended":
        case "session.moved":
          return [goneElsewhere(fact)];
        case "state.changed":
          return messages.asked(0); // an attempt begins or ends
        case "session.opened":
        case "session.titled":
        case "workspace.made":
        case "session.removed":
        case "guest.parked":
        case "draft.saved":
        case "time.moved":
          return [];
        default:
          return fact satisfies never;
      }
    },
  };
}

type Replying = {
  streams: ReturnType<typeof createStreams>;
  messages: ReturnType<typeof createMessages>;
  calls: ReturnType<typeof createCalls>;
  ended: ReadonlySet<string>;
};

function replied({ streams, messages, calls, ended }: Replying, fact: Fact<"model.replied">): Item[] {
  const { key, at, data } = fact;
  const reply = { key, at, model: data.model };
  calls.stopped(false);
  const said = [...messages.settled(at), ...noticesOf(data, ended), ...streams.replied(reply, data)];
  return [...said, ...calls.made(fact, reply)];
}

/** Notices of text that Sage added to the request: commands that have ended, a skill that fits. */
function noticesOf({ ended = [], skill }: FactData["model.replied"], shown: ReadonlySet<string>): Item[] {
  const unseen = ended.filter(({ id }) => !shown.has(id));
  const tasks = unseen.map(({ id, command, code }) =>
    noticed(reason("task-ended", { id, command, ...(code !== undefined && { code }) })),
  );
  return skill ? [...tasks, noticed(reason("skill-injected", { name: skill.name }))] : tasks;
}

/** `ended`: the id of a background command that it tells of is added. */
function noticed(why: Reason | undefined, text = "", ended?: Set<string>): Item {
  if (why?.code === "task-ended") ended?.add(why.args.id);
  return { type: "notice", text, ...(why && { reason: why }) };
}

function silence({ at, data }: Fact<"input.reminded"> | Fact<"input.escalated">): Item {
  return { type: "silence", at, requestId: data.requestId, ...("to" in data && { to: data.to }) };
}

function whoIn({ by, surface }: Sender): Sender {
  return { by, surface };
}

/** The session went back, or to another place. */
function goneElsewhere(fact: Fact<"session.rewound"> | Fact<"rewind.ended"> | Fact<"session.moved">): Item {
  if (fact.type === "session.rewound") return rewound(fact);
  if (fact.type === "rewind.ended") return { type: "restored", at: fact.at, ...fact.data };
  return noticed(reason("session-moved", { from: fact.data.was, to: fact.data.cwd }));
}

function rewound({ at, data: { turn, what, files, by, surface } }: Fact<"session.rewound">): Item {
  return { type: "rewound", at, turn, what, files, by, surface };
}

function ruleOf({ rule, saved, problem, destination, by }: FactData["rule.added"]) {
  return { rule, destination, by, ...(saved !== undefined && { saved }), ...(problem !== undefined && { problem }) };
}
