// Killed at the nth system call of a kind, below everything that the product could know of: strace sends the signal.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";
import { thorough } from "./rounds.ts";

const calls = ["pwrite64", "fdatasync", "fsync", "rename", "link", "unlink"];
const traces = spawnSync("strace", ["-f", "-qq", "-e", "trace=none", "true"]).status === 0;
const skip = traces ? false : "there is no strace here, or it may not trace";

for (const call of thorough ? calls : ["pwrite64", "fdatasync"])
  for (const nth of thorough ? [1, 2, 3, 4, 6, 8, 11, 14, 20] : [call === "pwrite64" ? 14 : 6])
    test(
      `killed at ${call} number ${nth}: the turn comes to its end, and nothing is done twice`,
      { skip },
      async () => {
        using here = new Machine();
        const write = { tool: "Write", input: { file_path: "new.txt", content: "whole\n" } };
        const model = here.script({ calls: [bash("echo ran >> ran.txt")] }, { calls: [write] }, { text: "all done" });
        const inject = `inject=${call}:signal=KILL:when=${nth}`;
        const under = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject];
        await here.sage(["-p", "go", "--yes", "--model", model], { under });
        const asked = await goOn(here, model);
        assert.ok(here.file("ran.txt") === "ran\n" || (asked > 0 && here.file("ran.txt") === undefined));
        assert.equal(here.file("new.txt"), "whole\n");
        assert.deepEqual(
          readdirSync(here.cwd).filter((name) => name.endsWith(".tmp")),
          [],
        );
      },
    );

/** Continues what is left, and begins it anew where nothing of it is on disk; counts what a person was asked. */
async function goOn(here: Machine, model: string): Promise<number> {
  for (let asked = 0; ; asked++) {
    assert.ok(asked < 5, "it comes to its end");
    const [session] = JSON.parse((await here.sage(["sessions", "--json"])).out) as { id: string; state: string }[];
    if (session?.state === "idle" && (await here.facts("turn.ended")).length > 0) return asked;
    const [request] = await here.pending();
    const { code, out, err } = await (request
      ? here.sage(["answer", request.id, "--choose", "done", "--run", "--model", model])
      : session?.state === "stopped"
        ? here.sage(["-p", "--resume", session.id, "--yes", "--model", model])
        : here.sage(["-p", "go", "--yes", "--model", model]));
    assert.ok(code === 0 || code === 3, `${code}: ${out}${err}`);
    if (code === 0 && !request) return asked;
  }
}
