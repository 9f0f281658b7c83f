import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelRequest } from "../../src/models/model.ts";
import type { ScriptedTurn } from "../../src/models/scripted.ts";
import { Machine } from "../support/cli.ts";
import { sageWith, workspace } from "../support/sage.ts";

const cut = (text: string): ScriptedTurn => ({ text, finish: "length" });

test("a reply that was cut is asked for its rest, and the words are put together", async () => {
  using here = workspace();
  const seen: ModelRequest["messages"][] = [];
  const script = [
    cut("One, "),
    ({ messages }: ModelRequest) => {
      seen.push([...messages]);
      return { text: "two." };
    },
    ({ messages }: ModelRequest) => {
      seen.push([...messages]);
      return { text: "Three." };
    },
  ];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("count");
  const outcome = await sage.outcome();
  assert.deepEqual([outcome.status, outcome.text, outcome.stats.steps], ["success", "One, two.", 2]);
  assert.match(JSON.stringify(seen[0]?.at(-1)), /cut off at the token limit/);

  // The next turn folds the facts of this one into the very messages that the model had before.
  await sage.say("on");
  assert.equal((await sage.outcome()).text, "Three.");
  assert.deepEqual(seen[1]?.slice(0, -1), outcome.messages);
});

test("a turn whose rest never comes, a withheld reply and an empty one end as incomplete, never as success", async () => {
  const plays: [ScriptedTurn[], string, number][] = [
    [[cut("a"), cut("b"), cut("c"), cut("d")], "length", 4],
    [[{ text: "No.", finish: "filtered" }], "filtered", 1],
    [[{}, { text: " \n" }, {}, {}], "empty", 4],
  ];
  for (const [script, lack, steps] of plays) {
    using here = workspace();
    await using sage = await sageWith({ dir: here.dir, script });
    await sage.say("go");
    const outcome = await sage.outcome();
    assert.deepEqual(
      [outcome.status, outcome.status === "incomplete" && outcome.lack, outcome.stats.steps],
      ["incomplete", lack, steps],
    );
  }
});

test("a cut reply with calls goes on with their results", async () => {
  using here = workspace();
  const calls = [{ tool: "Glob", input: { pattern: "*" } }];
  await using sage = await sageWith({ dir: here.dir, script: [{ calls, finish: "length" }, { text: "Empty." }] });
  await sage.say("look");
  assert.deepEqual([(await sage.outcome()).status, (await sage.outcome()).text], ["success", "Empty."]);
});

test("-p says that the reply is not whole, with an exit code of its own", async () => {
  using machine = new Machine();
  const model = machine.script({ text: "Half", finish: "filtered" });
  const { code, out, err } = await machine.sage(["-p", "go", "--model", model]);
  assert.deepEqual([code, out], [6, "Half\n"]);
  assert.match(err, /provider withheld the reply[^]*Resume with/);
});
