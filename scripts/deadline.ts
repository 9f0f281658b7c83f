// Loaded into every test file. The runner times out single tests only: a file that left a timer, a server or an
// endless loop behind would hang the whole run. A thread sees the deadline even when the file's own loop is blocked.
import { isMainThread, Worker } from "node:worker_threads";

const seconds = 120;

if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined) {
  const watch = `setTimeout(() => {
    require("node:fs").writeSync(2, "still running after ${seconds} s; killed\\n");
    process.kill(process.pid, "SIGKILL");
  }, ${seconds * 1000});`;
  new Worker(watch, { eval: true, execArgv: [] }).unref();
}
