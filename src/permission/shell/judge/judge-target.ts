import { join } from "node:path";
import type { Rule } from "../../../protocol/facts/permission.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { Access, Reach } from "../../rules/access.ts";
import { statOf, type CanonicalPath } from "../../paths/canonical.ts";
import { namedRule } from "../../rules/compile.ts";
import type { JudgedPart } from "./shell-finding.ts";
import type { Target } from "./files/targets.ts";

/** Judges one target over every path it may be. No part for what may be read anyway. `meant`: words that stand in the rule. */
export function judgeTarget(target: Target, reach: Reach, meant?: ReadonlySet<string>): JudgedPart[] {
  const { shown, writes, paths, maybe, deep, content } = target;
  const views = paths.map((path) => (writes ? reach.write(path, { content }) : reach.read(path)));
  const first = <K extends keyof Access>(key: K) => views.find((view) => view[key] !== undefined)?.[key];
  const below = inside(target, reach);
  const [deny, ask] = [first("deny") ?? below.deny, first("ask") ?? below.ask];
  const mustAsk = first("mustAsk") ?? below.mustAsk;
  const trouble = target.trouble ?? below.trouble;
  const open = views.findIndex(({ allow }) => allow === undefined);
  const path = paths[Math.max(open, 0)]?.real ?? shown;
  const part = { text: shown, reason: reason(writes ? "writes" : "reads", { path }), ...writtenPaths(target, reach) };
  if (deny ?? ask) return [{ ...part, behavior: "ask", ...marked({ ...(deny && { deny }), ...(ask && { ask }) }) }];
  // A file that is not known may be a protected one, or one that a rule is about.
  const blind = trouble?.code === "file-unknown" && ((writes && content) || reach.watchful) ? trouble : undefined;
  const asked = mustAsk ?? blind;
  if (asked) return [{ ...part, behavior: "ask", reason: asked, mustAsk: asked }];
  if (trouble !== undefined) return [{ ...part, behavior: "ask", reason: trouble, need: { kind: "nothing" } }];
  if (maybe) return [];

  const granted = paths.map((path, i) => (deep && writes ? allowsBelow(path, reach, content) : views[i]!.allow));
  const isMeant = !writes && target.text !== undefined && !target.text.includes("..") && meant?.has(target.text);
  if (granted.every((grant) => grant === true) || isMeant === true) return [];
  const rule = granted.find((grant) => typeof grant === "object");
  if (rule && granted.every((grant) => grant !== undefined)) {
    const why = reason(writes ? "writes-by-rule" : "reads-by-rule", { path, rule: namedRule(rule) });
    return [{ ...part, behavior: "allow", reason: why, rule: rule.text, found: rule }];
  }
  const need = { kind: writes ? "write" : "read", paths, deep } as const;
  return [{ ...part, behavior: "ask", reason: openReason(views[Math.max(open, 0)], writes, path), need }];
}

/** A file that git would run or obey, if the folder is the one that git looks into. */
export function mayBeHook({ writes, content, shown, paths }: Target): boolean {
  if (!writes || !content || /^["']?[/~]/.test(shown)) return false;
  return paths.some(({ lexical }) => hookNames.test(lexical));
}

const hookNames =
  /\/(config|config\.worktree|(pre|post)-(applypatch|commit|merge-commit|rebase|checkout|merge|push|receive|rewrite|auto-gc|index-change)|(applypatch|commit|prepare-commit)-msg|update|fsmonitor-watchman|reference-transaction|push-to-checkout|sendemail-validate)$/i;

function openReason(view: Access | undefined, writes: boolean, path: string): Reason {
  if (!writes) return reason("reads-outside", { path });
  return reason(view?.later ? "runs-later" : "no-rule-write", { path });
}

export function marked({ deny, ask }: { deny?: Rule; ask?: Rule }): Partial<JudgedPart> {
  if (deny)
    return {
      behavior: "deny",
      found: deny,
      rule: deny.text,
      reason: reason("denied-by-rule", { rule: namedRule(deny) }),
    };
  return ask
    ? { behavior: "ask", found: ask, rule: ask.text, reason: reason("asked-by-rule", { rule: namedRule(ask) }) }
    : {};
}

/** Rules and protection that are against it because of what is in it. */
function inside(
  { shown, writes, paths, deep, follows, plain, from }: Target,
  reach: Reach,
): Access & { trouble?: Reason } {
  const seen: Access & { trouble?: Reason } = {};
  for (const path of deep ? paths : []) {
    if (seen.deny || seen.mustAsk) break;
    const { found, tooMuch } = reach.ruledBelow(path, writes ? "Write" : "Read");
    // To read past a file that must not be read takes a person; to write over one is to write it.
    if (found && !writes) seen.mustAsk ??= reason("holds-ruled", { path: shown, rule: found.text });
    else if (found?.behavior === "deny") seen.deny ??= found;
    else if (found) seen.ask ??= found;
    if (tooMuch) seen.trouble ??= tooMuch;
    const secret = writes ? undefined : reach.privateBelow(path);
    if (secret) seen.trouble ??= secret;
    // A copy is written through the links that it finds where it is put.
    const away = follows || from.length > 0 ? reach.leavesBelow(path, writes ? "Write" : "Read") : {};
    const leaves = away.found ?? away.tooMuch;
    if (leaves) seen.trouble ??= leaves;
    const odd = plain ? reach.oddBelow(path) : {};
    const split = odd.found ?? odd.tooMuch;
    if (split) seen.trouble ??= split;
    if (writes && from.length === 0) {
      const lost = isRepository(path.real)
        ? { found: reason("is-repository", { path: path.real }) }
        : reach.lostWith(path);
      if (lost.found) seen.mustAsk ??= lost.found;
      if ("tooMuch" in lost && lost.tooMuch) seen.trouble ??= lost.tooMuch;
    }
    for (const tree of from) {
      const carried = reach.protectedBelow(tree, path.real);
      if (carried.found) seen.mustAsk ??= carried.found;
      if (carried.tooMuch) seen.trouble ??= carried.tooMuch;
      if (carried.later) seen.trouble ??= carried.later;
    }
  }
  return seen;
}

function writtenPaths({ writes, maybe, paths }: Target, reach: Reach): Pick<JudgedPart, "writes"> {
  if (!writes || maybe || paths.length === 0) return {};
  return { writes: paths.map((path) => ({ path: path.real, ...(!reach.inside(path) && { outside: true }) })) };
}

/** A rule for a folder as such says nothing about what is in it. */
function allowsBelow({ lexical, real }: CanonicalPath, reach: Reach, content: boolean): Rule | true | undefined {
  const probe = "\u{f8ff}/\u{f8ff}";
  const allow = reach.write({ lexical, real }, { content }).allow;
  return allow && reach.write({ lexical: join(lexical, probe), real: join(real, probe) }, { content }).allow;
}

function isRepository(path: string): boolean {
  return statOf(join(path, ".git")) !== undefined;
}
