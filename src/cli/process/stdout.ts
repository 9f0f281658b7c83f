import { format } from "node:util";
import { lazy } from "../../base/lazy.ts";
import { prose } from "../../base/visible.ts";
import { fitted } from "../../view/lines/safe.ts";
import { type Style, createPaint } from "../../view/lines/paint.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";
import type { SageErrorCode } from "../../protocol/reasons/reason.ts";
import type { ExitName } from "../../texts/commands/help.ts";

/** The codes of Sage's own colours. Anything else that steers a terminal came out of a file, a name, a model or a server. */
const paint = /(\x1b\[(?:1|2|7|22|27|31|32|33|36|39)m)/;

/** Writes output for programs: unchanged into a pipe or a file, with control characters escaped on a terminal. */
export function writeStdout(text: string): boolean {
  return process.stdout.write(process.stdout.isTTY ? harmless(text) : text);
}

/** Prints for programs. Returns the exit code, as the end of a command. */
export function printJson(value: unknown): number {
  writeStdout(`${JSON.stringify(value, undefined, 2)}\n`);
  return exitCodes.success;
}

/** Prints for people. Returns the exit code, as the end of a command. */
export function succeed(text: string): number {
  console.log(text);
  return exitCodes.success;
}

/** Prints why a command failed. Returns the exit code, as the end of a command. */
export function fail(text: string): number {
  console.error(text);
  return exitCodes.failure;
}

/** Keeps Sage alive when its reader stops, as in `sage sessions | head -1`. A stream is made when it is first used: most runs print no error. */
export function surviveReaders(): void {
  for (const name of ["stdout", "stderr"] as const) {
    const { get: make, ...rest } = Object.getOwnPropertyDescriptor(process, name) ?? {};
    if (!make) continue;
    const get = lazy(() => (make.call(process) as NodeJS.WriteStream).on("error", () => {}));
    Object.defineProperty(process, name, { ...rest, get });
  }
}

/** Makes `console` safe for people: nothing steers their terminal or pager, and on a terminal lines break between words. */
export function guardConsole(): void {
  const write = (stream: NodeJS.WriteStream, given: readonly unknown[]) => {
    const text = harmless(format(...given));
    stream.write(`${stream.isTTY ? sentencesFitted(text, stream.columns) : text}\n`);
  };
  console.log = (...given: unknown[]) => write(process.stdout, given);
  console.error = (...given: unknown[]) => write(process.stderr, given);
}

/** Columns, margins, drawings, JSON and commands to copy: they stay as they are, and the terminal breaks them. */
const laidOut = /^[\s{}[\]"]|\S {2}|[\u2500-\u259f]/;

export function sentencesFitted(text: string, width: number): string {
  const lines = text.split("\n");
  return lines.flatMap((line) => (laidOut.test(line) ? [line] : fitted([line], width))).join("\n");
}

function harmless(text: string): string {
  return text
    .split(paint)
    .map((part, n) => (n % 2 === 1 ? part : prose(part)))
    .join("");
}

export function styleOf(stream: NodeJS.WriteStream, lang: Lang): Style {
  return { t: texts(lang), paint: createPaint(wantsColor(stream)), width: stream.isTTY ? stream.columns : undefined };
}

export function wantsColor(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

/** Exit codes that scripts may rely on. */
export const exitCodes = {
  success: 0,
  failure: 1,
  usage: 2,
  needsPerson: 3,
  timeout: 4,
  maxSteps: 5,
  incomplete: 6,
  interrupted: 130,
} as const satisfies Record<ExitName, number>;

const byStatus: Record<Exclude<OutcomeStatus["status"], "error">, number> = {
  success: exitCodes.success,
  "needs-input": exitCodes.needsPerson,
  "max-steps": exitCodes.maxSteps,
  incomplete: exitCodes.incomplete,
  cancelled: exitCodes.interrupted,
  paused: exitCodes.interrupted,
};

export function exitCodeOf(outcome: OutcomeStatus): number {
  return outcome.status === "error" ? exitCodeOfError(outcome.error.code) : byStatus[outcome.status];
}

export function exitCodeOfError(code: SageErrorCode): number {
  if (code === "timeout") return exitCodes.timeout;
  return code === "usage" || code === "config-invalid" || code === "session-unknown" || code === "request-unknown"
    ? exitCodes.usage
    : exitCodes.failure;
}
