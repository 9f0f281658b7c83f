import { builtinSubagents } from "../../../agent/state/subagents.ts";
import { decideStep, type DecisionStep } from "../../../permission/decide.ts";
import { loadGrammar } from "../../../permission/shell/read/grammar.ts";
import type { PermissionMode, PermissionResult, Rule, ToolInput } from "../../../protocol/index.ts";
import { builtinTools } from "../../../tools/registry.ts";
import { createSkill } from "../../../tools/skill.ts";
import { createTask } from "../../../tools/task.ts";

export type Question = {
  rules: readonly Rule[];
  mode: PermissionMode;
  cwd: string;
  home: string;
  roots: readonly string[];
  tool: string;
  input: ToolInput;
  requiresUserInteraction?: boolean;
};

/** The very decision that the loop makes. */
export async function loadDecision(): Promise<
  (question: Question) => { step: DecisionStep; result: PermissionResult }
> {
  const all = [...builtinTools(), createTask(builtinSubagents), createSkill([])];
  const tools = new Map(all.map((tool) => [tool.name, tool]));
  const grammar = await loadGrammar();
  return (question) => {
    const { tool, input } = question;
    const known = tools.get(tool);
    return decideStep({
      ...question,
      grammar,
      requiresUserInteraction: question.requiresUserInteraction ?? known?.requiresUserInteraction,
      view: known?.checkPermissions && (() => known.checkPermissions!(input, question)),
    });
  };
}
