import assert from "node:assert/strict";
import { test } from "node:test";
import { createBreaker } from "../../src/models/breaker.ts";
import { CircuitOpen } from "../../src/models/failure.ts";
import { throughEndpoint } from "../../src/models/choice/endpoint.ts";
import type { Model, ModelRequest, ModelScope } from "../../src/models/model.ts";
import { withRetry } from "../../src/models/retry.ts";
import { noUsage, type Reply } from "../../src/protocol/facts/message.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { worded } from "../support/worded.ts";

const request: ModelRequest = { system: "", messages: [], tools: [], options: {}, agent: [] };
const fine: Reply = { parts: [], usage: noUsage, finish: "stop", model: "m" };
const down = () => Object.assign(new Error("Overloaded"), { statusCode: 529 });

/** A server whose answers the test decides, behind a breaker that opens at three and rests for ten. */
function guarded() {
  const clock = { at: 0, now: () => clock.at };
  const asked: PromiseWithResolvers<Reply>[] = [];
  const scopes: ModelScope[] = [];
  const notices: string[] = [];
  const model: Model = {
    id: "m",
    reply(_, scope) {
      const answer = Promise.withResolvers<Reply>();
      asked.push(answer);
      scopes.push(scope);
      return answer.promise;
    },
  };
  const breaker = createBreaker({ failures: 3, restMs: 10, clock });
  const guard = breaker.guard(model);
  const ask = (signal = new AbortController().signal) =>
    guard.reply(request, { signal, text() {}, reasoning() {}, retry: (why) => void notices.push(sentence(why, "en")) });
  const answer = async (error?: unknown) => {
    const reply = ask();
    await new Promise(setImmediate);
    const waiting = asked.at(-1);
    if (error === undefined) waiting?.resolve(fine);
    else waiting?.reject(error);
    return reply.catch((thrown: unknown) => thrown);
  };
  return { clock, asked, scopes, notices, ask, answer, guard };
}

test("failures of the server in a row open it, and then nobody asks", async () => {
  const { answer, ask, asked, clock } = guarded();
  for (let n = 0; n < 2; n++) assert.ok(!((await answer(down())) instanceof CircuitOpen));
  const opened = (await answer(down())) as CircuitOpen;
  assert.equal(
    sentence(opened.reason, "en"),
    "The server is overloaded (529: Overloaded). The server failed 3 times in a row; pausing requests to it.",
  );
  clock.at = 4;
  const refused = await ask().catch((error: unknown) => error as CircuitOpen);
  assert.ok(refused instanceof CircuitOpen);
  assert.equal(refused.retryAfterMs, 6);
  assert.equal(asked.length, 3);
});

test("an answer of any kind breaks the row; an abort says nothing", async () => {
  const { answer, ask, asked } = guarded();
  const refused = Object.assign(new Error("no"), { statusCode: 400 });
  for (const error of [down(), down(), undefined, down(), down(), refused, down(), down()]) await answer(error);
  const controller = new AbortController();
  const stopped = ask(controller.signal);
  await new Promise(setImmediate);
  controller.abort(new Error("enough"));
  asked.at(-1)?.reject(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  await assert.rejects(stopped, { code: "ECONNRESET" });
  await answer(undefined);
  assert.equal(asked.length, 10, "it never opened");
});

test("after the rest one asks, the others wait for what it finds, and the person hears that it works again", async () => {
  const { answer, ask, asked, clock, notices, scopes } = guarded();
  for (let n = 0; n < 3; n++) await answer(down());
  clock.at = 10;
  const probe = ask();
  const other = ask();
  const impatient = new AbortController();
  const third = ask(impatient.signal);
  impatient.abort(new Error("enough"));
  await assert.rejects(third, worded(/enough/));
  await new Promise(setImmediate);
  assert.equal(asked.length, 4);
  scopes.at(-1)?.text("Hel"); // the first word is enough
  await new Promise(setImmediate);
  assert.equal(asked.length, 5);
  for (const one of asked) one.resolve(fine);
  assert.deepEqual(await Promise.all([probe, other]), [fine, fine]);
  assert.deepEqual(notices, ["m: the server responds again."]);
});

test("a probe that fails opens it again; one that is aborted lets another try", async () => {
  const { answer, ask, asked, clock } = guarded();
  for (let n = 0; n < 3; n++) await answer(down());
  clock.at = 10;
  assert.equal(((await answer(down())) as CircuitOpen).retryAfterMs, 10);
  await assert.rejects(ask(), CircuitOpen);
  clock.at = 20;
  const controller = new AbortController();
  const stopped = ask(controller.signal);
  const next = ask();
  await new Promise(setImmediate);
  controller.abort(new Error("enough"));
  asked.at(-1)?.reject(new Error("enough"));
  await assert.rejects(stopped, worded(/enough/));
  await new Promise(setImmediate);
  asked.at(-1)?.resolve(fine);
  assert.equal(await next, fine);
});

test("retrying waits for the rest to end, unless another model stands by", async () => {
  const { answer, guard, clock, asked } = guarded();
  for (let n = 0; n < 3; n++) await answer(down());
  const reasons: string[] = [];
  const scope: ModelScope = {
    signal: new AbortController().signal,
    text() {},
    reasoning() {},
    retry: (why) => void reasons.push(sentence(why, "en")),
  };
  const sleep = async (ms: number) => {
    clock.at += ms;
    setImmediate(() => asked.at(-1)?.resolve(fine));
  };
  const never = () => assert.fail("it should not wait");
  await assert.rejects(
    withRetry(guard, { standby: true, sleep: never }).reply(request, scope),
    worded({
      code: "model-unavailable",
      retryable: true,
      message: "m: The server failed 3 times in a row; pausing requests to it. Try again in a while.",
    }),
  );
  assert.equal(await withRetry(guard, { sleep }).reply(request, scope), fine);
  assert.deepEqual(reasons, [
    "The server failed 3 times in a row; pausing requests to it. Retrying in 1 s (1 of 5).",
    "m: the server responds again.",
  ]);
});

test("all models of a server share its breaker, and another server's do not", async () => {
  const scope: ModelScope = { signal: new AbortController().signal, text() {}, reasoning() {}, retry() {} };
  const ask = (id: string, baseURL: string, reply: Model["reply"]) =>
    throughEndpoint({ id, reply }, { provider: "p", baseURL, limits: {}, retries: 0 }).reply(request, scope);
  const fails = () => Promise.reject(down());
  const works = async () => fine;
  for (let n = 0; n < 10; n++) await assert.rejects(ask("p/a", "http://one", fails));
  await assert.rejects(ask("p/b", "http://one", works), worded(/p\/b: The server failed 10 times in a row/));
  assert.equal(await ask("p/a", "http://two", works), fine);
});
