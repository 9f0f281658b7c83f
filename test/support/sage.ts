import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentConfig } from "../../src/agent/context.ts";
import type { Store } from "../../src/journal/store.ts";
import { memoryStore } from "../../src/journal/memory.ts";
import { scripted, type Script } from "../../src/models/scripted.ts";
import type { Rule } from "../../src/protocol/index.ts";
import { builtinTools, createToolRegistry } from "../../src/tools/registry.ts";
import type { Tool } from "../../src/tools/tool.ts";

/** A folder that is gone when the test is. */
export function workspace(): { dir: string; path(name: string): string } & Disposable {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-test-")));
  return { dir, path: (name) => join(dir, name), [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

export type TestConfig = { script: Script; dir: string; store?: Store; tools?: Tool[]; rules?: Rule[]; permissionMode?: "default" | "bypass" };

/** The real rooms over a scripted model. */
export function config({ script, dir, store = memoryStore(), tools = [], rules = [], permissionMode = "default" }: TestConfig): AgentConfig & { store: Store } {
  return {
    store,
    model: scripted(script),
    tools: createToolRegistry([...builtinTools(), ...tools]),
    rules,
    permissionMode,
    system: "You are a test.",
    home: dir,
    roots: [dir],
    env: process.env,
    keepDir: dir,
    redact: (text) => text,
  };
}

export const question = (text: string, options = ["Red", "Blue"], multiSelect = false) => ({
  question: text,
  header: "Choice",
  options: options.map((label) => ({ label, description: `take ${label}` })),
  multiSelect,
});

export const askUser = (...questions: ReturnType<typeof question>[]) => ({ tool: "AskUserQuestion", input: { questions } });
export const bash = (command: string) => ({ tool: "Bash", input: { command } });
export const allow = (text: string): Rule => ({ behavior: "allow", text, source: "user" });
