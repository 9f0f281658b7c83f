// Everything that goes wrong in a round, drawn from its seed alone: the same seed and round is the same plan.
import { dice, type Dice } from "../rounds.ts";
import type { Role } from "./seat.ts";

export type Fault = { afterMs: number; awayMs: number; pick: number } & (
  | { kind: "kill"; role: Role; at: "any" | "before" | "after" }
  | { kind: "killDatabase" }
  /** Everybody at once, and the database. */
  | { kind: "killAll" }
  | { kind: "freeze"; role: Role }
  | { kind: "leave" }
  /** The connection of a commit ends before it, or after it and before its reply. */
  | { kind: "cut"; role: Role; at: "any" | "before" | "after" }
  /** Nothing comes through to or from the database. */
  | { kind: "silence"; role: Role }
);

export type RoundPlan = {
  faults: Fault[];
  /** Without notifications and locks. */
  notified: boolean;
  graceMs: number | undefined;
  /** Commands go on when their worker is killed. */
  outlives: boolean;
  /** The clock of one worker goes wrong by so much. */
  skewMs: number;
  /** Everything is recovered twice, with nobody doing anything in between. */
  recoversTwice: boolean;
};

export type PlanOptions = { faults: number; sparesDatabase: boolean; paceMs: number };

const PAST_LEASE_MS = 12_500;

export function planOf(seed: number, round: number, { faults, sparesDatabase, paceMs }: PlanOptions): RoundPlan {
  const roll = dice(seed * 1_000 + round);
  const drawn = Array.from({ length: faults }, () => draw(roll, paceMs));
  return {
    faults: sparesDatabase ? drawn.filter(({ kind }) => kind !== "killDatabase" && kind !== "killAll") : drawn,
    notified: round % 4 !== 3,
    graceMs: round % 3 === 2 ? undefined : 1_500,
    skewMs: round % 5 === 4 ? roll.pick([3_600_000, -3_600_000]) : 0,
    recoversTwice: round % 3 === 1,
    outlives: round % 2 === 0,
  };
}

function draw(roll: Dice, paceMs: number): Fault {
  const frame = {
    afterMs: roll.below(2 * paceMs),
    awayMs: roll.below(roll.chance(0.1) ? 4_000 : 600),
    pick: roll.below(100),
  };
  const at = roll.pick(["any", "any", "before", "after"] as const);
  const role = roll.pick(["worker", "worker", "gateway"] as const);
  const kind = roll.below(100);
  if (kind < 46) return { ...frame, kind: "kill", role: "worker", at };
  if (kind < 64) return { ...frame, kind: "kill", role: "gateway", at };
  if (kind < 73) return { ...frame, kind: "killDatabase" };
  if (kind < 75) return { ...frame, kind: "killAll", awayMs: 3_500 };
  if (kind < 78) return { ...frame, kind: "freeze", role: "worker", awayMs: PAST_LEASE_MS };
  if (kind < 83) return { ...frame, kind: "freeze", role };
  if (kind < 89) return { ...frame, kind: "leave" };
  if (kind < 98) return { ...frame, kind: "cut", role, at };
  return { ...frame, kind: "silence", role, awayMs: roll.pick([800, 3_000, PAST_LEASE_MS]) };
}
