import { attempt } from "../../base/attempt.ts";
import { ask } from "../../protocol/host/refusal.ts";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { hash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { refusalOf } from "../../protocol/host/refusal.ts";
import { ownRedaction } from "../host/redaction.ts";
import { version } from "../../config/version.ts";
import { type TerminalOptions, attachTerminal } from "../../surfaces/terminal/index.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { sage as commandOf } from "../../texts/command.ts";
import { texts } from "../../texts/shared/texts.ts";
import { type Chat, chatExitCode } from "./chat.ts";
import { importHint } from "./import-hint.ts";
import { onTermination, watchJournal } from "../process/termination.ts";
import { type HostClient, type SessionScreen, findSession } from "../host/host-client.ts";
import { personEditor, personNotifier, personShell, suspend } from "./terminal/programs.ts";
import { createFolderLabel, customStatusLine } from "./terminal/status-line.ts";
import { terminalActs } from "./terminal/acts.ts";
import type { Home } from "../../config/home/home.ts";

const MAX_ENTRIES = 500;

/** A conversation on a screen that Sage draws. */
export async function onTerminal(seat: HostClient, { lang, late, ...chat }: Chat): Promise<number> {
  const { host, here } = seat;
  let { session, task } = chat;
  const leaving = onTermination(() => host.close());
  const journal = watchJournal(here?.store);
  let hint = here && importHint(seat.home, here.config, lang);
  for (;;) {
    const look = await seat.look(session);
    const terminal = attachTerminal(host, {
      ...optionsOf(seat, look),
      session,
      task,
      lang,
      files: async (query) => (await ask(host, { type: "files", session, query })).files,
      header: [cliTexts(lang).header(version, look.model, session), ...(hint === undefined ? [] : [hint])].join("\n"),
      model: look.model,
      acts: terminalActs(seat, session, lang),
      ready: seat.ready,
      signal: AbortSignal.any([leaving.signal, journal.signal]),
    });
    late.failed = (error) => terminal.failed(refusalOf(error));
    process.on("SIGINT", terminal.interrupt);
    const end = await terminal.done;
    process.off("SIGINT", terminal.interrupt);
    if (leaving.signal.aborted) return leaving.code;
    const problem = journal.problem();
    if (problem) throw problem;
    if (end.session === undefined) {
      if ((await findSession(host, session))?.title)
        console.log(texts(lang).resumeWith(commandOf(`${seat.flag}--resume ${session}`)));
      return chatExitCode(end);
    }
    [session, task, hint] = [end.session, undefined, undefined];
  }
}

function optionsOf(seat: HostClient, look: SessionScreen) {
  const { by, surface, home, cwd, settings, here } = seat;
  const invocable = [...look.invocable];
  // The screen does not wait for them.
  look.prompts().then(
    (all) => invocable.push(...all),
    () => {}, // they can still be typed
  );
  const { env } = process;
  const edit = personEditor(env);
  const { notify, theme, editor, statusLine } = here?.config.settings ?? settings;
  const command = notify?.command;
  return {
    by,
    ...(surface !== undefined && { surface }),
    env,
    logDirectory: home.dir,
    history: createHistory(home, `${seat.flag}${look.cwd}`),
    own: () => invocable,
    ...(here && {
      shell: personShell(cwd, env, ownRedaction(env).text),
      clipboard: async () =>
        (await import("./terminal/clipboard.ts")).systemClipboard(join(home.dir, "clipboard"), env)(),
    }),
    place: here ? createFolderLabel(cwd, homedir()) : () => ({ folder: look.cwd }),
    ...(look.sandbox && { sandbox: look.sandbox }),
    window: look.window,
    ...(theme !== undefined && { theme }),
    ...(editor !== undefined && { editor }),
    ...(statusLine && { statusLine: customStatusLine(statusLine.command, { cwd, env }) }),
    ...(edit && { edit }),
    ...(command !== undefined && { notify: personNotifier(command, env) }),
    ...(process.platform !== "win32" && { sleep: suspend }),
  } satisfies Partial<TerminalOptions>;
}

/** Messages that a person sent in a project, for the ↑ key; readable by them alone. Losing it must never stop anything. */
export function createHistory(home: Home, cwd: string): { load(): readonly string[]; add(text: string): void } {
  const file = join(home.dir, "history", `${hash("sha256", cwd).slice(0, 16)}.jsonl`);
  const read = () => attempt(() => readFileSync(file, "utf8").split("\n").filter(Boolean).flatMap(parse)) ?? [];
  return {
    load() {
      const all = read();
      if (all.length > 2 * MAX_ENTRIES)
        attempt(() => writeFileSync(file, all.slice(-MAX_ENTRIES).map(line).join(""), { mode: 0o600 }));
      return all.slice(-MAX_ENTRIES);
    },
    // A full disk is reported by the journal.
    add: (text) =>
      attempt(() => {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, line(text), { mode: 0o600 });
      }),
  };
}

function line(text: string): string {
  return `${JSON.stringify(text)}\n`;
}

/** A line that was torn by a full disk is left out. */
function parse(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}
