import assert from "node:assert/strict";
import { test } from "node:test";
import { loadedGrammar } from "../../src/permission/shell/read/grammar.ts";
import { noUsage, SageAgentSDK, type Model } from "../../src/sdk/index.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

test("the shell grammar is loaded while a model thinks, and not for one that replies at once", async () => {
  using here = workspace();
  let thinks = false;
  const model: Model = {
    id: "m",
    async reply() {
      if (thinks) await until(() => loadedGrammar() !== undefined, "the grammar is not loaded while the model thinks");
      return { parts: [{ type: "text", text: "done" }], usage: noUsage, finish: "stop", model: "m" };
    },
  };
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  await sage.run("at once");
  assert.equal(loadedGrammar(), undefined);
  thinks = true;
  assert.equal((await sage.run("think")).text, "done");
  await sage.close();
});
