import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { Rule } from "../../../src/protocol/facts/permission.ts";
import { bash } from "../../support/sage.ts";
import { team, type Team } from "./team.ts";

const rule: Rule = {
  ...{ behavior: "ask", text: "Bash(touch:*)", source: "user" },
  consent: { approvals: 2 },
};

/** Lin and Wang are approvers with names; somebody else may approve and has none. */
async function twoPeople() {
  const sage = await team({ script: [{ calls: [bash("touch ran.txt")] }, { text: "the end" }], rules: [rule] });
  const { lin, mei, feishu } = sage;
  const [wang, nameless] = [feishu.user("王"), feishu.user("Nameless")];
  const approve = [lin, wang, nameless].map(({ openId }) => openId);
  const names = { [lin.openId]: "Lin", [wang.openId]: "Wang", [mei.openId]: "Mei" };
  sage.set({ people: { ...sage.people, approve, names } });
  const group = feishu.group("dev", [lin, mei, wang, nameless]);
  mei.say("run it", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  const ran = () => existsSync(join(sage.cwd, "ran.txt"));
  const shows = (pattern: RegExp) => feishu.until(group, ({ id, text }) => id === card.id && pattern.test(text));
  return { sage, lin, mei, wang, nameless, group, card, ran, shows };
}

suite("a card that takes two people", () => {
  test("counts each person once, also over a restart, and runs with the second", async () => {
    const { sage, lin, mei, wang, nameless, group, card, ran, shows } = await twoPeople();
    await using _ = sage;
    assert.match(card.text, /2 people/);
    assert.ok(!card.buttons.some((name) => /session|always/i.test(name)), "a yes to it keeps no rule");
    assert.equal((await mei.click(card.id, "allow_once")).toast?.type, "error", "may talk, not approve");
    assert.equal((await nameless.click(card.id, "allow_once")).toast?.type, "error", "nobody knows who it is");
    const first = await lin.click(card.id, "allow_once");
    assert.equal(first.toast?.type, "success");
    assert.match(first.toast?.content ?? "", /1 of 2.*Lin/);
    await shows(/1 of 2.*Lin/);
    assert.match((await lin.click(card.id, "allow_once")).toast?.content ?? "", /approved this before/);
    await sage.restart();
    assert.match((await lin.click(card.id, "allow_once")).toast?.content ?? "", /approved this before/);
    assert.deepEqual([sage.facts("input.approved").length, sage.facts("input.resolved").length, ran()], [1, 0, false]);
    assert.equal((await wang.click(card.id, "allow_once")).toast?.content, "Allowed once");
    await sage.sees(group, /the end/);
    await shows(/approved.*Lin.*Wang/);
    assert.deepEqual(
      sage.facts("input.approved").map(({ data }) => data.by),
      ["Lin", "Wang"],
    );
    assert.ok(ran());
  });

  test("two who complete it in the same moment end it once", async () => {
    const { sage, lin, wang, group, card, ran } = await twoPeople();
    await using _ = sage;
    await Promise.all([lin.click(card.id, "allow_once"), wang.click(card.id, "allow_once")]);
    await sage.sees(group, /the end/);
    assert.deepEqual([sage.facts("input.approved").length, sage.facts("input.resolved").length, ran()], [2, 1, true]);
  });

  test("ends with one no, whoever approved before", async () => {
    const { sage, lin, wang, group, card, ran, shows } = await twoPeople();
    await using _ = sage;
    await lin.click(card.id, "allow_once");
    assert.equal((await wang.click(card.id, "deny")).toast?.content, "Denied");
    await shows(/denied/);
    await sage.sees(group, /the end/);
    assert.equal(ran(), false);
    const [end] = sage.facts("input.resolved");
    assert.equal(end?.data.outcome === "answered" && end.data.response.type, "denied");
  });
});

suite("requests that are alike", () => {
  const calls = ["a", "b", "c"].map((name) => bash(`cargo test ${name}`));
  const ends = (sage: Team) => [sage.facts("call.started").length, sage.facts("input.resolved").length];

  test("are listed whole on one card and answered with one click, each with a result of its own", async () => {
    await using sage = await team({ script: [{ calls }, { text: "the end" }] });
    const { lin, mei, feishu } = sage;
    lin.say("go");
    const card = await sage.card(lin.chat, "Answer 3 alike together");
    const before = structuredClone(feishu.message(card.id).card);
    await lin.click(card.id, "together");
    const list = await sage.card(lin.chat, "Allow all 3 once");
    for (const name of ["a", "b", "c"]) assert.ok(list.text.includes(`cargo test ${name}`), name);
    assert.ok(!list.buttons.includes("Allow once"), "the list is answered whole, or not");
    const own = structuredClone(feishu.message(card.id).card);
    // A client that still shows the card as it was: neither of its answers is meant for what stands there now.
    feishu.message(card.id).card = before ?? {};
    assert.equal((await lin.click(card.id, "allow_once")).toast?.type, "warning");
    feishu.message(card.id).card = own ?? {};
    assert.equal((await mei.click(card.id, "allow_all")).toast?.type, "error", "may talk, not approve");
    assert.deepEqual(ends(sage), [0, 0]);
    const done = await lin.click(card.id, "allow_all");
    assert.equal(done.toast?.content, "3 of 3 answered");
    await sage.sees(lin.chat, /the end/);
    assert.deepEqual(ends(sage), [3, 3]);
  });

  test("are not answered with a list that has changed; one by one is the way back", async () => {
    await using sage = await team({ script: [{ calls }, { text: "the end" }] });
    const { lin, feishu } = sage;
    lin.say("go");
    const card = await sage.card(lin.chat, "Answer 3 alike together");
    await lin.click(card.id, "together");
    await lin.click(card.id, "one");
    await lin.click(card.id, "together");
    const list = structuredClone(feishu.message(card.id).card);
    const [, second] = sage.facts("input.requested");
    const response = { type: "denied" as const, requestId: second?.data.id ?? "" };
    await sage.host.send({ type: "respond", response, by: "lin", surface: "terminal" });
    await sage.surface.settled();
    feishu.message(card.id).card = list ?? {};
    const gone = await lin.click(card.id, "allow_all");
    assert.equal(gone.toast?.type, "warning");
    assert.deepEqual(ends(sage), [0, 1]);
    const two = await sage.card(lin.chat, "Answer 2 alike together");
    await lin.click(two.id, "together");
    await lin.click(two.id, "deny_all");
    await sage.sees(lin.chat, /the end/);
    assert.deepEqual(ends(sage), [0, 3]);
  });
});

test("under a rule that is offered stands its past; what was refused elsewhere is counted and not named", async () => {
  const script = [...["a", "b"].map((name) => ({ calls: [bash(`cargo test ${name}`)] })), { text: "the end" }];
  await using sage = await team({ script });
  const { lin, feishu } = sage;
  lin.say("go");
  const first = await sage.card(lin.chat, "Allow once");
  assert.doesNotMatch(JSON.stringify(first.card), /Of the last/);
  await lin.click(first.id, "deny");
  const { card } = await feishu.until(lin.chat, ({ id, text }) => id !== first.id && text.includes("cargo test b"));
  const told =
    "Of the last 2 calls it would have allowed 2 without asking; 1 of those a person refused&#58; cargo test a";
  assert.ok(JSON.stringify(card).includes(told), JSON.stringify(card));

  const group = feishu.group("dev", [lin]);
  lin.say("again", { chat: group, mentionBot: true });
  const other = await sage.card(group, "Allow once");
  assert.match(
    JSON.stringify(other.card),
    /Of the last 3 calls it would have allowed 3 without asking; 1 of those a person refused\."/,
  );
});
