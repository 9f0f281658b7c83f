import { z } from "zod";
import { TurnExecutor } from "../src/agent/turn/executor.ts";
import { createSubagentRegistry } from "../src/agent/state/subagents.ts";
import { noHooks } from "../src/hooks/hooks.ts";
import { respond } from "../src/input/respond.ts";
import { openSession, type SessionLog } from "../src/journal/session/session.ts";
import type { LocalStore, Store } from "../src/journal/store/store.ts";
import type { Model } from "../src/models/model.ts";
import { noUsage } from "../src/protocol/facts/message.ts";
import type { Rule } from "../src/protocol/facts/permission.ts";
import { createToolRegistry } from "../src/tools/registry.ts";
import type { Tool } from "../src/tools/definition/tool.ts";

/** The real loop over a model and tools that cost nothing. */
export function measured(
  store: Store,
  model: Model,
  tools: Tool[],
  maxSteps: number,
  cwd = "/",
  rules: Rule[] = [],
): TurnExecutor {
  return new TurnExecutor(
    {
      store,
      model,
      tools: createToolRegistry(tools),
      rules,
      permissionMode: "default",
      system: "You are measured.",
      home: "/",
      roots: [],
      env: {},
      keepDir: "/",
      hooks: noHooks,
      subagents: createSubagentRegistry(),
      subagentSystem: () => "",
      saveRule: () => "",
      redact: (text) => text,
    },
    { workingDirectory: cwd, maxSteps },
  );
}

/** No rule covers the tool, so every call asks. */
export function createAgent(store: LocalStore, approvals: number): TurnExecutor {
  return measured(store, createModel(approvals), [shell], Number.MAX_SAFE_INTEGER);
}

/** A session in which something was said, ready to run. */
export function begin(store: LocalStore, session: string): void {
  store.create(session, { cwd: "/", version: "bench" });
  const data = { text: "go", by: "bench", surface: "bench" };
  store.append(session, { key: "said/0", type: "user.said", at: Date.now(), data });
}

/** A turn under way, seen by somebody who waits for its requests. */
export class Run {
  readonly #log: SessionLog;
  readonly #events: ReturnType<TurnExecutor["execute"]>;
  constructor(agent: TurnExecutor, store: LocalStore, session: string) {
    this.#log = openSession(store, session);
    this.#events = agent.execute({ log: this.#log });
  }
  /** The id of the next request, once it is open; undefined when the turn has ended. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const { done, value } = await this.#events.next();
      if (done) return undefined;
      if ("type" in value && value.type === "input.requested") return value.data.id;
    }
  }
  close(): void {
    this.#log.close();
  }
}

export function grant(store: LocalStore, requestId: string): void {
  void respond(store, { type: "granted", requestId }, { by: "bench", surface: "bench" });
}

const shell: Tool<{ command: string }> = {
  name: "shell",
  description: "Runs a command",
  inputSchema: z.object({ command: z.string() }),
  effect: "writes",
  execute: async () => ({ ok: true, text: "the command ended with exit code 0" }),
};

function createModel(approvals: number): Model {
  return {
    id: "bench",
    async reply({ messages }) {
      const step = (messages.length - 1) / 2;
      if (step >= approvals) {
        return { parts: [{ type: "text", text: "done" }], usage: noUsage, finish: "stop", model: "bench" };
      }
      const call = { type: "call", id: `call-${step}`, tool: "shell", input: { command: `true ${step}` } } as const;
      return { parts: [call], usage: noUsage, finish: "calls", model: "bench" };
    },
  };
}
