import { homedir } from "node:os";
import { join } from "node:path";
import { contextWindow } from "../../models/window.ts";
import { refusalOf } from "../../protocol/index.ts";
import { ownRedaction } from "../redaction.ts";
import { version } from "../../config/version.ts";
import { attachTerminal, type TerminalOptions } from "../../surfaces/terminal/index.ts";
import { cliTexts } from "../../texts/cli.ts";
import { sage as commandOf } from "../../texts/command.ts";
import { texts } from "../../texts/texts.ts";
import { codeOf, type Chat } from "./chat.ts";
import { person } from "../account.ts";
import { ask } from "../journal.ts";
import { importHint } from "../import-hint.ts";
import { onLeave } from "../leaving.ts";
import type { Sage } from "../wiring.ts";
import { createRuleTrials } from "./terminal/rule-trials.ts";
import { createHistory } from "./terminal/history.ts";
import { ownEditor, ownNotice, ownShell, sleep } from "./terminal/programs.ts";
import { createPlace, ownStatusLine } from "./terminal/status-line.ts";
import { slashCommands } from "./terminal/slash.ts";

/** A conversation on a screen that Sage draws. */
export async function onTerminal(sage: Sage, { lang, late, ...chat }: Chat): Promise<number> {
  const { host, store } = sage;
  let { session, task } = chat;
  const leaving = onLeave(() => host.close());
  const given = optionsOf(sage);
  let hint = importHint(sage.home, sage.config, lang);
  for (;;) {
    const model = sage.modelOf(session);
    const terminal = attachTerminal(host, {
      ...given,
      session,
      task,
      lang,
      files: async (query) => (await ask(host, { type: "files", session, query })).files,
      header: [cliTexts(lang).header(version, model, session), ...(hint === undefined ? [] : [hint])].join("\n"),
      model,
      commands: slashCommands(sage, session, lang),
      signal: leaving.signal,
    });
    late.failed = (error) => terminal.failed(refusalOf(error));
    process.on("SIGINT", terminal.interrupt);
    const end = await terminal.done;
    process.off("SIGINT", terminal.interrupt);
    if (leaving.signal.aborted) return leaving.code;
    if (end.session === undefined) {
      if (store.session(session)?.title) console.log(texts(lang).resumeWith(commandOf(`--resume ${session}`)));
      return codeOf(end);
    }
    [session, task, hint] = [end.session, undefined, undefined];
  }
}

function optionsOf({ home, cwd, config, skills, commands, prompts, store }: Sage) {
  const named = ({ name, description }: { name: string; description: string }) => ({ name, hint: description });
  const invocable = [...commands, ...skills.filter(({ userInvocable }) => userInvocable)].map(named);
  // The screen does not wait for them.
  prompts().then(
    (all) => invocable.push(...all.map(named)),
    () => {}, // they can still be typed
  );
  const { env } = process;
  const edit = ownEditor(env);
  const { notify, theme, editor, statusLine } = config.settings;
  const command = notify?.command;
  return {
    by: person(),
    env,
    logDirectory: home.dir,
    history: createHistory(home, cwd),
    skills: invocable,
    shell: ownShell(cwd, env, ownRedaction(env).text),
    clipboard: async () => (await import("./terminal/clipboard.ts")).ownClipboard(join(home.dir, "clipboard"), env)(),
    place: createPlace(cwd, homedir()),
    ...(config.sandbox.mode !== "off" && { sandbox: config.sandbox.mode }),
    tryRule: createRuleTrials(store, cwd, () => config.rules),
    window: (model) => config.settings.maxContextTokens ?? contextWindow(model),
    ...(theme !== undefined && { theme }),
    ...(editor !== undefined && { editor }),
    ...(statusLine && { statusLine: ownStatusLine(statusLine.command, { cwd, env }) }),
    ...(edit && { edit }),
    ...(command !== undefined && { notify: ownNotice(command, env) }),
    ...(process.platform !== "win32" && { sleep }),
  } satisfies Partial<TerminalOptions>;
}
