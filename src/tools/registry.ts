import { said, type Reason, SageError } from "../protocol/reasons/reason.ts";
import { askUser } from "./ask/ask-user.ts";
import { bash } from "./shell/bash.ts";
import { edit } from "./files/edit.ts";
import { exitPlanMode } from "./ask/exit-plan-mode.ts";
import { glob } from "./search/glob.ts";
import { grep } from "./search/grep.ts";
import { jsonSchemaOf } from "./definition/json-schema.ts";
import { killShell } from "./shell/background.ts";
import { read } from "./files/read.ts";
import { todoWrite } from "./session/todo-write.ts";
import type { Tool } from "./definition/tool.ts";
import { wait } from "./shell/wait.ts";
import { write } from "./files/write.ts";

/** A tool as a model is told of it. */
export type OfferedTool = { name: string; description: string; inputSchema: Record<string, unknown> };

/** Tools by name. */
export type ToolRegistry = {
  get(name: string): Tool | undefined;
  names(): string[];
  list(): Tool[];
  /** A registry of those among these names that are known here. */
  filterByNames(names: readonly string[]): ToolRegistry;
  clone(): ToolRegistry;
  register(tool: Tool): void;
  /** `loaded`: tools that the model searched for; others may be known to it by name only. */
  offers(loaded?: ReadonlySet<string>): readonly OfferedTool[];
  /** Waits for tools that must be known before the model is asked. */
  ready?(signal: AbortSignal, notice: (why: Reason) => void): Promise<void>;
};

/** Read, Write, Edit, Bash, Wait, KillShell, Glob, Grep, TodoWrite, AskUserQuestion and ExitPlanMode. */
export function builtinTools(): Tool[] {
  return [read, write, edit, bash, wait, killShell, glob, grep, todoWrite, askUser, exitPlanMode];
}

/** A registry of these tools. Throws when two have the same name. */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>();
  let offered: readonly OfferedTool[] | undefined;

  const register = (tool: Tool) => {
    if (byName.has(tool.name)) throw new SageError("config-invalid", said(`there are two tools named "${tool.name}"`));
    byName.set(tool.name, tool);
    offered = undefined;
  };
  const list = () => [...byName.values()];

  for (const tool of tools) register(tool);
  return {
    get: (name) => byName.get(name),
    names: () => [...byName.keys()],
    list,
    filterByNames: (names) => createToolRegistry(list().filter(({ name }) => names.includes(name))),
    clone: () => createToolRegistry(list()),
    register,
    offers: () => (offered ??= list().map(offerOf)),
  };
}

/** A tool as the model is told of it. */
export function offerOf({ name, description, inputSchema }: Tool): OfferedTool {
  return { name, description, inputSchema: jsonSchemaOf(inputSchema) };
}
