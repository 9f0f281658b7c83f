// Plants that only a look at the right moment finds: after a kill, when Sage leaves, and while a command still runs.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Machine, bash } from "../support/cli.ts";
import { cannotConfine } from "../support/confine.ts";
import { until } from "../support/until.ts";

const skip = await cannotConfine();

function machine(): Machine {
  const here = new Machine();
  mkdirSync(here.env["SAGE_HOME"] ?? "", { recursive: true });
  const settings = { sandbox: { mode: "contain" }, permissions: { allow: ["Bash"] } };
  writeFileSync(join(here.env["SAGE_HOME"] ?? "", "settings.json"), JSON.stringify(settings));
  return here;
}

/** A file of the workspace: nobody can read off the command what it will do. */
const script = (here: Machine, name: string, text: string): string => {
  writeFileSync(join(here.cwd, name), text);
  return `sh ./${name}`;
};
const inBackground = (command: string) => ({ tool: "Bash", input: { command, background: true } });
const has = (here: Machine, name: string) => existsSync(join(here.cwd, name));

test(
  "what a command had written when Sage was killed is gone after the next start, with the sandbox off by then",
  { skip },
  async () => {
    using here = machine();
    const model = here.script({ calls: [bash(script(here, "w.sh", "echo EVIL > .envrc; echo b > begun; sleep 50"))] });
    const running = here.start(["-p", "--model", model, "go"]);
    running.end();
    await until(() => has(here, "begun"));
    running.kill("SIGKILL");
    await running.ended;
    assert.ok(has(here, ".envrc"), "a killed Sage looks at nothing");
    writeFileSync(join(here.env["SAGE_HOME"] ?? "", "settings.json"), "{}");
    await here.sage(["-p", "--model", here.script({ text: "hello" }), "something else"]);
    assert.ok(!has(here, ".envrc"));
  },
);

test("what a command in the background writes as its last act, when Sage leaves", { skip }, async () => {
  using here = machine();
  const last =
    "trap 'echo EVIL > .envrc; echo EVIL > AGENTS.md; exit' TERM EXIT; echo b > begun; while :; do sleep 0.05; done";
  const model = here.script(
    { calls: [inBackground(script(here, "w.sh", last))] },
    { calls: [bash(script(here, "u.sh", "until test -e begun; do sleep 0.05; done"))] },
    { text: "done" },
  );
  const { code } = await here.sage(["-p", "--model", model, "go"]);
  assert.equal(code, 0);
  assert.deepEqual([has(here, "begun"), has(here, ".envrc"), has(here, "AGENTS.md")], [true, false, false]);
});

test("what a command in the background leaves, when it ends by itself and while it runs", { skip }, async () => {
  using here = machine();
  const model = here.script(
    { calls: [inBackground(script(here, "a.sh", "echo EVIL > .envrc; while :; do sleep 0.05; done"))] },
    { calls: [inBackground(script(here, "b.sh", "echo EVIL > AGENTS.md; echo e > ended"))] },
    { calls: [bash(script(here, "c.sh", "until test -e go; do sleep 0.05; done"))] },
    { text: "done" },
  );
  const running = here.start(["-p", "--model", model, "go"]);
  running.end();
  await until(() => has(here, "ended") && !has(here, "AGENTS.md"));
  await until(() => !has(here, ".envrc"));
  writeFileSync(join(here.cwd, "go"), "");
  assert.equal((await running.ended).code, 0);
});
