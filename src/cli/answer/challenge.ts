import { randomInt } from "node:crypto";
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import { takesSignature } from "../../protocol/facts/consent.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { isOutsideRequest } from "../../protocol/host/outside.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { nameOf } from "../../view/items/summary.ts";
import { clipped } from "../../view/lines/safe.ts";
import { dangersOf } from "../../view/request/danger.ts";

const MAX_NAME_LENGTH = 80;
const MAX_TYPED = 100;

/**
 * Only a yes to what is shown as a person's alone: an ordinary answer needs no terminal. Each permission of another agent's hook is a
 * person's alone, and would ask for every one.
 */
export function asksToType(request: InputRequest, response: InputResponse): boolean {
  if (response.type !== "granted" || request.kind !== "permission" || takesSignature(request)) return false;
  return !isOutsideRequest(request) && dangersOf(request).includes("person-only");
}

/**
 * Shows a number on the terminal that this process belongs to, and reads it there: a command that lost its terminal, as whatever an
 * agent runs, has none. Otherwise gives what to tell.
 */
export function typedHere(request: InputRequest, lang: Lang): string {
  const t = cliTexts(lang);
  const terminal = openTerminal();
  if (terminal === undefined) return t.nowhereToType;
  const code = String(randomInt(1_000, 10_000));
  const name = clipped(nameOf(request, texts(lang)), MAX_NAME_LENGTH);
  try {
    writeSync(terminal.output, t.typeToAllow(name, code));
    return readLine(terminal.input) === code ? "typed" : t.notTyped;
  } finally {
    terminal.close();
  }
}

function openTerminal(): { input: number; output: number; close(): void } | undefined {
  if (!process.stdin.isTTY) return undefined;
  if (process.platform === "win32") return { input: 0, output: 1, close() {} };
  try {
    const fd = openSync("/dev/tty", "r+");
    return { input: fd, output: fd, close: () => closeSync(fd) };
  } catch {
    return undefined; // it belongs to another session
  }
}

/** At once, for nothing else may happen meanwhile. */
function readLine(fd: number): string {
  const byte = Buffer.alloc(1);
  let line = "";
  while (line.length < MAX_TYPED && readSync(fd, byte, 0, 1, null) === 1 && byte.toString() !== "\n")
    line += byte.toString();
  return line.trim();
}
