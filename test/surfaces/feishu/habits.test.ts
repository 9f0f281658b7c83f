import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { team, until } from "./team.ts";

/** Messages to the agent, in their order. */
const told = (sage: Awaited<ReturnType<typeof team>>) =>
  sage
    .facts("user.said")
    .toSorted((a, b) => a.at - b.at)
    .map(({ data }) => data.text);

test("a reply to a colleague's message brings it along: its words, its file, its picture", async () => {
  await using sage = await team({ script: [{ text: "ok" }] });
  const { lin, mei, feishu } = sage;
  const group = feishu.group("dev", [lin, mei]);
  const words = mei.say("the build fails\nsince this morning", { chat: group });
  lin.say("can you fix that?", { chat: group, replyTo: words, mentionBot: true });
  await until(() => told(sage).length === 1);
  assert.equal(
    told(sage)[0],
    "[In reply to a message of Mei:]\n> the build fails\n> since this morning\ncan you fix that?",
  );
  const log = mei.send("file", Buffer.from("Error: 42"), "build.log", { chat: group });
  lin.say("and this one?", { chat: group, replyTo: log, mentionBot: true });
  await until(() => told(sage).length === 2);
  assert.match(
    told(sage)[1] ?? "",
    /^\[In reply to a message of Mei:\]\n> \[file build\.log\]\n\[The person sent a file/,
  );
  const path = /saved at (.*?)\]/.exec(told(sage)[1] ?? "")?.[1] ?? "";
  assert.equal(readFileSync(path, "utf8"), "Error: 42");
  const picture = mei.send("image", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "x", { chat: group });
  lin.say("what is this?", { chat: group, replyTo: picture, mentionBot: true });
  await until(() => told(sage).length === 3);
  assert.match(told(sage)[2] ?? "", /an image\. It is saved at .*\.png\]\nwhat is this\?$/);
});

test("a reply to what Sage itself said brings nothing along, and one that cannot be read is told", async () => {
  await using sage = await team({ script: [{ text: "first" }, { text: "second" }, { text: "third" }] });
  const { lin, mei, feishu } = sage;
  lin.say("go");
  const done = await sage.sees(lin.chat, /first/);
  lin.say("again", { replyTo: done.id });
  await sage.sees(lin.chat, /second/);
  const group = feishu.group("dev", [lin, mei]);
  const gone = mei.say("look", { chat: group });
  feishu.recall(gone);
  lin.say("fix it", { chat: group, replyTo: gone, mentionBot: true });
  await sage.sees(group, /could not be read; Sage got only your own text/);
  await until(() => told(sage).length === 3);
  assert.deepEqual(new Set(told(sage)), new Set(["go", "again", "fix it"]));
});

test("a card's words come along when somebody replies to it, and merged forwards are unfolded", async () => {
  await using sage = await team({ script: [{ text: "ok" }] });
  const { lin, mei, feishu } = sage;
  const group = feishu.group("dev", [lin, mei]);
  const alarm = feishu.post(group, {
    header: { title: { tag: "plain_text", content: "Alarm: disk full" } },
    body: { elements: [{ tag: "markdown", content: "**host-7** is at 99 %" }] },
  });
  lin.say("look into it", { chat: group, replyTo: alarm, mentionBot: true });
  await until(() => told(sage).length === 1);
  assert.equal(
    told(sage)[0],
    "[In reply to a message of a bot:]\n> Alarm: disk full\n> **host-7** is at 99 %\nlook into it",
  );
  const said_ = [mei.say("it broke", { chat: group }), mei.send("image", Buffer.from("x"), "x", { chat: group })];
  lin.forward(said_);
  await until(() => told(sage).length === 2);
  assert.equal(told(sage)[1], "[The person forwards these messages:]\n> Mei: it broke\n> Mei: [image]");
});

test("several pictures in one message arrive together, voice is answered kindly", async () => {
  await using sage = await team({ lang: "zh", script: [{ text: "ok" }] });
  const { lin, feishu } = sage;
  lin.voice();
  await sage.sees(lin.chat, /谢谢你的语音/);
  assert.equal(sage.store.sessions().length, 0);
  const keys = ["img_a", "img_b"];
  const id = lin.post([
    [
      { tag: "text", text: "compare " },
      { tag: "img", image_key: keys[0] },
    ],
    [{ tag: "img", image_key: keys[1] }],
  ]);
  for (const key of keys)
    feishu.world.files.set(key, {
      name: key,
      content: Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
      by: "person",
      message: id,
    });
  await until(() => told(sage).length === 1);
  assert.equal(told(sage)[0]?.match(/an image\. It is saved at/g)?.length, 2);
});

test("a message that is changed while it is worked on is told to the agent; later, its author is told", async () => {
  await using sage = await team({ script: [{ text: "one", delayMs: 1_500 }, { text: "two" }] });
  const { lin, feishu } = sage;
  const id = lin.say("delete a.txt");
  await sage.card(lin.chat, "Stop");
  lin.edit(id, "delete b.txt");
  await feishu.until(lin.chat, (one) => one.id === id && one.reactions.length > 0);
  await sage.sees(lin.chat, /two/);
  assert.deepEqual(told(sage), [
    "delete a.txt",
    "[The person has changed an earlier message. It now says:]\ndelete b.txt",
  ]);
  feishu.clock.advance(5);
  lin.edit(id, "delete c.txt");
  await sage.sees(lin.chat, /You edited your message/);
  assert.equal(told(sage).length, 2);
});

test("a task that is taken back is stopped; a word that is taken back is told to be", async () => {
  await using sage = await team({ script: [{ text: "one", delayMs: 60_000 }] });
  const { lin, mei, feishu } = sage;
  const id = lin.say("delete everything");
  await sage.card(lin.chat, "Stop");
  const more = lin.say("also the backups");
  await until(() => told(sage).length === 2);
  lin.recall(more);
  await until(() => told(sage).length === 3);
  assert.match(told(sage)[2] ?? "", /taken back/);
  lin.recall(id);
  await sage.sees(lin.chat, /Stopped/);
  assert.equal(sage.facts("turn.ended")[0]?.data.status, "cancelled");
  assert.match(JSON.stringify(sage.facts("turn.interrupted")[0]?.data), /林/);
  // One that was not yet taken up never is.
  feishu.delay(/GET .*\/resources\//, 1_000);
  mei.send("file", Buffer.from("x"), "a.txt");
  feishu.clock.advance(1);
  const second = mei.say("do it");
  await until(() => feishu.delivery.attempts.length >= 4);
  mei.recall(second);
  await until(() => told(sage).some((text) => text.includes("a.txt")));
  await sage.surface.settled();
  assert.ok(!told(sage).includes("do it"));
});
