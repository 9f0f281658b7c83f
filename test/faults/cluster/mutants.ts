// A cluster with one mistake in it, and the faults under which it shows. `npm run test:cluster -- --mutants` plays them all.
import type { Change } from "../mutants.ts";
import type { Fault } from "./plan.ts";

export type ClusterMutant = {
  name: string;
  changes: Change[];
  faults: Fault[];
  /** The longest round, where it is caught by waiting in vain. */
  patienceMs?: number;
};

const worker = "src/host/cluster/worker/worker.ts";
const schema = "src/journal/postgres/schema/schema.ts";
const calm = { afterMs: 0, awayMs: 0, pick: 0 };
const every = (count: number, afterMs: number, fault: Exclude<Fault, { kind: "killAll" }>): Fault[] =>
  Array.from({ length: count }, (_, pick) => ({ ...fault, afterMs, pick }));

export const clusterMutants: ClusterMutant[] = [
  {
    name: "writes call.started after the effect has begun",
    changes: [
      {
        file: "src/journal/session/line.ts",
        from: "const written = log.commits.flush(); // on disk before the effect\n",
        to: "const written = undefined;\n",
      },
    ],
    faults: [],
  },
  {
    name: "keeps the job of a session when its worker leaves",
    changes: [
      {
        file: worker,
        from: "if (isOver()) throw",
        to: "if (given.aborted) throw",
      },
    ],
    // All of them at once, while some of them run something.
    faults: every(3, 0, { ...calm, kind: "leave" }).map((fault, n) => ({ ...fault, afterMs: n === 0 ? 8_000 : 0 })),
    patienceMs: 15_000,
  },
  {
    name: "lets a worker write that has lost the session",
    changes: [{ file: schema, from: "IF s.epoch IS DISTINCT FROM e OR", to: "IF s.epoch < e OR" }],
    // Facts that it wrote while nothing came through reach the server when somebody else has the session.
    faults: every(3, 6_000, { ...calm, kind: "silence", role: "worker", awayMs: 13_000 }),
    patienceMs: 20_000,
  },
];
