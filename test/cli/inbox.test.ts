import assert from "node:assert/strict";
import { test } from "node:test";
import { Machine, bash, mark } from "../support/cli.ts";

test("inbox --watch shows requests of every session as they open and end", async () => {
  using here = new Machine();
  await here.sage(["sessions"]); // the journal is there
  const words = here.start(["inbox", "--watch"]);
  const lines = here.start(["inbox", "--watch", "--json"]);
  await words.until("No open requests");
  assert.equal(
    (await here.sage(["-p", "one", "--prompt-timeout", "2h", "--model", here.script({ calls: [mark] })])).code,
    3,
  );
  await words.until(/echo ran >> ran\.txt[^]*Waits until[^]*Session \w{8} in .* ago/);
  await lines.until(/"type":"requested"/); // it says nothing before, and may have been slow to start
  const [request] = await here.pending();
  await here.sage(["answer", request?.id ?? "", "--no", "--reason", "不行"]);
  await words.until(/\w{8}\/\w{5}: Answered .*不行/);
  await lines.until(/"type":"resolved"/);
  for (const one of [words, lines]) one.kill("SIGINT");
  assert.equal((await words.ended).code, 0);
  const told = (await lines.ended).out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; resolution?: { by: string } });
  assert.deepEqual(
    told.map(({ type }) => type),
    ["requested", "resolved"],
  );
  assert.ok(told[1]?.resolution?.by);
});

test("answer --stop ends the turn where nothing runs it, and needs no model for that", async () => {
  using here = new Machine();
  const model = here.script({ calls: [bash("touch a"), bash("touch b")] }, { text: "?" });
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 3);
  const [first, second] = await here.pending();
  const stopped = await here.sage(["answer", first?.id ?? "", "--stop", "--reason", "enough"]);
  assert.equal(stopped.code, 0);
  assert.match(stopped.out, /Recorded for Bash touch a: .*enough.*\nTurn stopped\./);
  assert.deepEqual(await here.pending(), [], "the other request went with the turn");
  const [ended] = await here.facts("turn.ended");
  assert.equal(ended?.data["status"], "cancelled");
  assert.deepEqual([here.file("a"), here.file("b")], [undefined, undefined]);
  const late = await here.sage(["answer", second?.id ?? "", "--yes"]);
  assert.equal(late.code, 1);
  assert.match(late.err, /stopped the turn/);
  assert.match((await here.sage(["sessions"])).out, /idle/);
});
