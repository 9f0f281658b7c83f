import { isAbsolute, join, resolve } from "node:path";
import { reason, type Reason } from "../../../../protocol/reasons/reason.ts";
import type { Reach } from "../../../rules/access.ts";
import type { Disk } from "../../../paths/canonical.ts";
import type { Simple } from "../../read/script.ts";

/** A `cd`: the folders it leads to, or why rules cannot cover it, and where it leads if that is known. */
export type Move = { to: readonly string[] } | { why: Reason; led?: readonly string[] };

/** `bases`: folders that the command may run in. `left`: folders that `popd` may lead back to. */
type Folders = { bases: readonly string[]; left: readonly string[] };

export const MAX_BASES = 8;

/** Undefined for a command that stays in its folder. */
export function moveOf(
  { words, assignments }: Simple,
  { bases, left }: Folders,
  { reach, disk }: { reach: Reach; disk: Disk },
): Move | undefined {
  const [name, ...more] = words.map(({ text }) => text);
  if (name === "popd" && left.length > 0 && more.length === 0 && assignments.length === 0)
    return { to: unique([...left, ...bases]) };
  if (name === "popd" || name === "dirs") return { why: reason("move-unknown", { command: name }) };
  if (name !== "cd" && name !== "pushd") return undefined;
  const to = words[1] && (words[1].text === undefined ? words[1].choices : [words[1].text]);
  const isPlain = to?.every((text) => text !== "" && !/^(-|\+\d)/.test(text)) === true;
  if (!isPlain || to.length === 0 || more.length > 1 || assignments.length > 0)
    return { why: reason("move-unknown", { command: name }) };
  // The shell first takes dots as they are written, and the system takes them after links.
  const led = bases.flatMap((base) =>
    to.flatMap((text) => [resolve(base, text), disk.follow(isAbsolute(text) ? text : join(base, "/") + text)]),
  );
  const outside = led.find((path) => !reach.inside({ lexical: path, real: disk.follow(path) }));
  const all = unique(led);
  if (outside !== undefined)
    return { why: reason("outside", { path: outside }), led: all.length > MAX_BASES ? [] : all };
  return all.length > MAX_BASES ? { why: reason("moves-too-many", {}) } : { to: all };
}

export function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}
