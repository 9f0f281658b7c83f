// A process that enforces the deadlines of one journal, so many milliseconds later than it is: node enforcer.ts <journal> <later>
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import type { InputRequest } from "../../src/protocol/facts/request.ts";

const [path = "", later = "0"] = process.argv.slice(2);
const { now } = Date;
const { uptime } = os;
Date.now = () => now() + Number(later);
os.uptime = () => uptime() + Number(later) / 1_000;
syncBuiltinESMExports();
const { arm } = await import("../../src/input/deadlines.ts");
const { sqliteStore } = await import("../../src/journal/sqlite/sqlite.ts");
const { requestFor, fact, opened } = await import("../journal/journals.ts");

const store = sqliteStore(path);
if (!store.session("s")) {
  const timeoutMs = 3_600_000;
  const deadline = { at: Date.now() + timeoutMs, timeoutMs, policy: "fail" as const };
  const request: InputRequest = { ...requestFor("t0/0/0/ask0"), deadline };
  store.create("s", opened);
  store.commit("s", store.claim("s"), [fact("t0/0/0/ask0", "input.requested", request)]);
}
for (const request of store.pending()) arm(store, request);
setInterval(() => {}, 1_000);
setTimeout(() => console.log("looked"), 200); // whatever is overdue has expired by then
