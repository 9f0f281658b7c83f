// Runs the commands of `runInside()` as the user that it was started by.
import { text } from "node:stream/consumers";
import { createConfining } from "../../src/host/assembly/confining.ts";
import { createSpawner } from "../../src/tools/process/spawner.ts";
import type { Inside, Seen } from "../support/confine.ts";

const { root, home, state, commands } = JSON.parse(await text(process.stdin)) as Inside;
const sandbox = { mode: "contain", writable: [], readable: [], git: "read", outside: [] } as const;
const place = {
  root,
  home,
  state,
  session: "test",
  kept: [],
  mayRead: () => (path: string) => !path.endsWith("/hidden.env"),
};
const confining = createConfining(sandbox, { apart: false })(place);
const spawn = createSpawner();
const seen: Seen[] = [];
for (const { line, as, allowed = [] } of commands) {
  const launch = await confining.launch({
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: home },
    as: { repository: "read", hosts: [], writable: [], ...as },
    reach: (host) => (allowed.includes(host) ? { allowed: true, named: allowed[0] === host } : { allowed: false }),
  });
  const started = await spawn({ line, cwd: root, env: launch.env, noted: async () => true, launch });
  const [said, end] = await Promise.all([text(started.output), started.ended]);
  const code = end === "unknown" ? end : "code" in end ? end.code : "signal" in end ? end.signal : "late";
  seen.push({ said, code, ...(await launch.over()) });
}
process.stdout.write(JSON.stringify(seen), () => process.exit(0));
