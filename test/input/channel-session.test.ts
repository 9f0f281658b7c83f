import type { AutoResponder } from "../../src/protocol/host/options.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bridge } from "../../src/input/bridge.ts";
import { InputChannel } from "../../src/input/channel.ts";
import { respond } from "../../src/input/respond.ts";
import { answer, asked, fact, journals, plain, requestFor, resolved } from "../journal/journals.ts";
import { textRequest, permission, answers, refusal } from "./channels.ts";
import { worded, wordsOf } from "../support/worded.ts";

suite("a channel without a person", () => {
  const expected: Record<"default" | "alwaysAllow" | "alwaysDeny", string[]> = {
    default: ["no-surface", "no-surface", "no-surface", "no-surface"],
    alwaysAllow: ["granted", "denied", "no-surface", "no-surface"],
    alwaysDeny: ["denied", "denied", "denied", "denied"],
  };
  const requests = [permission(), permission(true), requestFor("ask0"), textRequest("1")];
  for (const [auto, said] of Object.entries(expected) as [keyof typeof expected, string[]][])
    test(`answers by ${auto}: ${said.join(", ")}`, async () => {
      const channel = InputChannel.nonInteractive(auto);
      assert.equal(channel.autoResponse, auto);
      const outcomes = requests.map((request) =>
        channel.requestInput(request).then(
          (response) => (assert.equal(response.requestId, request.id), response.type),
          (error: { code: string }) => error.code,
        ),
      );
      assert.deepEqual(await Promise.all(outcomes), said);
    });

  test("takes what its function says, under the request's own id", async () => {
    const channel = InputChannel.nonInteractive(async () => ({ type: "granted", requestId: "another" }));
    assert.deepEqual(await channel.requestInput(permission(true)), { type: "granted", requestId: "s/permit0" });
  });

  const wrong: Record<string, AutoResponder> = {
    throws: () => {
      throw new Error("no idea");
    },
    rejects: () => Promise.reject(new Error("no idea")),
    "grants a question": ({ id }) => ({ type: "granted", requestId: id }),
    "answers an option that is not there": ({ id }) => ({
      type: "answers",
      requestId: id,
      answers: { "Which colour?": { selected: ["Green"] } },
    }),
    "answers nothing": () => undefined as never,
    "answers nonsense": () => ({ type: "sure" }) as never,
    "answers in another shape": ({ id }) =>
      ({ type: "answers", requestId: id, answers: { "Which colour?": { selected: "Red" } } }) as never,
  };
  for (const [what, auto] of Object.entries(wrong))
    test(`fails when its function ${what}`, async () => {
      await assert.rejects(InputChannel.nonInteractive(auto).requestInput(requestFor("ask0")));
    });

  test("does not wait for ever for a function that never answers", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const channel = InputChannel.nonInteractive(() => new Promise(() => {}));
    const late = assert.rejects(channel.requestInputWithTimeout(permission(), 100), refusal("timeout"));
    t.mock.timers.tick(100);
    await late;
    const stop = new AbortController();
    const reason = new Error("interrupted");
    const aborted = [
      channel.requestInput(permission(), stop.signal),
      channel.requestInputWithTimeout(permission(), 1e9, stop.signal),
    ].map((asking) => assert.rejects(asking, reason));
    stop.abort(reason);
    await Promise.all([...aborted, assert.rejects(channel.requestInput(permission(), stop.signal), reason)]);
  });
});

suite("a channel over a session", () => {
  for (const { name, open } of journals)
    test(`shows what is open and what is opened, and takes answers to the journal (${name})`, async () => {
      using journal = open();
      const { store } = journal;
      const epoch = store.claim("s");
      store.commit("s", epoch, [asked("t0/0/0/ask0")]);
      const [channel, handle] = InputChannel.create(10);
      const withdraw = bridge(store, "s", channel);
      assert.deepEqual(plain(await handle.nextRequest()), plain(requestFor("t0/0/0/ask0")));
      store.commit("s", epoch, [asked("t0/0/1/ask0"), asked("t0/0/2/ask0")]);

      const response = answers("s/t0/0/0/ask0", "Red");
      const resolution = await handle.respond(response);
      assert.deepEqual(plain(journal.other.resolution("s/t0/0/0/ask0")), plain(resolution));
      assert.deepEqual([resolution.by, resolution.surface], ["handle", "channel"]);

      assert.equal((await handle.nextRequest())?.id, "s/t0/0/1/ask0");
      await assert.rejects(
        handle.respond({ ...response, requestId: "s/t0/0/1/ask0", answers: {} }),
        refusal("request-invalid"),
      );
      await respond(store, { ...response, requestId: "s/t0/0/1/ask0" }, { by: "Ann", surface: "other" });
      await assert.rejects(handle.respond({ ...response, requestId: "s/t0/0/1/ask0" }), (error: Error) => {
        assert.match(wordsOf(error), /already answered by Ann from other/);
        assert.equal((error.cause as { by: string }).by, "Ann");
        return true;
      });
      assert.equal(
        (await handle.nextRequest())?.id,
        "s/t0/0/2/ask0",
        "what was answered elsewhere is not shown any more",
      );
      assert.deepEqual(
        handle.pending().map(({ id }) => id),
        ["s/t0/0/2/ask0"],
      );
      withdraw();
      store.commit("s", epoch, [asked("t0/0/3/ask0")]);
      assert.equal(handle.pending().length, 1);
      handle.close();
    });

  test("tells a loser of the race who won, also when the news has not come through yet", async () => {
    const [, { open } = assert.fail()] = journals;
    using journal = open();
    journal.store.commit("s", journal.store.claim("s"), [asked("t0/0/0/ask0")]);
    const [channel, handle] = InputChannel.create(10);
    const withdraw = bridge(journal.store, "s", channel);
    journal.other.append("s", resolved("t0/0/0/ask0", answer("s/t0/0/0/ask0", "Blue", "Ann")));
    await assert.rejects(
      handle.respond({
        type: "answers",
        requestId: "s/t0/0/0/ask0",
        answers: { "Which colour?": { selected: ["Red"] } },
      }),
      worded(/already answered by Ann/),
    );
    withdraw();
  });

  test("misses nothing that another process opens while it starts", async (t) => {
    const [, { open } = assert.fail()] = journals;
    using journal = open();
    const { store, other } = journal;
    const epoch = other.claim("s");
    const list = store.pending;
    t.mock.method(store, "pending", (session?: string) => {
      const requests = list(session);
      other.commit("s", epoch, [asked("t0/0/0/ask0")]);
      return requests;
    });
    const [channel, handle] = InputChannel.create(10);
    const withdraw = bridge(store, "s", channel);
    assert.equal((await handle.nextRequest())?.id, "s/t0/0/0/ask0");
    withdraw();
  });

  test("once closed, is nobody: what is asked ends as such, and the journal goes on", async () => {
    for (const { open } of journals) {
      using journal = open();
      const { store } = journal;
      const epoch = store.claim("s");
      const [channel, handle] = InputChannel.create(10);
      const withdraw = bridge(store, "s", channel);
      handle.close();
      store.commit("s", epoch, [asked("t0/0/0/ask0"), fact("t0/0/1", "call.unknown", { reason: said("") })]);
      assert.deepEqual(handle.pending(), []);
      assert.equal(store.resolution("s/t0/0/0/ask0")?.outcome, "no_surface");
      assert.equal(store.append("s", resolved("t0/0/0/ask0", answer("s/t0/0/0/ask0"))).won, false);
      assert.deepEqual([handle.pending(), await handle.nextRequest()], [[], undefined]);
      withdraw();
      bridge(store, "s", channel)();
    }
  });
});
