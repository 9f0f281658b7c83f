// Killed just after the fork: the command has not begun, for nobody has noted it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";
import { killAfterSpawn } from "../support/kill.ts";

test("killed between the start of a command and the note of it, nothing runs beside the question about it", async () => {
  using here = new Machine();
  const model = here.script(
    { calls: [bash("echo ran >> ran.txt; sleep 1; echo ended >> ran.txt")] },
    { text: "all done" },
  );
  let session = "";
  for (let nth = 1; session === ""; nth++) {
    assert.ok(nth < 10, "some program that it starts is the command");
    const { code } = await here.sage(["-p", "go", "--yes", "--model", model], { env: killAfterSpawn(nth) });
    assert.equal(code, null, "it was killed");
    const started = await here.facts("call.started");
    if (started.length > 0)
      session = (JSON.parse((await here.sage(["sessions", "--json"])).out) as { id: string }[])[0]?.id ?? "";
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(here.file("ran.txt"), undefined, "the command has not begun");
  const asked = await here.sage(["-p", "--resume", session, "--model", model]);
  assert.equal(asked.code, 3);
  const [request] = await here.pending();
  assert.equal(request?.source, "recovery");
  await here.sage(["answer", request?.id ?? "", "--choose", "rerun", "--run", "--model", model]);
  assert.equal(here.file("ran.txt"), "ran\nended\n");
});
