// One process that runs one session on a real journal: what the crash stories kill.
// argv: <dir> <session>; the script is <dir>/script.json. GUEST: a stand-in of another agent that plays it in the loop's place, or with AGENTS (settings) the name of a real one. ANSWER=self answers every request as it opens; OPTIONS are execution options, LIMITS those of spending; SAY is what it says, `go` otherwise. NOW: the type of a fact; when the first one comes, it says something to be read now. OUTLIVE: its commands outlive it.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { GuestExecutor } from "../../src/agent/guest/executor.ts";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { driverOf, guestProgram } from "../../src/host/guests/guest-programs.ts";
import { createHost } from "../../src/host/host.ts";
import { runnerIn } from "./command-runner.ts";
import { allow, config } from "./sage.ts";

const [dir = "", session = "s"] = process.argv.slice(2);
const script = JSON.parse(readFileSync(join(dir, "script.json"), "utf8"));
const options = JSON.parse(process.env["OPTIONS"] ?? "{}");
const limits = JSON.parse(process.env["LIMITS"] ?? "null") ?? undefined;
const guest = process.env["GUEST"];
const agent = guest === undefined ? undefined : basename(guest, ".mjs").replace("fake-", "");
/** Commands outlive this process. */
const outlive = process.env["OUTLIVE"] !== undefined;
const store = sqliteStore(join(dir, "journal.db"));
const host = createHost({
  store,
  version: "test",
  executor: async () => {
    const run = { ...options, workingDirectory: dir };
    if (guest === undefined || agent === undefined)
      return new TurnExecutor(config({ script, dir, store, limits, ...(outlive && { runner: runnerIn(dir) }) }), run);
    // Faults are this process's own; those of the guest are in FAKE_KILL.
    const { NODE_OPTIONS: _, KILL_AT: __, ...env } = process.env;
    const agents = process.env["AGENTS"];
    const program = guestProgram(agent, agents ? JSON.parse(agents) : { [agent]: { command: guest, args: [] } });
    const driver = await driverOf(program, { dir: join(dir, "guests"), env });
    const rules = (JSON.parse(process.env["RULES"] ?? "[]") as string[]).map(allow);
    const made = config({ script: [], dir, store, limits, rules });
    return new GuestExecutor({ config: made, options: run, driver, env });
  },
});
const sender = { by: "runner", surface: "test" };

const done = new AbortController();
void run();

async function run(): Promise<void> {
  const opened = await host.send({ type: "open", session, cwd: dir, ...(agent !== undefined && { agent }) });
  // A new process may die before it said anything: the same message again is the same message.
  const text = process.env["SAY"] ?? "go";
  await host.send({ type: "say", session, text, id: process.env["SAY_ID"] ?? "first", ...sender });
  if (opened.ok && !opened.created) await host.send({ type: "resume", session });
  const watching = watch();
  const outcome = await host.run(session);
  done.abort();
  process.stdout.write(`${JSON.stringify({ status: outcome.status, text: outcome.text })}\n`);
  await watching; // a turn that had ended already leaves it in the midst of its facts
  await host.close();
}

async function watch(): Promise<void> {
  for await (const event of host.watch(session, { signal: done.signal })) {
    if (event.type === "ready") for (const { request } of event.requests) await open(request);
    if (event.type === "fact" && event.fact.type === "input.requested") await open(event.fact.data);
    if (event.type === "fact" && event.fact.type === process.env["NOW"])
      await host.send({ type: "say", session, text: "stop that", id: "now", when: "now", ...sender });
    if (event.type === "fact") process.stderr.write(`${event.fact.type} ${event.fact.key}\n`);
  }
}

async function open(request: InputRequest): Promise<void> {
  if (process.env["ANSWER"] === "self") await host.send({ type: "respond", response: answer(request), ...sender });
}

function answer(request: InputRequest): InputResponse {
  const requestId = request.id;
  if (request.kind === "permission" && request.why.code === "guest-may-have-run" && process.env["LOST"] !== "rerun")
    return { type: "denied", requestId };
  if (request.kind === "permission") return { type: "granted", requestId };
  if (request.kind === "text") return { type: "text", requestId, text: "some text" };
  const choice = request.source === "recovery" ? (process.env["LOST"] ?? "done") : undefined;
  const answers = request.questions.map(({ question, options }) => [
    question,
    { selected: [options.find(({ label }) => label === choice)?.label ?? options[0]?.label ?? ""] },
  ]);
  return { type: "answers", requestId, answers: Object.fromEntries(answers) };
}
