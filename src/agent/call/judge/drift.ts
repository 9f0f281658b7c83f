import type { Drift } from "../../../protocol/decision.ts";
import { isStricter } from "../../../protocol/facts/consent.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import { isSameReason, reason } from "../../../protocol/reasons/reason.ts";
import { isOfNewerRule, isOfThisRule } from "../../state/digest.ts";
import type { Again } from "./call-state.ts";

/** sha-256 of the content that this session last wrote to a file. */
type Wrote = (path: string) => string | undefined;

/** The verdict on a call that was judged once more without hooks: `now` as the rules have it, `shown` as it was. */
export function weighAgain(now: Verdict, shown: Verdict, again: Again, wrote: Wrote): Verdict {
  const judged: Verdict = { ...now, ...keptOf(shown, again) };
  if (judged.behavior === "deny" || again.because === "ruled") return judged;
  // Only a person may allow this, and nobody has seen it.
  const unseen =
    judged.behavior === "ask" &&
    ((judged.hard === true && !isSameReason(judged.reason, shown.reason) && !isOwnRule(judged, again)) ||
      isStricter(judged.consent, shown.consent));
  if (again.because === "edited")
    // An edit is one person's: where more are needed, nobody else has seen it.
    return unseen || judged.behavior === "allow" || judged.consent
      ? judged
      : { ...judged, behavior: "allow", reason: reason("approved-edited", {}) };
  const changes = driftBetween(shown, now, wrote);
  if (again.approval.by === "rules")
    return judged.behavior === "ask" ? { ...judged, reason: changedBecause(judged, changes) } : judged;
  if (changes.length > 0 || unseen) return { ...judged, behavior: "ask", reason: changedBecause(judged, changes) };
  // A rule that was given with the yes is not what allowed this one.
  const { rule: _, source: __, ...own } = judged;
  return { ...own, behavior: "allow", reason: reason("approved-unchanged", {}) };
}

/** Asked about by a rule that came with the very yes to this call. */
function isOwnRule({ reason: why }: Verdict, again: Again): boolean {
  const word = again.because === "last-look" ? again.approval : again;
  return why.code === "asked-by-rule" && "asks" in word && (word.asks ?? []).includes(why.args.rule.text);
}

/** Everything about a call that is not as it was. A file that this session itself wrote since is no surprise to anyone. */
export function driftBetween(shown: Verdict, now: Verdict, wrote: Wrote): Drift[] {
  if (isPlain(shown) && isPlain(now) && shown.digest === now.digest) return [];
  const drifts = [
    ...linkDrift(shown, now),
    ...fileDrift(shown, now, wrote),
    ...meaningDrift(shown, now, wrote),
    ...writeDrift(shown, now),
  ];
  if (drifts.length > 0 || shown.digest === now.digest) return drifts;
  if (isOfNewerRule(shown.digest)) return [{ what: "version" }];
  return isSameFile(shown, now) && isSameRecord(shown.scripts, now.scripts) ? [{ what: "tool" }] : [];
}

/** A yes holds while nothing differs from what was shown, and for no more than was asked. */
export function isAsShown(now: Verdict, shown: Verdict): boolean {
  if (driftBetween(shown, now, () => undefined).length > 0 || isStricter(now.consent, shown.consent)) return false;
  return now.hard !== true || shown.behavior !== "ask" || isSameReason(now.reason, shown.reason);
}

/** Nothing but its digest tells how the call was: it touches no file that is known. */
function isPlain({ links, operand, scripts, meanings, parts }: Verdict): boolean {
  return [links, operand, scripts, meanings, parts].every((known) => known === undefined);
}

function linkDrift({ links: then = {} }: Verdict, { links: now = {} }: Verdict): Drift[] {
  return [...new Set([...Object.keys(then), ...Object.keys(now)])].sort().flatMap((path): Drift[] => {
    const [from, to] = [then[path], now[path]];
    return from === to
      ? []
      : [{ what: "link", path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
  });
}

function fileDrift(shown: Verdict, now: Verdict, wrote: Wrote): Drift[] {
  const file = now.operand ?? shown.operand;
  const isOwn = (path: string, hash: string | undefined) => hash !== undefined && wrote(path) === hash;
  const changed = file !== undefined && !isSameFile(shown, now) && !(shown.operand === file && isOwn(file, now.before));
  const { scripts: then = {} } = shown;
  const scripts = Object.entries(now.scripts ?? {}).filter(([path, hash]) => then[path] !== hash && !isOwn(path, hash));
  const gone = Object.keys(then).filter((path) => now.scripts?.[path] === undefined);
  return [
    ...(changed ? [{ what: "file" as const, path: file }] : []),
    ...[...scripts.map(([path]) => path), ...gone].map((path) => ({ what: "script" as const, path })),
  ];
}

/** A version that wrote no such record bound nobody to it. */
function meaningDrift(shown: Verdict, { meanings: now = {} }: Verdict, wrote: Wrote): Drift[] {
  if (!isOfThisRule(shown.digest)) return [];
  const { meanings: then = {} } = shown;
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => then[name] !== now[name] && (now[name] === undefined || wrote(name) !== now[name]))
    .map((name) => ({ what: "meaning", name, ...(isText(now[name]) && { to: now[name] }) }));
}

function isText(meaning: string | undefined): meaning is string {
  return meaning !== undefined && !/^[0-9a-f]{64}$/.test(meaning);
}

/** Patterns and folders may stand for more than they did. */
function writeDrift(shown: Verdict, now: Verdict): Drift[] {
  const known = new Set(writtenPaths(shown));
  const paths = writtenPaths(now).filter((path) => !known.has(path));
  return paths.length > 0 ? [{ what: "writes", paths }] : [];
}

function writtenPaths({ parts = [] }: Verdict): string[] {
  return parts.flatMap(({ writes = [] }) => writes.map(({ path }) => path));
}

function isSameFile(shown: Verdict, now: Verdict): boolean {
  if (shown.operand !== now.operand) return false;
  return shown.before === now.before || (shown.lines !== undefined && shown.lines === now.lines);
}

function isSameRecord(then: Record<string, string> = {}, now: Record<string, string> = {}): boolean {
  const paths = Object.keys(now);
  return paths.length === Object.keys(then).length && paths.every((path) => then[path] === now[path]);
}

function changedBecause({ reason: why }: Verdict, changes: readonly Drift[]): Verdict["reason"] {
  return changes.length === 0 ? why : reason("changed-since-approval", { changes, why });
}

/** Keeps on the next verdict what hooks and people left on the last one. */
function keptOf({ context, changed }: Verdict, again: Again): Pick<Verdict, "context" | "changed"> {
  const by = again.because === "edited" ? again.changed : changed;
  return { ...(context && { context }), ...(by && { changed: by }) };
}
