import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../../src/journal/sqlite/sqlite.ts";
import { askUser, bash, question } from "../../support/sage.ts";
import { ask, said, team } from "./team.ts";

const mark = bash("echo ran >> ran.txt");

test("only an approver's click counts; another's is refused, kept, and changes nothing", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "done" }] });
  const { mei, lin, stranger, feishu, cwd } = sage;
  const group = feishu.group("dev", [mei, lin, stranger]);
  mei.say("run it", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  const before = JSON.stringify(feishu.message(card.id).card);
  for (const one of [mei, stranger]) {
    const shown = await one.click(card.id, "allow_once");
    assert.deepEqual(shown.toast, { type: "error", content: "You may not answer this request" });
  }
  assert.equal(JSON.stringify(feishu.message(card.id).card), before);
  assert.equal(sage.facts("input.resolved").length, 0);
  assert.ok(sage.logged.some((line) => line.includes(stranger.openId)));
  await lin.click(card.id, "allow_once");
  await sage.sees(group, /Done/);
  assert.equal(readFileSync(join(cwd, "ran.txt"), "utf8"), "ran\n");
  assert.equal(sage.facts("input.resolved")[0]?.data.by, `林 (${lin.openId})`);
});

test("a double click and a late one are told who won, and the call runs once", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "done" }] });
  const { lin, feishu, cwd } = sage;
  lin.say("run it");
  const card = await sage.card(lin.chat, "Allow once");
  const stale = structuredClone(feishu.message(card.id).card);
  const both = await Promise.all([lin.click(card.id, "allow_once"), lin.click(card.id, "deny")]);
  assert.deepEqual(
    new Set(both.map(({ toast }) => toast?.content)),
    new Set(["Allowed once", "Already answered by 林"]),
  );
  await sage.sees(lin.chat, /Done/);
  // A client that still shows the old card.
  feishu.message(card.id).card = stale ?? {};
  const late = await lin.click(card.id, "deny");
  assert.equal(late.toast?.content, "Already answered by 林");
  assert.match(JSON.stringify(feishu.message(card.id).card), /allowed once/);
  assert.equal(readFileSync(join(cwd, "ran.txt"), "utf8"), "ran\n");
  assert.equal(sage.facts("input.resolved").length, 1);
});

test("always keeps the rule for the session; a refusal with a reason reaches the agent", async () => {
  await using sage = await team({
    script: [{ calls: [mark] }, { calls: [mark] }, { calls: [bash("rm -f x")] }, { text: "as you wish" }],
  });
  const { lin } = sage;
  lin.say("twice");
  const first = await sage.card(lin.chat, "Allow for this session");
  const always = await lin.click(first.id, "allow_always");
  assert.deepEqual(always.confirm, {
    title: "Allow this until the session ends?",
    text: "Edit(./ran.txt)",
  });
  assert.equal(always.toast?.content, "Allowed for this session");
  const card = await sage.feishu.until(lin.chat, ({ id, buttons }) => id !== first.id && buttons.includes("Deny"));
  assert.match(card.text, /rm -f x/, "the same command is not asked about again");
  const shown = await lin.submit(card.id, { comment: "改用 git rm" }, "deny");
  assert.equal(shown.toast?.content, "Denied");
  await sage.sees(lin.chat, /Done[^]*as you wish/);
  assert.equal(sage.facts("rule.added").length, 1);
  assert.match(sage.facts("call.finished").at(-1)?.data.text ?? "", /改用 git rm/);
});

test("the first answer wins on whichever surface, and the other one is folded", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { calls: [ask("Name?")] }, { text: "done" }] });
  const { lin, feishu } = sage;
  lin.say("run it");
  const card = await sage.card(lin.chat, "Allow once");
  const [request] = sage.store.pending();
  // From another process: nothing but the journal in common.
  const other = sqliteStore(join(sage.dir, "journal.db"));
  const { respond } = await import("../../../src/input/respond.ts");
  await respond(other, { type: "granted", requestId: request?.id ?? "" }, { by: "Ada", surface: "plain" });
  other.close();
  await feishu.until(lin.chat, ({ id, text }) => id === card.id && /Answered by Ada in the terminal/.test(text));
  const text = await sage.sees(lin.chat, /Name\?/);
  await lin.submit(text.id, { text: "名字" });
  const late = await sage.host.send({
    type: "respond",
    response: { type: "text", requestId: sage.facts("input.requested")[1]?.data.id ?? "", text: "too late" },
    by: "Ada",
    surface: "plain",
  });
  assert.equal(!late.ok && late.resolution?.by, `林 (${lin.openId})`);
  await sage.sees(lin.chat, /Done/);
});

test("values that are forged, of another card, or of another chat do nothing", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "done" }] });
  const { lin, mei, feishu, cwd } = sage;
  lin.say("run it");
  const card = await sage.card(lin.chat, "Allow once");
  const value =
    (JSON.stringify(feishu.message(card.id).card).match(/"value":(\{[^}]*"act":"allow_once"[^}]*\})/) ?? [])[1] ?? "";
  const real = JSON.parse(value) as Record<string, unknown>;
  const send = (changed: unknown, messageId = card.id, who = lin) =>
    feishu.delivery.click(who.openId, messageId, { tag: "button", value: changed });
  const group = feishu.group("dev", [lin, mei]);
  mei.say("hello", { chat: group, mentionBot: true });
  const elsewhere = await sage.card(group, "Allow once");
  assert.match((await send(real, elsewhere.id)).toast?.content ?? "", /another card/);
  for (const forged of [
    { ...real, rid: "0".repeat(32) },
    { ...real, rid: "../x" },
    { act: "allow_once" },
    "allow",
    { ...real, g: 7 },
    { ...real, act: "rm" },
    { ...real, act: "read" },
    { ...real, g: "1" },
  ]) {
    await send(forged);
    assert.equal(sage.facts("input.resolved").length, 0, JSON.stringify(forged));
  }
  assert.ok(!existsSync(join(cwd, "ran.txt")));
  await send(real);
  await sage.sees(lin.chat, /Done/);
});

test("a command that does not fit on a card comes as a file, and is allowed only after it", async () => {
  const long = `cat > big.txt <<'X'\n${Array.from({ length: 2_500 }, (_, n) => `第 ${n} 行`).join("\n")}\nX`;
  await using sage = await team({ script: [{ calls: [bash(long)] }, { text: "done" }] });
  const { lin, feishu, cwd } = sage;
  lin.say("write it");
  const card = await sage.card(lin.chat, "I have read the file; show the choices");
  assert.deepEqual(card.buttons.slice(0, 2), ["I have read the file; show the choices", "Deny"]);
  const messages = said(feishu, lin.chat);
  const file = messages.findIndex(({ kind }) => kind === "file");
  assert.ok(file >= 0 && file < messages.findIndex(({ id }) => id === card.id), "the file comes before the card");
  const [sent] = [...feishu.world.files.values()].filter(({ by }) => by === "bot");
  assert.ok(sent?.content.toString().includes(long));
  // A button from the version of the card that could not allow does not allow.
  const forged = JSON.parse(
    (JSON.stringify(feishu.message(card.id).card).match(/"value":(\{[^}]*"act":"read"[^}]*\})/) ?? [])[1] ?? "",
  ) as Record<string, unknown>;
  await feishu.delivery.click(lin.openId, card.id, { tag: "button", value: { ...forged, act: "allow_once" } });
  assert.equal(sage.facts("input.resolved").length, 0);
  const first = structuredClone(feishu.message(card.id).card);
  await lin.click(card.id, "read");
  await feishu.until(lin.chat, ({ id, buttons }) => id === card.id && buttons.includes("Allow once"));
  const second = structuredClone(feishu.message(card.id).card);
  // A client that still shows the first version of the card: its buttons decide nothing, and it gets the present one.
  feishu.message(card.id).card = first ?? {};
  const old = await lin.click(card.id, "deny");
  assert.equal(old.toast?.content, "This card was out of date and is now updated");
  assert.deepEqual(feishu.message(card.id).card, second);
  assert.equal(sage.facts("input.resolved").length, 0);
  await lin.click(card.id, "allow_once");
  await sage.sees(lin.chat, /Done/);
  assert.ok(existsSync(join(cwd, "big.txt")));
});

test("several questions on one form, single and multi, other words; an incomplete form stays", async () => {
  await using sage = await team({
    lang: "zh",
    script: [
      {
        calls: [
          askUser(question("用哪个数据库？", ["PostgreSQL", "SQLite"]), question("目标？", ["CLI", "Web"], true)),
        ],
      },
      { text: "好" },
    ],
  });
  const { mei } = sage;
  mei.say("开始");
  const card = await sage.card(mei.chat, "提交");
  const missing = await mei.submit(card.id, { q0: "o1" });
  assert.deepEqual(missing.toast, { type: "warning", content: "请回答第 2 个问题" });
  const shown = await mei.submit(card.id, { q0: "o1", q1: ["o0", "o1"], q1_other: "文档", remark: "尽快" });
  assert.equal(shown.toast?.content, "回答已记录", "who asked for the task may say what they meant by it");
  await sage.sees(mei.chat, /任务完成/);
  const [resolution] = sage.facts("input.resolved");
  assert.deepEqual(resolution?.data.outcome === "answered" && resolution.data.response, {
    type: "answers",
    requestId: resolution?.data.requestId,
    answers: { "用哪个数据库？": { selected: ["SQLite"] }, "目标？": { selected: ["CLI", "Web"], other: "文档" } },
    remark: "尽快",
  });
});

test("a click is answered in time when nobody can say who it was; the receipt has the id", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "done" }] });
  const { lin, feishu } = sage;
  feishu.delay(/contact/, 5_000);
  lin.say("run it");
  const card = await sage.card(lin.chat, "Allow once");
  const shown = await lin.click(card.id, "allow_once");
  assert.deepEqual([shown.toast?.content, shown.error], ["Allowed once", undefined]);
  assert.equal(sage.facts("input.resolved")[0]?.data.by, lin.openId);
});

test("stop on the progress card stops the turn, for who may", async () => {
  await using sage = await team({ script: [{ text: "slow", delayMs: 60_000 }] });
  const { lin, mei } = sage;
  lin.say("go");
  const card = await sage.card(lin.chat, "Stop");
  assert.equal(
    (await mei.click(card.id, "stop_btn")).toast?.content,
    "Only the person who gave the task or an approver may stop it",
  );
  assert.equal((await lin.click(card.id, "stop_btn")).toast?.content, "Stopping");
  await sage.sees(lin.chat, /Stopped/);
  assert.equal(sage.facts("turn.ended")[0]?.data.status, "cancelled");
});
