import { builtinSubagents } from "../agent/state/subagents.ts";
import type { ConfinePolicy } from "../permission/confined.ts";
import { judge, type Judgement } from "../permission/decide.ts";
import { createRuleBooks } from "../permission/rules/book.ts";
import type { Disk } from "../permission/paths/canonical.ts";
import type { CommandReading } from "../permission/shell/judge/flow/command-reading.ts";
import { suggest } from "../permission/suggest/suggest.ts";
import { loadGrammar } from "../permission/shell/read/grammar.ts";
import type { ToolInput } from "../protocol/facts/call.ts";
import type { PermissionMode, PermissionSuggestion, Rule } from "../protocol/facts/permission.ts";
import type { SessionMode } from "../protocol/mode.ts";
import { builtinTools } from "../tools/registry.ts";
import { createSkill } from "../tools/session/skill.ts";
import { createTask } from "../tools/session/task.ts";
import { createWebFetch } from "../tools/web/web-fetch.ts";

export type Question = {
  rules: readonly Rule[];
  mode: PermissionMode;
  cwd: string;
  home: string;
  roots: readonly string[];
  tool: string;
  input: ToolInput;
  requiresUserInteraction?: boolean;
  /** How commands are confined, and the mode of the session. */
  confine?: ConfinePolicy | undefined;
  sessionMode?: SessionMode;
  /** Looks at the disk once for many questions. */
  disk?: Disk;
};

type Decision = {
  judge(question: Question, reading?: CommandReading): Judgement;
  /** Rules that would have allowed the call. */
  suggest(question: Question): PermissionSuggestion[];
};

/** The very decision that the loop makes. */
export async function loadDecision(): Promise<Decision> {
  const all = [...builtinTools(), createTask(builtinSubagents), createSkill([]), createWebFetch()];
  const tools = new Map(all.map((tool) => [tool.name, tool]));
  const grammar = await loadGrammar();
  const books = createRuleBooks();
  const { signal } = new AbortController();
  const environment = new Set(Object.keys(process.env));
  const callOf = (question: Question) => {
    const { tool, input } = question;
    const found = tools.get(tool);
    return {
      ...question,
      grammar,
      books,
      sageHome: process.env["SAGE_HOME"],
      environment,
      effect: found?.effect,
      requiresUserInteraction: question.requiresUserInteraction ?? found?.requiresUserInteraction,
      view: found?.checkPermissions && (() => found.checkPermissions!(input, { ...question, signal })),
    };
  };
  return {
    judge: (question, reading) => judge(callOf(question), reading),
    suggest: (question) => suggest(callOf(question)),
  };
}
