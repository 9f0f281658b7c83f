import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "../support/properties.ts";
import { InputChannel } from "../../src/input/channel.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { question, requestFor, state } from "../journal/journals.ts";
import { textRequest, permission, says, refusal } from "./channels.ts";
import { worded, wordsOf } from "../support/worded.ts";

suite("a channel", () => {
  test("has room for at least one request", () => {
    for (const size of [0, -1, 1.5, Number.NaN, Infinity])
      assert.throws(() => InputChannel.create(size), refusal("config-invalid"));
    assert.equal(InputChannel.create(1).length, 2);
  });

  test("blocks the asker until somebody answers, whoever comes first", async () => {
    const [channel, handle] = InputChannel.create(10);
    const early = handle.nextRequest();
    assert.equal(await state(early), "waits");
    const asking = channel.requestInput(textRequest("a"));
    assert.deepEqual(await early, textRequest("a"));
    assert.equal(await state(asking), "waits");
    assert.deepEqual(handle.pending(), [textRequest("a")]);
    const resolution = await handle.respond(says("s/a", "blue"));
    assert.deepEqual([resolution.outcome, resolution.by, resolution.requestId], ["answered", "handle", "s/a"]);
    assert.deepEqual(await asking, says("s/a", "blue"));
    assert.deepEqual(handle.pending(), []);
  });

  test("gives each asker its own answer, in whatever order they come", async () => {
    const [channel, handle] = InputChannel.create(10);
    const requests = ["a", "b", "c"].map((session) => textRequest("ask", session));
    const asking = requests.map((request) => channel.requestInput(request));
    for (const request of [...requests].reverse()) await handle.respond(says(request, `for ${request.session}`));
    assert.deepEqual(
      await Promise.all(asking),
      requests.map((request) => says(request, `for ${request.session}`)),
    );
  });

  test("shows one request of a session at a time, in order, and those of other sessions beside it", async () => {
    const [channel, handle] = InputChannel.create(10);
    const asking = ["1", "2", "3"].map((key) => channel.requestInput(textRequest(key, "a")));
    asking.push(channel.requestInput(textRequest("1", "b")));
    assert.equal((await handle.nextRequest())?.id, "a/1");
    assert.equal((await handle.nextRequest())?.id, "b/1");
    const third = handle.nextRequest();
    assert.equal(await state(third), "waits");
    await handle.respond(says("b/1"));
    assert.equal(await state(third), "waits", "the other session has no more to show, and this one is busy");
    await handle.respond(says("a/1"));
    assert.equal((await third)?.id, "a/2");
    await handle.respond(says("a/3"));
    const last = handle.nextRequest();
    await handle.respond(says("a/2"));
    assert.equal(await state(last), "waits", "a/3 was answered by id before it was ever shown");
    handle.close();
    assert.deepEqual(
      [await last, ...(await Promise.all(asking)).map(({ requestId }) => requestId)],
      [undefined, "a/1", "a/2", "a/3", "b/1"],
    );
  });

  test("holds as many requests as it was made for; more wait their turn behind them", async () => {
    const shown = async (size: number) => {
      const [channel, handle] = InputChannel.create(size);
      const asking = [textRequest("1", "a"), textRequest("2", "a"), textRequest("1", "b")].map((request) =>
        channel.requestInput(request),
      );
      const order = [(await handle.nextRequest())?.id];
      const next = handle.nextRequest();
      order.push(((await state(next)) as InputRequest | "waits") === "waits" ? "nothing" : (await next)?.id);
      for (const id of ["a/1", "a/2", "b/1"]) await handle.respond(says(id));
      await Promise.all(asking);
      handle.close();
      return order;
    };
    assert.deepEqual(await shown(2), ["a/1", "b/1"]);
    assert.deepEqual(await shown(1), ["a/1", "nothing"]);
  });

  test("tells an unknown, a late and a repeated answer to whoever sent it, and to nobody else", async () => {
    const [channel, handle] = InputChannel.create(10);
    const first = channel.requestInput(textRequest("1"));
    const second = channel.requestInput(textRequest("2"));
    await assert.rejects(handle.respond(says("s/3")), refusal("request-unknown"));
    await handle.respond(says("s/1", "first"));
    const late = handle.respond(says("s/1", "second"));
    await assert.rejects(late, (error: Error & { code: string }) => {
      assert.equal(error.code, "request-resolved");
      assert.match(wordsOf(error), /already answered by handle/);
      const winner = error.cause as { response: InputResponse };
      assert.deepEqual(winner.response, says("s/1", "first"));
      return true;
    });
    assert.deepEqual(await first, says("s/1", "first"));
    assert.equal(await state(second), "waits", "a late answer never poisons the next prompt");
    await handle.respond(says("s/2"));
    await second;
  });

  test("refuses an answer that does not fit, and goes on asking", async () => {
    const [channel, handle] = InputChannel.create(10);
    const asking = channel.requestInput(permission());
    await assert.rejects(handle.respond(says("s/permit0")), refusal("request-invalid"));
    await assert.rejects(
      handle.respond({ type: "yes", requestId: "s/permit0" } as unknown as InputResponse),
      refusal("request-invalid"),
    );
    assert.equal(await state(asking), "waits");
    await handle.respond({ type: "denied", requestId: "s/permit0" });
    assert.deepEqual(await asking, { type: "denied", requestId: "s/permit0" });
  });

  test("remembers the last thousand ends, for those who come late", async () => {
    const [channel, handle] = InputChannel.create(1);
    for (let n = 0; n <= 1_000; n++) {
      const asking = channel.requestInput(textRequest(`${n}`));
      await handle.respond(says(`s/${n}`));
      await asking;
    }
    await assert.rejects(handle.respond(says("s/0")), refusal("request-unknown"));
    await assert.rejects(handle.respond(says("s/1")), refusal("request-resolved"));
  });

  test("made to refuse a second one, takes one request per session at a time", async () => {
    const [channel, handle] = InputChannel.create(10, { policy: "reject" });
    const first = channel.requestInput(textRequest("1"));
    await assert.rejects(channel.requestInput(textRequest("2")), refusal("request-pending"));
    const elsewhere = channel.requestInput(textRequest("1", "other"));
    assert.equal(await state(first), "waits");
    await handle.respond(says("s/1"));
    await first;
    const again = channel.requestInput(textRequest("3"));
    await handle.respond({ type: "cancelled", requestId: "s/3" });
    assert.equal((await again).type, "cancelled");
    await handle.respond(says("other/1"));
    await elsewhere;
  });

  test("does not take a request that is open already a second time: the first asker keeps it", async () => {
    const [channel, handle] = InputChannel.create(10);
    const first = channel.requestInput(textRequest("1"));
    await assert.rejects(channel.requestInput(textRequest("1")), refusal("request-pending"));
    await handle.respond(says("s/1"));
    assert.deepEqual(await first, says("s/1"));
    const again = channel.requestInput(textRequest("1"));
    await handle.respond(says("s/1", "asked anew"));
    assert.deepEqual(await again, says("s/1", "asked anew"));
  });

  test("forgets the time and the signal of a request that has ended: one asked anew under its id is another", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const [channel, handle] = InputChannel.create(10);
    const stop = new AbortController();
    const first = channel.requestInputWithTimeout(textRequest("1"), 100, stop.signal);
    await handle.respond(says("s/1"));
    await first;
    const again = channel.requestInput(textRequest("1"));
    t.mock.timers.tick(1_000);
    stop.abort();
    assert.equal(await state(again), "waits");
    assert.equal(handle.pending().length, 1);
    await handle.respond(says("s/1", "asked anew"));
    assert.deepEqual(await again, says("s/1", "asked anew"));
  });

  test("gives up after the time it was given, its own or the request's, and tells a late answer so", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const [channel, handle] = InputChannel.create(10, { defaultTimeout: 1_000 });
    const [byDefault, sooner, answered] = [
      channel.requestInput(textRequest("1", "a")),
      channel.requestInputWithTimeout(textRequest("1", "b"), 100),
      channel.requestInputWithTimeout(textRequest("1", "c"), 100),
    ];
    const late = [byDefault, sooner].map((asking) => assert.rejects(asking, refusal("timeout")));
    await handle.respond(says("c/1"));
    t.mock.timers.tick(99);
    assert.deepEqual(
      handle.pending().map(({ id }) => id),
      ["a/1", "b/1"],
    );
    t.mock.timers.tick(1);
    await late[1];
    assert.equal(await state(byDefault), "waits");
    t.mock.timers.tick(900);
    await late[0];
    await answered;
    await assert.rejects(handle.respond(says("a/1")), worded(/already timed_out/));
    assert.deepEqual(handle.pending(), []);
  });

  test("shows the next request when the one before it timed out", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const [channel, handle] = InputChannel.create(10);
    const first = assert.rejects(channel.requestInputWithTimeout(textRequest("1"), 10), refusal("timeout"));
    const second = channel.requestInput(textRequest("2"));
    assert.equal((await handle.nextRequest())?.id, "s/1");
    const next = handle.nextRequest();
    t.mock.timers.tick(10);
    await first;
    assert.equal((await next)?.id, "s/2");
    await handle.respond(says("s/2"));
    await second;
  });

  for (const forever of [2 ** 31, 2 ** 40, Infinity])
    test(`waits when it is given ${forever} ms, which is longer than a timer can be`, async (t) => {
      const delays: unknown[] = [];
      const never = (_: unknown, delay: unknown) => delays.push(delay);
      t.mock.method(globalThis, "setTimeout", never as unknown as typeof setTimeout);
      const [channel, handle] = InputChannel.create(10);
      const asking = channel.requestInputWithTimeout(textRequest("1"), forever);
      for (const delay of delays)
        assert.ok((delay as number) <= 2 ** 31 - 1, `a timer of ${String(delay)} ms fires at once`);
      await handle.respond(says("s/1"));
      await asking;
    });

  test("lets go of an asker who is interrupted, with the reason, and shows the next", async () => {
    const [channel, handle] = InputChannel.create(10);
    const reason = new Error("interrupted by Lin");
    await assert.rejects(channel.requestInput(textRequest("0"), AbortSignal.abort(reason)), reason);
    const stop = new AbortController();
    const asking = channel.requestInput(textRequest("1"), stop.signal);
    const second = channel.requestInput(textRequest("2"));
    assert.equal((await handle.nextRequest())?.id, "s/1");
    stop.abort(reason);
    await assert.rejects(asking, reason);
    await assert.rejects(handle.respond(says("s/1")), worded(/already cancelled/));
    assert.equal((await handle.nextRequest())?.id, "s/2");
    await handle.respond(says("s/2"));
    await second;
    stop.abort(new Error("again"));
  });

  test("ends everything that waits when the turn is cancelled, and can be used again", async () => {
    const [channel, handle] = InputChannel.create(10);
    const asking = ["a", "b"].map((session) => channel.requestInput(textRequest("1", session)));
    channel.cancelPending("stopped by Lin");
    assert.deepEqual(
      await Promise.all(asking),
      ["a", "b"].map((session) => ({ type: "cancelled", requestId: `${session}/1`, reason: "stopped by Lin" })),
    );
    await assert.rejects(handle.respond(says("a/1")), worded(/already cancelled/));
    const again = channel.requestInput(textRequest("2"));
    assert.equal((await handle.nextRequest())?.id, "s/2");
    await handle.respond(says("s/2"));
    await again;
  });

  for (const side of ["channel", "handle"] as const)
    test(`closed from the ${side}'s side, leaves nobody waiting and takes nothing more`, async () => {
      const ends = InputChannel.create(10);
      const [channel, handle] = ends;
      const taken = channel.requestInput(textRequest("1"));
      const queued = channel.requestInputWithTimeout(textRequest("2"), 60_000);
      assert.equal((await handle.nextRequest())?.id, "s/1");
      const waiting = [handle.nextRequest(), handle.nextRequest()];
      const outcomes = [taken, queued].map((asking) => assert.rejects(asking, refusal("no-surface")));
      (side === "channel" ? channel : handle).close();
      await Promise.all(outcomes);
      assert.deepEqual(await Promise.all([...waiting, handle.nextRequest()]), [undefined, undefined, undefined]);
      await assert.rejects(channel.requestInput(textRequest("3")), refusal("no-surface"));
      await assert.rejects(handle.respond(says("s/1")), refusal("request-resolved"));
      assert.deepEqual(handle.pending(), []);
      channel.close();
      handle.close();
    });

  test("leaves no promise hanging, whatever happens to it", async () => {
    type Act =
      | { act: "ask"; n: number; abortable: boolean; timeout: number | undefined }
      | { act: "next" }
      | { act: "respond"; n: number; good: boolean }
      | { act: "abort" | "cancel" | "tick" };
    const n = fc.integer({ min: 0, max: 5 });
    const act: fc.Arbitrary<Act> = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          act: fc.constant("ask" as const),
          n,
          abortable: fc.boolean(),
          timeout: fc.constantFrom(undefined, 0, 1),
        }),
      },
      { weight: 3, arbitrary: fc.record({ act: fc.constant("respond" as const), n, good: fc.boolean() }) },
      { weight: 2, arbitrary: fc.constant<Act>({ act: "next" }) },
      fc.constantFrom<Act>({ act: "abort" }, { act: "cancel" }, { act: "tick" }),
    );
    const history = fc.record({
      size: fc.integer({ min: 1, max: 3 }),
      policy: fc.constantFrom("queue" as const, "reject" as const),
      acts: fc.array(act, { maxLength: 25 }),
    });
    await fc.assert(
      fc.asyncProperty(history, async ({ size, policy, acts }) => {
        const [channel, handle] = InputChannel.create(size, { policy });
        const stop = new AbortController();
        const promises: Promise<unknown>[] = [];
        const presented: string[] = [];
        for (const one of acts) {
          if (one.act === "ask") {
            const request = textRequest(`${one.n}`, one.n % 2 === 0 ? "a" : "b");
            const signal = one.abortable ? stop.signal : undefined;
            promises.push(
              one.timeout === undefined
                ? channel.requestInput(request, signal)
                : channel.requestInputWithTimeout(request, one.timeout, signal),
            );
          } else if (one.act === "next")
            promises.push(handle.nextRequest().then((request) => request && presented.push(request.id)));
          else if (one.act === "respond")
            promises.push(handle.respond(says(`${one.n % 2 === 0 ? "a" : "b"}/${one.n}`, one.good ? "yes" : " ")));
          else if (one.act === "abort") stop.abort(new Error("interrupted"));
          else if (one.act === "cancel") channel.cancelPending("cancelled");
          else await new Promise((resolve) => setTimeout(resolve, 2));
          promises.at(-1)?.catch(() => {});
          const open = handle.pending().map(({ session }) => session);
          if (policy === "reject") assert.equal(new Set(open).size, open.length);
        }
        channel.close();
        await Promise.allSettled(promises);
        assert.deepEqual(handle.pending(), []);
      }),
      { numRuns: 60 },
    );
  });
});

test("a question with several parts goes through a channel whole", async () => {
  const [channel, handle] = InputChannel.create(10);
  const request = requestFor("ask0", "s", [question("Which colour?"), question("Which sizes?", ["S", "M"], true)]);
  const asking = channel.requestInput(request);
  const response: InputResponse = {
    type: "answers",
    requestId: request.id,
    answers: { "Which colour?": { selected: [], other: "Green" }, "Which sizes?": { selected: ["S", "M"] } },
    remark: "thanks",
  };
  await handle.respond(response);
  assert.deepEqual(await asking, response);
});
