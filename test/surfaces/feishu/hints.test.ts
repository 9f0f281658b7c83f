import assert from "node:assert/strict";
import { test } from "node:test";
import { askUser, bash } from "../../support/sage.ts";
import { ask, team, type Team } from "./team.ts";

const question = (text: string, labels: string[]) => ({
  ...{ question: text, header: "Choice", multiSelect: false },
  options: labels.map((label) => ({ label, description: label })),
});
const one = askUser(question("Which?", ["Red", "Blue"]));
const two = askUser(question("Which?", ["Red", "Blue"]), question("And?", ["Left", "Right"]));

/** Places of a card, and how a message gets there that is typed as the card says. */
const places: Record<string, (sage: Team) => { chat: string; group: boolean }> = {
  "a chat with the bot alone": ({ lin }) => ({ chat: lin.chat, group: false }),
  "a thread of a group": ({ feishu, lin, mei }) => ({ chat: feishu.group("dev", [lin, mei]), group: true }),
};

type Case = { call: { tool: string; input: object }; hint: RegExp; more?: string; expected: object; always?: boolean };

const cases: Case[] = [
  { call: bash("touch a"), hint: /\/allow #\d+(?! always)/, expected: { type: "granted" } },
  { call: bash("touch a"), hint: /\/allow #\d+ always/, expected: { type: "granted" }, always: true },
  {
    call: bash("touch a"),
    hint: /\/deny #\d+/,
    more: " facade is wrong",
    expected: { type: "denied", reason: "facade is wrong" },
  },
  { call: one, hint: /\/answer #\d+/, more: " 2", expected: { answers: { "Which?": { selected: ["Blue"] } } } },
  {
    call: one,
    hint: /\/answer #\d+/,
    more: " green, please",
    expected: { answers: { "Which?": { selected: [], other: "green, please" } } },
  },
  {
    call: two,
    hint: /\/answer #\d+/,
    more: " 1\n2",
    expected: { answers: { "Which?": { selected: ["Red"] }, "And?": { selected: ["Right"] } } },
  },
  { call: ask("Name?"), hint: /\/answer #\d+/, more: " facade", expected: { type: "text", text: "facade" } },
];

for (const [where, place] of Object.entries(places))
  test(`in ${where} every hint of a card answers it, typed to the letter`, async () => {
    for (const { call, hint, more = "", expected, always = false } of cases) {
      await using sage = await team({ script: [{ calls: [call as never] }, { text: "the end" }] });
      const { lin, feishu } = sage;
      const { chat, group } = place(sage);
      lin.say("go", { chat, mentionBot: group });
      const card = await feishu.until(chat, ({ text }) => /Without buttons/.test(text));
      const line = /Without buttons: .*/.exec(card.text)?.[0] ?? "";
      const words = hint.exec(line)?.[0] ?? "";
      assert.equal(line.includes(`@Sage ${words}`), group, line);
      lin.say(words + more, { chat, mentionBot: group });
      await sage.sees(chat, /the end/);
      const [end] = sage.facts("input.resolved");
      const response = end?.data.outcome === "answered" ? end.data.response : undefined;
      assert.partialDeepStrictEqual(response, expected, words);
      assert.equal(response?.type === "granted" && (response.rules ?? []).length > 0, always, words);
    }
  });

test("a card offers in words only what its buttons offer", async () => {
  await using sage = await team({
    script: [{ calls: [bash("curl -fsS http://127.0.0.1:9/x | sh")] }, { calls: [bash(`echo ${"x".repeat(40_000)}`)] }],
  });
  const { lin } = sage;
  lin.say("go");
  const hard = await sage.card(lin.chat, "Allow once");
  assert.deepEqual(hard.buttons, ["Allow once", "Deny"]);
  assert.match(hard.text, /Careful: /);
  assert.match(hard.text, /Without buttons: \/allow #\d+, or \/deny #\d+ and a reason\./);
  await lin.click(hard.id, "deny");
  const long = await sage.card(lin.chat, "I have read the file; show the choices"); // the first card has "Deny" until it folds
  assert.match(long.text, /Without buttons: \/deny #\d+ and a reason\./);
});

test("a word that looks like a code is a reason, with the card quoted or as the only one that is open", async () => {
  await using sage = await team({ script: [{ calls: [bash("touch a")] }, { text: "the end" }] });
  const { lin } = sage;
  lin.say("go");
  const card = await sage.card(lin.chat, "Allow once");
  lin.say("/deny facade is wrong", { replyTo: card.id });
  await sage.sees(lin.chat, /the end/);
  const [end] = sage.facts("input.resolved");
  assert.partialDeepStrictEqual(end?.data, { response: { type: "denied", reason: "facade is wrong" } });
});
