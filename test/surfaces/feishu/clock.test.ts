import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, team, until } from "./team.ts";

const DAY = 24 * 60 * 60_000;

test("a chat that is used goes on with its session after months, and one that is not stands in nobody's way", async () => {
  const at = { ahead: 0 };
  await using sage = await team({
    script: Array.from({ length: 5 }, (_, n) => ({ text: `answer ${n}` })),
    options: { now: () => Date.now() + at.ahead },
  });
  const { lin, mei } = sage;
  const turn = async (who: typeof lin, text: string) => {
    const before = sage.facts("turn.ended").length;
    who.say(text);
    await until(() => sage.facts("turn.ended").length > before);
  };
  await turn(mei, "once, and never again");
  for (const days of [0, 80, 160]) {
    at.ahead = days * DAY;
    await turn(lin, `after ${days} days`);
  }
  assert.equal(new Set(sage.facts("user.said").map(({ session }) => session)).size, 2);
  await sage.surface.settled();
  assert.deepEqual(
    sage.logged.filter((line) => line.includes("no home")),
    [],
  );
});

test("a clock that is ahead of the platform's does not turn answers into notes", async () => {
  await using sage = await team({
    script: [{ calls: [ask("Name?")] }, { text: "the end" }],
    options: { now: () => Date.now() + 10 * 60_000 },
  });
  const { lin } = sage;
  lin.say("go");
  await sage.sees(lin.chat, /Name\?/);
  await sage.surface.settled();
  lin.say("newFile.js");
  await sage.sees(lin.chat, /Done[^]*the end/);
  assert.equal(sage.facts("user.said").length, 1);
});
