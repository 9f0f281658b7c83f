// Answers to the real programs, crossed: which reply, where in it, what was said, what was killed when, main agent or subagent, -p or a terminal.
// `npm run test:answers -- --cells 60 --seed 7`; `--all` for every cell, `--only 'claude .*edit'` for some. Only loopback, homes of their own.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { attempt } from "../../src/base/attempt.ts";
import type { GuestsSettings } from "../../src/config/settings/model-settings.ts";
import { serversIn, stopCodex } from "../../src/guest/codex/server.ts";
import { respond } from "../../src/input/respond.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import { signalGroup } from "../../src/processes/group.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { guestProcessKey } from "../../src/protocol/key.ts";
import { bundled } from "../support/bundled.ts";
import { modelServer, type Play, type RequestBody } from "../support/model-server.ts";
import { agents } from "./agents-setup.ts";

const { values } = parseArgs({
  options: {
    cells: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    all: { type: "boolean", default: false },
  },
});

const dimensions = {
  agent: ["claude", "codex"],
  reply: [1, 2, 3],
  where: ["alone", "first", "middle", "last", "two", "three"],
  how: ["yes", "no", "edit", "comment", "rule"],
  killed: ["nothing", "sage", "agent", "all"],
  when: ["before", "while", "after"],
  who: ["main", "subagent"],
  way: ["-p", "terminal"],
} as const;
type Cell = { [D in keyof typeof dimensions]: (typeof dimensions)[D][number] };

const TIMEOUT_MS = 60_000;
const MAX_LIVES = 8;
const reason = "REASON-7 never that file";
const comment = "COMMENT-7 only today";
const commandOf = (mark: string) =>
  `${mark.startsWith("free") ? "" : `echo ${mark} >> out.txt; `}echo ran-$((40+2))-${mark}`;

function cells(): Cell[] {
  let all: Record<string, unknown>[] = [{}];
  for (const [name, range] of Object.entries(dimensions))
    all = all.flatMap((cell) => range.map((value) => ({ ...cell, [name]: value })));
  const real = (all as Cell[]).filter(
    ({ agent, who, how, killed, when, where, reply }) =>
      (agent === "claude" || (who === "main" && how !== "edit")) &&
      (killed !== "nothing" || when === "before") &&
      (who === "main" || (where === "alone" && reply < 3)),
  );
  const wanted = real.filter((cell) => new RegExp(values.only).test(nameOf(cell)));
  if (values.all) return wanted;
  let seed = Number(values.seed);
  const roll = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  return wanted
    .map((cell) => ({ cell, at: roll() }))
    .sort((left, right) => left.at - right.at)
    .slice(0, Number(values.cells))
    .map(({ cell }) => cell);
}

function nameOf({ agent, reply, where, how, killed, when, who, way }: Cell): string {
  return `${agent} ${who} reply ${reply} ${where} ${how}, ${killed === "nothing" ? "nothing killed" : `${killed} killed ${when}`}, ${way}`;
}

type Seen = { history: string; calls: number };

/** A model that makes its calls until it has read how each ended, or was told. */
function model(cell: Cell, seen: Seen, tool: { shell: string; input(command: string): object; reader: object }) {
  const made = new Map<string, number>();
  const call = (name: string) => {
    const n = (made.get(name) ?? 0) + 1;
    made.set(name, n);
    if (name === "A") seen.calls = n;
    const id = `call_${name}_${n}`;
    if (name === "Agent") {
      const input = { description: "d", prompt: "SUBTASK do it", subagent_type: "general-purpose" };
      return { id, tool: "Agent", arguments: JSON.stringify(input) };
    }
    if (name.startsWith("B")) return { id, ...(tool.reader as { tool: string; arguments: string }) };
    return { id, tool: tool.shell, arguments: JSON.stringify(tool.input(commandOf(name))) };
  };
  const batch = {
    alone: ["A"],
    first: ["A", "B1"],
    middle: ["B1", "A", "B2"],
    last: ["B1", "A"],
    two: ["A", "C"],
    three: ["A", "C", "D"],
  };
  const allowed = (history: string) =>
    history.includes("with this input instead") && !isSettled(history, "A") ? "E" : "A";
  const isSettled = (history: string, name: string) => {
    if (name === "A" && [reason, "ran-42-E"].some((mark) => history.includes(mark))) return true;
    if (name.startsWith("B")) return history.split("content-of-b").length > Number(name.slice(1));
    return history.includes(`ran-42-${name}`);
  };
  const playCalls = (history: string, names: readonly string[], text: string): Play => {
    const first = names.every((name) => !made.has(name));
    const open = names.filter((name) => !isSettled(history, name) && (made.get(name) ?? 0) < 4);
    if (open.length === 0) return { text };
    return { calls: (first ? names : open.slice(0, 1)).map(call) };
  };
  return (body: RequestBody): Play => {
    if (!JSON.stringify(body["tools"] ?? "").includes(`"${tool.shell}"`)) return { text: "ok" };
    const history = JSON.stringify(body.messages ?? body["input"]);
    seen.history += `\n${history}`;
    const isSub = history.includes("SUBTASK") && !history.includes("MAINTASK");
    if (isSub) return playCalls(history, ["A"], "the helper is done");
    for (let n = 1; n < cell.reply; n++) if (!history.includes(`ran-42-free${n}`)) return { calls: [call(`free${n}`)] };
    const names = batch[cell.where].map((name) => (name === "A" ? allowed(history) : name));
    if (cell.who === "main") return playCalls(history, names, "final");
    const isAlone = history.includes("want to take this action right now") && history.includes("make that call again");
    if (!made.has("Agent") || (isAlone && made.get("Agent") === 1)) return { calls: [call("Agent")] };
    // Told in words that its subagent was stopped: it sees to the call itself.
    const isTold = history.includes("Your subagent") && history.includes("The person allowed");
    if (isTold || history.includes("its end was not heard of")) return playCalls(history, [allowed(history)], "final");
    return { text: "final" };
  };
}

type Result = { verdict: "exact" | "carried" | "asked again" | "lost" | "hung" | "twice" | "wrong"; detail: string };

async function run(cell: Cell): Promise<Result> {
  await using server = await modelServer();
  const dir = mkdtempSync(join(homedir(), ".sage-live-"));
  const [home, project] = [join(dir, "home"), join(dir, "project")];
  for (const path of [home, project, join(home, ".codex")]) mkdirSync(path);
  writeFileSync(join(project, "b.txt"), "content-of-b\n");
  writeFileSync(join(project, "script.json"), "[]");
  const settings: GuestsSettings = {};
  const { PATH } = process.env;
  const env: NodeJS.ProcessEnv = { PATH, HOME: home, LANG: "en_US.UTF-8", CODEX_HOME: join(home, ".codex") };
  const real = agents(server)[cell.agent]!;
  real.prepare({ home, env, settings });
  const seen: Seen = { history: "", calls: 0 };
  const reader =
    cell.agent === "claude"
      ? { tool: "Read", arguments: JSON.stringify({ file_path: join(project, "b.txt") }) }
      : { tool: real.tool, arguments: JSON.stringify(real.input("cat b.txt")) };
  server.always.play = model(cell, seen, { shell: real.tool, input: real.input, reader });
  const store = sqliteStore(join(project, "journal.db"));
  const options = cell.way === "-p" ? { mode: { type: "batch" } } : {};
  const rules = ["Bash(echo ran-*)", "Bash(cat *)", "Read", ...(cell.how === "rule" ? ["Bash(echo A *)"] : [])];
  const more = { GUEST: cell.agent, AGENTS: JSON.stringify(settings), SAY: "MAINTASK go" };
  const guests = join(project, "guests");
  const start = () => {
    const spared = { OPTIONS: JSON.stringify(options), RULES: JSON.stringify(rules) };
    const child = spawn(process.execPath, [bundled("runner", "test/support/runner.ts"), project, "s"], {
      env: { ...env, ...more, ...spared },
      cwd: project,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    child.stdout.on("data", (text: Buffer) => (out += text.toString()));
    child.stderr.on("data", (text: Buffer) => (out += text.toString()));
    const ended = new Promise<{ code: number | null; out: string }>((done) =>
      child.on("close", (code) => done({ code, out })),
    );
    return { child, ended };
  };
  const killAgent = () => {
    for (const { pid, lives } of serversIn(guests)) if (lives) signalGroup(pid, "SIGKILL");
    for (const group of store.children("s", guestProcessKey)) signalGroup(group, "SIGKILL");
  };
  try {
    const faults = cell.killed === "nothing" ? [] : [cell.when];
    const answered = new Set<string>();
    let lives = 0;
    let sage = start();
    const strike = () => {
      if (cell.killed !== "agent") sage.child.kill("SIGKILL");
      if (cell.killed !== "sage") killAgent();
      faults.pop();
    };
    for (const until = Date.now() + TIMEOUT_MS; Date.now() < until;) {
      const over = await Promise.race([sage.ended, new Promise<undefined>((no) => setTimeout(no, 25, undefined))]);
      const open = store.pending("s").filter(({ id }) => !answered.has(id));
      const isNeeded = over && (over.code !== 0 || over.out.includes("needs-input"));
      if (over && !isNeeded) {
        if (process.env["SHOW"]) console.log(over.out, seen.history.slice(-3000));
        return judge(cell, { store, project, seen });
      }
      const [request] = cell.way === "-p" && !over ? [] : open;
      if (request) {
        if (faults[0] === "before" && isMain(request)) strike();
        answered.add(request.id);
        await respond(store, answerTo(cell, request, project), { by: "Lin", surface: "test" });
        if (faults[0] === "while" && isMain(request)) {
          if (over) sage = start();
          await new Promise((done) => setTimeout(done, 30 * Number(values.seed)));
          strike();
          continue;
        }
      }
      if (faults[0] === "after" && isOver(store, join(project, "out.txt"))) strike();
      if (over && store.pending("s").every(({ id }) => answered.has(id)) && lives++ < MAX_LIVES) sage = start();
    }
    sage.child.kill("SIGKILL");
    const last = factsOf(store)
      .slice(-4)
      .map(({ type, key }) => `${type} ${key}`);
    return { verdict: "hung", detail: last.join(", ") };
  } finally {
    killAgent();
    await stopCodex(guests);
    store.close();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** None before the session was opened. */
function factsOf(store: Store): readonly Fact[] {
  return attempt(() => store.load("s")) ?? [];
}

/** The call has run, or its refusal was recorded. */
function isOver(store: Store, out: string): boolean {
  const isRefused = factsOf(store).some(
    (fact) => fact.type === "call.finished" && fact.data.end === "refused-by-person",
  );
  return isRefused || (existsSync(out) && /[AE]/.test(readFileSync(out, "utf8")));
}

function isMain(request: InputRequest): boolean {
  return request.kind === "permission" && JSON.stringify(request.input).includes("echo A ");
}

function answerTo({ how }: Cell, request: InputRequest, project: string): InputResponse {
  const requestId = request.id;
  // A person looks whether it has run.
  const command = request.kind === "permission" ? JSON.stringify(request.input["command"]) : "";
  const [, mark = ""] = /echo (\w+) >>/.exec(command) ?? [];
  const ran =
    mark !== "" &&
    existsSync(join(project, "out.txt")) &&
    readFileSync(join(project, "out.txt"), "utf8").includes(mark);
  if (request.why.code === "guest-may-have-run")
    return ran ? { type: "denied", requestId, reason: "it ran already" } : { type: "granted", requestId };
  if (!isMain(request) || how === "yes" || how === "rule") return { type: "granted", requestId };
  if (how === "no") return { type: "denied", requestId, reason };
  if (how === "comment") return { type: "granted", requestId, comment };
  return { type: "granted", requestId, input: { command: commandOf("E") } };
}

function judge({ how }: Cell, { store, project, seen }: { store: Store; project: string; seen: Seen }): Result {
  const out = existsSync(join(project, "out.txt")) ? readFileSync(join(project, "out.txt"), "utf8") : "";
  const count = (mark: string) => out.split("\n").filter((line) => line === mark).length;
  const facts = factsOf(store);
  const asked = facts.flatMap((fact) => (fact.type === "input.requested" && isMain(fact.data) ? [fact.data] : []));
  const again = asked.filter(({ why }) => why.code === "guest-may-have-run").length;
  const ended = facts.findLast((fact) => fact.type === "turn.ended");
  const detail = JSON.stringify({
    out: out.trim().split("\n"),
    asked: asked.length,
    again,
    calls: seen.calls,
    status: ended?.type === "turn.ended" && ended.data.status,
  });
  for (const mark of ["A", "C", "D", "E"]) if (count(mark) > 1) return { verdict: "twice", detail };
  const marks = { yes: "ran-42-A", rule: "ran-42-A", no: reason, edit: "ran-42-E", comment };
  const wasTold =
    seen.history.includes(marks[how]) || (again > 0 && seen.history.includes("how that ended is not known"));
  if (how === "no" ? count("A") > 0 : count("A") + count("E") === 0 && again === 0) return { verdict: "wrong", detail };
  if (ended?.type !== "turn.ended" || ended.data.status !== "success") return { verdict: "wrong", detail };
  if (!wasTold && again === 0) return { verdict: "lost", detail };
  if (again > 0 || asked.length > 1) return { verdict: "asked again", detail };
  return { verdict: seen.calls > 1 ? "carried" : "exact", detail };
}

const found = new Map<string, Map<string, number>>();
let bad = 0;
for (const cell of cells()) {
  const began = Date.now();
  const { verdict, detail } = await run(cell).catch((error: unknown) => ({
    verdict: "wrong" as const,
    detail: String(error),
  }));
  const key = `${cell.agent} ${cell.who}, ${cell.killed === "nothing" ? "nothing killed" : `${cell.killed} killed`}`;
  const row = found.get(key) ?? new Map<string, number>();
  found.set(key, row.set(verdict, (row.get(verdict) ?? 0) + 1));
  const isBad = ["lost", "hung", "twice", "wrong"].includes(verdict);
  bad += Number(isBad);
  console.log(
    `${isBad ? "✖" : "✔"} ${verdict}: ${nameOf(cell)} (${Date.now() - began} ms)${isBad ? ` ${detail}` : ""}`,
  );
}
for (const [key, row] of [...found].sort(([left], [right]) => left.localeCompare(right)))
  console.log(`${key}: ${[...row].map(([verdict, n]) => `${n} ${verdict}`).join(", ")}`);
process.exitCode = bad > 0 ? 1 : 0;
