// Answers that a request takes, and that it takes one.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import * as fc from "../support/properties.ts";
import { autoResolve } from "../../src/input/auto.ts";
import { respond, settle } from "../../src/input/respond.ts";
import { resolve } from "../../src/input/validate.ts";
import type { Outcome } from "../../src/protocol/decision.ts";
import type { Answers, InputResponse } from "../../src/protocol/facts/answer.ts";
import type { InputRequest, Resolution } from "../../src/protocol/facts/request.ts";
import { said as inWords, SageError } from "../../src/protocol/reasons/reason.ts";
import { fact, folder, journals, opened, plain, question, requestFor } from "../journal/journals.ts";
import { peer } from "../journal/peers.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { wordsOf } from "../support/worded.ts";

const frame = {
  id: "s/t0/0/0/ask0",
  session: "s",
  at: 1,
  source: "tool",
  agent: [],
  why: inWords(""),
  digest: "",
} as const;
const requestId = frame.id;
const lin = { by: "Lin", surface: "test" };

const permission: InputRequest = {
  ...frame,
  kind: "permission",
  tool: "Bash",
  input: { command: "ls" },
  suggestions: [],
  hard: false,
};
const text: InputRequest = { ...frame, kind: "text", prompt: "A file name?" };
const one: InputRequest = { ...frame, kind: "question", questions: [question("Which colour?")] };
const three: InputRequest = {
  ...frame,
  kind: "question",
  questions: [
    question("Which colour?"),
    question("Which sizes?", ["S", "M", "L"], true),
    question("__proto__", ["a", "b"]),
  ],
};

const answers = (given: Answers, more: { partial?: boolean; remark?: string } = {}): InputResponse => ({
  type: "answers",
  requestId,
  answers: given,
  ...more,
});
const granted: InputResponse = { type: "granted", requestId };
const denied: InputResponse = { type: "denied", requestId, reason: "too risky" };
const cancelled: InputResponse = { type: "cancelled", requestId, reason: "enough" };
const said: InputResponse = { type: "text", requestId, text: "notes.txt" };
const all: Answers = JSON.parse(
  '{"Which colour?": {"selected": ["Red"]}, "Which sizes?": {"selected": ["S", "L"]}, "__proto__": {"selected": ["a"]}}',
) as Answers;

suite("an answer that fits", () => {
  const fitting: [what: string, InputRequest, InputResponse, Outcome][] = [
    ["one option of one", one, answers({ "Which colour?": { selected: ["Blue"] } }), "answered"],
    ["own words instead of an option", one, answers({ "Which colour?": { selected: [], other: "Green" } }), "answered"],
    [
      "an option beside an empty own answer",
      one,
      answers({ "Which colour?": { selected: ["Red"], other: " " } }),
      "answered",
    ],
    ["every question, several options where they may be", three, answers(all), "answered"],
    ["every question, marked as partial all the same", three, answers(all, { partial: true }), "answered"],
    [
      "options and own words, where several may be",
      three,
      answers({ "Which sizes?": { selected: ["S"], other: "XL" } }, { partial: true }),
      "partial",
    ],
    [
      "some questions, and said so",
      three,
      answers({ "Which colour?": { selected: ["Red"] } }, { partial: true }),
      "partial",
    ],
    ["a grant", permission, granted, "answered"],
    [
      "a grant with another input and a comment",
      permission,
      { ...granted, input: { command: "ls -l" }, comment: "with sizes" },
      "answered",
    ],
    ["a denial of a permission", permission, denied, "answered"],
    ["a text", text, said, "answered"],
  ];
  for (const [what, request, response, outcome] of fitting)
    test(`${what} is kept as it was given`, () => {
      const { at, ...rest } = resolve(request, response, lin);
      assert.deepEqual(rest, { requestId, ...lin, outcome, response });
      assert.equal(typeof at, "number");
    });

  for (const request of [one, text])
    test(`a denial of a ${request.kind} is a refusal to answer, in the person's words`, () => {
      const { at: _, ...rest } = resolve(request, denied, lin);
      assert.deepEqual(rest, { requestId, ...lin, outcome: "declined", reason: inWords("too risky") });
    });

  for (const request of [one, permission, text])
    test(`cancelling a ${request.kind} is no answer`, () => {
      const { at: _, ...rest } = resolve(request, cancelled, lin);
      assert.deepEqual(rest, { requestId, ...lin, outcome: "cancelled", reason: inWords("enough") });
    });
});

const nonsense = (value: unknown) => value as InputResponse;

suite("an answer that does not fit is refused with the reason:", () => {
  const refused: [what: string, InputRequest, InputResponse, RegExp][] = [
    [
      "an option that is not there",
      one,
      answers({ "Which colour?": { selected: ["Green"] } }),
      /"Green" is not an option of "Which colour\?"; expected "Red", "Blue"/,
    ],
    [
      "an option in another spelling",
      one,
      answers({ "Which colour?": { selected: ["red"] } }),
      /"red" is not an option/,
    ],
    [
      "two options where one may be",
      one,
      answers({ "Which colour?": { selected: ["Red", "Blue"] } }),
      /takes one answer; 2 were given/,
    ],
    [
      "an option and own words where one may be",
      one,
      answers({ "Which colour?": { selected: ["Red"], other: "Green" } }),
      /takes one answer; 2 were given/,
    ],
    ["the same option twice", three, answers({ ...all, "Which sizes?": { selected: ["S", "S"] } }), /chosen twice/],
    ["no answer at all", one, answers({}), /an empty answer is not an answer/],
    ["nothing selected", one, answers({ "Which colour?": { selected: [] } }), /an empty answer is not an answer/],
    [
      "own words that are only space",
      one,
      answers({ "Which colour?": { selected: [], other: " \n\t\u3000" } }),
      /an empty answer is not an answer/,
    ],
    ["nothing, marked as partial", three, answers({}, { partial: true }), /an empty answer is not an answer/],
    ["only a remark", one, answers({}, { remark: "whatever you like" }), /an empty answer is not an answer/],
    [
      "a question that was not asked",
      one,
      answers({ "Which colour?": { selected: ["Red"] }, "Which size?": { selected: ["S"] } }),
      /"Which size\?" was not asked; the questions are "Which colour\?"/,
    ],
    [
      "a question left out without a word",
      three,
      answers({ "Which colour?": { selected: ["Red"] } }),
      /1 of 3 questions are answered; answer the rest, or submit it as partial/,
    ],
    [
      "a question answered with space, without a word",
      three,
      answers({ ...all, "Which sizes?": { selected: [], other: " " } }),
      /2 of 3 questions are answered/,
    ],
    ["an empty text", text, { ...said, text: "" }, /an empty text is not an answer/],
    ["a text that is only space", text, { ...said, text: " \n " }, /an empty text is not an answer/],
    [
      "answers to a permission",
      permission,
      answers(all),
      /permission request and takes granted, denied or cancelled; got "answers"/,
    ],
    [
      "an edit of a call that its agent runs as it is",
      { ...permission, fixed: true, agent: ["codex"] },
      { ...granted, input: { command: "ls" } },
      /codex takes no edited call/,
    ],
    ["a text to a permission", permission, said, /permission request and takes granted/],
    ["a grant to a question", one, granted, /question request and takes answers, denied or cancelled; got "granted"/],
    ["a text to a question", one, said, /question request and takes answers/],
    ["a grant to a text", text, granted, /text request and takes text, denied or cancelled; got "granted"/],
    ["answers to a text", text, answers(all), /text request and takes text/],
    ["a type that nobody knows", permission, nonsense({ type: "yes", requestId }), /got "yes"/],
    ["no type", permission, nonsense({ requestId }), /got "undefined"/],
  ];
  for (const [what, request, response, reason] of refused)
    test(what, () => {
      const before = plain(request);
      assert.throws(
        () => resolve(request, response, lin),
        (error: unknown) =>
          error instanceof SageError && error.code === "request-invalid" && reason.test(wordsOf(error)),
      );
      assert.deepEqual(plain(request), before);
    });
});

suite("whatever is answered", () => {
  const label = fc.constantFrom("Red", "Blue", "S", "M", "__proto__", "");
  const questions = fc.uniqueArray(
    fc.record({
      question: fc.constantFrom("A?", "B?", "C?", "constructor", "toString"),
      labels: fc.uniqueArray(label, { minLength: 2, maxLength: 4 }),
      multiSelect: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4, selector: (one) => one.question },
  );
  const anAnswer = fc.record(
    { selected: fc.array(label, { maxLength: 3 }), other: fc.constantFrom("", " ", "my own", "Red") },
    { requiredKeys: ["selected"] },
  );
  const given = fc.dictionary(fc.constantFrom("A?", "B?", "C?", "constructor", "toString", "D?"), anAnswer, {
    maxKeys: 4,
  });
  const reply: fc.Arbitrary<InputResponse> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .record({ answers: given, partial: fc.boolean() })
        .map((more): InputResponse => ({ type: "answers", requestId, ...more })),
    },
    fc.constantFrom(granted, denied, cancelled),
    fc.constantFrom("", " ", "words").map((words): InputResponse => ({ ...said, text: words })),
  );

  /** The rules once more, said another way. */
  const fits = (asked: InputRequest & { kind: "question" }, response: InputResponse): Outcome | "refused" => {
    if (response.type === "denied") return "declined";
    if (response.type === "cancelled") return "cancelled";
    if (response.type !== "answers") return "refused";
    const known = new Map(asked.questions.map((one) => [one.question, one]));
    let filled = 0;
    for (const [name, { selected, other = "" }] of Object.entries(response.answers)) {
      const one = known.get(name);
      const chosen = [...selected, ...(other.trim() ? [other] : [])];
      if (!one || (chosen.length > 1 && !one.multiSelect)) return "refused";
      if (
        selected.some(
          (label, n) => selected.indexOf(label) !== n || !one.options.some((option) => option.label === label),
        )
      )
        return "refused";
      if (chosen.length > 0) filled++;
    }
    if (filled === 0) return "refused";
    if (filled === known.size) return "answered";
    return response.partial ? "partial" : "refused";
  };

  for (const { name, open } of journals)
    test(`a refusal changes nothing, and what is taken is stored as it was given (${name})`, async () => {
      using journal = open();
      const { store } = journal;
      const epoch = store.claim("s");
      let n = 0;
      await fc.assert(
        fc.asyncProperty(questions, fc.array(reply, { minLength: 1, maxLength: 4 }), async (asked, replies) => {
          const key = `t0/${n++}/ask0`;
          const request = requestFor(
            key,
            "s",
            asked.map(({ question: words, labels, multiSelect }) => question(words, labels, multiSelect)),
          );
          store.commit("s", epoch, [fact(key, "input.requested", request)]);
          let winner: Resolution | undefined;
          for (const [turn, anything] of replies.entries()) {
            const response = { ...anything, requestId: request.id };
            const before = plain(store.since("s", 0)).length;
            const expected = winner ? "late" : fits(request, response);
            if (expected === "refused") {
              await assert.rejects(respond(store, response, lin), { name: "SageError", code: "request-invalid" });
              assert.equal(store.since("s", 0).length, before, "a refusal leaves no trace");
              assert.deepEqual(plain(store.find(request.id)), { request: plain(request) });
            } else {
              const reply = await respond(store, response, { by: `${turn}`, surface: "test" });
              assert.equal(reply.won, expected !== "late");
              winner ??= reply.resolution;
              if (reply.won) assert.equal(reply.resolution.outcome, expected);
              if (reply.won && "response" in reply.resolution)
                assert.deepEqual(plain(reply.resolution.response), plain(response));
              assert.deepEqual(plain(reply.resolution), plain(winner));
              assert.deepEqual(plain(store.find(request.id)), plain({ request, resolution: winner }));
            }
          }
          if (!winner) await settle(store, request, resolve(request, cancelled, lin));
        }),
        { numRuns: name === "memory" ? 300 : 60 },
      );
      assert.equal(store.verify("s"), undefined);
    });
});

suite("the first answer wins", () => {
  const label = (n: number) => (n % 2 === 0 ? "Red" : "Blue");

  for (const { name, open } of journals)
    test(`of many in one moment, and all others are given the winner (${name})`, async () => {
      using journal = open();
      const { store, other } = journal;
      store.commit("s", store.claim("s"), [fact("t0/0/0/ask0", "input.requested", requestFor("t0/0/0/ask0"))]);
      const replies = await Promise.all(
        Array.from({ length: 40 }, async (_, n) =>
          respond(n % 3 === 0 ? other : store, answers({ "Which colour?": { selected: [label(n)] } }), {
            by: `person ${n}`,
            surface: "test",
          }),
        ),
      );
      assert.deepEqual(
        replies.map(({ won }) => won),
        replies.map((_, n) => n === 0),
      );
      for (const { resolution } of replies) assert.equal(resolution.by, "person 0");
      assert.equal(store.since("s", 0).filter(({ type }) => type === "input.resolved").length, 1);
    });

  test("over processes that answer at the same time", async () => {
    using here = folder();
    const path = here.path("journal.db");
    const store = sqliteStore(path);
    const others = [peer(path), peer(path)];
    try {
      store.create("s", opened);
      const names = Array.from({ length: 15 }, (_, n) => `t0/0/${n}/ask0`);
      store.commit(
        "s",
        store.claim("s"),
        names.map((key) => fact(key, "input.requested", requestFor(key))),
      );
      await Promise.all(others.map((other) => other.call("open")));
      const replies = names.map((key) => {
        const response = (n: number): InputResponse => ({
          type: "answers",
          requestId: `s/${key}`,
          answers: { "Which colour?": { selected: [label(n)] } },
        });
        return [
          ...others.map((other, n) => other.call("respond", response(n), `peer ${n}`) as ReturnType<typeof respond>),
          Promise.resolve().then(() => respond(store, response(2), { by: "me", surface: "test" })),
        ];
      });
      for (const [n, key] of names.entries()) {
        const answered = await Promise.all(replies[n] ?? []);
        const winners = answered.filter(({ won }) => won);
        assert.equal(winners.length, 1, `${key} was won once`);
        for (const { resolution } of answered) assert.deepEqual(plain(resolution), plain(winners[0]?.resolution));
      }
      assert.deepEqual(store.pending(), []);
      assert.equal(store.verify("s"), undefined);
    } finally {
      await Promise.all(others.map((other) => other.kill()));
      store.close();
    }
  });

  test("and where the record of the session was changed, an answer is refused and not recorded: nobody would go on with it", async () => {
    using here = workspace();
    const path = here.path("journal.db");
    {
      await using sage = await sageWith({
        dir: here.dir,
        store: sqliteStore(path),
        script: [{ calls: [bash("touch ran")] }],
      });
      await sage.say("go");
      await sage.open();
    }
    using db = new DatabaseSync(path);
    const store = sqliteStore(path);
    const [asked] = store.pending();
    db.exec("UPDATE fact SET data=replace(data, 'touch', 'tough') WHERE type='model.replied'");
    await assert.rejects(respond(store, { ...granted, requestId: asked?.id ?? "" }, lin), { code: "journal-damaged" });
    assert.equal(store.resolution(asked?.id ?? ""), undefined);
    store.close();
  });

  test("and a request that is not there is reported to whoever answered it", async () => {
    const [{ open } = assert.fail()] = journals;
    using journal = open();
    const { store } = journal;
    for (const id of ["s/t0/0/0/ask0", "nobody/t0/0/0/ask0", "s/session", "", "s"])
      await assert.rejects(respond(store, { ...granted, requestId: id }, lin), {
        name: "SageError",
        code: "request-unknown",
      });
    assert.equal(store.since("s", 0).length, 1);
  });
});

suite("where nobody is asked", () => {
  const hard: InputRequest = { ...permission, hard: true };
  const rows: Record<
    "default" | "alwaysAllow" | "alwaysDeny",
    [ordinary: string, hard: string, question: string, text: string]
  > = {
    default: ["no_surface", "no_surface", "no_surface", "no_surface"],
    alwaysAllow: ["granted", "denied", "no_surface", "no_surface"],
    alwaysDeny: ["denied", "denied", "declined", "declined"],
  };
  for (const [auto, expected] of Object.entries(rows) as [keyof typeof rows, string[]][])
    test(`${auto} says ${expected.join(", ")} to a permission, a hard one, a question and a text`, () => {
      const said = [permission, hard, one, text].map((request) => {
        const resolution = autoResolve(auto, request);
        assert.deepEqual([resolution.requestId, resolution.by, resolution.surface], [request.id, "auto", auto]);
        if (resolution.outcome !== "answered") return resolution.outcome;
        assert.equal(resolution.response.requestId, request.id);
        return resolution.response.type;
      });
      assert.deepEqual(said, expected);
    });
});
