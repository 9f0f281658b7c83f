import type { Fact, FactData, FactType } from "./fact.ts";
import type { Replaced, RestoreProblem, Restoring, RewindWhat } from "./rewind.ts";
import { createMail, seenBy } from "./unseen.ts";
import { placeOfKey, turnNumber, withoutEnd } from "../key.ts";

/** A message before which a session may go back to: the first one of its turn. */
export type RewindPoint = { turn: number; text: string; at: number };

/** A file that a rewind is about. */
export type PlannedFile = { path: string } & (
  | { will: "restore" | "remove"; file: Restoring; /** Only with a word of its own. */ asks?: RestoreDoubt }
  /** The file already has that content. */
  | { will: "nothing" }
  | { will: "leave"; why: RestoreProblem }
);

/** Why a file is put back only when the person says so: somebody else changed it, it is protected, or lies outside the workspace. */
export type RestoreDoubt = "changed" | "protected" | "outside";

/** Everything a rewind would change, and the commands whose changes it cannot take back. */
export type RewindPlan = {
  turn: number;
  what: RewindWhat;
  /** The message that begins the turn. */
  message: string;
  files: PlannedFile[];
  commands: string[];
};

/** Facts of turns that a rewind of the conversation leaves out. Rules, modes and models that people chose stay chosen. */
const conversation: readonly FactType[] = [
  ...(["turn.begun", "model.replied", "calls.judged", "input.requested", "input.resolved", "turn.ended"] as const),
  ...(["call.started", "call.finished", "call.unknown", "context.compacted", "turn.interrupted"] as const),
  ...(["reply.interrupted", "guest.joined", "guest.parked", "answer.delivered", "answer.undelivered"] as const),
];

/** The facts of the conversation as it is now. Nothing is ever taken out of the journal itself. */
export function withoutRewound(facts: readonly Fact[]): readonly Fact[] {
  if (!facts.some(({ type }) => type === "session.rewound")) return facts;
  let kept: Fact[] = [];
  for (const fact of facts) {
    if (fact.type === "session.rewound" && fact.data.what !== "files") {
      const { data } = fact;
      kept = kept.filter((known) => !isUndone(known, data));
    }
    kept.push(fact);
  }
  return kept;
}

/** A message that arrived while the rewind was decided is not part of it: it was accepted, and no prompt has contained it. */
function isUndone({ type, key, seq }: Fact, { turn, heard, upTo = Infinity }: FactData["session.rewound"]): boolean {
  if (type === "user.said") return seq > heard && seq <= upTo;
  const at = conversation.includes(type) ? turnNumber(key) : undefined;
  return at !== undefined && at >= turn;
}

/** The messages before which the session may go back to, oldest first. */
export function rewindPoints(facts: readonly Fact[]): RewindPoint[] {
  const points: RewindPoint[] = [];
  const live = withoutRewound(facts);
  const mail = createMail();
  for (const fact of live) mail.note(fact);
  const said = live.filter(
    (fact) => fact.type === "user.said" && mail.fateOf(fact.seq) !== "withdrawn",
  ) as Fact<"user.said">[];
  let heard = 0;
  for (const fact of live) {
    const first = fact.type === "turn.begun" ? said.find(({ seq }) => seq > heard) : undefined;
    if (fact.type === "turn.begun" && first && first.seq <= fact.data.sawUpTo)
      points.push({ turn: turnNumber(fact.key) ?? 0, text: first.data.text, at: first.at });
    heard = Math.max(heard, seenBy(fact));
  }
  return points;
}

/** Messages up to this seq had been heard when the turn began; `next` is the number of the turn that comes next. */
export function placeOfTurn(facts: readonly Fact[], turn: number): { heard: number; next: number } {
  const earlier = withoutRewound(facts).filter(({ key }) => (turnNumber(key) ?? -1) < turn);
  return {
    heard: earlier.reduce((most, fact) => Math.max(most, seenBy(fact)), 0),
    next: 1 + facts.reduce((most, { key }) => Math.max(most, turnNumber(key) ?? -1), -1),
  };
}

/** A call's change to a file. */
export type FileChange = Replaced & { turn: number };

/** Changes that file tools made and that no rewind has taken back, by path, oldest first. */
export function fileChanges(facts: readonly Fact[]): Map<string, FileChange[]> {
  const changes = new Map<string, FileChange[]>();
  const rewinds = new Map<string, number>();
  for (const fact of facts) {
    if (fact.type === "session.rewound") rewinds.set(fact.key, fact.data.turn);
    else if (fact.type === "call.finished")
      for (const file of fact.data.replaced ?? []) {
        const change = { ...file, turn: turnNumber(fact.key) ?? 0 };
        changes.set(file.path, [...(changes.get(file.path) ?? []), change]);
      }
    else if (fact.type === "rewind.ended") {
      const turn = rewinds.get(withoutEnd(fact.key)) ?? 0;
      for (const path of fact.data.restored)
        changes.set(path, changes.get(path)?.filter((change) => change.turn < turn) ?? []);
    }
  }
  return changes;
}

/** An unfinished rewind: the process was killed before it had handled all files. */
export function unfinishedRewind(facts: readonly Fact[]): Fact<"session.rewound"> | undefined {
  const last = facts.findLast((fact) => fact.type === "session.rewound" || fact.type === "rewind.ended");
  return last?.type === "session.rewound" && last.data.files.length > 0 ? last : undefined;
}

/** Does the key belong to a turn of this number or a later one? */
export function isSinceTurn(key: string, turn: number): boolean {
  return placeOfKey(key) !== undefined && (turnNumber(key) ?? -1) >= turn;
}
