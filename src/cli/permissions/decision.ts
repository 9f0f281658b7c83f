import { decide } from "../../permission/decide.ts";
import { loadGrammar } from "../../permission/grammar.ts";
import type { PermissionMode, PermissionResult, Rule, ToolInput } from "../../protocol/index.ts";
import { builtinTools } from "../../tools/registry.ts";

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
export async function loadDecision(): Promise<(question: Question) => PermissionResult> {
  const tools = new Map(builtinTools().map((tool) => [tool.name, tool]));
  const grammar = await loadGrammar();
  return (question) => {
    const { tool, input } = question;
    const known = tools.get(tool);
    return decide({
      ...question,
      grammar,
      requiresUserInteraction: question.requiresUserInteraction ?? known?.requiresUserInteraction,
      view: known?.checkPermissions && (() => known.checkPermissions!(input, question)),
    });
  };
}
