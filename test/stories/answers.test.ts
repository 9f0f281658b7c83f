// Nobody allows what they have not seen: real commands, typed by people who have read the same inbox.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";

/** What the inbox, or `-p`, tells to type. */
function toType(text: string): string[] {
  const command = /sage answer (\S+) --yes/.exec(text)?.[1] ?? "";
  assert.notEqual(command, "", text);
  return ["answer", command, "--yes"];
}

test("two people read the same inbox: who comes second allows nothing, and is told what the first one did", async () => {
  using here = new Machine();
  const model = here.script(
    { calls: [bash("echo seen >> ran.txt")] },
    { calls: [bash("echo unseen >> ran.txt")] },
    { text: "all done" },
  );
  await here.sage(["-p", "go", "--model", model]);
  const typed = toType((await here.sage(["inbox"])).out);
  const first = await here.sage([...typed, "--run", "--model", model]);
  assert.match(first.out, /^Recorded for Bash echo seen >> ran\.txt: allowed/);
  assert.equal((await here.pending()).length, 1, "the agent has gone on, and asks for the next");

  const second = await here.sage(typed);
  assert.equal(second.code, 1);
  assert.match(second.err, /Answered by \S+ by command at \d\d:\d\d: allowed/);
  const twice = await here.sage(typed); // ↑ Enter
  assert.deepEqual([twice.code, twice.out], [1, ""]);
  assert.deepEqual([here.file("ran.txt"), (await here.pending()).length], ["seen\n", 1]);

  const next = toType((await here.sage(["inbox"])).out);
  assert.notDeepEqual(next, typed);
  assert.match((await here.sage(next)).out, /^Recorded for Bash echo unseen >> ran\.txt: allowed/);
});

test("a session, or the start of an id, names no request: nothing is recorded, and the requests are listed", async () => {
  using here = new Machine();
  const { err } = await here.sage(["-p", "go", "--model", here.script({ calls: [bash("echo ran >> ran.txt")] })]);
  const [, id = ""] = toType(err);
  const [request] = await here.pending();
  for (const target of [request?.session ?? "", request?.session.slice(0, 4) ?? "", `${request?.session}/t0`]) {
    const refused = await here.sage(["answer", target, "--yes"]);
    assert.equal(refused.code, 2);
    assert.ok(refused.err.includes(id), refused.err);
  }
  assert.deepEqual(await here.facts("input.resolved"), []);
  assert.equal((await here.sage(["answer", request?.id ?? "", "--yes"])).code, 0, "the whole id is one too");
});
