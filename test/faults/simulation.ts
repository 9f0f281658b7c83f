// T10: many sessions, two processes, four surfaces and everything that goes wrong, drawn from one seed and played in virtual time.
import type { Script, ScriptedCall, ScriptedTurn } from "../../src/models/scripted.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Message } from "../../src/protocol/facts/message.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { askUser, question, workspace } from "../support/sage.ts";
import { check } from "./checker.ts";
import { virtualTime, type VirtualTime } from "./clock.ts";
import type { Violation } from "./history.ts";
import { dice, type Dice } from "./rounds.ts";
import { attend, observeSettled, reply, settle } from "./story.ts";
import { createWorld, type Point, type Process, type World } from "./world.ts";

type Slot = 0 | 1;
type What =
  | { do: "say"; session: number; slot: Slot }
  /** The `pick`th open request, so many times, from these surfaces, with these words. */
  | { do: "answer"; pick: number; slots: Slot[]; label: string }
  /** One that has ended, or never was. */
  | { do: "late"; pick: number; slot: Slot }
  | { do: "interrupt"; session: number; slot: Slot; cancel: boolean }
  | { do: "resume"; session: number; slot: Slot }
  | { do: "kill"; slot: Slot }
  /** Killed at the `nth` boundary from now on. */
  | { do: "trip"; slot: Slot; point: Point; nth: number; side: "before" | "after" }
  /** The other one may take over from it. */
  | { do: "silence"; slot: Slot }
  | { do: "jump"; ms: number }
  | { do: "sleep"; ms: number }
  | { do: "disk"; full: boolean };

export type Action = What & { after: number };
export type Plan = {
  seed: number;
  sessions: number;
  promptTimeout: number | undefined;
  sleepAfterMs: number | undefined;
  actions: Action[];
};

const surfaces = ["terminal", "web", "feishu", "acp"];
const HOUR = 3_600_000;

export function plan(seed: number, { sessions, minutes }: { sessions: number; minutes: number }): Plan {
  const roll = dice(seed);
  const actions: Action[] = [];
  for (let session = 0; session < sessions; session++)
    actions.push({ after: roll.below(50), do: "say", session, slot: roll.pick([0, 1]) });
  for (let passed = 0; passed < minutes * 60_000;) {
    const after = roll.chance(0.5) ? roll.below(40) : roll.below(4_000);
    passed += after;
    actions.push({ after, ...draw(roll, sessions) });
  }
  const promptTimeout = roll.chance(0.5) ? 30_000 : undefined;
  return { seed, sessions, promptTimeout, sleepAfterMs: roll.chance(0.7) ? 300 : undefined, actions };
}

function draw(roll: Dice, sessions: number): What {
  const slot = roll.pick([0, 1] as const);
  const session = roll.below(sessions);
  const pick = roll.below(100);
  switch (roll.below(20)) {
    case 0:
    case 1:
      return { do: "say", session, slot };
    case 2:
      return { do: "late", pick, slot };
    case 3:
      return { do: "interrupt", session, slot, cancel: roll.chance(0.5) };
    case 4:
      return { do: "resume", session, slot };
    case 5:
      return { do: "kill", slot };
    case 6:
    case 7: {
      const point = roll.pick(["commit", "commit", "spawn", "model"] as const);
      return { do: "trip", slot, point, nth: 1 + roll.below(12), side: roll.pick(["before", "after"]) };
    }
    case 8:
      return { do: "silence", slot };
    case 9:
      return { do: "jump", ms: roll.pick([HOUR, -HOUR, 87_600 * HOUR, -87_600 * HOUR, 1]) };
    case 10:
      return { do: "sleep", ms: roll.pick([5_000, 20_000, 8 * HOUR]) };
    case 11:
      return { do: "disk", full: roll.chance(0.4) };
    default: {
      const slots = Array.from({ length: roll.pick([1, 1, 2, 3, 5]) }, () => roll.pick([0, 1] as const));
      return { do: "answer", pick, slots, label: roll.pick(["Red", "Blue"]) };
    }
  }
}

/** Replies of the model of a session, to whatever comes: some steps of calls, then some words, then the same again. */
function scriptOf(seed: number, session: string): Script {
  const roll = dice(seed * 1_000 + Number(session.slice(1)));
  let marks = 0;
  const call = (): ScriptedCall => {
    const mark = `${session}-${marks++}`;
    const kind = roll.pick(["Act", "Act", "Save", "Look", "ask", "Task"]);
    if (kind === "ask") return askUser(question("Which colour?"));
    if (kind === "Task") return { tool: "Task", input: { agent: "Asker", description: "work", prompt: mark } };
    return { tool: kind, input: { mark } };
  };
  const calls = () => Array.from({ length: 1 + roll.below(3) }, call);
  const turns = Array.from({ length: 8 }, () => [
    ...Array.from({ length: 1 + roll.below(2) }, (): ScriptedTurn => ({ calls: calls() })),
    { text: "done" } satisfies ScriptedTurn,
  ]).flat();
  return { "": turns, Asker: [({ messages: [task] }) => ({ calls: below(task) }), { text: "done below" }] };
}

/** A subagent does what it was told, so that no two of them do the same. */
function below(task: Message | undefined): ScriptedCall[] {
  const mark = task?.role === "user" ? task.text : "";
  const kinds = ["Act", "Save", "Look", "ask"];
  return [0, 1].map((n) => {
    const kind = kinds[(Number(mark.split("-")[1]) + n) % kinds.length]!;
    return kind === "ask" ? askUser(question("Which colour?")) : { tool: kind, input: { mark: `${mark}.${n}` } };
  });
}

/** Plays a plan to its end and gives what the checker finds. */
export async function simulate(of: Plan): Promise<Violation[]> {
  using here = workspace();
  using time = virtualTime();
  using world = createWorld({ dir: here.dir, script: (session) => scriptOf(of.seed, session), now: time.now });
  const stage = createStage(world, of);
  let over = false;
  try {
    for (const action of of.actions) {
      await time.pass(action.after);
      await stage.act(action, time);
      await settle(world);
    }
    over = await stage.drain(time);
  } finally {
    await world.end();
  }
  const hangs: Violation[] = over ? [] : [{ invariant: "I6", what: "it does not come to an end" }];
  return [...hangs, ...check(world.history(over))];
}

function createStage(world: World, { sessions, promptTimeout, sleepAfterMs, seed }: Plan) {
  const options = promptTimeout === undefined ? {} : { promptTimeout };
  const ids = Array.from({ length: sessions }, (_, n) => `s${n}`);
  const slots: (Process | undefined)[] = [undefined, undefined];
  const ended: string[] = [];
  const roll = dice(seed + 1);
  const alive = async (slot: Slot): Promise<Process> => {
    const there = slots[slot];
    if (there && !there.dead) return there;
    await there?.bury();
    const process = (slots[slot] = world.boot({ options, sleepAfterMs }));
    for (const [n, session] of ids.entries()) {
      await process.send({ type: "open", session, cwd: world.dir });
      await process.send({ type: "resume", session });
      if (!process.dead && process.store.session(session))
        attend(world, process, session, () => undefined, surfaces[(n + slot * 2) % surfaces.length]);
    }
    return process;
  };
  const open = (process: Process): InputRequest[] => (process.dead ? [] : process.store.pending());
  const answer = async (process: Process, surface: string, response: InputResponse) => {
    const sent = await process.answer(surface, response);
    if (sent?.ok) ended.push(response.requestId);
  };
  const by = { by: "Lin", surface: "web" };

  const act = async (action: Action, time: VirtualTime): Promise<void> => {
    switch (action.do) {
      case "say": {
        const process = await alive(action.slot);
        const session = ids[action.session]!;
        const said = await process.send({ type: "say", session, text: `at ${time.now().mono}`, ...by });
        if (said?.ok !== false) world.observe(process.name, { type: "said", session });
        return;
      }
      case "answer": {
        const asked = open(await alive(action.slots[0]!));
        const request = asked[action.pick % Math.max(1, asked.length)];
        if (!request) return;
        const processes: Process[] = [];
        for (const slot of action.slots) processes.push(await alive(slot));
        await Promise.all(
          processes.map((process, n) =>
            answer(process, surfaces[n % surfaces.length]!, variant(request, n % 2 === 0 ? action.label : "Red")),
          ),
        );
        return;
      }
      case "late": {
        const requestId = ended[action.pick % Math.max(1, ended.length)] ?? "s0/t9/0/0/permit0";
        return answer(await alive(action.slot), "feishu", { type: "granted", requestId });
      }
      case "interrupt": {
        const process = await alive(action.slot);
        await process.send({ type: "interrupt", session: ids[action.session]!, cancel: action.cancel, ...by });
        return;
      }
      case "resume": {
        const process = await alive(action.slot);
        await process.send({ type: "resume", session: ids[action.session]! });
        return;
      }
      case "kill":
        return slots[action.slot]?.crash();
      case "trip":
        return (await alive(action.slot)).trip(action);
      case "silence":
        return world.silence(await alive(action.slot));
      case "jump":
        return time.jump(action.ms);
      case "sleep":
        return time.sleep(action.ms);
      case "disk":
        world.full = action.full;
        return;
      default:
        return action satisfies never;
    }
  };

  /** Every fault is over: one process is left, and everybody is answered until nobody asks. */
  const drain = async (time: VirtualTime): Promise<boolean> => {
    world.full = false;
    for (const process of slots) {
      process?.crash();
      await process?.bury();
    }
    const process = await alive(0);
    for (let round = 0; round < 100; round++) {
      await settle(world);
      observeSettled(world, [process]);
      const asked = open(process);
      const going = process.store.sessions().filter(({ open: turn }) => turn);
      if (asked.length === 0 && going.length === 0) return true;
      for (const request of asked)
        await answer(process, "terminal", variant(request, "Blue", roll.pick(["done", "rerun"])));
      await settle(world);
      for (const { id } of going) await process.send({ type: "resume", session: id }); // paused ones go on
      await time.pass(100);
    }
    return false;
  };
  return { act, drain };
}

/** Some are edited, some refused, most granted: by the request, so that a replay does the same. */
function variant(request: InputRequest, label: string, lost = "done"): InputResponse {
  const requestId = request.id;
  if (request.kind !== "permission") {
    const given = reply(request, lost);
    if (given.type !== "answers" || request.source === "recovery") return given;
    return { ...given, answers: { "Which colour?": { selected: [label] } } };
  }
  const number = Number(String(request.input["mark"]).split("-")[1] ?? 0);
  if (number % 7 === 3) return { type: "denied", requestId, reason: "no" };
  // In some sessions a person says "always" at some point, which answers what else is open.
  if (number % 9 === 4 && /[13579]$/.test(request.session))
    return { type: "granted", requestId, rules: [{ rule: request.tool, behavior: "allow", destination: "session" }] };
  if (number % 5 === 2) return { type: "granted", requestId, input: { ...request.input, note: label } };
  return { type: "granted", requestId };
}

/** Fewer and fewer actions, as long as it still goes wrong: what is left is worth reading. */
export async function minimise(of: Plan, fails: (one: Plan) => Promise<boolean>, tries = 200): Promise<Plan> {
  let best = of;
  for (let size = Math.ceil(best.actions.length / 2); size >= 1;) {
    let shrunk = false;
    for (let from = 0; from < best.actions.length && tries > 0;) {
      const actions = [...best.actions.slice(0, from), ...best.actions.slice(from + size)];
      tries--;
      if (await fails({ ...best, actions })) [best, shrunk] = [{ ...best, actions }, true];
      else from += size;
    }
    if (tries <= 0) return best;
    if (!shrunk || size > best.actions.length) size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  return best;
}
