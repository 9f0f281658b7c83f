import { refusalOf, tasksIn } from "../../protocol/index.ts";
import { version } from "../../config/version.ts";
import { attachPlain, type PlainEnd } from "../../surfaces/plain/index.ts";
import { cliTexts } from "../../texts/cli.ts";
import { sage as commandOf } from "../../texts/command.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/texts.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import { wantsColor } from "../style.ts";
import { person } from "../account.ts";
import { importHint } from "../import-hint.ts";
import { onLeave } from "../leaving.ts";
import type { Sage } from "../wiring.ts";

/** Where what goes wrong before a turn can begin is told. */
export type Late = { failed?: (error: unknown) => void };

export type Chat = { session: string; task: string | undefined; lang: Lang; late: Late; plain: boolean };

/** A conversation on this terminal, or with whatever is piped in. */
export async function chat(sage: Sage, chat: Chat): Promise<number> {
  if (chat.plain || !drawable(process.env)) return plainly(sage, chat);
  const { onTerminal } = await import("./terminal.ts");
  return onTerminal(sage, chat);
}

/** Where keys come from a keyboard and a screen can be drawn on. */
export function drawable(env: NodeJS.ProcessEnv): boolean {
  const { stdin, stdout, platform } = process;
  const term = env["TERM"] || (platform === "win32" ? "windows" : "dumb");
  return stdin.isTTY && stdout.isTTY && term !== "dumb" && !env["SAGE_PLAIN"];
}

async function plainly(sage: Sage, { session, task, lang, late }: Chat): Promise<number> {
  const { host, store, modelOf, home, config } = sage;
  console.log(cliTexts(lang).header(version, modelOf(session), session));
  const hint = process.stdin.isTTY ? importHint(home, config, lang) : undefined;
  if (hint !== undefined) console.log(hint);
  const leaving = onLeave(() => host.close());
  const plain = attachPlain(host, {
    session,
    task,
    lang,
    commands: {
      rewind: async (args) => (await import("./terminal/rewind.ts")).rewindLines(sage, session, args, lang),
      async tasks(args) {
        const { tasksText } = await import("../tasks.ts");
        return (await tasksText(tasksIn(store.load(session)).tasks, args, lang)).split("\n");
      },
    },
    input: process.stdin,
    output: process.stdout,
    color: wantsColor(process.stdout),
    by: person(),
    signal: leaving.signal,
  });
  late.failed = (error) => plain.failed(refusalOf(error));
  process.on("SIGINT", plain.interrupt);
  const end = await plain.done;
  if (leaving.signal.aborted) return leaving.code;
  if (store.session(session)?.title) console.log(texts(lang).resumeWith(commandOf(`--resume ${session}`)));
  return codeOf(end);
}

type End = Pick<PlainEnd, "waiting" | "last"> & { why: string };

export function codeOf({ why, waiting, last }: End): number {
  if (why === "interrupted") return exitCodes.interrupted;
  if (waiting > 0) return exitCodes.needsPerson;
  if (why !== "failed" && process.stdin.isTTY) return exitCodes.success;
  // Whatever was piped in came to its end: a script wants to know how far it went.
  return last ? exitCodeOf(last) : exitCodes.success;
}
