// Guards of a second line: where the first one holds, nobody notices that they are gone.
import type { Mutant } from "./mutants.ts";

export const guardMutants: Mutant[] = [];
