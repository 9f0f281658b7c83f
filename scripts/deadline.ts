// Loaded into every test file. The runner times out single tests only: a file that left a timer or a server behind would hang
// the whole run. (One that blocks its own loop is ended with the run, by scripts/test.ts: a thread to see that costs every file.)
import { writeSync } from "node:fs";

/** Several files share the process of a group (scripts/groups.ts). */
const isGroup = /together-\d+\.test\.mjs$/.test(process.argv[1] ?? "");
const seconds = Number(process.env["SAGE_TEST_FILE_SECONDS"] ?? (isGroup ? 300 : 120));

if (process.env["NODE_TEST_CONTEXT"] !== undefined) {
  const giveUp = () => {
    writeSync(2, `still running after ${seconds} s; killed\n`);
    process.kill(process.pid, "SIGKILL");
  };
  setTimeout(giveUp, seconds * 1000).unref();
}
