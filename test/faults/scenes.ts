// Short scenes of what goes wrong, each played to its end and looked at by the checker. The mutants are caught here.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "../../src/models/scripted.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { runnerIn } from "../support/command-runner.ts";
import { askUser, question, workspace } from "../support/sage.ts";
import { check } from "./checker.ts";
import { SageError } from "../../src/protocol/reasons/reason.ts";
import { virtualTime, type VirtualTime } from "./clock.ts";
import { broken, type Violation } from "./history.ts";
import { attend, observeSettled, reply, settle, story, tell } from "./story.ts";
import { createWorld, type Fault, type Life, type Process, type World } from "./world.ts";

export type Scene = keyof typeof scenes;

const PATIENCE_MS = Number(process.env["SAGE_SCENE_PATIENCE_MS"] ?? 20_000);

/** Findings of the checker. A scene that does not come to its end in time is something that hangs. */
export async function play(name: Scene): Promise<Violation[]> {
  const { script, act: enact, clock: timed }: Part = scenes[name];
  using here = workspace();
  using time = timed ? virtualTime() : undefined;
  using world = createWorld({ dir: here.dir, script: () => script, ...(time && { now: time.now }) });
  const found = await Promise.race([enact(world, time), patience(PATIENCE_MS, time).then(() => "hangs" as const)]);
  await world.end();
  const hangs: Violation[] = found === "hangs" ? [{ invariant: "I6", what: `${name}: it hangs` }] : (found ?? []);
  return [...hangs, ...check(world.history(found !== "hangs"))];
}

/** In breaths of the event loop where time itself is played. */
async function patience(limit: number, time: VirtualTime | undefined): Promise<void> {
  if (!time) return new Promise((resolve) => setTimeout(resolve, limit).unref());
  for (let n = 0; n < limit; n++) await new Promise((resolve) => setImmediate(resolve));
}

type Part = {
  script: Script;
  clock?: true;
  /** Gives violations that the checker does not see. */
  act(world: World, time: VirtualTime | undefined): Promise<void | Violation[]>;
};

const act = (mark: string) => ({ tool: "Act", input: { mark } });
const twoActs: Script = [{ calls: [act("one"), act("two")] }, { text: "done" }, { text: "and more" }];
const twoQuestions: Script = [
  { calls: [askUser(question("Which colour?"))] },
  { calls: [askUser(question("Which colour?"))] },
  { text: "done" },
];
const oneQuestion: Script = [{ calls: [askUser(question("Which colour?"))] }, { text: "done" }];
const allowAct: Rule = { behavior: "allow", text: "Act", source: "user" };

const killed = (
  faults: Fault[],
  more: { life?: (n: number) => Life; recoverTwice?: true; lost?: string } = {},
): Part => ({
  script: story,
  act: async (world) => void (await tell(world, { faults, ...more })),
});
const at = (point: Fault["point"], nth: number, side: Fault["side"]): Fault => ({ point, nth, side });

const scenes = {
  calm: killed([]),
  afterEffect: killed([at("spawn", 1, "after")]),
  recovering: killed([at("spawn", 2, "before"), at("commit", 3, "before")], { recoverTwice: true, lost: "rerun" }),
  /** A rule comes into a file while a request is open and nobody runs the session. */
  ruleMeanwhile: killed([at("commit", 5, "after")], { life: (n) => (n === 0 ? {} : { rules: [allowAct] }) }),
  race: { script: oneQuestion, act: race },
  fence: { script: twoActs, act: fence },
  cancel: { script: twoActs, act: cancel },
  clock: { script: twoQuestions, clock: true, act: clock },
  edited: { script: twoActs, act: edited },
  elsewhere: { script: twoActs, act: elsewhere },
  signatures: { script: twoActs, act: signatures },
  commands: { script: oneQuestion, act: commands },
} satisfies Record<string, Part>;

export const sceneNames = Object.keys(scenes) as Scene[];

async function begin(world: World, life: Life = {}): Promise<Process> {
  const process = world.boot(life);
  await process.send({ type: "open", session: "s", cwd: world.dir });
  await process.send({ type: "say", session: "s", text: "go", id: "first", by: "Lin", surface: "a" });
  world.observe(process.name, { type: "said", session: "s" });
  await settle(world);
  return process;
}

const pending = (process: Process): InputRequest[] => process.store.pending("s");
const blue = (requestId: string, label = "Blue"): InputResponse => ({
  type: "answers",
  requestId,
  answers: { "Which colour?": { selected: [label] } },
});

/** The same answer several times, another one within the same tick, from two processes, and long after. */
async function race(world: World): Promise<void> {
  const mine = await begin(world);
  const other = world.boot();
  const [request] = pending(mine);
  const id = request!.id;
  await Promise.all([
    mine.answer("terminal", blue(id)),
    other.answer("web", blue(id, "Red")),
    mine.answer("terminal", blue(id)),
    other.answer("feishu", blue(id, "Red")),
    other.answer("feishu", blue("s/t0/9/9/ask0")),
    mine.answer("terminal", blue("elsewhere/t0/0/0/ask0")),
  ]);
  await mine.host.run("s");
  await other.answer("feishu", blue(id, "Red"));
}

/** Another process takes the session from one that was silent; the first wakes up and both are answered. */
async function fence(world: World): Promise<void> {
  const first = await begin(world);
  world.silence(first);
  const second = world.boot();
  await second.send({ type: "resume", session: "s" });
  await settle(world);
  for (const request of pending(second)) await first.answer("a", reply(request, "done"));
  await second.host.run("s");
  observeSettled(world, [second]);
}

async function cancel(world: World): Promise<void> {
  const process = await begin(world);
  const [one, two] = pending(process);
  await process.answer("a", { type: "granted", requestId: two!.id });
  await process.answer("a", { type: "cancelled", requestId: one!.id, reason: "stop" });
  await process.answer("b", { type: "granted", requestId: one!.id });
  await process.host.run("s").catch(() => {});
}

/** Two people have to approve, and not the one who asked: that one tries first, then each of them, from two processes. */
async function signatures(world: World): Promise<void> {
  const consent = { approvals: 2, notAsker: true } as const;
  const life: Life = { rules: [{ behavior: "ask", text: "Act", source: "user", consent }] };
  const mine = await begin(world, life);
  const other = world.boot(life);
  for (const { id } of pending(mine)) {
    const yes = { type: "granted", requestId: id } as const;
    await mine.answer("terminal", yes, "Lin");
    await mine.answer("terminal", yes, "Wang");
    await settle(world);
    await other.answer("feishu", yes, "Wang");
    await other.answer("feishu", yes, "Zhao");
  }
  await mine.host.run("s");
}

/** A person changes what runs, and it runs so. */
async function edited(world: World): Promise<void> {
  const process = await begin(world);
  const [one, two] = pending(process);
  await process.answer("a", { type: "granted", requestId: one!.id, input: { mark: "one", note: "rather so" } });
  await process.answer("a", { type: "granted", requestId: two!.id });
  await process.host.run("s");
}

/** An hour forward, ten years back, and a restart: a minute is a minute. */
async function clock(world: World, time: VirtualTime | undefined): Promise<Violation[]> {
  const options = { promptTimeout: 60_000 };
  const first = await begin(world, { options });
  const other = world.boot();
  time!.jump(3_600_000);
  const refused = other.host.run("s").then(
    () => false,
    (error: unknown) => error instanceof SageError && error.code === "session-owned",
  );
  const isOwned = await Promise.race([refused, patience(50, time)]);
  await other.answer("web", blue(pending(first)[0]!.id));
  await time!.pass(100);
  await settle(world);
  time!.jump(3_600_000);
  await time!.pass(30_000);
  observeSettled(world, [first]);
  time!.jump(-10 * 365 * 86_400_000);
  await time!.pass(40_000);
  await first.host.run("s");
  return isOwned ? [] : [broken("I10", "a session was taken from a process that lives")];
}

/** Answered by another process, heard by the one that waits; and watched from both. */
async function elsewhere(world: World): Promise<void> {
  const mine = await begin(world);
  const other = world.boot();
  const person = attend(world, other, "s", (request) => reply(request, "done"), "web");
  const looker = attend(world, mine, "s", () => undefined, "terminal");
  await mine.host.run("s");
  await Promise.all([person.leave(), looker.leave()]);
}

/** Commands that outlive their worker: one that was replaced begins nothing, and a call that has ended is not begun again. */
async function commands({ dir }: World): Promise<Violation[]> {
  if (process.platform !== "linux") return [];
  const [replaced, owner, third] = [runnerIn(dir), runnerIn(dir), runnerIn(dir)];
  const id = replaced.take("s", 1) ?? "";
  const run = async (runner: typeof owner, epoch: number, key: string) => {
    const line = `echo ${key} >> ran`;
    const command = { line, cwd: dir, env: process.env, noted: async () => true, timeoutMs: 20_000 };
    const { output, ended } = await runner.start({ session: "s", key, epoch }, id)(command);
    output.resume();
    await ended;
  };
  owner.find({ session: "s", key: "cancelled", epoch: 2 }, id);
  await run(replaced, 1, "cancelled").catch(() => {}); // it thaws
  await run(owner, 2, "begun");
  await run(third, 3, "begun").catch(() => {});
  const ran = readFileSync(join(dir, "ran"), "utf8").trim().split("\n");
  const times = (key: string) => ran.filter((one) => one === key).length;
  return [
    ...(times("cancelled") > 0 ? [broken("I10", "an owner who was replaced began a command")] : []),
    ...(times("begun") > 1 ? [broken("I3", `a command ran ${times("begun")} times`)] : []),
  ];
}
