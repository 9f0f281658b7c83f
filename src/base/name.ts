import { lazy } from "./lazy.ts";

const source = String.raw`^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$`;
const whole = lazy(() => new RegExp(source, "u"));
const ascii = /^[A-Za-z0-9][\w-]{0,63}$/;

/** Pattern of names of skills, commands and subagents. Most are ASCII: a pattern over all letters takes half a millisecond to be made. */
export const namePattern = {
  source,
  flags: "u",
  test: (name: string): boolean => ascii.test(name) || whole().test(name),
};

/** The same name in other bytes is the same person. */
export function personName(by: string): string {
  return by.normalize("NFC").trim();
}
