import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Installation } from "../../config/home/home.ts";
import { silenceOptions } from "../../config/settings/silence.ts";
import { closest } from "../../base/name.ts";
import { efforts, type Effort, type ExecutionMode, type ExecutionOptions } from "../../protocol/host/options.ts";
import { modeWords, type SessionMode } from "../../protocol/mode.ts";
import type { CliTexts } from "../../texts/commands/cli.ts";
import { person } from "../host/journal.ts";
import { count, duration, readFlags, usage, type Flags } from "../process/flags.ts";
import { hostFlag } from "../host/open-host.ts";
import { formats, type Format } from "./print/format.ts";

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

export type Values = Flags<typeof options>["values"];

/** Flags of `sage [task]`, checked against each other. `words`: the task, as it was typed. */
export type RunFlags = Pick<Flags<typeof options>, "values" | "lang" | "t"> & {
  words: string | undefined;
  format: Format;
  sessionMode: SessionMode | undefined;
};

export async function readRunFlags(args: string[], commands: readonly string[]): Promise<RunFlags> {
  const { values, positionals, lang, t } = readFlags(bareResume(args), options);
  if (values.engine !== undefined)
    throw usage((await import("../../texts/serve/cluster.ts")).clusterTexts(lang).peopleComeIn);
  checkFlags(values, t);
  if (!values.print) checkCommand(positionals, commands, t);
  const words = positionals.length === 0 ? undefined : positionals.join(" ");
  return { values, lang, t, words, format: readFormat(values, t), sessionMode: sessionModeOf(values, t) };
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

function checkFlags(values: Values, t: CliTexts): void {
  if (values.plan && values.mode !== undefined) throw usage(t.conflict("--plan", "--mode"));
  if (values.yes && values.deny) throw usage(t.conflict("--yes", "--deny"));
  if (values.bypass && values.deny) throw usage(t.conflict("--bypass", "--deny"));
  if (values.continue && values.resume !== undefined) throw usage(t.conflict("--continue", "--resume"));
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

/** A mistyped command would cost a call to the model. */
function checkCommand(positionals: readonly string[], commands: readonly string[], t: CliTexts): void {
  const [word = ""] = positionals;
  const meant = positionals.length === 1 && /^\w+$/.test(word) ? closest(word, commands, 1) : undefined;
  if (meant) throw usage(t.didYouMean(word, meant));
}

function readFormat(values: Values, t: CliTexts): Format {
  const asked = values["output-format"] ?? "text";
  const format = formats.find((format) => format === asked);
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

export function executionOptions(values: Values, t: CliTexts): Partial<ExecutionOptions> {
  const maxSteps = count("--max-steps", values["max-steps"], t);
  const maxOutputTokens = count("--max-tokens", values["max-tokens"], t);
  const executionTimeout = duration("--timeout", values.timeout, t);
  const promptTimeout = duration("--prompt-timeout", values["prompt-timeout"], t);
  const effort = effortOf(values.effort, t);
  return {
    mode: readMode(values),
    ...(maxSteps !== undefined && { maxSteps }),
    llmOptions: { ...(maxOutputTokens !== undefined && { maxOutputTokens }), ...(effort && { effort }) },
    ...(executionTimeout !== undefined && { executionTimeout }),
    ...(promptTimeout !== undefined && { promptTimeout }),
  };
}

function readMode({ yes, deny, print }: Values): ExecutionMode {
  if (yes) return { type: "nonInteractive", autoResponse: "alwaysAllow" };
  if (deny) return { type: "nonInteractive", autoResponse: "alwaysDeny" };
  return { type: print ? "batch" : "interactive" };
}

function effortOf(given: string | undefined, t: CliTexts): Effort | undefined {
  const effort = efforts.find((effort) => effort === given);
  if (given !== undefined && !effort) throw usage(t.expected("--effort", t.oneOf(efforts), given));
  return effort;
}

const silentWords = ["wait", "fail", "deny", "escalate"] as const;
const SILENT_AFTER_MS = 10 * 60_000;

/** The policy for requests of this run that nobody answers; the settings say when, and who else is asked. */
export function ifSilent(
  given: string | undefined,
  { promptTimeout }: Partial<ExecutionOptions>,
  { settings }: Installation,
  t: CliTexts,
): Partial<ExecutionOptions> {
  if (given === undefined) return {};
  const word = silentWords.find((each) => each === given);
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

export function directory(path: string | undefined, t: CliTexts): string {
  const cwd = resolve(path ?? ".");
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw usage(t.noDirectory(cwd));
  return realpathSync(cwd);
}
