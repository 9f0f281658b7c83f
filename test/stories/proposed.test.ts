// After a turn that ended before its work was done, the command that -p proposes goes on with the session.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";

for (const [how, flags, code, command] of [
  ["ran out of time", ["--timeout", "50ms"], 4, "sleep 60"],
  ["ran out of steps", ["--max-steps", "1"], 5, "true"],
] as const)
  test(`a turn that ${how}: the command that -p proposes works`, async () => {
    using here = new Machine();
    const slow = here.script({ calls: [bash(command)] }, { calls: [bash(command)] }, { text: "never" });
    const ended = await here.sage(["-p", "go", "--yes", "--model", slow, ...flags]);
    assert.equal(ended.code, code, ended.err);
    const [, words = ""] = /\bsage (.*--resume \w+)/.exec(ended.err) ?? assert.fail(`nothing proposed:\n${ended.err}`);
    const args = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    const model = here.script({ text: "one" }, { text: "two" }, { text: "three" });
    const next = await here.sage([...args, "--yes", "--model", model]);
    assert.equal(next.code, 0, next.err);
  });
