import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Rule } from "../protocol/index.ts";
import { isInside } from "./canonical.ts";
import type { CanonicalPath, Disk, Place } from "./canonical.ts";
import { firstOf, governs } from "./compile.ts";
import type { CompiledRule } from "./compile.ts";
import { anchorsOf, bothOf, isCovered, isMeant, mayMatchBelow, namesOf } from "./path.ts";
import type { NamedPath } from "./path.ts";
import { protectedReason } from "./protected.ts";
import { pathTools } from "./rules.ts";

/** What the rules say about one path. `allow` is true where no rule is needed. */
export type Access = { deny?: Rule; ask?: Rule; allow?: Rule | true; hard?: string };

export type Reach = {
  /** Below one of the roots, after every link. */
  inside(path: CanonicalPath): boolean;
  read(path: CanonicalPath, tool?: string): Access;
  write(path: CanonicalPath, tool?: string): Access;
  /** A rule against something below a folder, or that there is too much of it to tell. */
  ruledBelow(folder: CanonicalPath, tool: "Read" | "Write"): { found?: Rule; unknown?: string };
  /** What is protected below a folder once it stands at `target`. */
  protectedBelow(folder: string, target: string): { found?: string; unknown?: string };
  /** Whether there is any rule against a path at all: without one nobody has to look. */
  watchful: boolean;
};

type Where = Place & { roots: readonly string[]; disk: Disk; sageHome: string | undefined };

const mostEntries = 2_000;

/** Everything the decision knows about files, for one call. */
export function createReach(rules: readonly CompiledRule[], { cwd, home, roots, disk, sageHome }: Where): Reach {
  const anchors = anchorsOf({ cwd, home }, disk);
  const names = new Map<string, NamedPath>();
  const named = (path: string) => {
    let known = names.get(path);
    if (known === undefined) names.set(path, (known = namesOf(path)));
    return known;
  };
  const places = roots.map((root) => {
    try {
      return disk.follow(root);
    } catch {
      return root;
    }
  });
  const inside = ({ real }: CanonicalPath) => places.some((root) => isInside(root, real));
  const forTool = new Map<string, Record<Rule["behavior"], CompiledRule[]>>();
  const rulesFor = (tool: string) => {
    let known = forTool.get(tool);
    if (known === undefined) {
      known = { deny: [], ask: [], allow: [] };
      for (const rule of rules) if (governs(rule, tool)) known[rule.rule.behavior].push(rule);
      forTool.set(tool, known);
    }
    return known;
  };

  const judge = (path: CanonicalPath, tool: string): Access => {
    const { deny, ask, allow } = rulesFor(tool);
    const both = bothOf(path).map(named);
    const hit = (list: readonly CompiledRule[]) =>
      firstOf(
        list.filter(
          (rule) => rule.whole || (rule.path && both.some((name) => isMeant(rule.path!, name, anchors))) === true,
        ),
      );
    // The path as written and where it leads must each be allowed, by whichever rule.
    const covering = both.map((name) =>
      allow.filter((rule) => rule.whole || (rule.path && isCovered(rule.path, name, anchors)) === true),
    );
    const denied = hit(deny);
    const asked = hit(ask);
    const allowed = covering.every((list) => list.length > 0) ? firstOf(covering.flat()) : undefined;
    return { ...(denied && { deny: denied }), ...(asked && { ask: asked }), ...(allowed && { allow: allowed }) };
  };

  return {
    inside,
    read(path, tool = "Read") {
      const access = judge(path, tool);
      return inside(path) ? { ...access, allow: true } : access;
    },
    write(path, tool = "Write") {
      const access = judge(path, tool);
      const reason = protectedReason(path.real, sageHome) ?? protectedReason(path.lexical, sageHome);
      return reason === undefined ? access : { ...access, hard: `${path.real} is protected: ${reason}` };
    },
    ruledBelow(folder, tool) {
      const { deny, ask } = rulesFor(tool);
      const start = named(folder.real);
      const relevant = [...deny, ...ask].filter(({ path }) => path && mayMatchBelow(path, start, anchors));
      if (relevant.length === 0) return {};
      return walk(folder.real, (path) => {
        const name = namesOf(path);
        return relevant.find((rule) => isMeant(rule.path!, name, anchors))?.rule;
      });
    },
    protectedBelow: (folder, target) =>
      walk(folder, (path) => {
        const there = join(target, path.slice(folder.length));
        const reason = protectedReason(there, sageHome);
        return reason && `${there} is protected: ${reason}`;
      }),
    watchful: rules.some(
      ({ path, whole, tool, rule: { behavior } }) =>
        behavior !== "allow" && (path !== undefined || (whole && pathTools.has(tool ?? ""))),
    ),
  };
}

/** Looks through a folder, without following links, until something is found or it gets too much. */
function walk<T>(folder: string, look: (path: string) => T | undefined): { found?: T; unknown?: string } {
  const ahead = [folder];
  let seen = 0;
  for (let here = ahead.pop(); here !== undefined; here = ahead.pop()) {
    let entries;
    try {
      entries = readdirSync(here, { withFileTypes: true });
    } catch {
      continue; // a file, or nothing that could be read anyway
    }
    for (const entry of entries) {
      if (++seen > mostEntries) return { unknown: `there is too much below ${folder} to look through` };
      const path = join(here, entry.name);
      const found = look(path);
      if (found !== undefined) return { found };
      if (entry.isDirectory()) ahead.push(path);
    }
  }
  return {};
}
