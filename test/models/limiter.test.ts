import assert from "node:assert/strict";
import { test } from "node:test";
import { createLimiter, type Limits } from "../../src/models/limiter.ts";
import type { Model, ModelRequest } from "../../src/models/model.ts";
import type { Clock } from "../../src/models/sleep.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";

/** Time that passes only when the test says so. */
function testClock(): Clock & { pass(ms: number): Promise<void> } {
  let now = 0;
  let sleeping: { until: number; wake(): void }[] = [];
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((wake, reject) => {
        sleeping.push({ until: now + ms, wake });
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
    async pass(ms) {
      const end = now + ms;
      for (;;) {
        await new Promise(setImmediate);
        const next = sleeping.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
        if (!next) break;
        now = next.until;
        sleeping = sleeping.filter((one) => one !== next);
        next.wake();
      }
      now = end;
    },
  };
}

function paced(limits: Limits, tokens = 0) {
  const clock = testClock();
  const sent: string[] = [];
  const notices: string[] = [];
  const model: Model = {
    id: "m",
    async reply({ system }) {
      sent.push(system);
      return { parts: [], usage: { ...noUsage, inputTokens: tokens }, finish: "stop", model: "m" };
    },
  };
  const { pace } = createLimiter(limits, clock);
  const [one, two] = [pace(model), pace(model)]; // as two sessions have it
  const ask = (system: string, signal = new AbortController().signal, by = one) => {
    const request: ModelRequest = { system, messages: [], tools: [], options: {}, agent: [] };
    const reply = by.reply(request, {
      signal,
      text() {},
      reasoning() {},
      retry: (why) => void notices.push(`${system}: ${sentence(why, "en")}`),
    });
    reply.catch(() => {});
    return reply;
  };
  return { clock, sent, notices, ask, two };
}

test("requests beyond the limit wait their turn in order, across sessions, and the person is told", async () => {
  const { clock, sent, notices, ask, two } = paced({ requestsPerMinute: 2 });
  for (const [n, name] of ["a", "b", "c", "d", "e"].entries()) void ask(name, undefined, n % 2 ? two : undefined);
  await clock.pass(500);
  assert.deepEqual([sent.join(""), notices], ["ab", []]);
  await clock.pass(30_000);
  assert.deepEqual(
    notices,
    ["c", "d", "e"].map((name) => `${name}: m is limited to 2 requests per minute; waiting.`),
  );
  await clock.pass(30_000);
  assert.equal(sent.join(""), "abcd");
  await clock.pass(60_000);
  assert.equal(sent.join(""), "abcde");
});

test("one that gives up leaves the line, and the others keep their places", async () => {
  const { clock, sent, ask } = paced({ requestsPerMinute: 1 });
  void ask("a");
  void ask("b");
  const controller = new AbortController();
  const leaving = ask("c", controller.signal);
  void ask("d");
  await clock.pass(10);
  controller.abort(new Error("enough"));
  await assert.rejects(leaving, /enough/);
  await clock.pass(59_990);
  assert.deepEqual(sent, ["a", "b"]);
  await clock.pass(60_000);
  assert.deepEqual(sent, ["a", "b", "d"]);
});

test("tokens count as estimated until the reply tells, and a request larger than the limit goes alone", async () => {
  const { clock, sent, ask } = paced({ tokensPerMinute: 1_000 }, 900);
  void ask("small");
  await clock.pass(1);
  void ask("x".repeat(1_000)); // some 270 tokens, where 100 are left
  await clock.pass(59_000);
  assert.equal(sent.length, 1);
  await clock.pass(1_000);
  assert.equal(sent.length, 2);
  void ask("汉".repeat(4_000));
  await clock.pass(59_000);
  assert.equal(sent.length, 2);
  await clock.pass(1_000);
  assert.equal(sent.length, 3);
});
