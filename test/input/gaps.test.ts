// Time as durable as facts: nobody's deadline passes while no process enforces deadlines.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { uptime } from "node:os";
import { suite, test } from "node:test";
import { arm } from "../../src/input/deadlines.ts";
import { enforcedNow } from "../../src/input/enforce.ts";
import { prepare } from "../../src/input/respond.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import { machineBoot } from "../../src/processes/identity.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { createSession } from "../../src/view/session.ts";
import { virtualTime, type VirtualTime } from "../faults/clock.ts";
import { fact, folder, opened, requestFor } from "../journal/journals.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A request that calls Wang after an hour and Zhao after two, reminds after 30 minutes, and ends after three hours. */
function opens(store: LocalStore, at: number): InputRequest {
  const escalation = [1, 2].map((hours) => ({ to: hours === 1 ? "Wang" : "Zhao", at: at + hours * HOUR }));
  const deadline = { at: at + 3 * HOUR, timeoutMs: 3 * HOUR, policy: "deny" as const, escalation };
  const request = { ...requestFor("t0/0/0/ask0"), at, deadline, remind: [at + HOUR / 2] };
  store.create("s", opened);
  const epoch = store.claim("s");
  store.commit("s", epoch, [fact("t0/0/0/ask0", "input.requested", request)]);
  store.release("s", epoch);
  return request;
}

/** What happened to the request without an answer, and after how many minutes of this test. */
function happened(store: LocalStore, began: number): string[] {
  return store.load("s").flatMap((one) => {
    const minutes = Math.round((one.at - began) / MINUTE);
    if (one.type === "input.reminded") return [`reminded ${minutes}`];
    if (one.type === "input.escalated") return [`${one.data.to} ${minutes}`];
    return one.type === "input.resolved" ? [`${one.data.outcome} ${minutes}`] : [];
  });
}

type Step = [what: "enforced" | "gone" | "asleep" | "frozen" | "clock set by", minutes: number];
const rows: [what: string, steps: Step[], expected: string[]][] = [
  ["nothing happens", [["enforced", 200]], ["reminded 30", "Wang 60", "Zhao 120", "timed_out 180"]],
  [
    "Sage is away past all of it",
    [
      ["enforced", 10],
      ["gone", 600],
      ["enforced", 200],
    ],
    ["reminded 630", "Wang 660", "Zhao 720", "timed_out 780"],
  ],
  [
    "Sage is away until shortly before the end: people are not called all at once",
    [
      ["enforced", 10],
      ["gone", 169],
      ["enforced", 200],
    ],
    ["reminded 199", "Wang 229", "Zhao 289", "timed_out 349"],
  ],
  [
    "Sage is away twice",
    [
      ["enforced", 40],
      ["gone", 100],
      ["enforced", 40],
      ["gone", 50],
      ["enforced", 200],
    ],
    ["reminded 30", "Wang 160", "Zhao 270", "timed_out 330"],
  ],
  [
    "the machine sleeps",
    [
      ["enforced", 10],
      ["asleep", 300],
      ["enforced", 200],
    ],
    ["reminded 331", "Wang 361", "Zhao 421", "timed_out 481"], // from the last heartbeat to the next look
  ],
  [
    "less than two heartbeats move nothing",
    [
      ["enforced", 10],
      ["gone", 0.9],
      ["enforced", 200],
    ],
    ["reminded 30", "Wang 60", "Zhao 120", "timed_out 180"],
  ],
  [
    "the clock on the wall is set three hours ahead while Sage is away for a moment",
    [
      ["enforced", 10],
      ["clock set by", 180],
      ["gone", 0.5],
      ["enforced", 200],
    ],
    ["reminded 210", "Wang 240", "Zhao 300", "timed_out 360"], // as the wall says now
  ],
];

/** Processes one after the other on one journal, in virtual time. */
async function play(time: VirtualTime, path: string, steps: readonly Step[], request: InputRequest): Promise<void> {
  let living: { store: LocalStore; disarm: () => void } | undefined;
  const die = () => {
    living?.disarm();
    living?.store.close();
    living = undefined;
  };
  for (const [what, minutes] of steps)
    if (what === "enforced") {
      if (!living) {
        const store = sqliteStore(path);
        living = { store, disarm: arm(store, request) };
      }
      await time.pass(minutes * MINUTE);
    } else if (what === "asleep") await time.sleep(minutes * MINUTE);
    else if (what === "clock set by") time.jump(minutes * MINUTE);
    else {
      die();
      await time.pass(minutes * MINUTE);
    }
  die();
}

suite("deadlines", () => {
  for (const [what, steps, expected] of rows)
    test(`${what}: ${expected.join(", ")}`, async () => {
      using here = folder();
      using time = virtualTime();
      const path = here.path("journal.db");
      const store = sqliteStore(path);
      const began = time.now().wall;
      await play(time, path, steps, opens(store, began));
      assert.deepEqual(happened(store, began), expected);
      store.close();
    });

  test("another process, with a wall clock three hours ahead, ends nothing early, and takes an answer", async () => {
    using here = folder();
    using time = virtualTime();
    const [store, other] = [0, 1].map(() => sqliteStore(here.path("journal.db"))) as [LocalStore, LocalStore];
    const request = opens(store, time.now().wall);
    const disarm = arm(store, request);
    await time.pass(MINUTE);
    time.jump(3 * HOUR);
    const disarmOther = arm(other, request);
    await time.pass(MINUTE);
    assert.deepEqual([store.resolution(request.id), enforcedNow(other) - request.at], [undefined, 2 * MINUTE]);
    const ready = await prepare(other, { type: "text", requestId: request.id, text: "x" } as never, {
      by: "Lin",
      surface: "test",
    }).catch((error: Error) => error);
    assert.ok(ready instanceof Error || !("won" in ready), "it is not overdue");
    for (const end of [disarm, disarmOther]) end();
    for (const one of [store, other]) one.close();
  });

  test("an answer that comes while nobody enforces is in time, and one after it had passed is not", async () => {
    using here = folder();
    using time = virtualTime();
    const store = sqliteStore(here.path("journal.db"));
    const request = opens(store, time.now().wall);
    arm(store, request)(); // a heartbeat, and then it is gone
    await time.pass(10 * HOUR);
    const answers = { "Which colour?": { selected: ["Red"] } };
    const answer = { type: "answers" as const, requestId: request.id, answers };
    const ready = await prepare(store, answer, { by: "Lin", surface: "test" });
    assert.ok("resolution" in ready && ready.resolution.outcome === "answered");
    store.close();
  });

  test("two that resume at once move the moments once", async () => {
    using here = folder();
    using time = virtualTime();
    const [store, other] = [0, 1].map(() => sqliteStore(here.path("journal.db"))) as [LocalStore, LocalStore];
    const request = opens(store, time.now().wall);
    arm(store, request)();
    await time.pass(HOUR);
    const stale = store.lastBeat!()!;
    const ends = [arm(store, request), arm(other, request)];
    const [first, ...others] = store.load("s").flatMap((one) => (one.type === "time.moved" ? [one.data] : []));
    assert.deepEqual([first!.from, others], [stale.at, []]);
    // The other one had read the heartbeat before ours was written.
    const data = { from: stale.at, to: first!.to + 500 };
    other.append("s", { key: `moved/${data.to}`, type: "time.moved", at: 1, data });
    const { deadline, moved } = other.find(request.id)!.request;
    assert.deepEqual([deadline!.at - request.deadline!.at, moved], [HOUR, first!.to]);
    for (const end of ends) end();
    for (const one of [store, other]) one.close();
  });

  test("a process is killed, and hours later another one: what was left of the deadline is left", async () => {
    using here = folder();
    const path = here.path("journal.db");
    const store = sqliteStore(path);
    for (const later of [0, 5 * HOUR, 9 * HOUR]) {
      const child = spawn(process.execPath, [join(import.meta.dirname, "enforcer.ts"), path, String(later)]);
      await once(child.stdout, "data");
      child.kill("SIGKILL");
      await once(child, "exit");
      assert.equal(store.resolution("s/t0/0/0/ask0"), undefined, "it has not expired");
    }
    const { at, timeoutMs } = store.find("s/t0/0/0/ask0")!.request.deadline!;
    const left = at - (Date.now() + 9 * HOUR);
    assert.ok(left <= timeoutMs && left > timeoutMs - 10 * MINUTE, `${left}`);
    store.close();
  });

  test("whoever follows the session sees the moments as they are now, and a fact that is told twice moves them once", () => {
    const request = {
      ...requestFor("t0/0/0/ask0"),
      deadline: { at: 3 * HOUR, timeoutMs: HOUR, policy: "deny" as const },
    };
    const changes: string[] = [];
    const session = createSession("s", { changed: (change) => change.type === "request" && changes.push(change.is) });
    session.hear({ type: "ready", requests: [{ request }], live: true, owned: true });
    const data = { from: 2.5 * HOUR, to: 4.5 * HOUR };
    for (const seq of [2, 3])
      session.hear({ type: "fact", fact: { ...fact(`moved/${seq}`, "time.moved", data), seq } });
    assert.deepEqual([session.requests[0]?.request.deadline?.at, changes], [5 * HOUR, ["changed"]]);
  });
});

test("a machine that was started again since the newest heartbeat does not go back in time, also where it does not name its boots", async () => {
  using here = folder();
  const store = sqliteStore(here.path("journal.db"));
  const at = Date.now();
  opens(store, at - MINUTE);
  // It ran for longer before than since.
  store.beat?.({ at, boot: machineBoot(), uptime: uptime() * 1_000 + HOUR }, false);
  assert.ok(enforcedNow(store) >= at);
  store.close();
});
