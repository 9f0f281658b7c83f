// Nobody allows what they have not seen: real commands, typed by people who have read the same inbox.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";
import { until } from "../support/until.ts";

/** The command that the inbox, or `-p`, tells to type. */
function toType(text: string): string[] {
  const command = /sage answer (\S+) --yes/.exec(text)?.[1] ?? "";
  assert.notEqual(command, "", text);
  return ["answer", command, "--yes"];
}

/** The one request that is open, as a person looks it up. */
async function inbox(here: Machine): Promise<string> {
  const [, id = ""] = /^(\w+\/\w+) /.exec((await here.sage(["inbox"])).out) ?? [];
  return (await here.sage(["inbox", id])).out;
}

test("two people read the same inbox: who comes second allows nothing, and is told what the first one did", async () => {
  using here = new Machine();
  const model = here.script(
    { calls: [bash("echo seen >> ran.txt")] },
    { calls: [bash("echo unseen >> ran.txt")] },
    { text: "all done" },
  );
  await here.sage(["-p", "go", "--model", model]);
  const typed = toType(await inbox(here));
  const first = await here.sage([...typed, "--run", "--model", model]);
  assert.match(first.out, /^Recorded for Bash echo seen >> ran\.txt: allowed/);
  assert.equal((await here.pending()).length, 1, "the agent has gone on, and asks for the next");

  const second = await here.sage([...typed.filter((word) => word !== "--yes"), "--no"]);
  assert.equal(second.code, 1);
  assert.match(second.err, /already settled; your answer was not recorded\. Answered by you at \d\d:\d\d: allowed/);
  const twice = await here.sage(typed); // ↑ Enter: told of the request that it answered, and nothing more is allowed
  assert.equal(twice.code, 0);
  assert.match(twice.out, /^Recorded for Bash echo seen >> ran\.txt: allowed/);
  assert.deepEqual([here.file("ran.txt"), (await here.pending()).length], ["seen\n", 1]);

  const next = toType(await inbox(here));
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

test("an answer that comes while -p still works is taken up by it, as the one who answers is told", async () => {
  using here = new Machine();
  mkdirSync(here.env["SAGE_HOME"] ?? "", { recursive: true });
  const settings = { permissions: { allow: ["Bash(./wait.sh)"] } };
  writeFileSync(join(here.env["SAGE_HOME"] ?? "", "settings.json"), JSON.stringify(settings));
  writeFileSync(join(here.cwd, "wait.sh"), "#!/bin/sh\nuntil [ -e go ]; do sleep 0.02; done\n", { mode: 0o755 });
  const model = here.script({ calls: [bash("./wait.sh"), bash("echo ran >> ran.txt")] }, { text: "all done" });
  const running = here.start(["-p", "go", "--model", model]);
  running.end();
  const request = await until(async () => (await here.pending())[0]);
  const answered = await here.sage(["answer", request.id, "--yes"]);
  assert.match(answered.out, /The running session continues with it\./);
  writeFileSync(join(here.cwd, "go"), "");
  const { code, out, err } = await running.ended;
  assert.deepEqual([code, out, here.file("ran.txt")], [0, "all done\n", "ran\n"], err);
});
