import { join } from "node:path";
import { isObject } from "../../../base/issue.ts";
import { readRule } from "../../../permission/rules/rules.ts";
import { escapeSpecifier } from "../../../permission/text/wild.ts";
import type { Rule } from "../../../protocol/facts/permission.ts";
import type { Reason } from "../../../protocol/reasons/reason.ts";
import type { ImportReason } from "../../../texts/setup/permissions.ts";

type Behavior = Rule["behavior"];

export type Origin = {
  kind: "user" | "project" | "local";
  /** The folder that a leading slash means there. */
  root: string;
  to: "user" | "project" | "local";
};

/** Conversion of a rule or setting. Without `to` it is not taken over; with `why` it means something else here. */
export type Finding = { from: string; behavior?: Behavior; to?: string[]; why?: ImportReason; detail?: Reason };

/** Claude Code's settings in Sage's terms, deny rules first. */
export function convertSettings(
  settings: Record<string, unknown>,
  origin: Origin,
  tools: ReadonlySet<string>,
): Finding[] {
  const { permissions, $schema: _, ...others } = settings;
  const { deny, ask, allow, ...modes } = isObject(permissions) ? permissions : {};
  const lists = { deny, ask, allow };
  const rules = (["deny", "ask", "allow"] as const).flatMap((behavior) => {
    const list = lists[behavior] ?? [];
    return (Array.isArray(list) ? list : [list]).map((rule: unknown) => convertRule(rule, behavior, origin, tools));
  });
  const left = [
    ...Object.keys(modes).map((key) => ({ from: `permissions.${key}`, why: reasons[key] ?? "no-counterpart" })),
    ...Object.keys(others).map((key) => ({ from: key, why: reasons[key] ?? "no-counterpart" })),
  ];
  return [...rules, ...left];
}

const reasons: Record<string, ImportReason> = {
  defaultMode: "mode",
  disableBypassPermissionsMode: "mode",
  additionalDirectories: "directories",
  hooks: "hooks",
};

export function convertRule(rule: unknown, behavior: Behavior, origin: Origin, tools: ReadonlySet<string>): Finding {
  if (typeof rule !== "string") return { from: JSON.stringify(rule), behavior, why: "unreadable" };
  const found = { from: rule, behavior, ...convertText(rule.trim(), behavior, origin, tools) };
  for (const text of found.to ?? []) {
    const reading = readRule(text, behavior);
    if (!reading.ok) return { from: rule, behavior, why: "unreadable", detail: reading.problem };
  }
  return found;
}

type Converted = Pick<Finding, "to" | "why">;

const renamed: Record<string, string> = { MultiEdit: "Edit", Write: "Edit", Agent: "Task", LS: "Glob" };
const ofPaths = new Set(["Read", "Edit", "Grep", "Glob"]);

function convertText(rule: string, behavior: Behavior, origin: Origin, tools: ReadonlySet<string>): Converted {
  const [, given, specifier = "*"] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  if (given === undefined || given.startsWith("mcp__") || given.includes("*")) return { to: [rule] };
  const whole = specifier.trim() === "*";
  // `Write` is a tool of its own here too; only its paths are those of Edit.
  const tool = given === "Write" && whole ? given : (renamed[given] ?? given);
  if (!tools.has(tool)) return { why: "no-tool" };
  if (whole) return { to: [tool] };
  if (tool === "Bash") return convertCommand(specifier, behavior);
  if (ofPaths.has(tool)) {
    const { to, why = given === "Write" ? "write-is-edit" : undefined } = convertPath(specifier, behavior, origin);
    return { ...(to && { to: to.map((path) => `${tool}(${path})`) }), ...(why && { why }) };
  }
  if (tool === "WebFetch") return convertDomain(specifier);
  return { why: "specifier" };
}

/** There a star stands for any text, here for words: glued into a word it would catch less. */
function convertCommand(specifier: string, behavior: Behavior): Converted {
  const same = { to: [`Bash(${specifier})`] };
  const words = specifier.replace(/(?::| )\*$|\*$/, "").split(/\s+/);
  const glued = words.findIndex((word) => word !== "*" && /(?<!\\)\*/.test(word));
  if (behavior === "allow") {
    if (words[0] === "*" || glued === 0) return { why: "any-program" };
    return glued < 0 ? same : { ...same, why: "narrower" };
  }
  if (glued < 0) return same;
  const prefix = [...words.slice(0, glued), words[glued]?.split("*")[0]].join(" ");
  return prefix.trim() === "" ? { why: "star" } : { to: [`Bash(${prefix}*)`], why: "wider" };
}

/** There paths are patterns of .gitignore, with `//` for the root and `/` for the settings' own folder. */
function convertPath(path: string, behavior: Behavior, { kind, root, to }: Origin): Converted {
  if (path.startsWith("!") || /\[[!^]/.test(path)) return { why: "pattern" };
  const name = path.replace(/\/$/, "");
  const pattern = name === path ? path : `${path}**`;
  if (pattern.startsWith("//")) return { to: [pattern.slice(1)] };
  if (pattern.startsWith("/")) {
    if (to === "project") return { to: [`.${pattern}`], why: "start-folder" };
    const inRoot = join(escapeSpecifier(root, "()*\\?["), pattern);
    // Personal settings have referred to the home folder in some versions and to the project in others: protect both.
    return { to: kind === "user" && behavior !== "allow" ? [inRoot, `.${pattern}`] : [inRoot] };
  }
  // A name without a folder is one at any depth.
  return { to: [name.includes("/") || name === "~" ? pattern : `**/${pattern}`] };
}

function convertDomain(specifier: string): Converted {
  const host = specifier.replace(/^domain:/, "");
  if (host === specifier) return { why: "specifier" };
  if (host === "*") return { to: ["WebFetch"] };
  return /^(?:\*\.)?[^*]+$/.test(host) ? { to: [`WebFetch(${specifier})`] } : { why: "pattern" };
}
