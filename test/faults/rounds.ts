import { seeded } from "../support/flaky.ts";

/** `npm run test:faults -- --seed 7 --rounds 2000` sets these; without them a short, fixed sample is played. */
const rounds = process.env["SAGE_FAULTS_ROUNDS"];
export const thorough = rounds !== undefined;
export const seed = Number(process.env["SAGE_FAULTS_SEED"] ?? 1);

/** How many rounds to play: few by default, as many as were asked for otherwise. */
export function roundsOf(few: number): number {
  return rounds === undefined ? few : Number(rounds);
}

export type Dice = { below(n: number): number; pick<T>(from: readonly T[]): T; chance(of: number): boolean };

/** The same for the same seed. */
export function dice(of: number): Dice {
  const random = seeded(of);
  const below = (n: number) => Math.floor(random() * n);
  return { below, pick: (from) => from[below(from.length)]!, chance: (one) => random() < one };
}
