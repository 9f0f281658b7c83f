// A background command that ends while nothing runs begins a turn: when it does, and when it does not.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { endOfTask, noteStopped, stopTask } from "../../src/agent/state/tasks.ts";
import type { HostParts } from "../../src/host/host.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { Message } from "../../src/protocol/facts/message.ts";
import type { ExecutionOptions } from "../../src/protocol/host/options.ts";
import { tasksIn } from "../../src/protocol/facts/session.ts";
import { transcriptOf } from "../../src/view/transcript/transcript.ts";
import { sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

type Row = {
  name: string;
  commands?: number;
  taskEnds?: HostParts["taskEnds"];
  options?: Partial<ExecutionOptions>;
  /** What happens after the first turn, before the commands may end. */
  before?(sage: TestSage): Promise<unknown>;
  /** In place of letting the commands end. */
  end?(sage: TestSage): Promise<unknown>;
  /** Numbers of commands that each turn begins for. */
  causes: number[];
};

const command = (n: number) => `until [ -e go${n} ]; do sleep 0.02; done; exit ${n + 3}`;
const tasksOf = (sage: TestSage) => tasksIn(sage.facts()).tasks;
const causesOf = (sage: TestSage) =>
  sage.facts().flatMap((fact) => (fact.type === "turn.begun" && fact.data.cause ? [fact.data.cause.tasks] : []));
const chooseMode = (sage: TestSage, mode: "plan") =>
  sage.host.send({ type: "chooseMode", session: sage.session, mode, by: "Lin", surface: "test" });
const interrupt = (sage: TestSage, to: "pause" | "cancel") =>
  sage.host.send({ type: "interrupt", session: sage.session, to, by: "Lin", surface: "test" });
/** A turn that runs until it is interrupted. */
async function hang(sage: TestSage, to: "pause" | "cancel") {
  await sage.say("hang");
  await until(() => sage.facts().some(({ type, key }) => type === "call.started" && key.startsWith("t1/")), "the call");
  await interrupt(sage, to);
  await sage.outcome();
}

const rows: Row[] = [
  { name: "idle", causes: [1] },
  { name: "two at once", commands: 2, causes: [2] },
  { name: "plan mode", before: (sage) => chooseMode(sage, "plan"), causes: [] },
  { name: "paused", before: (sage) => hang(sage, "pause"), causes: [] },
  { name: "stopped by the person", before: (sage) => hang(sage, "cancel"), causes: [] },
  { name: "off by setting", taskEnds: "tells", causes: [] },
  { name: "-p, or a host of one's own", taskEnds: undefined, causes: [] },
  {
    name: "stopped with /tasks",
    async end(sage) {
      for (const task of tasksOf(sage)) {
        noteStopped(task);
        await stopTask(task);
      }
    },
    causes: [],
  },
];

suite("a command that ends in the background", () => {
  test("begins a turn, or does not", async () => {
    const seen = await Promise.all(rows.map(async (row) => ({ name: row.name, causes: await play(row) })));
    assert.deepEqual(
      seen,
      rows.map(({ name, causes }) => ({ name, causes })),
    );
  });

  test("while a turn runs: its next prompt tells, and no turn begins; after its last prompt a turn begins when it has ended", async () => {
    using here = workspace();
    const texts: string[] = [];
    const hear = ({ messages }: { messages: readonly Message[] }) => {
      const last = messages.at(-1);
      texts.push(last?.role === "user" ? last.text : "");
      return { text: "ok" };
    };
    const ids = () => tasksOf(sage).map(({ id }) => id);
    const script: Script = [
      { calls: [0, 1].map((n) => ({ tool: "Bash", input: { command: command(n), background: true } })) },
      () => (writeFileSync(here.path("go0"), ""), { calls: [{ tool: "Wait", input: { id: ids()[0] ?? "" } }] }),
      (request) => {
        writeFileSync(here.path("go1"), "");
        // A script may not wait, and the command needs nothing of this process. By its file: a process that waits collects no ended child.
        const isOver = () =>
          tasksOf(sage)
            .slice(1)
            .some((task) => existsSync(`${task.file}.end`));
        for (let looks = 0; looks < 500 && !isOver(); looks++)
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        return hear(request);
      },
      hear,
    ];
    await using sage: TestSage = await sageWith({ script, ...bypass, dir: here.dir, taskEnds: "begins" });
    await sage.say("start");
    await sage.outcome();
    const [first, second] = ids();
    await until(() => texts.length === 2, "the turn for the second");
    assert.match(texts[0] ?? "", new RegExp(`From Sage, not from the person.*\n${first} .* exit code 3;`));
    assert.match(texts[1] ?? "", new RegExp(`From Sage, not from the person.*\n${second} .* exit code 4;`));
    assert.deepEqual(causesOf(sage), [[second]]);
  });

  test("begins at most three turns in a row; the fourth end is told with the next message", async () => {
    using here = workspace();
    let asked = 0;
    const texts: string[] = [];
    const script = [
      { calls: [0, 1, 2, 3].map((n) => ({ tool: "Bash", input: { command: command(n), background: true } })) },
      ...Array.from({ length: 5 }, () => ({ messages }: { messages: readonly Message[] }) => {
        asked++;
        texts.push(messages.map((message) => (message.role === "user" ? message.text : "")).join("\n"));
        return { text: "ok" };
      }),
    ];
    await using sage = await sageWith({ script, ...bypass, dir: here.dir, taskEnds: "begins" });
    const told = endsTold(sage);
    await sage.say("start");
    await sage.outcome();
    for (const n of [0, 1, 2, 3]) {
      writeFileSync(here.path(`go${n}`), "");
      await until(() => told.size === n + 1, "its end to be shown");
      if (n < 3) await until(() => asked === n + 2 && !sage.store.session(sage.session)?.open, "its turn to end");
    }
    await settle();
    const ids = tasksOf(sage).map(({ id }) => id);
    assert.deepEqual(
      causesOf(sage),
      ids.slice(0, 3).map((id) => [id]),
    );
    await sage.say("and now?");
    await sage.outcome();
    assert.match(texts.at(-1) ?? "", new RegExp(`${ids[3]} .* exit code 6`));
    assert.equal(transcriptOf(sage.facts()).filter((item) => item.type === "notice").length, 4);
  });
});

const bypass = { permissionMode: "bypass" } as const;
const settle = () => new Promise((resolve) => setTimeout(resolve, 50));

/** Ids of commands whose end somebody who watches was shown. */
function endsTold({ store, session }: TestSage): Set<string> {
  const told = new Set<string>();
  store.hub.subscribe(session, {
    fact() {},
    delta: (delta) => {
      if (delta.kind === "notice" && delta.reason?.code === "task-ended") told.add(delta.reason.args.id);
    },
  });
  return told;
}

async function play(row: Row): Promise<number[]> {
  const { commands = 1, options = {}, before, end } = row;
  using here = workspace();
  const taskEnds = "taskEnds" in row ? row.taskEnds : "begins";
  const script = [
    {
      calls: Array.from({ length: commands }, (_, n) => ({
        tool: "Bash",
        input: { command: command(n), background: true },
      })),
    },
    { text: "started" },
    ...(before ? [{ calls: [{ tool: "Bash", input: { command: "sleep 60" } }] }] : []),
    { text: "told" },
  ];
  await using sage = await sageWith({ script, ...bypass, dir: here.dir, options, taskEnds });
  const told = endsTold(sage);
  await sage.say("start");
  await sage.outcome();
  await before?.(sage);
  if (end) await end(sage);
  else for (let n = 0; n < commands; n++) writeFileSync(here.path(`go${n}`), "");
  if (taskEnds) await until(() => told.size === commands, `${row.name}: the end to be shown`);
  else await until(() => tasksOf(sage).every((task) => endOfTask(task)), "the end");
  if (row.causes.length > 0) await until(() => causesOf(sage).length > 0, `${row.name}: the turn`);
  await settle();
  return causesOf(sage).map((tasks) => tasks.length);
}
