import { isUtf8 } from "node:buffer";
import { lstatSync, readFileSync } from "node:fs";
import { canonicalPath } from "../../permission/paths/canonical.ts";
import { splitLines } from "../../base/visible.ts";
import type { Preview, PreviewLine } from "../../protocol/facts/call.ts";
import type { ToolPlace } from "../definition/tool.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const CONTEXT = 3;

type Line = { text: string; open?: true };
/** `at` counts lines of the file as it is, from 0. */
type Change = { at: number; gone: Line[]; come: Line[] };
export type Replacement = { places: readonly number[]; old: string; fresh: string };

/** A file after the replacement; undefined where it could not be made. */
export function previewEdit(
  path: string,
  place: ToolPlace,
  replace: (text: string) => Replacement | undefined,
): Preview | undefined {
  return preview(path, place, (before) => {
    if (before === undefined) return undefined;
    const replacement = replace(before);
    return replacement && replacementChanges(before, replacement);
  });
}

/** A file after this content is written, or a new file whole. */
export function previewWrite(path: string, place: ToolPlace, content: string): Preview | undefined {
  return preview(path, place, (before = "") => {
    if (content.length > MAX_FILE_BYTES) return "huge";
    const change = trimmed({ at: 0, gone: splitLines(before), come: splitLines(content) });
    return change.gone.length + change.come.length === 0 ? [] : [change];
  });
}

const MAX_LINE_LENGTH = 400;

/** The change for a result, unless it is long: the journal keeps it. */
export function keptChange(change: Preview | undefined): { change?: Preview } {
  return change && change.lines.length > 0 && change.lines.length <= MAX_LINE_LENGTH ? { change } : {};
}

type Changes = Change[] | "huge" | undefined;

/** Shows every line that changes; a file that cannot be shown as lines says why. */
function preview(path: string, place: ToolPlace, changesIn: (before?: string) => Changes): Preview | undefined {
  try {
    const { real } = canonicalPath(path, place);
    const none = { path: real, lines: [], firstLine: 1 };
    const stat = lstatSync(real, { throwIfNoEntry: false });
    if (stat && !stat.isFile()) return undefined;
    if (stat && stat.size > MAX_FILE_BYTES) return { ...none, omitted: "huge" };
    const bytes = stat && readFileSync(real);
    if (bytes && (!isUtf8(bytes) || bytes.includes(0))) return { ...none, omitted: "binary" };
    const before = bytes?.toString();
    const changes = changesIn(before);
    if (changes === undefined) return undefined;
    if (changes === "huge") return { ...none, omitted: "huge" };
    if (changes.length === 0) return before === undefined ? none : { ...none, omitted: "same" };
    return { path: real, ...withContext(splitLines(before ?? ""), changes) };
  } catch {
    return undefined; // the call itself will say what is wrong with the path
  }
}

function replacementChanges(text: string, { places, old, fresh }: Replacement): Change[] {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  if (starts.at(-1) === text.length && starts.length > 1) starts.pop();
  const lineAt = (position: number) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const changes: Change[] = [];
  for (let n = 0; n < places.length;) {
    const at = lineAt(places[n] ?? 0);
    const start = starts[at] ?? 0;
    let [after, copied, last] = ["", start, at];
    // Replacements that share a line are one change; what follows the replaced text may join its line.
    do {
      const place = places[n++] ?? 0;
      after += text.slice(copied, place) + fresh;
      copied = place + old.length;
      last = lineAt(copied);
    } while (n < places.length && lineAt(places[n] ?? 0) <= last);
    const end = starts[last + 1] ?? text.length;
    const change = { at, gone: splitLines(text.slice(start, end)), come: splitLines(after + text.slice(copied, end)) };
    changes.push(trimmed(change));
  }
  return changes.filter(({ gone, come }) => gone.length + come.length > 0);
}

function trimmed({ at, gone, come }: Change): Change {
  const same = (a: Line | undefined, b: Line | undefined) => a !== undefined && a.text === b?.text && a.open === b.open;
  const shorter = Math.min(gone.length, come.length);
  let head = 0;
  while (head < shorter && same(gone[head], come[head])) head++;
  let tail = 0;
  while (tail < shorter - head && same(gone.at(-1 - tail), come.at(-1 - tail))) tail++;
  return { at: at + head, gone: gone.slice(head, gone.length - tail), come: come.slice(head, come.length - tail) };
}

function withContext(before: readonly Line[], changes: readonly Change[]): Pick<Preview, "lines" | "firstLine"> {
  const lines: PreviewLine[] = [];
  let shown = 0;
  let firstLine = 1;
  const put = (mark: PreviewLine["mark"], some: readonly Line[]) => {
    for (const line of some) lines.push({ mark, ...line });
  };
  for (const [n, { at, gone, come }] of changes.entries()) {
    const from = Math.max(shown, at - CONTEXT);
    const first = lines.length;
    put(" ", before.slice(from, at));
    put("-", gone);
    put("+", come);
    if (n === 0) firstLine = from + 1;
    else if (from > shown) Object.assign(lines[first] ?? {}, { line: from + 1 });
    shown = at + gone.length;
    const until = Math.min(shown + CONTEXT, changes[n + 1]?.at ?? before.length);
    put(" ", before.slice(shown, until));
    shown = until;
  }
  return { lines, firstLine };
}
