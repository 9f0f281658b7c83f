import { isFolder, sessionFolder } from "../../host/assembly/session-folder.ts";
import type { SessionRow } from "../../journal/store/store.ts";
import { ask } from "../../protocol/host/refusal.ts";
import { folderMovedKey } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { openLocalJournal, person } from "../host/journal.ts";
import { testHome, readInstallation, type Installation } from "../../config/home/home.ts";
import type { CliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import type { ChatCallbacks } from "./chat.ts";
import { exitCodes } from "../process/stdout.ts";
import { lastSessionIn, sessionToRun } from "../../view/find-session.ts";
import { usage } from "../process/flags.ts";
import { directory, executionOptions, ifSilent, readRunFlags, type RunFlags, type Values } from "./run-flags.ts";
import { guestChoice, absoluteModelSpec, modelOf, modelOfSession } from "../../host/assembly/model-choice.ts";
import { chooseMode, chooseModel, openSage, openStore, type Sage } from "../assemble/open-sage.ts";
import { isRemote, targetFor } from "../host/open-host.ts";
import { asksGuestTrust, asksTrust } from "../govern/trust-prompt.ts";

/** `sage [task]` and `sage -p`. */
export async function run(args: string[], commands: readonly string[]): Promise<number> {
  const flags = await readRunFlags(args, commands);
  const { values, words, lang, t } = flags;
  if (isRemote(values)) {
    const { runRemote } = await import("./run-remote.ts");
    return runRemote(await targetFor(values), values, { words, mode: flags.sessionMode, lang, t });
  }
  const { recording, replay, stand } = await standInsOf(values, lang);
  const loading: { sage?: Sage } = {};
  const given = executionOptions(values, t);
  const cwd = directory(values.cwd, t);
  const again = values.continue === true || values.resume !== undefined;

  const isTest = stand !== undefined || replay?.test === true;
  const installation = isTest ? forTests(readInstallation(process.env)) : readInstallation(process.env);
  const execution = {
    ...given,
    ...ifSilent(values["if-silent"], given, installation, t),
    ...(replay && { mode: replay.mode }),
    ...(stand && { mode: stand.personaMode(values.persona ?? "", async () => loaded(loading).ready(), lang) }),
  };
  const { home } = installation;
  const store = again ? openStore(home) : undefined;
  const wanted = values.resume === "" ? await chosenSession(values, cwd, lang) : values.resume;
  if (wanted === null) return exitCodes.success;
  const found =
    store && (wanted === undefined ? lastSessionIn(store.sessions(), cwd) : sessionToRun(store.sessions(), wanted));
  const folder = found ? folderToRun(found, values.resume === undefined ? undefined : values.cwd, { cwd, t }) : cwd;
  const named = values.replay === undefined ? values.model : `scripted/${values.replay}`;
  const spec = absoluteModelSpec(named) ?? (store && found && modelOfSession(store, found.id));
  // A model that is named for a new session means Sage itself.
  const other = values.agent ?? (named === undefined ? undefined : OURSELVES);
  const agent = await chooseAgent(installation, { named: other, session: found?.id, store });
  if (agent !== undefined) {
    if (values.persona !== undefined) throw usage(t.conflict("--persona", "--agent"));
    if (values.record !== undefined) recording?.refuseScript("--record", agent, lang);
  }
  const choice = agent === undefined ? modelOf(installation, spec, values["fallback-model"]) : guestChoice(agent);
  if (!choice) {
    const next = await withoutModel(t, lang, { args, asked: words !== undefined || again || values.print === true });
    return next === "again" ? run(args, commands) : next;
  }
  const plan: Plan = { flags, installation, folder, found, named, spec, agent };
  const asked = !values.print && process.stdin.isTTY && process.stdout.isTTY;
  if (asked && (await asksToTrust(plan)) === "leave") return exitCodes.success;
  const late: ChatCallbacks = {};
  const sage = await openSage({
    installation,
    choice,
    fallback: values["fallback-model"],
    store: store ?? openStore(home),
    cwd: plan.folder,
    lang,
    permissionMode: values.bypass ? "bypass" : "default",
    options: execution,
    asked,
    onModelError: (error) => late.failed?.(error),
  });
  loading.sage = sage;
  return converse(sage, plan, { recording, again, late });
}

/** Everything that is settled before Sage is opened. */
type Plan = {
  flags: RunFlags;
  installation: Installation;
  folder: string;
  /** The session to continue. */
  found: SessionRow | undefined;
  /** The model that was named for this run, and the one that the session keeps. */
  named: string | undefined;
  spec: string | undefined;
  /** The guest in Sage's place. */
  agent: string | undefined;
};

type Recording = typeof import("../record/recording.ts");

/** A recording, answers of one and a persona, which stand in for the model or for people. Loads what is asked for. */
async function standInsOf(values: Values, lang: Lang) {
  const recording = recordingOf(values) ? await import("../record/recording.ts") : undefined;
  recording?.checkFolders(values, lang);
  const replayed = values["replay-answers"];
  const replay = replayed === undefined ? undefined : await recording?.replayMode(replayed, lang);
  const stand = values.persona === undefined ? undefined : await import("./persona.ts");
  return { recording, replay, stand };
}

/** Asks for trust in what the folder brings along, for Sage and for a guest. */
async function asksToTrust({ installation, folder, agent, flags: { lang } }: Plan): Promise<"go on" | "leave"> {
  if ((await asksTrust(installation.home, folder, lang)) === "leave") return "leave";
  return agent === undefined ? "go on" : asksGuestTrust(installation, folder, lang);
}

/** Talks in a session until the person leaves, or until the task of `-p` has ended. */
async function converse(
  sage: Sage,
  plan: Plan,
  { recording, again, late }: { recording: Recording | undefined; again: boolean; late: ChatCallbacks },
): Promise<number> {
  const { values, words, format, lang, t } = plan.flags;
  let begun: string | undefined;
  const begin = async () => {
    begun = await openSession(sage, plan);
    await chooseMode(sage, begun, plan.flags.sessionMode);
    return begun;
  };
  try {
    if (!values.print) {
      const { chat } = await import("./chat.ts");
      return await chat(sage, { session: await begin(), task: words, lang, late, plain: values.plain === true });
    }
    const { readTask } = await import("./read-task.ts");
    const task = await readTask(words, { mayBeMissing: again }, t);
    if (task === undefined && !again) throw usage(t.nothingToDo);
    const { print } = await import("./print/print.ts");
    const session = await begin();
    const code = await print(sage, { session, task, format, lang });
    const replayed = values["replay-answers"];
    if (recording && replayed !== undefined && code === exitCodes.needsPerson)
      recording.tellUnanswered(sage.store, session, replayed, lang);
    return code;
  } finally {
    await sage.host.close();
    if (begun !== undefined) recording?.writeRecordings(plan.installation.home, begun, values, lang);
    await keepInOrder(plan.installation, lang);
  }
}

/** Opens the session, or continues the one that was found. A first turn that cannot begin leaves no session behind. */
async function openSession(sage: Sage, plan: Plan): Promise<string> {
  const { flags, installation, folder, named, spec, agent } = plan;
  const found = plan.found?.id;
  if (plan.found && plan.found.cwd !== folder && !isFolder(plan.found.cwd)) await noteMoved(sage, plan.found, folder);
  if (agent !== undefined) await guestMayRun(installation, agent, folder);
  else if (flags.words !== undefined || flags.values.print) await sage.ready();
  const model = agent === undefined ? spec !== undefined && { model: spec } : { agent };
  if (found !== undefined && agent === undefined) await chooseModel(sage, found, named);
  return found ?? (await ask(sage.host, { type: "open", cwd: folder, ...model })).session;
}

/** The session's folder, or the one to which it was moved, by the person's word. */
function folderToRun(found: SessionRow, named: string | undefined, { cwd, t }: { cwd: string; t: CliTexts }): string {
  if (named === undefined || cwd === found.cwd) return sessionFolder(found);
  if (isFolder(found.cwd)) throw usage(t.folderStays(found.id, found.cwd));
  if (found.owned) throw new SageError("session-owned", reason("session-runs", { session: found.id }));
  return cwd;
}

/** Trust in the new folder was asked for by then. */
async function noteMoved({ store }: Sage, { id, cwd: was }: SessionRow, cwd: string): Promise<void> {
  const data = { cwd, was, by: person(), surface: "cli" };
  const key = folderMovedKey(store.load(id).filter(({ type }) => type === "session.moved").length);
  const isStill = store.session(id)?.cwd === was;
  const noted = isStill && (await store.append(id, { key, type: "session.moved", at: Date.now(), data })).won;
  // Another process named a place at the same moment: rules and trust were read for this one.
  if (!noted) throw new SageError("session-owned", reason("session-changed", { session: id }));
}

/** Names Sage itself, where the settings name another agent. */
const OURSELVES = "sage";

type Wanted = Parameters<typeof import("./agent-choice.ts").agentFor>[1];

/** Nothing is loaded where nobody has named another agent, now or for the session. */
async function chooseAgent(installation: Installation, wanted: Wanted): Promise<string | undefined> {
  const { named, session, store } = wanted;
  const isOurs = named === OURSELVES || (named === undefined && installation.settings.agent === undefined);
  if (isOurs && (session === undefined || store?.opened(session)?.agent === undefined)) return undefined;
  return (await import("./agent-choice.ts")).agentFor(installation, wanted);
}

/** Throws where it would follow settings of the folder that nobody has trusted. */
async function guestMayRun({ home, settings }: Installation, agent: string, cwd: string): Promise<void> {
  const { guestOf } = await import("../../host/guests/guests.ts");
  await guestOf(agent, { cwd, home, env: process.env, ...(settings.agents && { settings: settings.agents }) });
}

/** A run with a persona is a test: it has a journal of its own, in which nobody else's sessions are. */
function forTests(installation: Installation): Installation {
  return { ...installation, home: testHome(installation.home) };
}

/** The persona answers once the run has begun, and with its model. */
function loaded({ sage }: { sage?: Sage }): Sage {
  if (!sage) throw new Error("the persona was asked before the run had begun");
  return sage;
}

/** Null where the person chose none. */
async function chosenSession(values: Values, cwd: string, lang: Lang): Promise<string | null> {
  const { chooseSession } = await import("../record/sessions/pick-session.ts");
  const { canDraw } = await import("./chat.ts");
  const { host } = openLocalJournal(process.env, { looks: true });
  const { sessions } = await ask(host, { type: "sessions" });
  await host.close();
  return chooseSession(sessions, { cwd, lang, screen: !values.print && values.plain !== true && canDraw(process.env) });
}

/** Nothing is opened where the settings say nothing about it. */
async function keepInOrder(installation: Installation, lang: Lang): Promise<void> {
  if (!installation.settings.retention) return;
  const { applyRetention } = await import("../record/sessions/retention.ts");
  const store = openStore(installation.home);
  await applyRetention(store, installation, lang);
  store.close();
}

function recordingOf(values: Values): boolean {
  return [values.record, values["record-answers"], values["replay-answers"]].some((path) => path !== undefined);
}

/** A person is asked what to do; a script hears what is missing, or sees the demo where it asked for nothing. */
async function withoutModel(t: CliTexts, lang: Lang, { args, asked }: { args: string[]; asked: boolean }) {
  const flags = args.filter((arg, n) => arg.startsWith("--lang") || args[n - 1] === "--lang");
  const play = async () => (await import("./demo.ts")).demo(flags);
  const alone = args.includes("-p") || args.includes("--print");
  if (!alone && process.stdin.isTTY && process.stdout.isTTY) {
    const { firstRun } = await import("../setup/setup.ts");
    const next = await firstRun(lang);
    return next === "set up" ? "again" : next === "demo" ? play() : exitCodes.success;
  }
  console.error(`sage: ${asked ? t.noModel : t.soTheDemo}`);
  if (!asked) return play();
  console.error(`sage: ${t.demoHint}`);
  return exitCodes.usage;
}
