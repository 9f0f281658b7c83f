import type { Fact, OutcomeStatus } from "../../protocol/index.ts";

/** Whether a turn runs, read off the facts. */
export type Progress = {
  working: boolean;
  open: boolean;
  last: OutcomeStatus | undefined;
  /** Calls that have begun and have no result yet, by where they stand. */
  running: Map<string, string>;
  note(fact: Fact): void;
};

export function createProgress(): Progress {
  let said = 0;
  let seen = 0;
  const progress: Progress = {
    working: false,
    open: false,
    last: undefined,
    running: new Map(),
    note(fact) {
      switch (fact.type) {
        case "user.said":
          said = fact.seq;
          progress.working = true;
          break;
        case "turn.begun":
          seen = Math.max(seen, fact.data.sawUpTo);
          Object.assign(progress, { working: true, open: true, last: undefined });
          break;
        case "model.replied":
          seen = Math.max(seen, fact.data.sawUpTo);
          break;
        case "call.started":
          progress.running.set(placeOf(fact), fact.data.tool);
          break;
        case "call.finished":
        case "call.unknown":
          progress.running.delete(placeOf(fact));
          break;
        case "turn.interrupted":
          if (fact.data.to === "pause") progress.working = false;
          break;
        case "turn.ended":
          // What nobody has read yet begins the next turn.
          Object.assign(progress, { working: said > seen, open: false, last: fact.data });
          progress.running.clear();
          break;
        default:
      }
    },
  };
  return progress;
}

function placeOf({ key }: Fact): string {
  return key.replace(/\/[^/]*$/, "");
}
