import { format } from "node:util";
import { prose } from "../protocol/visible.ts";

/** The codes of Sage's own colours. Anything else that steers a terminal came out of a file, a name, a model or a server. */
const paint = /(\x1b\[(?:1|2|7|22|27|31|32|33|36|39)m)/;

/** Writes what a program may read: as it is into a pipe or a file. On a terminal no character of it steers. */
export function toStdout(text: string): boolean {
  return process.stdout.write(process.stdout.isTTY ? harmless(text) : text);
}

/** Makes `console` print for people alone: nothing steers their terminal, nor that of `sage why | less -R`. */
export function guardConsole(): void {
  console.log = (...given: unknown[]) => void process.stdout.write(`${harmless(format(...given))}\n`);
  console.error = (...given: unknown[]) => void process.stderr.write(`${harmless(format(...given))}\n`);
}

function harmless(text: string): string {
  return text
    .split(paint)
    .map((part, n) => (n % 2 === 1 ? part : prose(part)))
    .join("");
}
