import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deleteSession } from "../../../src/archive/sessions.ts";
import { askUser, bash, question } from "../../support/sage.ts";
import { ask, said, team, until } from "./team.ts";

test("in a group a mention begins a task in its own thread, and the thread goes on with it", async () => {
  await using sage = await team({ lang: "zh", script: [{ text: "第一个" }, { text: "第二个" }] });
  const { lin, mei, stranger, feishu } = sage;
  const group = feishu.group("开发", [lin, mei, stranger]);
  feishu.world.granted.add("im:message.group_msg"); // it hears everything, and answers only what is meant for it
  mei.say("只是聊天", { chat: group });
  const first = mei.say("做第一件事", { chat: group, mentionBot: true });
  const done = await feishu.until(group, ({ text }) => /第一个/.test(text));
  assert.equal(done.parent, first);
  assert.ok(done.thread !== undefined);
  lin.say("继续", { chat: group, replyTo: done.id }); // no mention: it is the bot's thread
  await feishu.until(group, ({ text }) => /第二个/.test(text));
  assert.equal(sage.store.sessions().length, 1);
  lin.say("做另一件事", { chat: group, mentionBot: true });
  await until(() => sage.store.sessions().length === 2);
  await until(() => sage.facts("turn.ended").length === 3);
  await sage.surface.settled();
  stranger.say("也给我做", { chat: group, mentionBot: true });
  const refusals = () => feishu.seen(group).filter(({ text }) => /你无权给此机器人下达任务/.test(text));
  await until(() => refusals().length === 1);
  stranger.say("再来", { chat: group, mentionBot: true });
  await feishu.delivery.idle();
  assert.equal(refusals().length, 1, "told once");
  assert.deepEqual(
    new Set(sage.facts("user.said").map(({ data }) => data.text)),
    new Set(["做第一件事", "继续", "做另一件事"]),
  );
});

test("free text answers the only open question, a quoted card the one that is meant, and a permission needs its card", async () => {
  await using sage = await team({
    script: [
      { calls: [askUser(question("Which colour?")), ask("File name?"), bash("echo hi > hi.txt")] },
      { text: "thanks" },
    ],
  });
  const { lin, feishu } = sage;
  lin.say("go");
  const colour = await sage.sees(lin.chat, /Which colour\?/);
  const name = await sage.sees(lin.chat, /File name\?/);
  const permission = await sage.card(lin.chat, "Allow once");
  lin.say("blue");
  await sage.sees(lin.chat, /Several requests are open/);
  lin.say("2", { replyTo: colour.id });
  await feishu.until(lin.chat, ({ id, text }) => id === colour.id && /Blue[^]*Answered by 林/.test(text));
  lin.say("新文件.js", { replyTo: name.id });
  await feishu.until(lin.chat, ({ id, text }) => id === name.id && /Answered by 林/.test(text));
  lin.say("yes");
  await sage.sees(lin.chat, /A permission is waiting/);
  lin.say("/allow");
  const hint = await sage.sees(lin.chat, /Say which card you mean/);
  // Followed to the letter, it works.
  assert.match(hint.text, /^\/allow #\d{6}$/m);
  assert.ok(permission.text.includes(/\/allow (#\d{6})/.exec(hint.text)?.[1] ?? "?"));
  lin.say("/deny use printf", { replyTo: permission.id });
  await sage.sees(lin.chat, /Done[^]*thanks/);
  lin.say("/allow", { replyTo: permission.id });
  await sage.sees(lin.chat, /That card is closed/);
  assert.deepEqual(
    sage.facts("input.resolved").map(({ data }) => data.outcome),
    ["answered", "answered", "answered"],
  );
  assert.equal(sage.facts("user.said").length, 1, "nothing of it was said to the agent");
});

test("what is said while it works is queued and seen; /stop stops, also what waits", async () => {
  await using sage = await team({
    script: [{ text: "one", delayMs: 900 }, { text: "two" }, { calls: [ask("Name?")] }],
  });
  const { lin, feishu } = sage;
  lin.say("first");
  await sage.card(lin.chat, "Stop");
  const second = lin.say("second");
  await feishu.until(lin.chat, ({ id, reactions }) => id === second && reactions.length > 0);
  await sage.sees(lin.chat, /two/);
  lin.say("third");
  const card = await sage.sees(lin.chat, /Name\?/);
  lin.say("/status");
  await sage.sees(lin.chat, /waiting for your input/);
  lin.say("/stop");
  await feishu.until(lin.chat, ({ id, text }) => id === card.id && /cancelled/.test(text));
  await until(() => sage.facts("turn.ended").some(({ data }) => data.status === "cancelled"));
  lin.say("/stop");
  await sage.sees(lin.chat, /Nothing is running here/);
});

test("/new, /sessions, /resume, /cd, /model, /help", async () => {
  await using sage = await team({
    script: Array.from({ length: 9 }, (_, n) => ({ text: `answer ${n}` })),
    settings: { models: ["small", "large"], agents: ["codex"] },
  });
  const { lin, mei, feishu, cwd, dir } = sage;
  lin.say("the first task");
  await sage.sees(lin.chat, /Done/);
  const [one] = sage.store.sessions();
  lin.say("/new the second task");
  await until(() => sage.store.sessions().length === 2);
  await until(() => sage.facts("turn.ended").length === 2);
  lin.say("/sessions");
  const list = await sage.card(lin.chat, "Continue here");
  assert.match(list.text, /the first task/);
  // Somebody who may only talk sees nothing of others.
  mei.say("/sessions");
  await sage.sees(mei.chat, /No sessions yet/);
  mei.say(`/resume ${one?.id}`);
  await sage.sees(mei.chat, /No session \w+ available/);
  assert.equal((await lin.click(list.id, "Continue here")).toast?.content, `This chat continues session ${one?.id}.`);
  lin.say("go on with the first");
  await until(() =>
    sage.facts("user.said").some(({ session, data }) => session === one?.id && /go on/.test(data.text)),
  );

  mkdirSync(join(cwd, "inner"));
  symlinkSync("/", join(cwd, "root"));
  lin.say("/cd inner");
  await sage.sees(lin.chat, new RegExp(`New session in ${join(cwd, "inner")}`));
  for (const [folder, told] of [
    ["/", /is not one of this bot's folders/],
    [join(cwd, "root"), /root is not one of this bot's folders/],
    ["../..", new RegExp(`${dir} is not one of this bot's folders`)],
    ["missing", /No such folder/],
  ] as const) {
    lin.say(`/cd ${folder}`);
    await sage.sees(lin.chat, told);
  }
  lin.say("/model");
  await sage.sees(lin.chat, /Available: small, large/);
  lin.say("/model huge");
  await sage.sees(lin.chat, /huge is not one of the available models/);
  lin.say("/model large");
  await sage.sees(lin.chat, /New session with large/);
  assert.ok(sage.facts("session.opened").some(({ data }) => data.model === "large" && data.cwd === join(cwd, "inner")));
  lin.say("/agent");
  await sage.sees(lin.chat, /Agent: Sage itself\nAvailable: codex/);
  lin.say("/agent claude");
  await sage.sees(lin.chat, /claude is not one of the available agents/);
  mei.say("/agent codex");
  await sage.sees(mei.chat, /Only an approver can begin a session with another agent/);
  lin.say("/agent codex");
  await sage.sees(lin.chat, /New session with codex/);
  assert.ok(sage.facts("session.opened").some(({ data }) => data.agent === "codex" && data.cwd === join(cwd, "inner")));
  lin.say("/status");
  await sage.sees(lin.chat, /Agent: codex/);
  lin.say("/help");
  await sage.sees(lin.chat, /Using Sage here/);
  lin.say("/nonsense");
  await sage.sees(lin.chat, /Unknown command \/nonsense/);
  assert.equal(feishu.world.calls.filter(({ code }) => code !== 0).length, 0);
});

test("/plan and /mode: whoever talks may plan, and only an approver lets more happen", async () => {
  await using sage = await team({ script: Array.from({ length: 4 }, (_, n) => ({ text: `answer ${n}` })) });
  const { lin, mei } = sage;
  const modes = () => sage.facts("mode.chosen").map(({ data }) => data.mode);
  mei.say("/mode plan");
  await sage.sees(mei.chat, /no session/i);
  mei.say("/plan rework the login");
  await sage.sees(mei.chat, /Done/);
  assert.deepEqual(modes(), ["plan"]);
  assert.equal(sage.facts("user.said").at(-1)?.data.text, "rework the login");
  mei.say("/mode accept-edits");
  await sage.sees(mei.chat, /Only an approver can choose this mode/);
  mei.say("/mode");
  await sage.sees(mei.chat, /Mode: plan\. Change it with \/mode ask \| accept-edits \| plan/);
  lin.say("hello");
  await sage.sees(lin.chat, /Done/);
  lin.say("/mode Accept-Edits");
  await sage.sees(lin.chat, /Mode: accept edits\./);
  assert.deepEqual(modes().toSorted(), ["acceptEdits", "plan"]);
});

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

test("files and images go in by their path, within limits; what an answer links to comes out, and nothing else", async () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  await using sage = await team({
    script: [
      { text: "seen" },
      { text: "seen again" },
      {
        text: "Here: ![chart](chart.png) and [the report](out/report.txt), [another](report.txt), not [denied](denied.txt) nor [this](.env) nor [that](link) nor [them](/etc/passwd) nor [x](https://x.example)",
      },
    ],
  });
  const { lin, feishu, cwd, dir } = sage;
  lin.send("file", Buffer.from("内容"), "../../报告.txt");
  await until(() => sage.facts("turn.ended").length === 1);
  const path = /at (.*)\]/.exec(sage.facts("user.said")[0]?.data.text ?? "")?.[1] ?? "";
  const { session = "" } = sage.facts("user.said")[0] ?? {};
  assert.ok(path.startsWith(join(dir, "inbox", session, "om_")) && path.endsWith("报告.txt"), path);
  assert.equal(readFileSync(path, "utf8"), "内容");
  lin.send("image", png);
  await until(() => sage.facts("turn.ended").length === 2);
  assert.match(sage.facts("user.said")[1]?.data.text ?? "", /image.*\.png\]/);
  assert.deepEqual(
    sage.facts("user.said")[1]?.data.images?.map(({ mime, bytes }) => [mime, bytes]),
    [["image/png", png.length]],
  );

  mkdirSync(join(cwd, "out"));
  writeFileSync(join(cwd, "chart.png"), png);
  writeFileSync(join(cwd, "out/report.txt"), "数字");
  writeFileSync(join(cwd, "report.txt"), "文字");
  writeFileSync(join(cwd, "denied.txt"), "for nobody");
  writeFileSync(join(cwd, ".env"), "SECRET=1");
  symlinkSync("/etc/hostname", join(cwd, "link"));
  lin.say("show me");
  const files = () => said(feishu, lin.chat).filter(({ kind }) => kind === "file" || kind === "image");
  await until(() => files().length >= 3);
  await sage.surface.settled();
  const sent = files();
  assert.deepEqual(
    sent.map(({ kind }) => kind),
    ["image", "file", "file"],
  );
  assert.deepEqual(
    [...feishu.world.files.values()].filter(({ by }) => by === "bot").map(({ content }) => content.toString("hex")),
    [png, "数字", "文字"].map((content) => Buffer.from(content).toString("hex")),
  );
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

test("a mention without words gets help, and what cannot be read is said so", async () => {
  await using sage = await team({ script: [] });
  const { lin, feishu } = sage;
  const group = feishu.group("dev", [lin]);
  lin.say("", { chat: group, mentionBot: true });
  await sage.sees(group, /Using Sage here/);
  assert.equal(sage.store.sessions().length, 0);
});

test("what was typed before a question could be seen is no answer to it; a wide slash is a slash", async () => {
  await using sage = await team({ lang: "zh", script: [{ calls: [ask("名字？")] }, { text: "好" }] });
  const { lin, feishu } = sage;
  feishu.delay(/POST .*im\/v1\/messages$/, 400);
  lin.say("开始");
  await until(() => sage.store.pending().length === 1);
  const early = lin.say("顺便看看测试");
  await feishu.until(lin.chat, ({ id, reactions }) => id === early && reactions.includes("Get"));
  assert.equal(sage.facts("input.resolved").length, 0);
  await sage.sees(lin.chat, /名字？/);
  lin.say("／status");
  await sage.sees(lin.chat, /等待你输入文字/);
  lin.say("新名字");
  await sage.sees(lin.chat, /任务完成/);
  assert.deepEqual(
    sage.facts("user.said").map(({ data }) => data.text),
    ["开始", "顺便看看测试"],
  );
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
  const { UnifiedExecutor } = await import("../../../src/agent/turn/executor.ts");
  const { sqliteStore } = await import("../../../src/journal/sqlite.ts");
  const { config } = await import("../../support/sage.ts");
  const store = sqliteStore(join(dir, "journal.db"));
  const script = Array.from({ length: 6 }, (_, n) => ({ text: `answer ${n}` }));
  const made = config({ script, dir: sage.cwd, store });
  const terminal = createHost({
    store,
    version: "test",
    executor: async () => new UnifiedExecutor(made, { workingDirectory: sage.cwd }),
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
