// Asking from inside a turn: the modes, and that nothing is ever granted because nobody was there.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { NeedsInput } from "../../src/input/ask.ts";
import { respond } from "../../src/input/respond.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { Stopped } from "../../src/journal/session/session.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import type { AutoResponder, ExecutionMode } from "../../src/protocol/host/options.ts";
import { said, SageError } from "../../src/protocol/reasons/reason.ts";
import { journals, keys, plain, state } from "../journal/journals.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { bash, lin, red, asker } from "./askers.ts";

const custom = (autoResponse: AutoResponder): ExecutionMode => ({ type: "nonInteractive", autoResponse });

suite("asking", () => {
  test("a person: the request is on disk and listed before anyone waits, and the answer goes to the asker", async () => {
    for (const { open } of journals) {
      using journal = open();
      const { ask: request, log } = asker(journal.store);
      const asked = request("ask0");
      assert.equal(asked.resolution, undefined);
      const waiting = asked.wait();
      assert.deepEqual(plain(journal.other.pending("s")), plain([asked.request]));
      assert.equal(await state(waiting), "waits");
      await respond(journal.other, red, lin);
      const resolution = await waiting;
      assert.deepEqual([resolution.outcome, resolution.by], ["answered", "Lin"]);
      log.release();
    }
  });

  for (const [autoResponse, ends] of [
    ["default", ["no_surface", "no_surface"]],
    ["alwaysAllow", ["granted", "no_surface"]],
    ["alwaysDeny", ["denied", "declined"]],
  ] as const)
    test(`nobody (${autoResponse}): a permission and a question end at once as ${ends.join(" and ")}`, async () => {
      const { ask: request, store, log } = asker(memoryStore(), { mode: { type: "nonInteractive", autoResponse } });
      const said = [request("permit0", bash), request("ask0")].map(
        ({ resolution = assert.fail("it should be settled") }) =>
          resolution.outcome === "answered" ? resolution.response.type : resolution.outcome,
      );
      assert.deepEqual(said, ends);
      log.release();
      assert.deepEqual(keys(store.since("s", 1)), ["t0/permit0", "t0/permit0.resolved", "t0/ask0", "t0/ask0.resolved"]);
      assert.deepEqual(store.pending(), []);
    });

  test("in a batch: a person is needed, the request stays open, and whoever comes later goes on with the answer", async () => {
    for (const { open } of journals) {
      using journal = open();
      const mode = { type: "batch" } as const;
      const first = asker(journal.store, { mode });
      const [a, b] = [first.ask("ask0"), first.ask("ask1")];
      await assert.rejects(a.wait(), (error: unknown) => error instanceof NeedsInput && error.message === "s/t0/ask0");
      await assert.rejects(b.wait(), NeedsInput);
      first.log.release();
      assert.deepEqual(
        journal.other.pending().map(({ id }) => id),
        ["s/t0/ask0", "s/t0/ask1"],
      );
      await respond(journal.other, red, lin);

      const second = asker(journal.restart(), { mode });
      assert.equal((await second.ask("ask0").wait()).by, "Lin");
      const still = second.ask("ask1");
      await respond(journal.other, { ...red, requestId: "s/t0/ask1" }, { by: "Ann", surface: "late" });
      assert.equal((await still.wait()).by, "Ann", "answered between opening and waiting");
      second.log.release();
    }
  });
});

suite("a function in a person's place", () => {
  test("is given the request, and its answer counts as anyone's, also for what only a person may allow", async () => {
    const seen: InputRequest[] = [];
    const auto: AutoResponder = async (request) => (seen.push(request), { type: "granted", requestId: "whatever" });
    const { ask: request, log } = asker(memoryStore(), { mode: custom(auto) });
    const asked = request("permit0", { ...bash, hard: true });
    assert.deepEqual(seen, [], "not before somebody waits");
    const resolution = await asked.wait();
    assert.deepEqual(seen, [asked.request]);
    assert.deepEqual([resolution.outcome, resolution.by, resolution.surface], ["answered", "auto", "custom"]);
    assert.deepEqual("response" in resolution && resolution.response, { type: "granted", requestId: "s/t0/permit0" });
    log.release();
  });

  const nonsense = (value: unknown) => value as InputResponse;
  const wrong: Record<string, AutoResponder> = {
    throws: () => {
      throw new Error("no idea");
    },
    rejects: () => Promise.reject(new Error("no idea")),
    "grants a question": ({ id }) => ({ type: "granted", requestId: id }),
    "answers a question with a text": ({ id }) => ({ type: "text", requestId: id, text: "Red" }),
    "answers an option that is not there": ({ id }) => ({
      type: "answers",
      requestId: id,
      answers: { "Which colour?": { selected: ["Green"] } },
    }),
    "answers nothing": ({ id }) => ({ type: "answers", requestId: id, answers: {} }),
    "returns nothing": () => nonsense(undefined),
    "returns null": () => nonsense(null),
    "returns true": () => nonsense(true),
    "returns a string": () => nonsense("granted"),
    "returns an unknown type": () => nonsense({ type: "allow", requestId: "s/t0/ask0" }),
    "returns a resolution": ({ id }) =>
      nonsense({
        outcome: "answered",
        requestId: id,
        by: "me",
        at: 1,
        surface: "x",
        response: { type: "granted", requestId: id },
      }),
    "returns another shape": () => nonsense({ type: "answers", answers: { "Which colour?": { selected: "Red" } } }),
  };
  for (const { name, open } of journals)
    for (const [what, auto] of Object.entries(wrong))
      test(`that ${what} ends in a refusal, never in consent (${name})`, async () => {
        using journal = open();
        const { ask: request, log } = asker(journal.store, { mode: custom(auto) });
        for (const asked of what === "grants a question"
          ? [request("ask0")]
          : [request("ask0"), request("permit0", bash)]) {
          const resolution = await asked.wait();
          assert.equal(resolution.outcome, "no_surface");
          assert.match(
            "reason" in resolution && resolution.reason ? sentence(resolution.reason, "en") : "",
            /the automatic responder gave no valid answer: ./,
          );
          assert.deepEqual(plain(journal.other.resolution(asked.request.id)), plain(resolution));
        }
        log.release();
      });

  test("that is slower than a person does not take their answer back", async () => {
    const slow = Promise.withResolvers<InputResponse>();
    const { ask: request, store, log } = asker(memoryStore(), { mode: custom(() => slow.promise) });
    const waiting = request("ask0").wait();
    await respond(store, red, lin);
    assert.equal((await waiting).by, "Lin");
    slow.resolve({ type: "denied", requestId: "" });
    await state(slow.promise);
    assert.equal(store.resolution("s/t0/ask0")?.by, "Lin");
    log.release();
  });

  test("that never answers does not hold a turn that is stopped", async () => {
    const { ask: request, log } = asker(memoryStore(), { mode: custom(() => new Promise(() => {})) });
    const waiting = request("ask0").wait();
    assert.equal(await state(waiting), "waits");
    const stopped = new Stopped("interrupted", said("Lin interrupted"));
    log.stop(stopped);
    await assert.rejects(waiting, stopped);
    log.release();
  });

  test("whose answer cannot be recorded leaves nobody waiting, and nothing granted", async (t) => {
    const {
      ask: request,
      store,
      log,
    } = asker(memoryStore(), { mode: custom(({ id }) => ({ type: "granted", requestId: id })) });
    const full = new SageError("disk-full", said("not recorded: the disk is full"));
    const asked = request("permit0", bash);
    t.mock.method(store, "append", () => {
      throw full;
    });
    await assert.rejects(asked.wait(), full);
    assert.equal(store.resolution("s/t0/permit0"), undefined);
    assert.equal(store.pending().length, 1);
    log.release();
  });

  test("is not asked again about what is settled", async () => {
    const store = memoryStore();
    const first = asker(store);
    first.ask("ask0");
    first.log.release();
    await respond(store, red, lin);
    const { ask: request, log } = asker(store, { mode: custom(() => assert.fail("asked again")) });
    assert.equal((await request("ask0").wait()).by, "Lin");
    log.release();
  });
});

suite("where a second request is refused", () => {
  test("one is open at a time, and the next may follow when it has ended", async () => {
    const { ask: request, store, log } = asker(memoryStore(), { reject: new Set() });
    const first = request("ask0");
    const second = request("ask1");
    assert.equal(second.resolution?.outcome, "no_surface");
    assert.match(
      "reason" in second.resolution && second.resolution.reason ? sentence(second.resolution.reason, "en") : "",
      /another request of this session is open/,
    );
    const waiting = first.wait();
    await assert.doesNotReject(second.wait());
    assert.deepEqual(
      store.pending().map(({ id }) => id),
      ["s/t0/ask0"],
    );
    await respond(store, red, lin);
    await waiting;
    assert.equal(request("ask2").resolution, undefined);
    log.release();
  });
});
