// npm run test:faults -- --soak 60   one process that lives for so many minutes beside one that is killed every few seconds, on one
// journal; every request is answered, some of them twice. Figures of the living one each minute, and the checker at the end.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { respond } from "../../src/input/respond.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { check, show } from "./checker.ts";
import { markedCalls, type Event } from "./history.ts";
import { dice, seed } from "./rounds.ts";

const minutes = Number(process.argv[2] ?? 60);
const dir = mkdtempSync(join(tmpdir(), "sage-soak-"));
const journal = join(dir, "journal.db");
const roll = dice(seed);
const store = sqliteStore(journal);
let [answers, second, kills] = [0, 0, 0];
const over = new AbortController();

try {
  const living = start("living", 8);
  const [killing, answering] = [killAgain(), answerAll()];
  const begun = performance.now();
  tell(living);
  for (let minute = 1; minute <= minutes; minute++) {
    await pause(begun + minute * 60_000 - performance.now());
    tell(living);
    if (living.exitCode !== null) throw new Error(`the living process ended with ${living.exitCode}`);
  }
  writeFileSync(join(dir, "stop"), "");
  const last = await killing;
  await Promise.all([ended(living), ended(last)]);
  over.abort();
  await answering;
  process.exitCode = judge() ? 0 : 1;
} finally {
  over.abort();
  store.close();
  if (process.exitCode === 0) rmSync(dir, { recursive: true, force: true });
  else console.log(`kept: ${dir}`);
}

function start(name: string, slots: number): ChildProcess {
  const args = [join(import.meta.dirname, "soaker.ts"), dir, name, String(slots)];
  return spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) done();
    else child.once("exit", () => done());
  });
}

/** Kills the other process again and again; hands over the one that may end by itself. */
async function killAgain(): Promise<ChildProcess> {
  for (;;) {
    const child = start("killed", 4);
    await pause(2_000 + roll.below(8_000));
    if (existsSync(join(dir, "stop"))) return child;
    child.kill("SIGKILL");
    await ended(child);
    kills++;
  }
}

async function answerAll(): Promise<void> {
  for (; !over.signal.aborted; await pause(20))
    for (const request of store.pending(undefined, { limit: 50 })) {
      const { won } = await respond(store, answerTo(request), { by: "Lin", surface: "soak" });
      answers += won ? 1 : 0;
      if (!roll.chance(0.1)) continue;
      const again = await respond(store, answerTo(request), { by: "Mei", surface: "soak" });
      if (again.won) throw new Error(`${request.id} was answered twice`);
      second++;
    }
}

function answerTo(request: InputRequest): InputResponse {
  const requestId = request.id;
  if (request.kind === "permission") return { type: roll.chance(0.9) ? "granted" : "denied", requestId };
  if (request.kind === "text") return { type: "text", requestId, text: "some text" };
  const answers = request.questions.map(({ question, options }) => [
    question,
    { selected: [roll.pick(options).label] },
  ]);
  return { type: "answers", requestId, answers: Object.fromEntries(answers) };
}

function tell({ pid = 0 }: ChildProcess): void {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const rss = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const cpu = (Number(fields[11]) + Number(fields[12])) / 100;
  const files = readdirSync(`/proc/${pid}/fd`).length;
  const size = [journal, `${journal}-wal`].map((path) => (existsSync(path) ? statSync(path).size / 2 ** 20 : 0));
  const figures = `${rss.toFixed(0)} MB, ${files} descriptors, ${cpu.toFixed(1)} s of CPU`;
  const written = `journal ${size[0]?.toFixed(1)} MB, log ${size[1]?.toFixed(1)} MB`;
  console.log(
    `${new Date().toISOString()} living: ${figures}; ${written}; ${answers} answers, ${second} second ones, ${kills} kills`,
  );
}

/** The checker over every session; effects are read off the file that only the commands write to. */
function judge(): boolean {
  const effects = Map.groupBy(
    readFileSync(join(dir, "witness"), "utf8").trim().split("\n"),
    (mark) => mark.split(".")[0] ?? "",
  );
  const listed = store.pending().map(({ id }) => id);
  let [turns, facts, found] = [0, 0, 0];
  for (const { id } of store.sessions()) {
    const loaded = store.load(id);
    facts += loaded.length;
    turns += loaded.filter(({ type }) => type === "turn.ended").length;
    const calls = markedCalls(loaded);
    const events = (effects.get(id) ?? []).map((mark, n): Event => {
      const input = calls.get(mark)?.input ?? {};
      return { n, mono: 0, wall: 0, process: "", type: "executed", session: id, mark, tool: "Bash", input };
    });
    const damage = store.verify(id);
    const broken = new Map(damage ? [[id, damage.key]] : []);
    const own = listed.filter((request) => request.startsWith(`${id}/`));
    const violations = check({ events, journal: new Map([[id, loaded]]), broken, listed: own, over: true });
    found += violations.length;
    if (violations.length > 0) console.log(`${id}\n${show(violations)}`);
  }
  console.log(
    `${store.sessions().length} sessions, ${turns} turns, ${facts} facts, ${kills} kills, ${found} violations`,
  );
  return found === 0;
}
