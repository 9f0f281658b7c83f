import { homedir } from "node:os";
import { join } from "node:path";
import { ask, refusalOf } from "../../protocol/host/refusal.ts";
import { ownRedaction } from "../host/redaction.ts";
import { version } from "../../config/version.ts";
import { attachTerminal, type TerminalOptions } from "../../surfaces/terminal/index.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { sage as commandOf } from "../../texts/command.ts";
import { texts } from "../../texts/shared/texts.ts";
import { codeOf, type Chat } from "./chat.ts";
import { importHint } from "./import-hint.ts";
import { onLeave } from "../process/termination.ts";
import { sessionOf, type Look, type Seat } from "../host/host-client.ts";
import { createRuleTrials } from "./terminal/rule-trials.ts";
import { createHistory } from "./terminal/history.ts";
import { ownEditor, ownNotice, ownShell, sleep } from "./terminal/programs.ts";
import { createPlace, ownStatusLine } from "./terminal/status-line.ts";
import { terminalActs } from "./terminal/acts.ts";

/** A conversation on a screen that Sage draws. */
export async function onTerminal(seat: Seat, { lang, late, ...chat }: Chat): Promise<number> {
  const { host, here } = seat;
  let { session, task } = chat;
  const leaving = onLeave(() => host.close());
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
      signal: leaving.signal,
    });
    late.failed = (error) => terminal.failed(refusalOf(error));
    process.on("SIGINT", terminal.interrupt);
    const end = await terminal.done;
    process.off("SIGINT", terminal.interrupt);
    if (leaving.signal.aborted) return leaving.code;
    if (end.session === undefined) {
      if ((await sessionOf(host, session))?.title)
        console.log(texts(lang).resumeWith(commandOf(`${seat.flag}--resume ${session}`)));
      return codeOf(end);
    }
    [session, task, hint] = [end.session, undefined, undefined];
  }
}

function optionsOf(seat: Seat, look: Look) {
  const { by, surface, home, cwd, settings, here } = seat;
  const invocable = [...look.invocable];
  // The screen does not wait for them.
  look.prompts().then(
    (all) => invocable.push(...all),
    () => {}, // they can still be typed
  );
  const { env } = process;
  const edit = ownEditor(env);
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
      shell: ownShell(cwd, env, ownRedaction(env).text),
      clipboard: async () => (await import("./terminal/clipboard.ts")).ownClipboard(join(home.dir, "clipboard"), env)(),
      tryRule: createRuleTrials(here.store, cwd, () => here.config.rules),
    }),
    place: here ? createPlace(cwd, homedir()) : () => ({ folder: look.cwd }),
    ...(look.sandbox && { sandbox: look.sandbox }),
    window: look.window,
    ...(theme !== undefined && { theme }),
    ...(editor !== undefined && { editor }),
    ...(statusLine && { statusLine: ownStatusLine(statusLine.command, { cwd, env }) }),
    ...(edit && { edit }),
    ...(command !== undefined && { notify: ownNotice(command, env) }),
    ...(process.platform !== "win32" && { sleep }),
  } satisfies Partial<TerminalOptions>;
}
