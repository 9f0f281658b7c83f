import assert from "node:assert/strict";
import { test } from "node:test";
import { createRedaction } from "../../../src/config/secrets/redact.ts";
import { askUser, bash, question } from "../../support/sage.ts";
import { ask, said, team, until, type Team } from "./team.ts";

const titles = (sage: Team, chat: string) => said(sage.feishu, chat).map(({ text }) => text.split("\n")[0]);
const refused = (sage: Team) => sage.feishu.world.calls.filter(({ code }) => code !== 0);

test("one card streams, quietly, and is closed", async () => {
  const text = Array.from({ length: 60 }, (_, n) => `第 ${n} 句话，说得很慢。`).join("\n");
  await using sage = await team({ script: [{ text, delayMs: 1_500 }] });
  const { lin, feishu } = sage;
  lin.say("讲个故事");
  await feishu.until(lin.chat, ({ streaming, text: shown }) => streaming && shown.includes("第 5 句话"));
  await sage.sees(lin.chat, /Done[^]*第 59 句话/);
  await sage.surface.settled();
  assert.deepEqual(titles(sage, lin.chat), ["Done"]);
  assert.equal(said(feishu, lin.chat)[0]?.streaming, false);
  assert.match(said(feishu, lin.chat)[0]?.summary ?? "", /^Done/);
  assert.ok(feishu.count(/elements\/out\/content/) < 15, "about 94 pieces of text came in a second and a half");
  assert.deepEqual(refused(sage), []);
});

test("without the permission to stream, one card is patched about once a second, and its last state is drawn", async () => {
  await using sage = await team({
    script: [{ text: "one ".repeat(100), delayMs: 1_500, calls: [bash("ls")] }, { text: "the end" }],
  });
  const { lin, feishu } = sage;
  feishu.world.granted.delete("cardkit:card:write");
  lin.say("go");
  await sage.sees(lin.chat, /Done[^]*the end/);
  await sage.surface.settled();
  assert.deepEqual(titles(sage, lin.chat), ["Done"]);
  assert.ok(feishu.count(/PATCH .*im\/v1\/messages/) <= 6);
  assert.match(said(feishu, lin.chat)[0]?.text ?? "", /✓ \*\*Bash\*\* `ls`/);
});

test("ten minutes of streaming: the card rolls over before the platform stops it", async () => {
  const at: { feishu?: Team["feishu"] } = {};
  await using sage = await team({
    script: [{ text: Array.from({ length: 40 }, (_, n) => `line ${n}.`).join("\n"), delayMs: 4_000 }],
    options: { now: () => at.feishu?.clock.now() ?? Date.now() },
  });
  const { lin, feishu } = sage;
  at.feishu = feishu;
  lin.say("go");
  await feishu.until(lin.chat, ({ streaming, text }) => streaming && text.includes("line 5."));
  feishu.clock.advance(9.5 * 60_000);
  await feishu.until(lin.chat, ({ text }) => /Continues below/.test(text));
  await sage.sees(lin.chat, /Done[^]*line 39/);
  await sage.surface.settled();
  const [first, second] = said(feishu, lin.chat);
  assert.deepEqual(titles(sage, lin.chat), ["Continues below", "Done"]);
  for (let n = 0; n < 40; n++)
    assert.equal([first, second].filter((one) => one?.text.includes(`line ${n}.`)).length, 1, `line ${n}.`);
  assert.ok(said(feishu, lin.chat).every(({ streaming }) => !streaming));
});

test("more than a card holds: it rolls over by size with nothing lost, within the platform's limit", async () => {
  const lines = Array.from({ length: 900 }, (_, n) => `第 ${n} 行：这是一段相当长的文字，用来把卡片填满。`);
  await using sage = await team({ script: [{ text: `\`\`\`text\n${lines.join("\n")}\n\`\`\``, delayMs: 3_000 }] });
  const { lin, feishu } = sage;
  lin.say("go");
  await sage.sees(lin.chat, /^Done/);
  await sage.surface.settled();
  const cards = said(feishu, lin.chat).filter(({ kind }) => kind === "interactive");
  const all = cards.map(({ text }) => text).join("\n");
  const files = [...feishu.world.files.values()].map(({ content }) => content.toString()).join("\n");
  for (const line of lines) assert.ok(all.includes(line) || files.includes(line), line);
  assert.ok(cards.length >= 3);
  for (const { card } of cards) assert.ok(JSON.stringify(card).length < 30 * 1024);
  assert.deepEqual(refused(sage), []);
});

test("a long answer all at once is a card with its beginning and a file with all of it", async () => {
  const text = Array.from({ length: 3_000 }, (_, n) => `第 ${n} 行`).join("\n");
  await using sage = await team({ script: [{ text }] });
  const { lin, feishu } = sage;
  lin.say("go");
  await feishu.until(lin.chat, ({ kind, text: name }) => kind === "file" && name === "answer.md");
  await sage.surface.settled();
  assert.ok([...feishu.world.files.values()].some(({ content }) => content.toString() === text));
  assert.deepEqual(refused(sage), []);
});

test("a card that is refused, limited or recalled never stops the run", async () => {
  await using sage = await team({
    script: [
      { text: "one ", delayMs: 800, calls: [bash("ls")] },
      { text: "two ", delayMs: 800, calls: [bash("ls")] },
      { text: "the end" },
      { text: "three ", delayMs: 1_500, calls: [bash("ls")] },
      { text: "the other end" },
    ],
  });
  const { lin, feishu } = sage;
  lin.say("go");
  await sage.card(lin.chat, "Stop");
  const limited = { status: 429, code: 99991400, headers: { "x-ogw-ratelimit-reset": "0" } };
  feishu.failNext(/PUT .*cardkit/, { ...limited, times: 3 });
  feishu.failNext(/PUT .*elements/, { code: 300309, times: 1 });
  await sage.sees(lin.chat, /Done[^]*the end/);
  feishu.world.granted.delete("cardkit:card:write");
  lin.say("again");
  const card = await sage.card(lin.chat, "Stop");
  feishu.recall(card.id);
  const done = await sage.sees(lin.chat, /Done[^]*the other end/);
  assert.notEqual(done.id, card.id);
  assert.deepEqual(
    sage.facts("turn.ended").map(({ data }) => data.status),
    ["success", "success"],
  );
});

test("a request whose card is refused is asked in words, and answered by its code", async () => {
  await using sage = await team({
    script: [
      { text: "one", delayMs: 1_500, calls: [bash("echo hi > hi.txt")] },
      { text: "two", delayMs: 2_500, calls: [askUser(question("Which colour?"))] },
      { text: "the end" },
    ],
  });
  const { lin, mei, feishu } = sage;
  const broken = () =>
    feishu.failNext(/POST .*im\/v1\/messages(\/[^/]+\/reply)?$/, {
      code: 230099,
      msg: "Failed to create card content, ext=ErrCode: 11310; ErrMsg: element exceeds the limit",
      times: 1,
    });
  lin.say("go");
  await sage.card(lin.chat, "Stop");
  broken();
  const asked = await sage.sees(lin.chat, /The card could not be shown[^]*echo hi > hi\.txt[^]*\/allow #\d{6}/);
  assert.equal(asked.kind, "post");
  const code = /\/allow (#\d{6})/.exec(asked.text)?.[1] ?? "";
  mei.say(`/allow ${code}`);
  await sage.sees(mei.chat, /That card is closed/);
  assert.equal(sage.facts("input.resolved").length, 0, "a code of another chat is none");
  lin.say("/allow #000000");
  await sage.sees(lin.chat, /That card is closed/);
  lin.say(`/allow ${code}`);
  await sage.card(lin.chat, "Stop");
  broken();
  const question2 = await sage.sees(lin.chat, /Which colour\?[^]*2\. Blue[^]*\/answer #\d{6}/);
  const second = /\/answer (#\d{6})/.exec(question2.text)?.[1] ?? "";
  lin.say(`/answer ${second} 2`);
  await sage.sees(lin.chat, /Done[^]*the end/);
  await sage.sees(lin.chat, /Permission: allowed once · 林 in Feishu/);
});

test("while Feishu is out of reach, the request is answered elsewhere and the turn goes on", async () => {
  await using sage = await team({ script: [{ calls: [ask("Name?")] }, { text: "the end" }], timings: { retryMs: 5 } });
  const { lin, feishu, host } = sage;
  feishu.failNext(/POST .*(im\/v1\/messages|cardkit)/, { status: 503, code: 0, times: 12 });
  lin.say("go");
  await until(() => sage.store.pending().length === 1);
  const requestId = sage.store.pending()[0]?.id ?? "";
  await host.send({ type: "respond", response: { type: "text", requestId, text: "x" }, by: "Ada", surface: "plain" });
  await until(() => sage.facts("turn.ended").length === 1);
  await sage.sees(lin.chat, /Done[^]*the end/);
});

test("no secret of a command reaches a chat, neither as a question nor as a step; the list of chats shows one line", async () => {
  const secret = `ghp_${"16C7e42F29".repeat(4)}`;
  await using sage = await team({
    script: [{ text: "on it", calls: [bash(`echo ${secret} > token.txt`)] }, { text: "first line\n\nsecond line" }],
    options: { redaction: createRedaction({}) },
  });
  const { lin, feishu } = sage;
  lin.say("go");
  const card = await sage.card(lin.chat, "Allow once");
  await lin.click(card.id, "allow_once");
  const done = await sage.sees(lin.chat, /Done/);
  await sage.surface.settled();
  assert.match(done.text, /✓ \*\*Bash\*\* `echo \[secret #\w+\] > token\.txt`/);
  assert.match(done.summary ?? "", /^Done · .*first line second line$/);
  assert.ok(!JSON.stringify(feishu.world.calls).includes(secret));
});

test("an old card that cannot be changed does not keep the next one from being shown", async () => {
  await using sage = await team({
    script: [{ calls: [ask("First?")] }, { calls: [ask("Second?")] }, { text: "the end" }],
    timings: { retryMs: 5 },
  });
  const { lin, feishu } = sage;
  lin.say("go");
  await sage.sees(lin.chat, /First\?/);
  await sage.surface.settled();
  feishu.failNext(/PATCH .*im\/v1\/messages/, { status: 500, code: 1500, times: 1_000 });
  lin.say("one");
  await sage.sees(lin.chat, /Second\?/);
  lin.say("two");
  await sage.sees(lin.chat, /Done[^]*the end/);
});
