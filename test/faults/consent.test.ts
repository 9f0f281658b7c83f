// A call that takes two people is broken off before and after every commit, and drawn histories of yes and no come from three processes.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Script } from "../../src/models/scripted.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { bash, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { check, show } from "./checker.ts";
import { eventsOf, requestsOf, type History } from "./history.ts";
import { virtualTime } from "./clock.ts";
import { dice, roundsOf, seed, thorough, type Dice } from "./rounds.ts";
import { reply, settle } from "./story.ts";
import { createWorld, type Fault, type Process, type World } from "./world.ts";

const consent: Rule = { behavior: "ask", text: "Act", source: "user", consent: { approvals: 2, notAsker: true } };
const act = (mark: string) => ({ tool: "Act", input: { mark } });
const task = { tool: "Task", input: { agent: "Asker", description: "do it", prompt: "work" } };
const script: Script = {
  "": [{ calls: [act("push-0"), act("push-1")] }, { calls: [task] }, { text: "done" }],
  Asker: [{ calls: [act("deep-0")] }, { text: "below" }],
};

/** The asker says yes first, which counts for nothing; then one person twice, then another. */
async function attendTo(process: Process, request: InputRequest, lost: string): Promise<void> {
  if (request.kind !== "permission") return void (await process.answer("a", reply(request, lost)));
  for (const [by, surface] of [
    ["Lin", "terminal"],
    ["Wang", "terminal"],
    ["Wang", "feishu"],
    ["Zhao", "feishu"],
  ] as const)
    await process.answer(surface, { type: "granted", requestId: request.id }, by);
}

async function told(faults: readonly Fault[], lost = "rerun"): Promise<{ commits: number; history: History }> {
  using here = workspace();
  using world = createWorld({ dir: here.dir, script: () => script });
  for (let n = 0; ; n++) {
    const process = world.boot({ rules: [consent], fault: faults[n] });
    await process.send({ type: "open", session: "s", cwd: world.dir });
    const said = await process.send({ type: "say", session: "s", text: "go", id: "first", by: "Lin", surface: "a" });
    if (said?.ok !== false) world.observe(process.name, { type: "said", session: "s" });
    const state = { over: false };
    const run = process.host.run("s").then(
      () => (state.over = true),
      () => undefined,
    );
    while (!state.over && !process.dead) {
      for (const request of process.dead ? [] : process.store.pending("s")) await attendTo(process, request, lost);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.race([run, process.died]);
    const commits = process.passed.commit;
    const dead = process.dead;
    await process.bury();
    if (!dead) return { commits, history: world.history() };
  }
}

const permits = (history: History) =>
  [...requestsOf(history)].filter(([, { request }]) => request.kind === "permission");

test("killed before and after every commit, two people's yes is never half of it, and asked under the same ids", async (t) => {
  const clean = await told([]);
  const ids = permits(clean.history).map(([id]) => id);
  assert.equal(ids.length, 3);
  const faults = Array.from({ length: clean.commits }, (_, n) =>
    (["before", "after"] as const).map((side): Fault => ({ point: "commit", nth: n + 1, side })),
  ).flat();
  const spawns = [1, 2, 3].map((nth): Fault => ({ point: "spawn", nth, side: "after" }));
  const all = [...faults, ...spawns];
  let again = 0;
  for (const fault of thorough ? all : [...all.filter((_, n) => (n + seed) % 3 === 0), ...spawns]) {
    const { history } = await told([fault]);
    const where = `${fault.point}:${fault.nth}:${fault.side}`;
    assert.deepEqual(show(check(history)), "", where);
    const asked = permits(history);
    for (const id of ids)
      assert.ok(
        asked.some(([one]) => one === id),
        `${where}: ${id} is asked under its id`,
      );
    // Running it again on one person's word takes both signatures once more.
    for (const mark of ["push-0", "push-1", "deep-0"]) {
      const runs = eventsOf(history, "executed").filter((one) => one.mark === mark).length;
      const granted = asked.filter(
        ([, { request, resolution }]) =>
          request.kind === "permission" &&
          request.input["mark"] === mark &&
          resolution?.outcome === "answered" &&
          resolution.response.type === "granted",
      ).length;
      assert.ok(runs <= granted, `${where}: ${mark} ran ${runs} times with ${granted} grants`);
      if (runs > 1) again++;
    }
  }
  t.diagnostic(`${all.length} places, ${again} calls run again`);
  assert.ok(again > 0, "something ran again, with both signatures");
});

const people = ["Lin", "Wang", "Zhao", "José".normalize("NFC"), "José".normalize("NFD")];

async function drawn(roll: Dice): Promise<History> {
  using here = workspace();
  using world: World = createWorld({
    dir: here.dir,
    script: () => [{ calls: [act("one"), act("two"), act("three")] }, { text: "done" }],
  });
  const approvals = roll.pick([1, 2, 3]);
  const rule: Rule = { ...consent, consent: { approvals, ...(roll.chance(0.5) && { notAsker: true as const }) } };
  const allow: Rule = { behavior: "allow", text: "Act", source: "user" };
  const life = { rules: roll.chance(0.5) ? [allow, rule] : [rule] };
  const processes = [world.boot(life), world.boot(life), world.boot(life)];
  const [owner] = processes as [Process];
  await owner.send({ type: "open", session: "s", cwd: world.dir });
  await owner.send({ type: "say", session: "s", text: "go", id: "first", by: "Lin", surface: "a" });
  world.observe(owner.name, { type: "said", session: "s" });
  await settle(world);
  for (let n = 0; n < 14; n++) {
    const open = owner.store.pending("s");
    if (open.length === 0) break;
    await Promise.all(
      Array.from({ length: 1 + roll.below(4) }, () => {
        const request = roll.pick(open);
        const requestId = request.id;
        const by = roll.pick(people);
        const edit = { ...(request.kind === "permission" && request.input), note: `so ${n}` };
        const response = roll.chance(0.06)
          ? ({ type: "denied", requestId } as const)
          : ({ type: "granted", requestId, ...(roll.chance(0.06) && { input: edit }) } as const);
        return roll.pick(processes).answer(roll.pick(["terminal", "feishu", "web"]), response, by);
      }),
    );
    await settle(world);
  }
  await world.end();
  return world.history(false);
}

test("whoever answers, from wherever and at once: no request is granted by fewer people than it takes", async () => {
  let granted = 0;
  for (let n = 0; n < roundsOf(25); n++) {
    const history = await drawn(dice(seed * 1_000 + n));
    assert.deepEqual(show(check(history)), "", `seed ${seed}, round ${n}`);
    for (const [, { request, resolution }] of requestsOf(history)) {
      if (resolution?.outcome !== "answered" || resolution.response.type !== "granted") continue;
      if (request.kind !== "permission" || !request.consent) continue;
      granted++;
      const names = new Set((resolution.approvals ?? []).map(({ by }) => by.normalize("NFC")));
      assert.ok(names.size >= request.consent.approvals);
    }
  }
  assert.ok(granted > 5, `${granted} were granted`);
});

test("killed before or after the commit of one answer to many: all of them have it, or none", async () => {
  const two: Script = [{ calls: [bash("cargo test a"), bash("cargo test b")] }, { text: "done" }];
  const begun = async (world: World, fault?: Fault) => {
    const process = world.boot();
    await process.send({ type: "open", session: "s", cwd: world.dir });
    await process.send({ type: "say", session: "s", text: "go", id: "first", by: "Lin", surface: "a" });
    world.observe(process.name, { type: "said", session: "s" });
    await until(() => process.store.pending("s").length === 2);
    await settle(world);
    const requestIds = process.store.pending("s").map(({ id }) => id);
    if (fault) process.trip(fault);
    const reply = await process.send({
      ...{ type: "respondAll", requestIds, answer: { type: "denied" }, by: "Lin", surface: "a" },
    } as const);
    return { process, requestIds, reply };
  };
  for (const side of ["before", "after"] as const) {
    using here = workspace();
    using world = createWorld({ dir: here.dir, script: () => two });
    const { process, requestIds, reply } = await begun(world, { point: "commit", nth: 1, side });
    await process.bury();
    assert.equal(reply, undefined, "it died");
    const answered = world.facts("s").filter(({ type }) => type === "input.resolved").length;
    assert.equal(answered, side === "before" ? 0 : requestIds.length);
    const next = world.boot();
    const again = await next.send({
      ...{ type: "respondAll", requestIds, answer: { type: "denied" }, by: "Lin", surface: "a" },
    } as const);
    assert.ok(again?.ok);
    assert.deepEqual(
      again.results.map((one) => (one.ok ? "ok" : one.code)),
      requestIds.map(() => (side === "before" ? "ok" : "request-resolved")),
    );
    await next.host.run("s");
    await world.end();
    assert.deepEqual(show(check(world.history())), "");
  }
});

test("killed before and after the commit of a reminder or of a further person's call: each is there once, and nothing was granted", async () => {
  const timeoutPolicy = { escalate: ["Wang"], end: "deny" as const };
  const life = { options: { promptTimeout: 10 * 60_000, timeoutPolicy } };
  for (const kind of ["input.escalated", "input.reminded"] as const)
    for (const side of ["before", "after"] as const) {
      using here = workspace();
      using time = virtualTime();
      using world = createWorld({
        dir: here.dir,
        script: () => [{ calls: [act("one")] }, { text: "done" }],
        now: time.now,
      });
      const first = world.boot(life);
      await first.send({ type: "open", session: "s", cwd: world.dir });
      await first.send({ type: "say", session: "s", text: "go", id: "first", by: "Lin", surface: "a" });
      world.observe(first.name, { type: "said", session: "s" });
      await settle(world);
      const { append } = first.store;
      first.store.append = (session, fact) => {
        if (fact.type === kind && side === "before") first.crash();
        const written = append(session, fact); // which a dead process cannot
        if (fact.type === kind) first.crash();
        return written;
      };
      await time.pass(19 * 60_000);
      await settle(world);
      assert.ok(first.dead, `${kind} ${side}`);
      await first.bury();
      const next = world.boot(life);
      await next.send({ type: "resume", session: "s" });
      await settle(world);
      // The time in which nobody counted is added to what is still to come.
      await time.pass(9 * 60_000);
      await settle(world);
      const called = world.facts("s").flatMap(({ type }) => (/remind|escalat/.test(type) ? [type] : []));
      assert.deepEqual(called, ["input.escalated", "input.reminded"], `${kind} ${side}`);
      await time.pass(2 * 60_000);
      await settle(world);
      await next.host.run("s").catch(() => {});
      await world.end();
      assert.deepEqual(show(check(world.history(false))), "");
      assert.equal(eventsOf(world.history(false), "executed").length, 0);
    }
});
