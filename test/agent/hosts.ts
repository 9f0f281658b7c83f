import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { Script } from "../../src/models/scripted.ts";
import { createHost } from "../../src/host/host.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { config } from "../support/sage.ts";

/** A host of its own over a journal on disk, as another process would have it. */
export function hostOn(
  store: Store,
  dir: string,
  script: Script,
  more: { tools?: Tool[]; permissionMode?: "bypass" } = {},
) {
  const made = config({ script, dir, store, ...more });
  return createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: dir }),
  });
}
