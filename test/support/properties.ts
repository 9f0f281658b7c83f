// fast-check with the seed of this run: a default run plays the same cases every time, so that it tells of the change and not
// of luck; `npm run test:faults` plays new ones.
import { configureGlobal } from "fast-check";
import { seed } from "../faults/rounds.ts";

configureGlobal({ seed });

export * from "fast-check";
