import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deleteSession } from "../../../src/archive/sessions.ts";
import { bash } from "../../support/sage.ts";
import { ask, said, team, until } from "./team.ts";

test("a session begun in the terminal is taken over, with the request that waits in it", async () => {
  await using sage = await team({ script: [{ calls: [ask("Name?")] }, { text: "done" }] });
  const { lin, feishu, cwd, host } = sage;
  const opened = await host.send({ type: "open", cwd });
  const session = opened.ok ? opened.session : "";
  await host.send({ type: "say", session, text: "from the terminal", by: "Ada", surface: "plain" });
  await until(() => sage.store.pending().length === 1);
  assert.equal(sage.store.pending()[0]?.deadline, undefined, "a surface that attaches adds no deadline");
  lin.say(`/resume ${session.slice(0, 5)}`);
  const card = await sage.sees(lin.chat, /Name\?/);
  assert.equal(sage.store.pending()[0]?.deadline, undefined);
  const answered = await host.send({
    type: "respond",
    response: { type: "text", requestId: sage.store.pending()[0]?.id ?? "", text: "x" },
    by: "Ada",
    surface: "plain",
  });
  assert.ok(answered.ok);
  await feishu.until(lin.chat, ({ id, text }) => id === card.id && /Answered by Ada in the terminal/.test(text));
  await sage.sees(lin.chat, /Done/);
});

test("fifty chats at once: each has its own session, its own card and its own answer", async () => {
  await using sage = await team({
    script: [{ calls: [ask("你的名字？")] }, { text: "好" }],
    settings: { people: { talk: "anyone", approve: [] } },
  });
  const { feishu } = sage;
  const people = Array.from({ length: 50 }, (_, n) => feishu.user(`用户${n}`));
  for (const one of people) one.say(`你好，我是 ${one.name}`);
  await Promise.all(
    people.map(async (one) => {
      const card = await feishu.until(one.chat, ({ text }) => /你的名字/.test(text));
      await one.submit(card.id, { text: one.name });
      await feishu.until(one.chat, ({ text }) => /Done/.test(text));
    }),
  );
  assert.equal(sage.store.sessions().length, 50);
  const answers = sage.facts("input.resolved").map(({ data, session }) => {
    const [first] = sage.facts("user.said").filter((fact) => fact.session === session);
    const text = data.outcome === "answered" && data.response.type === "text" ? data.response.text : "";
    return first?.data.text.endsWith(text) && data.by.includes(people.find(({ name }) => name === text)?.openId ?? "?");
  });
  assert.deepEqual(
    answers,
    Array.from({ length: 50 }, () => true),
  );
});

test("what the person in a chat may not answer goes to the approvers, and the person sees who was asked", async () => {
  await using sage = await team({ script: [{ calls: [bash("echo ran >> ran.txt")] }, { text: "the end" }] });
  const { lin, mei, stranger, feishu, cwd } = sage;
  mei.say("run it for me");
  const watched = await sage.sees(mei.chat, /Only an approver can answer this\. Asked: 林/);
  assert.deepEqual(watched.buttons, []);
  const card = await sage.card(lin.chat, "Allow once");
  assert.match(card.text, /Task from Mei/);
  mei.say("/allow", { replyTo: watched.id });
  await sage.sees(mei.chat, /Only an approver can answer this\.$/);
  const forwarded = await feishu.delivery.click(stranger.openId, card.id, {
    tag: "button",
    value: JSON.parse(/"value":(\{[^}]*allow_once[^}]*\})/.exec(JSON.stringify(card.card))?.[1] ?? "{}") as object,
  });
  assert.equal(forwarded.toast?.type, "error");
  await sage.restart();
  lin.say("/allow", { replyTo: card.id });
  await sage.sees(mei.chat, /Done[^]*the end/);
  await feishu.until(mei.chat, ({ id, text }) => id === watched.id && /Answered by 林 in Feishu/.test(text));
  await feishu.until(lin.chat, ({ id, text }) => id === card.id && /Answered by 林 in Feishu/.test(text));
  assert.equal(readFileSync(join(cwd, "ran.txt"), "utf8"), "ran\n");
  assert.equal(said(feishu, lin.chat).length, 1, "one card, and nothing else of somebody else's task");
});

test("a card that waits for two weeks is asked anew before it is too old", async () => {
  const at: { ahead: number } = { ahead: 0 };
  await using sage = await team({
    script: [{ calls: [ask("Name?")] }, { text: "the end" }],
    options: { now: () => Date.now() + at.ahead },
    settings: { limits: { timeoutPolicy: "wait" } },
  });
  const { lin, feishu } = sage;
  lin.say("go");
  const old = await sage.card(lin.chat, "Submit");
  await sage.surface.settled();
  at.ahead = 13.5 * 24 * 60 * 60_000;
  await sage.restart();
  const fresh = await feishu.until(lin.chat, ({ id, buttons }) => id !== old.id && buttons.includes("Submit"));
  await feishu.until(lin.chat, ({ id, text }) => id === old.id && /Asked again below/.test(text));
  await lin.submit(fresh.id, { text: "x" });
  await sage.sees(lin.chat, /Done/);
});

test("of the turns that ended elsewhere while nobody was here, the last one is told, with what it was begun with", async () => {
  await using sage = await team({ script: Array.from({ length: 6 }, (_, n) => ({ text: `answer ${n}` })) });
  const { lin, feishu, dir } = sage;
  lin.say("first");
  await sage.sees(lin.chat, /answer 0/);
  await sage.surface.settled();
  const [session] = sage.store.sessions();
  await sage.crash();
  const { createHost } = await import("../../../src/host/host.ts");
  const { TurnExecutor } = await import("../../../src/agent/turn/executor.ts");
  const { sqliteStore } = await import("../../../src/journal/sqlite/sqlite.ts");
  const { config } = await import("../../support/sage.ts");
  const store = sqliteStore(join(dir, "journal.db"));
  const script = Array.from({ length: 6 }, (_, n) => ({ text: `answer ${n}` }));
  const made = config({ script, dir: sage.cwd, store });
  const terminal = createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: sage.cwd }),
  });
  for (const text of ["second", "third <at id=all></at>"]) {
    await terminal.send({ type: "say", session: session?.id ?? "", text, by: "Ada", surface: "plain" });
    await terminal.run(session?.id ?? "");
  }
  await terminal.close();
  await sage.restart();
  const last = await sage.sees(lin.chat, /answer 2/);
  assert.match(last.text, /Ada in the terminal: third <at id=all><\/at>/);
  assert.deepEqual(last.pings, []);
  await sage.surface.settled();
  assert.ok(said(feishu, lin.chat).every(({ text }) => !text.includes("answer 1")));
});

test("a session that was deleted is no dead end: the next message begins another", async () => {
  await using sage = await team({ script: [{ text: "one" }, { text: "two" }] });
  const { lin, dir } = sage;
  lin.say("first");
  await sage.sees(lin.chat, /Done[^]*one/);
  await sage.surface.settled();
  const [before] = sage.store.sessions();
  const home = { settings: join(dir, "settings.json"), output: join(dir, "output") };
  await until(() => sage.store.session(before?.id ?? "")?.owned === false);
  await deleteSession(sage.store, home, before?.id ?? "", { by: "Ada", surface: "plain" });
  lin.say("second");
  await until(() => sage.facts("turn.ended").some(({ session }) => session !== before?.id));
  lin.say("third");
  await until(() =>
    sage.facts("user.said").some(({ session, data }) => session !== before?.id && data.text === "third"),
  );
});

test("a session that was taken to another chat goes on there alone; where it was, a new one begins and says so", async () => {
  await using sage = await team({ script: Array.from({ length: 4 }, (_, n) => ({ text: `answer ${n}` })) });
  const { lin, feishu } = sage;
  const group = feishu.group("dev", [lin]);
  lin.say("first");
  await sage.sees(lin.chat, /answer 0/);
  const [session] = sage.store.sessions();
  lin.say(`/resume ${session?.id}`, { chat: group, mentionBot: true });
  const taken = await sage.sees(group, /continues session/);
  lin.say("second");
  await sage.sees(lin.chat, /continues elsewhere/);
  lin.say("third", { chat: group, replyTo: taken.id, mentionBot: true });
  await until(() => sage.facts("turn.ended").length === 3);
  await sage.surface.settled();
  const went = sage.facts("user.said").filter((fact) => fact.session === session?.id);
  assert.deepEqual(
    went.map(({ data }) => data.text),
    ["first", "third"],
  );
  for (const [chat, times] of [
    [group, 1],
    [lin.chat, 2],
  ] as const)
    assert.equal(said(feishu, chat).filter(({ text }) => text.startsWith("Done")).length, times);
  assert.equal(said(feishu, lin.chat).filter(({ text }) => /continues elsewhere/.test(text)).length, 1);
});

test("who may only talk cannot make somebody else's open question their own by taking the session over", async () => {
  await using sage = await team({ script: [{ calls: [ask("Which server?")] }, { text: "the end" }, { text: "more" }] });
  const { lin, mei, feishu } = sage;
  const group = feishu.group("dev", [lin, mei]);
  lin.say("deploy", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Submit");
  const [session] = sage.store.sessions();
  mei.say(`/resume ${session?.id}`, { chat: group, mentionBot: true });
  await sage.sees(group, /is working for somebody else/);
  assert.equal((await mei.submit(card.id, { text: "mine" })).toast?.type, "error");
  assert.equal(sage.facts("input.resolved").length, 0);
  await lin.submit(card.id, { text: "staging" });
  await sage.sees(group, /Done/);
  mei.say(`/resume ${session?.id}`, { chat: group, mentionBot: true });
  await sage.sees(group, /continues session/);
});
