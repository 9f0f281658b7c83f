import type { Skill } from "../context/skills.ts";
import { chooseModel } from "../models/choice/choose.ts";
import type { Model } from "../models/model.ts";
import { loadRules, type RuleLists } from "../permission/rules/rules.ts";
import type { Rule } from "../protocol/facts/permission.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { SageError } from "../protocol/reasons/error.ts";
import type { GivenSkill, SdkOptions } from "./options.ts";

/** Rules of an embedder. A rule in code is not passed over, as one in a file is: the program is wrong, and is told so. */
export function readRules(lists: RuleLists = {}): Rule[] {
  const { rules, warnings } = loadRules(lists, "user");
  const [first] = warnings;
  if (!first) return rules;
  if (first.code !== "rule-ignored") throw new SageError("config-invalid", first);
  const { rule, problem, source } = first.args;
  throw new SageError("config-invalid", reason("rule-not-read", { rule, problem, behavior: "allow", source }));
}

export function wholeSkill(given: GivenSkill, folder: string): Skill {
  return { whenToUse: "", allowedTools: "all", userInvocable: true, priority: 50, folder, ...given };
}

/** Names given in code count before those that are found. */
export function firstOfName<T extends { name: string }>(given: readonly T[] = [], found: readonly T[] = []): T[] {
  return [...given, ...found.filter(({ name }) => !given.some((one) => one.name === name))];
}

/** The model that was given, or the one that a name or the environment points to. */
export async function resolveModel({ model, fallbackModel }: SdkOptions, env: NodeJS.ProcessEnv): Promise<Model> {
  if (typeof model === "object") return model;
  const chosen = chooseModel({ spec: model, fallback: fallbackModel, env });
  if (chosen) return chosen.load();
  throw new SageError("config-invalid", reason("no-model", {}));
}
