import type { ToolInput } from "../../src/protocol/facts/call.ts";
import type { Delta, Fact, FactData, FactType } from "../../src/protocol/facts/fact.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import { errorOf, refusalOf } from "../../src/protocol/host/refusal.ts";
import { reasonFrom, reason, SageError } from "../../src/protocol/reasons/reason.ts";

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { suite, test } from "node:test";
import { attachPlain } from "../../src/surfaces/plain/index.ts";
import { createDesk, type Panel } from "../../src/surfaces/terminal/panels/panel.ts";
import { sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { createPaint } from "../../src/view/lines/paint.ts";
import { requestLines } from "../../src/view/lines/request.ts";
import { headline } from "../../src/texts/shared/resolution.ts";
import { createView, type Piece } from "../../src/surfaces/plain/view.ts";
import { pastOf } from "../../src/view/items/summary.ts";
import { createSession } from "../../src/view/session.ts";
import { folded } from "../support/fold.ts";
import { languageOf } from "../../src/texts/language.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { t, style, permission, colour, questions } from "./plain-requests.ts";

suite("what happens becomes text", () => {
  let seq = 0;
  const fact = <T extends FactType>(type: T, key: string, data: FactData[T]) =>
    ({ session: "s", seq: ++seq, key, type, at: 0, data }) as Fact;
  const said = (text: string, by = "ada") => fact("user.said", `said/${seq}`, { text, by, surface: "plain" });
  const replied = (key: string, text: string, calls: { tool: string; input: ToolInput }[] = []) =>
    fact("model.replied", key, {
      parts: [{ type: "text", text }, ...calls.map((call, n) => ({ type: "call" as const, id: `${n}`, ...call }))],
      usage: noUsage,
      finish: "stop",
      model: "m",
      sawUpTo: 0,
    });
  const delta = (key: string, text: string, attempt = 1): Delta => ({
    session: "s",
    key,
    attempt,
    n: 0,
    kind: "text",
    text,
  });
  const flat = (pieces: Piece[]) =>
    pieces
      .map((piece) => ("stream" in piece ? piece.stream : piece.lines.map((line) => `${line}\n`).join("")))
      .join("");
  const ended = fact("turn.ended", "t0.ended", {
    status: "success",
    text: "",
    usage: noUsage,
    stats: { steps: 0, toolCalls: 0, modelCalls: 1, durationMs: 2_000 },
  });

  test("streamed text is not printed a second time by the fact", () => {
    const view = folded(createView(style()).draw);
    assert.equal(flat([...view.delta(delta("t0/0/model", "Hel")), ...view.delta(delta("t0/0/model", "lo"))]), "Hello");
    assert.equal(flat(view.fact(replied("t0/0/model", "Hello"))), "");
    assert.equal(flat(view.fact(replied("t0/1/model", "Whole"))), "Whole");
  });

  test("a higher attempt says that it starts again, a lower one is ignored", () => {
    const view = folded(createView(style()).draw);
    assert.equal(flat(view.delta(delta("t0/0/model", "Once"))), "Once");
    assert.equal(flat(view.delta(delta("t0/0/model", "Twice", 2))), `${t.startsAgain}\nTwice`);
    assert.equal(flat(view.delta(delta("t0/0/model", "late", 1))), "");
    assert.equal(flat(view.fact(replied("t0/0/model", "Twice done"))), " done");
  });

  test("calls are one line each, results are folded, and a result that comes later names its call", () => {
    const view = folded(createView(style()).draw);
    const calls = [
      { tool: "Bash", input: { command: "npm test\nnpm run build" } },
      { tool: "Read", input: { file_path: "a.ts" } },
    ];
    assert.equal(
      flat(view.fact(replied("t0/0/model", "", calls))),
      "● Bash npm test‹U+000A›npm run build\n● Read a.ts\n",
    );
    assert.equal(flat(view.fact(fact("call.finished", "t0/0/1/run0", { ok: true, text: "one" }))), "  │ one\n");
    const long = Array.from({ length: 20 }, (_, n) => `line ${n}`).join("\n");
    assert.equal(
      flat(view.fact(fact("call.finished", "t0/0/0/run0.finished", { ok: false, text: long }))),
      `● Bash npm test‹U+000A›npm run build\n  ✗ failed\n${[0, 1, 2, 3, 4, 5].map((n) => `  │ line ${n}\n`).join("")}  … 14 more lines\n`,
    );
  });

  test("what a command prints is shown as it comes, on a terminal, and not again with the result", () => {
    const output = (text: string): Delta => ({ ...delta("t0/0/0/run0", text), kind: "output" });
    const run = (width: number | undefined, result: string) => {
      const view = folded(createView(style(width)).draw);
      view.fact(replied("t0/0/model", "", [{ tool: "Bash", input: { command: "x" } }]));
      const live = flat(["one\nt", "wo\nthr"].flatMap((text) => view.delta(output(text))));
      return [live, flat(view.fact(fact("call.finished", "t0/0/0/run0", { ok: true, text: result })))];
    };
    assert.deepEqual(run(80, "one\ntwo\nthree"), ["  │ one\n  │ two\n", "  │ three\n"]);
    assert.deepEqual(run(80, "other"), ["  │ one\n  │ two\n", "  │ other\n"]);
    assert.deepEqual(run(undefined, "one"), ["", "  │ one\n"]);
  });

  test("a no is a refusal and not a failure, and is told once", () => {
    const view = folded(createView(style()).draw);
    const calls = [1, 2].map(() => ({ tool: "Bash", input: { command: "x" } }));
    view.fact(replied("t0/0/model", "", calls));
    const verdict = { effect: "writes", digest: "d", reason: reasonFrom("") } as const;
    const verdicts = [
      { ...verdict, behavior: "ask" as const },
      { ...verdict, behavior: "deny" as const },
    ];
    view.fact(fact("calls.judged", "t0/0/judged", { verdicts }));
    const asked = permission("Bash", { command: "x" }, { id: "s/t0/0/0/permit0" });
    view.fact(fact("input.requested", "t0/0/0/permit0", asked));
    const response = { type: "denied" as const, requestId: asked.id };
    const refusal = {
      requestId: response.requestId,
      by: "ada",
      surface: "plain",
      at: 0,
      outcome: "answered",
      response,
    } as const;
    view.fact(fact("input.resolved", "t0/0/0/permit0.resolved", refusal));
    const finished = (n: number) => fact("call.finished", `t0/0/${n}/done`, { ok: false, text: "Not run: no." });
    assert.equal(flat(view.fact(finished(1))), "  ✗ refused by a rule\n  │ Not run: no.\n");
    assert.equal(flat(view.fact(finished(0))), "● Bash x\n  ✗ refused by a person\n");
  });

  test("a quick reply does not overtake the result it replies to", () => {
    const view = folded(createView(style()).draw);
    view.fact(replied("t0/0/model", "", [{ tool: "Read", input: { file_path: "a" } }]));
    assert.equal(flat(view.delta(delta("t0/1/model", "I see."))), "");
    assert.equal(flat(view.fact(fact("call.finished", "t0/0/0/run0", { ok: true, text: "x" }))), "  │ x\nI see.");
  });

  test("B7: output that copies a whole prompt, escapes and all, stays behind its margin", () => {
    const real = requestLines(permission("Bash", { command: "ls" }), { ...style(), paint: createPaint(true) });
    const view = folded(createView(style(90)).draw);
    view.fact(replied("t0/0/model", "", [{ tool: "Bash", input: { command: "cat trap" } }]));
    const text = [...real.slice(1), "allow? (y/n/…) > y\r\x1b[2K"].join("\n");
    const drawn = flat(view.fact(fact("call.finished", "t0/0/0/run0", { ok: true, text })))
      .trimEnd()
      .split("\n");
    assert.ok(
      drawn.every((line) => /^ {2}(│ |┊ |… )/.test(line)),
      drawn.join("\n"),
    );
    assert.ok(drawn.some((line) => line.includes("‹U+001B›[1m‹U+001B›[33m── Permission")));
    assert.ok(real.slice(1).every((line) => !drawn.includes(line)));
  });

  test("a saved rule is told with its file, or why it is in none", () => {
    const view = folded(createView(style(), { by: "you", surface: "plain" }).draw);
    const rule = { rule: "Bash(ls)", behavior: "allow", destination: "local", by: "Lin" } as const;
    const told = (more: object) => flat(view.fact(fact("rule.added", "t0/0/0/rule0.0", { ...rule, ...more })));
    assert.equal(told({ saved: "/w/s.json" }), "Rule saved to /w/s.json: Bash(ls) (/revoke takes it back)\n");
    assert.equal(told({ problem: "no room" }), "Rule added for this session only: Bash(ls) (not saved: no room)\n");
    assert.equal(told({ destination: "session" }), "Rule added for this session: Bash(ls) (/revoke takes it back)\n");
  });

  test("on attaching the last turns are shown, the messages before them are a number", () => {
    const joined = (...facts: Fact[]) => {
      const drawn: Piece[] = [];
      let earlier = 0;
      const view = createView(style());
      const session = createSession("s", {
        tellFrom: pastOf,
        changed(change) {
          if (change.type === "earlier") earlier = change.messages;
          if (change.type === "fact") drawn.push(...view.draw(change.items));
        },
      });
      for (const fact of facts) session.hear({ type: "fact", fact });
      session.hear({ type: "ready", requests: [], live: true, owned: false });
      return { shown: flat(drawn), earlier };
    };
    const long = Array.from({ length: 40 }, (_, n) => [said(`ask ${n}`), replied(`t${n}/0/model`, `say ${n}`), ended]);
    const { shown, earlier: count } = joined(...long.flat());
    assert.match(shown, /[^]*ask 39[^]*say 39/);
    assert.ok(count > 5 && count < 39, shown);
    assert.deepEqual([shown.includes(`ask ${count - 1}\n`), shown.includes(`ask ${count}\n`)], [false, true]);
    const facts = [
      said("first"),
      replied("t0/0/model", "one"),
      ended,
      said("second", "Lin"),
      replied("t1/0/model", "two"),
    ];
    assert.match(joined(...facts).shown, /first[^]*one[^]*Lin:\n {2}│ second\n\ntwo$/);
    assert.match(joined(...facts.slice(0, 3)).shown, /first[^]*one[^]*Done: 0 tool calls, 0 tokens, 2 s\n$/);
  });

  test("an answer from elsewhere tells who gave it, from where and what", () => {
    const resolution = { requestId: "s/x", by: "Lin", surface: "feishu", at: Date.now() };
    const granted = { type: "granted" as const, requestId: "s/x", comment: "go" };
    assert.match(
      headline({ ...resolution, outcome: "answered", response: granted }, t),
      /^Answered by Lin in Feishu at \d\d:\d\d: allowed — “go”$/,
    );
    assert.match(
      headline({ ...resolution, outcome: "timed_out", reason: { code: "said", args: { text: "" } } }, t),
      /^Closed by Lin .*: no answer in time$/,
    );
  });
});

test("the language is SAGE_LANG's, else the locale's", () => {
  assert.equal(languageOf({ SAGE_LANG: "zh", LANG: "en_US.UTF-8" }), "zh");
  assert.equal(languageOf({ LC_ALL: "zh_CN.UTF-8" }), "zh");
  assert.equal(languageOf({ LC_ALL: "", LC_MESSAGES: "", LANG: "zh_TW" }), "zh");
  assert.equal(languageOf({ LANG: "C" }), "en");
});

suite("a reason is told in the reader's language", () => {
  const problem = new SageError("request-invalid", reason("empty-text", {}));
  const chinese = "空白不是回答；请写点什么，或选择不回答";

  test("it survives the way through a reply", () => {
    const { code, message, reason: why } = errorOf(refusalOf(problem));
    assert.deepEqual([code, message, why], [problem.code, problem.message, problem.reason]);
  });

  test("a turn that cannot begin says why", async () => {
    using here = workspace();
    const { host, session } = await sageWith({ script: [], dir: here.dir });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const { signal } = new AbortController();
    const plain = attachPlain(host, { session, input, output, lang: "zh", color: false, by: "林", signal });
    plain.failed(refusalOf(problem));
    assert.equal((await plain.done).why, "failed");
    await host.close();
    assert.match(String(output.read()), new RegExp(chinese));
  });

  test("an answer that is refused says why on its panel", async () => {
    const told: string[] = [];
    const request = questions(colour);
    const desk = createDesk({
      t: texts("zh"),
      session: { requests: [{ request, inquiries: [] }], send: () => Promise.resolve(refusalOf(problem) as never) },
      sender: { by: "lin", surface: "tui" },
      chooseMode() {},
      createPanel({ respond }) {
        const shown = {
          requestId: request.id,
          refused: (why: string) => void told.push(why),
          update() {},
          dispose() {},
        };
        setImmediate(() => respond({ type: "denied", requestId: request.id }));
        return shown as unknown as Panel;
      },
      focus() {},
      taken() {},
    });
    desk.settle();
    await until(() => told.length > 0);
    assert.deepEqual(told, [chinese]);
  });
});
