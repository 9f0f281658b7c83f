import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
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
  await sage.sees(mei.chat, /Only an approver can do this/);
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
  await sage.sees(mei.chat, /Only an approver can do this/);
  mei.say("/mode");
  await sage.sees(mei.chat, /Mode: plan\. Change it with \/mode ask \| accept-edits \| plan/);
  lin.say("hello");
  await sage.sees(lin.chat, /Done/);
  lin.say("/mode Accept-Edits");
  await sage.sees(lin.chat, /Mode: accept edits\./);
  assert.deepEqual(modes().toSorted(), ["acceptEdits", "plan"]);
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
