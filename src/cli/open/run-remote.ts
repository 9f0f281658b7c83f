import { ask } from "../../protocol/host/refusal.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import type { CliTexts } from "../../texts/commands/cli.ts";
import { hostsTexts } from "../../texts/serve/hosts.ts";
import type { Lang } from "../../texts/language.ts";
import { sessionToRun } from "../../view/find-session.ts";
import { connectRemoteHost, explainConnectError, remoteHostClient } from "../host/remote-host.ts";
import { exitCodes } from "../process/stdout.ts";
import { usage } from "../process/flags.ts";
import type { HostTarget } from "../host/paired-hosts.ts";
import { chooseSession } from "../record/sessions/pick-session.ts";
import { senderAt, type HostClient } from "../host/host-client.ts";
import { chat, canDraw } from "./chat.ts";

type Flags = Readonly<Record<string, unknown>> & {
  cwd?: string | undefined;
  model?: string | undefined;
  resume?: string | undefined;
  continue?: boolean | undefined;
  plain?: boolean | undefined;
};

/** Flags that mean something on a host that is elsewhere. The others are for a turn that this process runs. */
const taken = ["host", "lang", "plain", "cwd", "model", "mode", "plan", "continue", "resume"];

type Task = { words: string | undefined; mode: SessionMode | undefined; lang: Lang; t: CliTexts };

/** `sage --host box`: a conversation with an agent that works on another machine. */
export async function runRemote(target: HostTarget, values: Flags, task: Task): Promise<number> {
  const { words, mode, lang } = task;
  const w = hostsTexts(lang);
  for (const [flag, given] of Object.entries(values))
    if (given !== undefined && !taken.includes(flag)) throw usage(w.notWith(`--${flag}`));
  if (values.resume !== undefined && values.cwd !== undefined) throw usage(task.t.conflict("--resume", "--cwd"));
  const plain = values.plain === true || !canDraw(process.env);
  const elsewhere = await connectRemoteHost(target, { surface: plain ? "plain" : "tui", lang });
  const seat = remoteHostClient(elsewhere, target);
  const { host } = seat;
  try {
    const session = await sessionFor(seat, values, { ...task, screen: !plain });
    if (session === undefined) return exitCodes.success;
    const sender = senderAt(seat, plain ? "plain" : "tui");
    if (mode !== undefined) await ask(host, { type: "chooseMode", session, mode, ...sender });
    return await chat(seat, { session, task: words, lang, late: {}, plain });
  } catch (error) {
    throw explainConnectError(error, elsewhere.address);
  } finally {
    await host.close();
  }
}

/** Undefined where the person was asked and chose none. */
async function sessionFor(
  seat: HostClient,
  { cwd, model, resume, continue: goesOn }: Flags,
  { lang, screen }: Task & { screen: boolean },
): Promise<string | undefined> {
  const { host } = seat;
  const w = hostsTexts(lang);
  if (resume === undefined && !goesOn) {
    const named = model === undefined ? {} : { model };
    return (await ask(host, { type: "open", cwd: await chooseFolder(seat, cwd, lang), ...named })).session;
  }
  const { sessions } = await ask(host, { type: "sessions" });
  const folder = cwd === undefined ? undefined : await remotePath(seat, cwd);
  const here = sessions.filter((session) => session.title !== "" && (folder === undefined || session.cwd === folder));
  if (here.length === 0 && !resume) throw usage(w.noSessions);
  const found = resume
    ? sessionToRun(sessions, resume).id
    : goesOn
      ? here.toSorted((a, b) => b.lastAt - a.lastAt)[0]?.id
      : await chooseSession(here, { cwd: folder, lang, screen });
  if (found === null || found === undefined) return undefined;
  if (model !== undefined)
    await ask(host, { type: "choose", session: found, model, ...senderAt(seat, screen ? "tui" : "plain") });
  return found;
}

/** Folders of the host have names; where there is one alone, it need not be named. */
async function chooseFolder({ host }: HostClient, given: string | undefined, lang: Lang): Promise<string> {
  if (given !== undefined) return given;
  const { folders } = await ask(host, { type: "about" });
  const [only, ...others] = folders;
  const w = hostsTexts(lang);
  if (!only) throw usage(w.noFolders);
  if (others.length > 0) throw usage(w.whichFolder(folders.map(({ name }) => name)));
  return only.name;
}

async function remotePath({ host }: HostClient, name: string): Promise<string> {
  const { folders } = await ask(host, { type: "about" });
  return folders.find((folder) => folder.name === name)?.cwd ?? name;
}
