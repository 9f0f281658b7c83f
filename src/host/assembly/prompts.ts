import { lazy } from "../../base/lazy.ts";
import { atOnce } from "../../base/at-once.ts";
import { environment } from "../../context/environment.ts";
import { sessionStart } from "../../context/start.ts";
import { findInstructions } from "../../context/instructions.ts";
import { systemPrompt } from "../../context/prompt.ts";
import type { Skill } from "../../context/skills.ts";
import type { RuleBooks } from "../../permission/rules/book.ts";
import { readFilter } from "../../permission/rules/filter.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import { said, type Reason, reasonOf, SageError } from "../../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../../protocol/subagent.ts";

/** A thousand runs that begin within this time in one folder have read the same files. */
const RECENT_MS = 1_000;
const MAX_RECENT = 256;

type PromptParts = {
  rules: readonly Rule[];
  ruleBooks: RuleBooks;
  skills: readonly Skill[];
  home: string;
  sageHome: string | undefined;
  own: string | ((standard: string) => string) | undefined;
};

/** The facts about a run that its prompts mention. */
export type PromptScope = {
  model: string;
  interactive: boolean;
  startedAt: number;
  /** The session's working directory, and its own folder, in which the place is kept as it was when the session began. */
  cwd: string;
  keptIn: string;
  /** An instruction file could not be used. */
  warn(why: Reason): void;
};

type Child = {
  definition: SubagentDefinition;
  agent: readonly string[];
  workingDirectory: string;
  tools: readonly string[];
};

export type Prompts = {
  system(cwd: string, tools: readonly string[]): string;
  subagent(child: Child): string;
};

/** System prompts of one agent's runs. Files and finished prompts are remembered for a moment, for runs that begin together. */
export function createPrompts({
  rules,
  ruleBooks,
  skills,
  home,
  sageHome,
  own,
}: PromptParts): (scope: PromptScope) => Prompts {
  const instructions = createRecent<ReturnType<typeof findInstructions>>();
  const prompts = createRecent<string>();
  const mayRead = (cwd: string) => {
    const filter = readFilter(rules, { cwd, home, sageHome }, ruleBooks);
    return (path: string) => filter?.(path, cwd) ?? true;
  };
  return ({ model, interactive, startedAt, cwd: here, keptIn, warn }) => {
    const start = lazy(() => sessionStart(here, { keptIn, home, mayRead: mayRead(here) }));
    const promptOf = (cwd: string, tools: readonly string[], agent: readonly string[]) => {
      const found = instructions(cwd, () => findInstructions(cwd, { home, mayRead: mayRead(cwd) }));
      for (const why of found.warnings) warn(why);
      const date = new Date(startedAt);
      const facts = { model, tools, skills, interactive, agent, ...(cwd === here && { start: start() }) };
      return prompts(JSON.stringify([cwd, date.toDateString(), { ...facts, skills: [] }]), () =>
        inWordsOf(own, () =>
          systemPrompt({ ...environment({ cwd, date }), ...facts, instructions: found.instructions }),
        ),
      );
    };
    return {
      system: (cwd, tools) => promptOf(cwd, tools, []),
      subagent: ({ definition, agent, workingDirectory, tools }) =>
        `${promptOf(workingDirectory, tools, agent)}\n\n# You are ${definition.name}\n\n${definition.prompt}`,
    };
  };
}

/** A prompt of an embedder's own. Code that fails to make one ends the turn: no model is asked with half of it. */
function inWordsOf(own: PromptParts["own"], standard: () => string): string {
  if (own === undefined) return standard();
  if (typeof own === "string") return own;
  let made: unknown;
  try {
    made = atOnce(own(standard()), "systemPrompt");
  } catch (error) {
    throw new SageError("config-invalid", reasonOf(error));
  }
  if (typeof made === "string") return made;
  throw new SageError(
    "config-invalid",
    said(`the function systemPrompt should return text; it returned ${typeof made}`),
  );
}

export function createRecent<T>(): (key: string, make: () => T) => T {
  const made = new Map<string, { value: T; at: number }>();
  return (key, make) => {
    const now = performance.now();
    const before = made.get(key);
    if (before && now - before.at < RECENT_MS) return before.value;
    if (made.size >= MAX_RECENT) made.clear();
    const value = make();
    made.set(key, { value, at: now });
    return value;
  };
}
