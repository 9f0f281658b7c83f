import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "../../protocol/host/refusal.ts";
import { shortRequestId } from "../../protocol/key.ts";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { sqliteStore } from "../../journal/sqlite/sqlite.ts";
import { scripted } from "../../models/scripted.ts";
import { oneLine } from "../../base/visible.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import { assemble } from "../../host/assembly/assemble.ts";
import { attachPlain } from "../../surfaces/plain/index.ts";
import { headline } from "../../texts/shared/resolution.ts";
import { demoTexts, type DemoTexts } from "../../texts/commands/demo.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { canDraw } from "./chat.ts";
import { demoScript, demoWorld, PROGRAM } from "./demo-script.ts";
import { promptLine } from "../process/prompt.ts";
import { sage } from "../../texts/command.ts";
import type { Host } from "../../protocol/host/host.ts";
import { exitCodeOf, exitCodes, wantsColor } from "../process/stdout.ts";
import { readFlags } from "../process/flags.ts";
import { fitted } from "../../view/lines/safe.ts";
import { accountName } from "../host/journal.ts";
import { onTermination } from "../process/termination.ts";
import { isAsking } from "../../view/items/summary.ts";
import { transcriptOf } from "../../view/transcript/transcript.ts";

/** The last request of the script. The process that asks it is killed. */
const KILLED_AT = `rm ${PROGRAM}`;
const READING_MS = 3_000;

type Asked = { session: string; request: string };

/**
 * The real thing in a temporary folder, with a script in the model's place. The session runs in a process of its own, which is killed
 * while it asks; the answer comes from another process, and a third one continues.
 */
export async function demo(args: string[]): Promise<number> {
  const { lang, values } = readFlags(args, { plain: { type: "boolean" }, in: { type: "string" } });
  const t = demoTexts(lang);
  if (values.in !== undefined) return act(values.in, { lang, t, plain: values.plain === true });

  const { dir, cwd, env, remove } = demoWorld(t, process.env);
  const alone = !process.stdin.isTTY;
  let running: AbortController | undefined;
  const leaving = onTermination(async () => running?.abort());
  process.on("SIGINT", () => {}); // a key of the terminal reaches the process that asks, too
  const sageProcess = (words: readonly string[]) => {
    running = new AbortController();
    return spawnSage(words, { cwd, env: { ...env, SAGE_HOME: homeIn(dir) }, signal: running.signal });
  };
  try {
    const flags = ["--lang", lang, ...(values.plain === true ? ["--plain"] : [])];
    const first = sageProcess(["demo", "--in", dir, ...flags]);
    const asked = await Promise.race([first.asked, first.code]);
    if (typeof asked === "number") return asked;
    const isAnswered = await Promise.race([first.code.then(() => true), pause(alone ? 0 : READING_MS, false)]);
    if (isAnswered || leaving.signal.aborted) return await first.code;
    restoreScreen(first.kill);
    await first.code;
    console.log(`\n$ kill -9 ${first.pid}\n${t.killed}\n\n$ ${sage("inbox")}`);
    await sageProcess(["inbox", "--lang", lang]).code;
    const yes = alone || (await promptYes(t.answerHere));
    if (yes === undefined || leaving.signal.aborted) return exitCodes.interrupted;
    console.log(`\n$ ${sage(`answer ${asked.request} ${yes ? "--yes" : "--no"}`)}`);
    await sageProcess(["answer", asked.request, yes ? "--yes" : "--no", "--lang", lang]).code;
    console.log(`\n$ ${sage(`--resume ${asked.session}`)}`);
    return await sageProcess(["demo", "--in", dir, ...flags]).code;
  } finally {
    remove();
  }
}

type Started = { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal };

function spawnSage(words: readonly string[], { cwd, env, signal }: Started) {
  const script = resolve(process.argv[1] ?? "");
  const child = spawn(process.execPath, [...process.execArgv, script, ...words], {
    cwd,
    env,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  return {
    pid: child.pid,
    kill: () => child.kill("SIGKILL"),
    asked: new Promise<Asked>((resolve) => child.once("message", (message) => resolve(message as Asked))),
    code: new Promise<number>((resolve) => {
      child.once("error", () => resolve(exitCodes.failure));
      child.once("exit", (code) => resolve(code ?? exitCodes.interrupted));
    }),
  };
}

/** A killed process leaves the terminal as it had it: without a cursor, and with each key by itself. */
function restoreScreen(kill: () => void): void {
  const { stdin, stdout } = process;
  if (stdin.isTTY) stdin.setRawMode(true); // notes how the terminal is, as the first call of a process does
  kill();
  if (stdin.isTTY) stdin.setRawMode(false);
  if (stdout.isTTY) stdout.write("\x1b[<u\x1b[?2004l\x1b[?1004l\x1b[?25h\x1b[0m\n\n");
}

async function promptYes(label: string): Promise<boolean | undefined> {
  for (;;) {
    const typed = await promptLine(label);
    if (typed === undefined) return undefined;
    if (/^(?:y|yes|是)$/i.test(typed)) return true;
    if (/^(?:n|no|否)$/i.test(typed)) return false;
  }
}

/** A process of the demo: begins its session, or continues it. */
async function act(dir: string, { lang, t, plain }: { lang: Lang; t: DemoTexts; plain: boolean }): Promise<number> {
  const { stdin, stdout } = process;
  const alone = !stdin.isTTY;
  const drawn = !alone && !plain && canDraw(process.env);
  const store = sqliteStore(join(homeIn(dir), "journal.db"));
  const host = assemble({
    store,
    model: async () => scripted(demoScript(t, alone ? 30 : 600, { ends: "killed" }), "demo"),
    rules: [],
    permissionMode: "default",
    options: { mode: { type: "interactive" } },
    env: process.env,
    output: join(homeIn(dir), "output"),
  });
  const leave = async () => void (await host.close());
  const leaving = onTermination(leave);
  const watching = new AbortController();
  try {
    const width = stdout.isTTY ? stdout.columns : undefined;
    const [begun] = (await ask(host, { type: "sessions" })).sessions;
    const isFirst = begun === undefined;
    if (!drawn && isFirst) console.log(fitted(t.intro, width).join("\n"));
    const cwd = join(dir, "project");
    const { session } = await ask(host, { type: "open", cwd, ...(begun && { session: begun.id }) });
    if (isFirst) void tellLastRequest(host, session, watching.signal);
    const given = {
      session,
      once: true,
      lang,
      by: accountName(),
      signal: leaving.signal,
      ...(isFirst && { task: t.task }),
    };
    const surface = drawn
      ? (await import("../../surfaces/terminal/index.ts")).attachTerminal(host, {
          ...given,
          header: isFirst ? t.intro.join("\n") : "",
          model: "demo",
          env: process.env,
          logDirectory: homeIn(dir),
        })
      : attachPlain(host, {
          ...given,
          fleeting: true,
          input: alone ? Readable.from(answers(t)) : stdin,
          echo: (line) => `${t.itself} ${line}`,
          output: stdout,
          color: wantsColor(stdout),
        });
    process.on("SIGINT", surface.interrupt);
    const { last } = await surface.done;
    if (leaving.signal.aborted) return await leaving.code;
    const story = ["", t.summary, ...storyOf(store.load(session), t, lang, drawn), "", ...t.next];
    console.log(fitted(story, width).join("\n"));
    return last ? exitCodeOf(last) : exitCodes.interrupted;
  } finally {
    watching.abort();
    if (!leaving.signal.aborted) await leave();
  }
}

/** Typed by nobody. It stays open: at its end Sage would leave. */
async function* answers(t: DemoTexts): AsyncGenerator<string> {
  for (const line of ["1", t.remark, "y", "y"]) yield `${line}\n`;
  await new Promise(() => {});
}

function homeIn(dir: string): string {
  return join(dir, "home");
}

/** Tells the process that began this one that the last request is open. */
async function tellLastRequest(host: Host, session: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { requests } = await ask(host, { type: "pending", session });
    const last = requests
      .map(({ request }) => request)
      .find((request) => request.kind === "permission" && request.input["command"] === KILLED_AT);
    if (last) return void process.send?.({ session, request: shortRequestId(last.id) } satisfies Asked);
    await pause(100);
  }
}

function storyOf(facts: readonly Fact[], t: DemoTexts, lang: Lang, drawn: boolean): string[] {
  const words = texts(lang);
  const me = { by: accountName(), surface: drawn ? "tui" : "plain" };
  return transcriptOf(facts).flatMap((item) => {
    if (item.type !== "call") return [];
    const asked = item.asked.flatMap(({ request, resolution }) => [
      `  ${t.asked[request.kind]}${request.kind === "permission" ? `${words.colon}${request.tool}` : ""}`,
      ...(resolution ? [`    ${oneLine(headline(resolution, words, me))}`] : []),
    ]);
    return [...asked, ...(isAsking(item) ? [] : [`  ${item.call.tool}${words.colon}${words.standing[item.standing]}`])];
  });
}
