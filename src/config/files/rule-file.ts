import { readRule, textOfRule, type AskRule } from "../../permission/rules/rules.ts";
import type { RuleGrant } from "../../protocol/facts/answer.ts";
import { reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";
import { changeFile } from "./locked-file.ts";
import { readSmallFile } from "./small-file.ts";

type RuleBehavior = RuleGrant["behavior"];
type Listed = string | AskRule;
type Lists = Partial<Record<RuleBehavior, Listed[]>>;
type RuleFile = { permissions?: Lists } & Record<string, unknown>;

/** Adds a rule and verifies it by reading the file again. A rule with approvals is kept: a plain one would weaken it. */
export function addRule(path: string, { rule, behavior }: Pick<RuleGrant, "rule" | "behavior">, lock?: string): void {
  const reading = readRule(rule, behavior);
  if (!reading.ok) throw new SageError("config-invalid", reason("rule-not-read", { rule, problem: reading.problem }));
  changeRules(
    path,
    (lists) => {
      const list = lists[behavior] ?? [];
      return includes(list, rule) ? lists : { ...lists, [behavior]: [...list, rule] };
    },
    lock,
  );
  if (!includes(rulesIn(path)[behavior] ?? [], rule))
    throw new SageError("config-invalid", reason("rule-not-saved", { rule, path }));
}

export function removeRule(
  path: string,
  { rule, behavior }: { rule: string; behavior?: RuleBehavior },
  lock?: string,
): boolean {
  let removed = false;
  changeRules(
    path,
    (lists) => {
      const kept: Lists = {};
      for (const [kind, list] of Object.entries(lists) as [RuleBehavior, Listed[]][]) {
        kept[kind] = list.filter(
          (entry) => textOfRule(entry) !== rule || (behavior !== undefined && kind !== behavior),
        );
        removed ||= kept[kind].length < list.length;
      }
      return removed ? kept : lists;
    },
    lock,
  );
  return removed;
}

function includes(list: readonly Listed[], rule: string): boolean {
  return list.some((entry) => textOfRule(entry) === rule);
}

function changeRules(path: string, change: (lists: Lists) => Lists, lock?: string): void {
  changeFile(
    path,
    (text) => {
      const file = parse(path, text);
      const lists = file.permissions ?? {};
      const changed = change(lists);
      return changed === lists ? text : `${JSON.stringify({ ...file, permissions: changed }, undefined, 2)}\n`;
    },
    lock,
  );
}

function rulesIn(path: string): Lists {
  return parse(path, readSmallFile(path) ?? "").permissions ?? {};
}

/** A file that cannot be read as JSON is somebody's work in progress: never overwritten. */
function parse(path: string, text: string): RuleFile {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as RuleFile;
  } catch (error) {
    throw new SageError(
      "config-invalid",
      reason("file-not-json", { path, problem: messageOf(error), effect: "rule-not-saved" }),
    );
  }
}
