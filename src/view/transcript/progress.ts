import type { Fact } from "../../protocol/facts/fact.ts";
import { addUsage, noUsage, type Usage } from "../../protocol/facts/message.ts";
import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";
import { createMail } from "../../protocol/facts/unseen.ts";
import { callOfKey, isInSubagent } from "../../protocol/key.ts";
import type { SessionMode } from "../../protocol/mode.ts";

/** The state of a session and what it has used, folded from its facts. */
export type Progress = {
  /** There is something to do: a turn that nobody has paused, or a message. Whether a process does it is told by its owner. */
  working: boolean;
  /** A turn is open: it runs, waits or is paused. */
  open: boolean;
  last: OutcomeStatus | undefined;
  /** Calls that have begun and have no result yet, by key. */
  running: Map<string, string>;
  usage: Usage;
  /** Tokens of the last prompt and its reply: how full the context is. */
  contextTokens: number;
  /** Cost of the turns whose price is known. */
  usd: number;
  /** The price of some turn is not known: it cost more than `usd`. */
  unpriced: boolean;
  /** The folder the session works in. */
  cwd: string | undefined;
  /** Title of the session. */
  title: string;
  /** The model that was chosen for it, if one was. */
  model: string | undefined;
  mode: SessionMode;
  note(fact: Fact): void;
};

/** Follows a session's facts: does a turn run, and how much has been used? */
export function createProgress(): Progress {
  const mail = createMail();
  let said: number[] = [];
  const isWaiting = (): boolean => {
    said = said.filter((seq) => mail.fateOf(seq) === "waiting");
    return said.length > 0;
  };
  const progress: Progress = {
    working: false,
    open: false,
    last: undefined,
    running: new Map(),
    usage: noUsage,
    contextTokens: 0,
    usd: 0,
    unpriced: false,
    cwd: undefined,
    title: "",
    model: undefined,
    mode: "ask",
    note(fact) {
      mail.note(fact);
      switch (fact.type) {
        case "user.said":
          said.push(fact.seq);
          progress.working = true;
          break;
        case "message.withdrawn":
          if (!progress.open && !isWaiting()) progress.working = false;
          break;
        case "session.opened":
        case "session.moved":
          progress.cwd = fact.data.cwd;
          break;
        case "session.titled":
          progress.title = fact.data.title;
          break;
        case "model.chosen":
          progress.model = fact.data.model;
          break;
        case "mode.chosen":
          progress.mode = fact.data.mode;
          break;
        case "turn.begun":
          Object.assign(progress, { working: true, open: true, last: undefined });
          break;
        case "model.replied":
          progress.usage = addUsage(progress.usage, fact.data.usage);
          if (!isInSubagent(fact.key))
            progress.contextTokens = fact.data.usage.inputTokens + fact.data.usage.outputTokens;
          break;
        case "context.compacted":
          if (!isInSubagent(fact.key)) progress.contextTokens = fact.data.tokens.after;
          break;
        case "call.started":
          progress.running.set(callOfKey(fact.key) ?? fact.key, fact.data.tool);
          break;
        case "call.finished":
        case "call.unknown":
          progress.running.delete(callOfKey(fact.key) ?? fact.key);
          break;
        case "state.changed":
          // A paused turn works again once somebody has resumed it.
          if (!progress.open) break;
          if (fact.data.to.state === "paused") progress.working = false;
          if (fact.data.to.state === "executing") progress.working = true;
          break;
        case "turn.interrupted":
          if (fact.data.to === "pause") progress.working = false;
          if (fact.data.to === "now") progress.working = true;
          break;
        case "turn.ended":
          // An unread message begins the next turn.
          Object.assign(progress, { working: isWaiting(), open: false, last: fact.data });
          progress.usd += fact.data.cost?.usd ?? 0;
          progress.unpriced ||= fact.data.cost === undefined && fact.data.usage.outputTokens > 0;
          progress.running.clear();
          break;
        default:
      }
    },
  };
  return progress;
}
