import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { testHome } from "../../config/home.ts";
import { readInstallation, type Installation } from "../../config/installation.ts";
import { silenceOptions } from "../../config/silence.ts";
import {
  closest,
  efforts,
  modeWords,
  type Effort,
  type ExecutionMode,
  type ExecutionOptions,
  type SessionMode,
} from "../../protocol/index.ts";
import type { CliTexts } from "../../texts/cli.ts";
import type { Lang } from "../../texts/language.ts";
import type { Late } from "../run/chat.ts";
import { person } from "../account.ts";
import { exitCodes } from "../exit-codes.ts";
import { lastSessionIn, sessionToRun } from "../../view/find-session.ts";
import { count, duration, readFlags, usage, type Flags } from "../flags.ts";
import { formats, type Format } from "../run/format.ts";
import { ask, openLocalJournal } from "../journal.ts";
import { guestChoice, lastingSpec, modelOf, modelOfSession } from "../model-choice.ts";
import { goOnIn, goOnWith, openSage, openStore, type Sage } from "../wiring.ts";
import { hostFlag, isElsewhere, targetFor } from "../host-flag.ts";
import { asksTrust } from "../trust-prompt.ts";

const options = {
  print: { type: "boolean", short: "p" },
  "output-format": { type: "string" },
  yes: { type: "boolean" },
  deny: { type: "boolean" },
  bypass: { type: "boolean" },
  mode: { type: "string" },
  plan: { type: "boolean" },
  model: { type: "string" },
  agent: { type: "string" },
  "fallback-model": { type: "string" },
  effort: { type: "string" },
  "max-steps": { type: "string" },
  "max-tokens": { type: "string" },
  timeout: { type: "string" },
  "prompt-timeout": { type: "string" },
  "if-silent": { type: "string" },
  continue: { type: "boolean", short: "c" },
  resume: { type: "string", short: "r" },
  cwd: { type: "string" },
  record: { type: "string" },
  replay: { type: "string" },
  "record-answers": { type: "string" },
  "replay-answers": { type: "string" },
  persona: { type: "string" },
  plain: { type: "boolean" },
  ...hostFlag,
} as const;

type Values = Flags<typeof options>["values"];

/** `sage [task]` and `sage -p`. */
export async function run(args: string[], commands: readonly string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(bareResume(args), options);
  if (values.engine !== undefined)
    throw usage((await import("../../texts/cluster.ts")).clusterTexts(lang).peopleComeIn);
  const words = positionals.length === 0 ? undefined : positionals.join(" ");
  checkFlags(values, t);
  if (!values.print) checkCommand(positionals, commands, t);
  const format = formatOf(values, t);
  const sessionMode = sessionModeOf(values, t);
  if (isElsewhere(values)) {
    const { runElsewhere } = await import("../run/elsewhere.ts");
    return runElsewhere(await targetFor(values), values, { words, mode: sessionMode, lang, t });
  }
  const recording = recordingOf(values) ? await import("../run/recording.ts") : undefined;
  recording?.checkFolders(values, lang);
  const replayed = values["replay-answers"];
  const replay = replayed === undefined ? undefined : await recording?.replayMode(replayed, lang);
  const stand = values.persona === undefined ? undefined : await import("../run/persona.ts");
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
  const named = values.replay === undefined ? values.model : `scripted/${values.replay}`;
  const spec = lastingSpec(named) ?? (store && found && modelOfSession(store, found.id));
  // A model that is named for a new session means Sage itself.
  const other = values.agent ?? (named === undefined ? undefined : OURSELVES);
  const agent = await agentOf(installation, { named: other, session: found?.id, store });
  if (agent !== undefined) {
    if (values.persona !== undefined) throw usage(t.conflict("--persona", "--agent"));
    if (values.record !== undefined) recording?.refuseScript("--record", agent, lang);
  }
  const choice = agent === undefined ? modelOf(installation, spec, values["fallback-model"]) : guestChoice(agent);
  if (!choice) {
    const next = await withoutModel(t, lang, { args, asked: words !== undefined || again || values.print === true });
    return next === "again" ? run(args, commands) : next;
  }
  const asked = !values.print && process.stdin.isTTY && process.stdout.isTTY;
  if (asked && (await asksTrust(home, found?.cwd ?? cwd, lang)) === "leave") return exitCodes.success;
  if (asked && agent !== undefined && (await guestTrusted(installation, found?.cwd ?? cwd, lang)) === "leave")
    return exitCodes.success;
  const late: Late = {};
  const sage = await openSage({
    installation,
    choice,
    fallback: values["fallback-model"],
    store: store ?? openStore(home),
    cwd: found?.cwd ?? cwd,
    lang,
    permissionMode: values.bypass ? "bypass" : "default",
    options: execution,
    asked,
    onModelError: (error) => late.failed?.(error),
  });
  loading.sage = sage;
  let begun: string | undefined;
  const session = async () => {
    // A first turn that cannot begin leaves no session behind.
    if (agent !== undefined) await guestMayRun(installation, agent, found?.cwd ?? cwd);
    else if (words !== undefined || values.print) await sage.ready();
    const model = agent === undefined ? spec !== undefined && { model: spec } : { agent };
    if (found && agent === undefined) await goOnWith(sage, found.id, named);
    begun = found?.id ?? (await ask(sage.host, { type: "open", cwd, ...model })).session;
    await goOnIn(sage, begun, sessionMode);
    return begun;
  };
  try {
    if (!values.print) {
      const { chat } = await import("../run/chat.ts");
      return await chat(sage, { session: await session(), task: words, lang, late, plain: values.plain === true });
    }
    const { readTask } = await import("../run/stdin.ts");
    const task = await readTask(words, { mayBeMissing: again }, t);
    if (task === undefined && !again) throw usage(t.nothingToDo);
    const { print } = await import("../run/print.ts");
    const code = await print(sage, { session: await session(), task, format, lang });
    if (recording && replayed !== undefined && code === exitCodes.needsPerson && begun !== undefined)
      recording.tellUnanswered(sage.store, begun, replayed, lang);
    return code;
  } finally {
    await sage.host.close();
    if (begun !== undefined) recording?.writeRecordings(home, begun, values, lang);
    await keepInOrder(installation, lang);
  }
}

/** Names Sage itself, where the settings name another agent. */
const OURSELVES = "sage";

type Wanted = Parameters<typeof import("../agent-choice.ts").agentFor>[1];

/** Nothing is loaded where nobody has named another agent, now or for the session. */
async function agentOf(installation: Installation, wanted: Wanted): Promise<string | undefined> {
  const { named, session, store } = wanted;
  const isOurs = named === OURSELVES || (named === undefined && installation.settings.agent === undefined);
  if (isOurs && (session === undefined || store?.opened(session)?.agent === undefined)) return undefined;
  return (await import("../agent-choice.ts")).agentFor(installation, wanted);
}

/** Throws where it would follow settings of the folder that nobody has trusted. */
async function guestMayRun({ home, settings }: Installation, agent: string, cwd: string): Promise<void> {
  const { guestOf } = await import("../../host/guests.ts");
  await guestOf(agent, { cwd, home, env: process.env, ...(settings.agents && { settings: settings.agents }) });
}

async function guestTrusted(installation: Installation, cwd: string, lang: Lang): Promise<"go on" | "leave"> {
  return (await import("../agent-choice.ts")).asksGuestTrust(installation, cwd, lang);
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

function checkFlags(values: Values, t: CliTexts): void {
  if (values.plan && values.mode !== undefined) throw usage(t.conflict("--plan", "--mode"));
  if (values.yes && values.deny) throw usage(t.conflict("--yes", "--deny"));
  if (values.bypass && values.deny) throw usage(t.conflict("--bypass", "--deny"));
  if (values.continue && values.resume !== undefined) throw usage(t.conflict("--continue", "--resume"));
  if (values.resume !== undefined && values.cwd !== undefined) throw usage(t.conflict("--resume", "--cwd"));
  for (const flag of ["yes", "deny"] as const)
    if (values[flag] && values["replay-answers"] !== undefined)
      throw usage(t.conflict(`--${flag}`, "--replay-answers"));
  for (const flag of ["yes", "deny", "bypass", "replay-answers"] as const)
    if (values[flag] && values.persona !== undefined) throw usage(t.conflict(`--${flag}`, "--persona"));
  if (values.persona !== undefined && !values.print) throw usage(t.only("--persona", "-p"));
  for (const flag of ["model", "replay", "fallback-model", "effort"] as const)
    if (values[flag] !== undefined && values.agent !== undefined) throw usage(t.conflict(`--${flag}`, "--agent"));
  if (values.replay !== undefined && values.model !== undefined) throw usage(t.conflict("--replay", "--model"));
  if (values["replay-answers"] !== undefined && !values.print) throw usage(t.only("--replay-answers", "-p"));
  if (values["output-format"] !== undefined && !values.print) throw usage(t.only("--output-format", "-p"));
}

/** `sage --resume` without an id: the person chooses. */
function bareResume(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, n) => {
    const bare = (arg === "--resume" || arg === "-r") && (end < 0 || n < end);
    const next = args[n + 1];
    return bare && (next === undefined || next.startsWith("-")) ? "--resume=" : arg;
  });
}

/** Null where the person chose none. */
async function chosenSession(values: Values, cwd: string, lang: Lang): Promise<string | null> {
  const { chooseSession } = await import("../pick-session.ts");
  const { drawable } = await import("../run/chat.ts");
  const { host } = openLocalJournal(process.env, { looks: true });
  const { sessions } = await ask(host, { type: "sessions" });
  await host.close();
  return chooseSession(sessions, {
    ...{ cwd, lang },
    screen: !values.print && values.plain !== true && drawable(process.env),
  });
}

/** Nothing is opened where the settings say nothing about it. */
async function keepInOrder(installation: Installation, lang: Lang): Promise<void> {
  if (!installation.settings.retention) return;
  const { applyRetention } = await import("../retention.ts");
  const store = openStore(installation.home);
  await applyRetention(store, installation, lang);
  store.close();
}

function recordingOf(values: Values): boolean {
  return [values.record, values["record-answers"], values["replay-answers"]].some((path) => path !== undefined);
}

/** A mistyped command would cost a call to the model. */
function checkCommand(positionals: readonly string[], commands: readonly string[], t: CliTexts): void {
  const [word = ""] = positionals;
  const meant = positionals.length === 1 && /^\w+$/.test(word) ? closest(word, commands, 1) : undefined;
  if (meant) throw usage(t.didYouMean(word, meant));
}

function formatOf(values: Values, t: CliTexts): Format {
  const asked = values["output-format"] ?? "text";
  const format = formats.find((one) => one === asked);
  if (!format) throw usage(t.expected("--output-format", t.oneOf(formats), asked));
  return format;
}

/** The mode that is asked for; without one a session stays in the mode that it is in. */
function sessionModeOf({ plan, mode }: Values, t: CliTexts): SessionMode | undefined {
  const named = plan ? "plan" : mode;
  if (named === undefined) return undefined;
  const words = Object.keys(modeWords);
  const found = Object.entries(modeWords).find(([word, value]) => word === named || value === named);
  if (!found) throw usage(t.expected("--mode", t.oneOf(words), named));
  return found[1];
}

function executionOptions(values: Values, t: CliTexts): Partial<ExecutionOptions> {
  const maxSteps = count("--max-steps", values["max-steps"], t);
  const maxOutputTokens = count("--max-tokens", values["max-tokens"], t);
  const executionTimeout = duration("--timeout", values.timeout, t);
  const promptTimeout = duration("--prompt-timeout", values["prompt-timeout"], t);
  const effort = effortOf(values.effort, t);
  return {
    mode: modeOf(values),
    ...(maxSteps !== undefined && { maxSteps }),
    llmOptions: { ...(maxOutputTokens !== undefined && { maxOutputTokens }), ...(effort && { effort }) },
    ...(executionTimeout !== undefined && { executionTimeout }),
    ...(promptTimeout !== undefined && { promptTimeout }),
  };
}

function effortOf(given: string | undefined, t: CliTexts): Effort | undefined {
  const effort = efforts.find((one) => one === given);
  if (given !== undefined && !effort) throw usage(t.expected("--effort", t.oneOf(efforts), given));
  return effort;
}

const silentWords = ["wait", "fail", "deny", "escalate"] as const;
const SILENT_AFTER_MS = 10 * 60_000;

/** The policy for requests of this run that nobody answers; the settings say when, and who else is asked. */
function ifSilent(
  given: string | undefined,
  { promptTimeout }: Partial<ExecutionOptions>,
  { settings }: Installation,
  t: CliTexts,
): Partial<ExecutionOptions> {
  if (given === undefined) return {};
  const word = silentWords.find((one) => one === given);
  if (word === undefined) throw usage(t.expected("--if-silent", t.oneOf(silentWords), given));
  if (word === "wait") return { timeoutPolicy: word };
  const said = silenceOptions(settings);
  const after = { promptTimeout: promptTimeout ?? said.promptTimeout ?? SILENT_AFTER_MS };
  if (word !== "escalate") return { ...after, timeoutPolicy: word };
  const { timeoutPolicy } = said;
  const named = typeof timeoutPolicy === "object" && "escalate" in timeoutPolicy ? timeoutPolicy.escalate : [];
  const approvers = Object.entries(settings.people ?? {}).flatMap(([name, { roles }]) =>
    roles.includes("approver") && name !== person(settings) ? [name] : [],
  );
  const escalate = named.length > 0 ? named : approvers;
  if (escalate.length === 0) throw usage(t.nobodyElse);
  return { ...after, timeoutPolicy: { escalate, end: "deny" } };
}

function modeOf({ yes, deny, print }: Values): ExecutionMode {
  if (yes) return { type: "nonInteractive", autoResponse: "alwaysAllow" };
  if (deny) return { type: "nonInteractive", autoResponse: "alwaysDeny" };
  return { type: print ? "batch" : "interactive" };
}

function directory(path: string | undefined, t: CliTexts): string {
  const cwd = resolve(path ?? ".");
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw usage(t.noDirectory(cwd));
  return realpathSync(cwd);
}

/** A person is asked what to do; a script hears what is missing, or sees the demo where it asked for nothing. */
async function withoutModel(
  t: CliTexts,
  lang: Lang,
  { args, asked }: { args: string[]; asked: boolean },
): Promise<number | "again"> {
  const flags = args.filter((arg, n) => arg.startsWith("--lang") || args[n - 1] === "--lang");
  const play = async () => (await import("./demo.ts")).demo(flags);
  const alone = args.includes("-p") || args.includes("--print");
  if (!alone && process.stdin.isTTY && process.stdout.isTTY) {
    const { firstRun } = await import("./setup.ts");
    const next = await firstRun(lang);
    return next === "set up" ? "again" : next === "demo" ? play() : exitCodes.success;
  }
  console.error(`sage: ${asked ? t.noModel : t.soTheDemo}`);
  if (!asked) return play();
  console.error(`sage: ${t.demoHint}`);
  return exitCodes.usage;
}
