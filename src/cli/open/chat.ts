import { refusalOf } from "../../protocol/host/refusal.ts";
import { version } from "../../config/version.ts";
import { attachPlain, type PlainEnd } from "../../surfaces/plain/index.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { sage as commandOf } from "../../texts/command.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { wantsColor, exitCodeOf, exitCodes } from "../process/stdout.ts";
import { importHint } from "./import-hint.ts";
import { onTermination, watchJournal } from "../process/termination.ts";
import { asksToType } from "../answer/challenge.ts";
import { findSession, type HostClient } from "../host/host-client.ts";

/** Told of problems before a turn can begin. */
export type ChatCallbacks = { failed?: (error: unknown) => void };

export type Chat = { session: string; task: string | undefined; lang: Lang; late: ChatCallbacks; plain: boolean };

export async function chat(seat: HostClient, chat: Chat): Promise<number> {
  if (chat.plain || !canDraw(process.env)) return plainly(seat, chat);
  const { onTerminal } = await import("./terminal.ts");
  return onTerminal(seat, chat);
}

/** True where keys come from a keyboard and a screen can be drawn on. */
export function canDraw(env: NodeJS.ProcessEnv): boolean {
  const { stdin, stdout, platform } = process;
  const term = env["TERM"] || (platform === "win32" ? "windows" : "dumb");
  return stdin.isTTY && stdout.isTTY && term !== "dumb" && !env["SAGE_PLAIN"];
}

async function plainly(seat: HostClient, { session, task, lang, late }: Chat): Promise<number> {
  const { host, home, here, by, surface } = seat;
  const look = await seat.look(session);
  console.log(cliTexts(lang).header(version, look.model, session));
  const hint = here && process.stdin.isTTY ? importHint(home, here.config, lang) : undefined;
  if (hint !== undefined) console.log(hint);
  const leaving = onTermination(() => host.close());
  const journal = watchJournal(here?.store);
  const acts = async () => (await import("./terminal/acts.ts")).fileActs(seat, session, lang);
  const plain = attachPlain(host, {
    session,
    task,
    lang,
    acts: {
      tasks: here && (async (args) => (await acts()).tasks(args)),
      export: async (args) => (await acts()).exports(args),
    },
    own: () => look.invocable,
    input: process.stdin,
    output: process.stdout,
    color: wantsColor(process.stdout),
    by,
    ...(surface !== undefined && { surface }),
    // Nobody presses a key of a pipe.
    ...(!process.stdin.isTTY && {
      refuses: (request, response) => (asksToType(request, response) ? cliTexts(lang).nowhereToType : undefined),
    }),
    signal: AbortSignal.any([leaving.signal, journal.signal]),
  });
  late.failed = (error) => plain.failed(refusalOf(error));
  process.on("SIGINT", plain.interrupt);
  const end = await plain.done;
  if (leaving.signal.aborted) return leaving.code;
  const problem = journal.problem();
  if (problem) throw problem;
  if ((await findSession(host, session))?.title)
    console.log(texts(lang).resumeWith(commandOf(`${seat.flag}--resume ${session}`)));
  return chatExitCode(end);
}

export function chatExitCode({ why, waiting, last }: Pick<PlainEnd, "waiting" | "last"> & { why: string }): number {
  if (why === "interrupted") return exitCodes.interrupted;
  if (waiting > 0) return exitCodes.needsPerson;
  if (why !== "failed" && process.stdin.isTTY) return exitCodes.success;
  // Piped input has ended: the exit code tells a script how far it got.
  return last ? exitCodeOf(last) : exitCodes.success;
}
