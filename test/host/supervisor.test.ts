import assert from "node:assert/strict";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Model } from "../../src/models/model.ts";
import { scripted } from "../../src/models/scripted.ts";
import type { Clock } from "../../src/models/sleep.ts";
import { said, type Reason, SageError } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { createHost } from "../../src/host/host.ts";
import { createSupervisor } from "../../src/host/run/supervisor.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { z } from "zod";
import { allow, config, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

/** Writes down how long it should have slept, and is that much later. */
function hastyClock(): Clock & { slept: number[]; at: number } {
  const clock = {
    at: 0,
    slept: [] as number[],
    now: () => clock.at,
    async sleep(ms: number) {
      clock.slept.push(ms);
      clock.at += ms;
    },
  };
  return clock;
}

/** Attempts under a supervisor, with the rests between them. */
async function supervise<T>(
  attempt: (how: { supervised: boolean }) => Promise<T>,
  { clock, notice }: { clock: Clock; notice(why: Reason): void },
): Promise<T> {
  const supervisor = createSupervisor({ clock });
  for (;;) {
    try {
      return await attempt({ supervised: supervisor.supervised });
    } catch (error) {
      const rest = supervisor.rest(error);
      if (!rest) throw error;
      notice(rest.notice);
      await clock.sleep(rest.ms, new AbortController().signal);
    }
  }
}

test("a mistake is tried again with growing patience, and the last attempt is on its own", async () => {
  const clock = hastyClock();
  const notices: string[] = [];
  const how: boolean[] = [];
  const done = supervise(
    async ({ supervised }) => {
      how.push(supervised);
      if (supervised) throw new TypeError("x is not a function");
      return "ended";
    },
    { clock, notice: (why) => void notices.push(sentence(why, "en")) },
  );
  assert.equal(await done, "ended");
  assert.deepEqual(how, [true, true, true, false]);
  assert.deepEqual(clock.slept, [1_000, 2_000, 4_000]);
  assert.deepEqual(notices, [
    "Something went wrong in Sage: x is not a function. Retrying in 1 s (1 of 3).",
    "Something went wrong in Sage: x is not a function. Retrying in 2 s (2 of 3).",
    "Something went wrong in Sage: x is not a function. Retrying in 4 s (for the last time).",
  ]);
});

test("mistakes that are far apart do not add up, and what is no mistake is not tried again", async () => {
  const clock = hastyClock();
  let attempts = 0;
  const rare = async () => {
    clock.at += 600_000;
    if (++attempts < 20) throw new Error("again");
    return attempts;
  };
  assert.equal(await supervise(rare, { clock, notice() {} }), 20);
  const lost = new SageError("lease-lost", said("another process runs this session"));
  await assert.rejects(
    supervise(() => Promise.reject(lost), { clock, notice: () => assert.fail("no notice") }),
    (error) => error === lost,
  );
});

/** A session whose model makes mistakes of its own at the given replies, after a tool has left its mark. */
async function mistaken(dir: string, mistakes: number, clock: Clock) {
  const store = memoryStore();
  let marks = 0;
  const mark: Tool = {
    name: "Mark",
    description: "leaves a mark",
    inputSchema: z.object({}),
    effect: "writes",
    async execute() {
      marks++;
      return { ok: true, text: "marked" };
    },
  };
  const script = scripted([{ calls: [{ tool: "Mark", input: {} }] }, { text: "done" }]);
  const model: Model = {
    id: "m",
    reply(request, scope) {
      if (request.messages.length > 1 && mistakes-- > 0) throw new TypeError("undefined is not a function");
      return script.reply(request, scope);
    },
  };
  const made = { ...config({ script: [], dir, store, tools: [mark], rules: [allow("Mark")] }), model };
  const host = createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: dir }),
    supervision: { clock },
  });
  const opened = await host.send({ type: "open", cwd: dir });
  const session = opened.ok ? opened.session : "";
  const notices: string[] = [];
  store.hub.subscribe(session, {
    fact() {},
    delta: ({ kind, text }) => void (kind === "notice" && notices.push(text)),
  });
  await host.send({ type: "say", session, text: "go", by: "Lin", surface: "test" });
  return { host, store, session, notices, marks: () => marks };
}

test("a turn that a mistake broke off goes on, and nothing is done twice", async () => {
  using here = workspace();
  const { host, session, notices, marks, store } = await mistaken(here.dir, 2, hastyClock());
  const { status, text } = await host.run(session);
  assert.deepEqual([status, text, marks(), notices.length], ["success", "done", 1, 2]);
  assert.equal(store.load(session).filter(({ type }) => type === "turn.begun").length, 1);
  await host.close();
});

test("a mistake that stays ends the turn as an error that says what happened", async () => {
  using here = workspace();
  const { host, session, notices, marks, store } = await mistaken(here.dir, 99, hastyClock());
  const outcome = await host.run(session);
  assert.deepEqual(outcome.status === "error" && outcome.error, {
    code: "turn-failed",
    message: "undefined is not a function",
  });
  assert.deepEqual([marks(), notices.length, store.session(session)?.open], [1, 3, false]);
  await host.close();
});

/** Sleeps until somebody hurries it. */
const sleepy: Clock = {
  now: () => 0,
  sleep: (_, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
};

test("whoever stops the turn or leaves does not wait for the next attempt", async () => {
  using here = workspace();
  const resting = async () => {
    const sage = await mistaken(here.dir, 1, sleepy);
    await until(() => sage.notices.length > 0);
    return sage;
  };
  const sender = { by: "Lin", surface: "test" };
  const stopped = await resting();
  await stopped.host.send({ type: "interrupt", session: stopped.session, cancel: true, ...sender });
  assert.equal((await stopped.host.run(stopped.session)).status, "cancelled");

  const paused = await resting();
  const watching = new AbortController();
  const events = paused.host.watch(paused.session, { signal: watching.signal })[Symbol.asyncIterator]();
  await events.next();
  const reply = await paused.host.send({ type: "interrupt", session: paused.session, ...sender });
  assert.deepEqual(reply, { ok: true, to: "pause" });
  assert.equal((await paused.host.run(paused.session)).status, "paused");
  assert.equal((await paused.host.run(paused.session)).status, "success");
  watching.abort();

  const left = await resting();
  const outcome = left.host.run(left.session);
  await left.host.close();
  assert.equal((await outcome).status, "paused");
});
