// Killed at each call to the disk while a file is written: the file is old or new, its write is known, and nothing is left beside it.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Machine } from "../support/cli.ts";
import { diskCalls, killAtDisk } from "../support/kill.ts";
import { thorough } from "./rounds.ts";

const read = { tool: "Read", input: { file_path: "a.txt" } };
const write = { tool: "Write", input: { file_path: "a.txt", content: "new\n" } };

for (const call of thorough ? diskCalls : (["rename"] as const))
  for (const side of ["before", "after"] as const)
    test(`killed ${side} ${call} of a write: it is taken up without a question, and leaves no file behind`, async () => {
      using here = new Machine();
      writeFileSync(join(here.cwd, "a.txt"), "old\n");
      const model = here.script({ calls: [read] }, { calls: [write] }, { text: "all done" });
      const killed = await here.sage(["-p", "go", "--yes", "--model", model], { env: killAtDisk(call, side) });
      assert.equal(killed.code, null, `it was killed:\n${killed.out}${killed.err}`);
      const renamed = call === "rename" && side === "after";
      assert.equal(here.file("a.txt"), renamed ? "new\n" : "old\n");
      const [session] = JSON.parse((await here.sage(["sessions", "--json"])).out) as { id: string }[];
      const { code, out, err } = await here.sage(["-p", "--resume", session?.id ?? "", "--yes", "--model", model]);
      assert.deepEqual([code, out.trim(), here.file("a.txt")], [0, "all done", "new\n"], err);
      assert.deepEqual(readdirSync(here.cwd), ["a.txt"]);
    });
