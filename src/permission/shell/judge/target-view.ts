import { join } from "node:path";
import type { Rule } from "../../../protocol/index.ts";
import type { Access, Reach } from "../../rules/access.ts";
import { statOf } from "../../paths/canonical.ts";
import type { CanonicalPath } from "../../paths/canonical.ts";
import type { JudgedPart } from "./shell.ts";
import type { Target } from "./targets.ts";

/**
 * What is thought of one thing that a command reads or writes: deny, ask and protection over every path it may be;
 * allowed when each of them is. Nothing to say of what may be read anyway. `meant` are words that stand in the rule.
 */
export function judgeTarget(target: Target, reach: Reach, meant?: ReadonlySet<string>): JudgedPart[] {
  const { shown, writes, paths, maybe, deep } = target;
  const views = paths.map((path) => (writes ? reach.write(path) : reach.read(path)));
  const first = <K extends keyof Access>(key: K) => views.find((view) => view[key] !== undefined)?.[key];
  const below = inside(target, reach);
  const [deny, ask, hard] = [first("deny") ?? below.deny, first("ask") ?? below.ask, first("hard") ?? below.hard];
  const trouble = target.trouble ?? below.trouble;
  const open = views.findIndex(({ allow }) => allow === undefined);
  const part = {
    text: shown,
    reason: `${writes ? "writes" : "reads"} ${paths[Math.max(open, 0)]?.real ?? shown}`,
    ...writesOf(target, reach),
  };
  if (deny ?? ask) return [{ ...part, behavior: "ask", ...marked({ ...(deny && { deny }), ...(ask && { ask }) }) }];
  if (hard !== undefined) return [{ ...part, behavior: "ask", reason: hard, hard }];
  if (trouble !== undefined) return [{ ...part, behavior: "ask", reason: trouble, need: { kind: "nothing" } }];
  if (maybe) return [];

  const granted = paths.map((path, i) => (deep && writes ? allowsBelow(path, reach) : views[i]!.allow));
  const isMeant = !writes && target.text !== undefined && !target.text.includes("..") && meant?.has(target.text);
  if (granted.every((one) => one === true) || isMeant === true) return [];
  const rule = granted.find((one) => typeof one === "object");
  if (rule && granted.every((one) => one !== undefined)) {
    const reason = `${part.reason}, allowed by ${rule.text}`;
    return [{ ...part, behavior: "allow", reason, rule: rule.text, found: rule }];
  }
  const why = writes ? "no Edit rule covers it" : "outside of the workspace";
  const need = { kind: writes ? "write" : "read", paths, deep } as const;
  return [{ ...part, behavior: "ask", reason: `${part.reason}: ${why}`, need }];
}

export function marked({ deny, ask }: { deny?: Rule; ask?: Rule }): Partial<JudgedPart> {
  if (deny) return { behavior: "deny", found: deny, rule: deny.text, reason: `denied by ${deny.text}` };
  return ask ? { behavior: "ask", found: ask, rule: ask.text, reason: `${ask.text} asks about it` } : {};
}

/** What is against it because of what is in it. */
function inside({ shown, writes, paths, deep, follows, from }: Target, reach: Reach): Access & { trouble?: string } {
  const seen: Access & { trouble?: string } = {};
  for (const path of deep ? paths : []) {
    if (seen.deny || seen.hard !== undefined) break;
    const { found, unknown } = reach.ruledBelow(path, writes ? "Write" : "Read");
    // To read past a file that must not be read takes a person; to write over one is to write it.
    if (found && !writes) seen.hard ??= `${shown} holds what ${found.text} is about`;
    else if (found?.behavior === "deny") seen.deny ??= found;
    else if (found) seen.ask ??= found;
    if (unknown !== undefined) seen.trouble ??= unknown;
    // A copy is written through the links that it finds where it is put.
    const away = follows || from.length > 0 ? reach.leavesBelow(path, writes ? "Write" : "Read") : {};
    const leaves = away.found ?? away.unknown;
    if (leaves !== undefined) seen.trouble ??= leaves;
    if (writes && from.length === 0) {
      const lost = isRepository(path.real) ? { found: `${path.real} is a repository` } : reach.lostWith(path);
      if (lost.found !== undefined) seen.hard ??= lost.found;
      if (lost.unknown !== undefined) seen.trouble ??= lost.unknown;
    }
    for (const tree of from) {
      const carried = reach.protectedBelow(tree, path.real);
      if (carried.found !== undefined) seen.hard ??= carried.found;
      if (carried.unknown !== undefined) seen.trouble ??= carried.unknown;
    }
  }
  return seen;
}

function writesOf({ writes, maybe, paths }: Target, reach: Reach): Pick<JudgedPart, "writes"> {
  if (!writes || maybe || paths.length === 0) return {};
  return { writes: paths.map((path) => ({ path: path.real, ...(!reach.inside(path) && { outside: true }) })) };
}

/** A rule for a folder as such says nothing about what is in it. */
function allowsBelow({ lexical, real }: CanonicalPath, reach: Reach): Rule | true | undefined {
  const probe = "\u{f8ff}/\u{f8ff}";
  const allow = reach.write({ lexical, real }).allow;
  return allow && reach.write({ lexical: join(lexical, probe), real: join(real, probe) }).allow;
}

function isRepository(path: string): boolean {
  return statOf(join(path, ".git")) !== undefined;
}
