import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { mayRead } from "../../src/cli/serve/feishu/bot.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { workspace } from "../support/sage.ts";

test("a file goes to a chat only if the agent might read it there without asking", async () => {
  using here = workspace();
  using state = workspace();
  const env = { SAGE_HOME: state.dir };
  const home = sageHome(env);
  mkdirSync(here.path("vault"));
  for (const name of ["report.txt", "vault/key.txt", "plan.txt"]) writeFileSync(here.path(name), "text");
  const may = (name: string) => mayRead(here.path(name), here.dir, { home, env });
  assert.deepEqual(await Promise.all([may("report.txt"), may("vault/key.txt")]), [true, true]);
  const permissions = { deny: ["Read(./vault/**)"], ask: ["Read(./plan.txt)"], allow: [] };
  writeFileSync(home.settings, JSON.stringify({ permissions }));
  assert.deepEqual(
    await Promise.all([may("report.txt"), may("vault/key.txt"), may("plan.txt"), may("../elsewhere.txt")]),
    [true, false, false, false],
  );
});
