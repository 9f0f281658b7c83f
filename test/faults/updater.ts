// One process at a journal that another version left: it goes on with the session, or only answers, and is killed by whoever started it.
// node updater.ts <kind> <folder> <journal> <run or answer> <name> <answer to a call whose end is unknown>
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { reply } from "./story.ts";
import { sessions, type Update } from "./update-fixture.ts";
import { waitingSage, waitings, type Waiting } from "./waiting-fixture.ts";

const [kind = "", dir = "", path = "", mode = "", by = "", lost = ""] = process.argv.slice(2);
const store = sqliteStore(path);
const waiting = waitings.find((name) => name === kind) satisfies Waiting | undefined;
const sage = await (waiting ? waitingSage(waiting, { dir, store }) : sessions[kind as Update](store));
const tell = (what: object) => console.log(JSON.stringify(what));
tell({ up: mode });

const given = new Set<string>();
const answer = async () => {
  for (const request of store.pending("s")) {
    if (given.has(request.id)) continue;
    given.add(request.id);
    const told = await sage.answer(reply(request, lost), by);
    if (told.ok && told.resolution) tell({ id: request.id, by: told.resolution.by, outcome: told.resolution.outcome });
    else if (!told.ok) given.delete(request.id); // the journal is busy
  }
};
const isOpen = () => store.session("s")?.open === true || store.session("s")?.unheard === true;
const isSaid = store.load("s").some((fact) => fact.type === "user.said" && fact.data.text === "go on");
if (kind === "rewind" && mode === "run" && !isSaid) await sage.say("go on");
const runs = mode === "run";
const goesOn = () => !runs || isOpen(); // whoever only answers lives until it is killed
while (goesOn()) {
  void answer().catch(() => {});
  if (runs) void sage.outcome().catch(() => {}); // another process may own it now
  await sleep(20);
}
tell({ ended: true });
process.exit(0);
