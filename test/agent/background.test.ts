// Commands in the background: started as a fact, told when they end, stopped by anybody, found again after a kill.
import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { endOfTask, stopTask } from "../../src/agent/state/tasks.ts";
import { deleteSession, forkOf } from "../../src/archive/sessions.ts";
import { rewindSession } from "../../src/archive/rewind.ts";
import { tasksText } from "../../src/cli/tasks/task-lines.ts";
import { existingSession } from "../../src/journal/session/existing-session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { startOf } from "../../src/processes/identity.ts";
import { groupLives } from "../support/lives.ts";
import type { BackgroundTask } from "../../src/protocol/facts/call.ts";
import type { Message } from "../../src/protocol/facts/message.ts";
import { tasksIn } from "../../src/protocol/facts/session.ts";
import { transcriptOf } from "../../src/view/transcript/transcript.ts";
import { wait } from "../../src/tools/shell/wait.ts";
import { sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

const inBackground = (command: string) => ({ tool: "Bash", input: { command, background: true } });
const all = { permissionMode: "bypass" } as const;
const taskOf = (sage: TestSage) => tasksIn(sage.facts()).tasks[0] ?? assert.fail("no task");
const last = (messages: readonly Message[]) => {
  const message = messages.at(-1);
  return message?.role === "user" ? message.text : "";
};

suite("a command in the background", () => {
  test("goes on after its call; its output is a file of its owner alone, and its end is told once, live and folded", async () => {
    using here = workspace();
    const told: string[] = [];
    const hear = ({ messages }: { messages: readonly Message[] }) => {
      told.push(last(messages));
      return { text: "ok" };
    };
    const store = sqliteStore(here.path("journal.db"));
    const script = [
      { calls: [inBackground("echo 一; until [ -e go ]; do sleep 0.02; done; echo two >&2; exit 3")] },
      hear,
      hear,
      hear,
    ];
    await using sage = await sageWith({ script, dir: here.dir, store, ...all });
    await sage.say("start");
    await sage.outcome();
    const task = taskOf(sage);
    assert.match(
      sage.result(0, 0),
      new RegExp(`^Started in the background as ${task.id}\\. Its output goes to ${task.file}`),
    );
    await until(() => readFileSync(task.file, "utf8") === "一\n", "the output");
    assert.equal(statSync(task.file).mode & 0o777, 0o600);
    assert.equal(endOfTask(task), undefined);
    assert.equal(told[0], "", "it runs, so nothing is told");

    await import("node:fs").then(({ writeFileSync }) => writeFileSync(here.path("go"), ""));
    await until(() => endOfTask(task), "its end");
    assert.equal(readFileSync(task.file, "utf8"), "一\ntwo\n");
    await sage.say("next");
    await sage.outcome();
    assert.match(
      told[1] ?? "",
      new RegExp(`${task.id} \\(echo 一.*\\) ended with exit code 3; its output is in ${task.file}`),
    );
    const replied = sage.facts().findLast(({ type }) => type === "model.replied");
    assert.deepEqual(replied?.type === "model.replied" && replied.data.ended, [
      { id: task.id, command: task.command, file: task.file, code: 3 },
    ]);
    assert.ok(transcriptOf(sage.facts()).some((item) => item.type === "notice" && item.reason?.code === "task-ended"));
    await sage.say("again");
    await sage.outcome();
    assert.equal(told[2], "again", "it is told once, and stays in the conversation");
  });

  test("words are found wherever they stand in a long output, also across two reads", async () => {
    using here = workspace();
    const file = here.path("out.txt");
    const task = { id: "b1", command: "make", file, at: 0 } as BackgroundTask;
    const waitFor = async (until: string) => {
      const tasks = { find: () => ({ task, end: undefined }) };
      const scope = { tasks, signal: new AbortController().signal } as unknown as Parameters<typeof wait.execute>[1];
      return (await wait.execute({ id: "b1", until, seconds: 0 }, scope)).text;
    };
    const middle = `${"x".repeat(64 * 1024 - 2)}就绪${"y".repeat(64 * 1024)}`;
    writeFileSync(file, middle);
    assert.doesNotMatch(await waitFor("就绪"), /not printed/);
    writeFileSync(file, `${middle}${middle}`);
    assert.match(await waitFor("fertig"), /has not printed "fertig" yet/);
    assert.match(await waitFor("就绪"), /has not printed/, "it was shown before");
  });

  test("is waited for: for words, for its end, for a time; each look shows what is new, and Chinese output stays whole", async () => {
    using here = workspace();
    const wait = (input: object) => () => ({ calls: [{ tool: "Wait", input: { id: taskOf(sage).id, ...input } }] });
    const script = [
      {
        calls: [
          inBackground(
            "echo 一二; until [ -e go ]; do sleep 0.02; done; echo ready; until [ -e on ]; do sleep 0.02; done; exit 3",
          ),
        ],
      },
      wait({ until: "二" }),
      wait({ until: "ready", seconds: 0.1 }),
      () => (writeFileSync(here.path("go"), ""), wait({ until: "ready" })()),
      () => (writeFileSync(here.path("on"), ""), wait({})()),
      { calls: [{ tool: "Wait", input: { id: "nosuch" } }] },
      { text: "done" },
    ];
    await using sage: TestSage = await sageWith({ script, dir: here.dir, ...all });
    await sage.say("start");
    await sage.outcome();
    const { id } = taskOf(sage);
    const told = [1, 2, 3, 4, 5].map((step) => sage.result(step, 0).replace(/\d+ s/, "n s"));
    assert.deepEqual(told, [
      `${id} is still running, n s so far.\nNew output:\n一二`,
      `${id} is still running, n s so far.\nIt has not printed "ready" yet.\nIt printed nothing since the last look.`,
      `${id} is still running, n s so far.\nNew output:\nready`,
      `${id} ended with exit code 3 after n s.\nIt printed nothing since the last look.`,
      "There is no command nosuch in the background.",
    ]);
  });

  test("that prints without end is looked at in parts: the beginning, the end, and how much is left out", async () => {
    using here = workspace();
    const script = [
      { calls: [inBackground("echo begins; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo ends")] },
      () => ({ calls: [{ tool: "Wait", input: { id: taskOf(sage).id } }] }),
      { text: "done" },
    ];
    await using sage: TestSage = await sageWith({ script, dir: here.dir, ...all });
    await sage.say("start");
    await sage.outcome();
    const told = sage.result(1, 0);
    assert.match(told, /New output:\nbegins\nx+\n\[… 2980013 bytes left out; all of it is in .*…\]\nx+\nends$/);
    assert.ok(told.length < 21_000);
  });

  test("is stopped by the model with everything it started; a stranger's id and a second stop are answered", async () => {
    using here = workspace();
    const script = [
      { calls: [inBackground("sleep 1000 & sleep 1000")] },
      () => ({
        calls: [taskOf(sage).id, taskOf(sage).id, "nosuch"].map((id) => ({ tool: "KillShell", input: { id } })),
      }),
      { text: "done" },
    ];
    await using sage: TestSage = await sageWith({ script, dir: here.dir, ...all });
    await sage.say("start");
    await sage.outcome();
    const { id, pid } = taskOf(sage);
    assert.equal(sage.result(1, 0), `${id} was stopped.`);
    assert.match(sage.result(1, 1), new RegExp(`^${id} (was stopped|had ended already)\\.$`));
    assert.equal(sage.result(1, 2), "There is no command nosuch in the background.");
    await until(() => !groupLives(pid), "the group to be gone");
    assert.deepEqual(endOfTask(taskOf(sage))?.code, undefined);
  });

  test("runs as long as anything it left behind does, and can be stopped until then", async () => {
    using here = workspace();
    const script = [{ calls: [inBackground("sleep 1000 & exit 4")] }, { text: "ok" }];
    await using sage: TestSage = await sageWith({ script, dir: here.dir, ...all });
    await sage.say("start");
    await sage.outcome();
    const task = taskOf(sage);
    await until(() => existsSync(`${task.file}.end`), "the shell to end");
    await until(() => startOf(task.pid) === "", "the leader to be gone");
    assert.equal(endOfTask(task), undefined);
    assert.equal(await stopTask(task), "stopped");
    await until(() => !groupLives(task.pid, task.started), "the group to be gone");
    assert.equal(endOfTask(task)?.code, 4);
    assert.equal(await stopTask(task), "ended");
  });

  test("is listed and stopped by the person, in both languages; a fork has none; deleting the session ends it", async () => {
    using here = workspace();
    const script = [{ calls: [inBackground("sleep 1000"), inBackground("sleep 1001")] }, { text: "ok" }];
    const store = sqliteStore(here.path("journal.db"));
    await using sage = await sageWith({ script, dir: here.dir, store, ...all });
    await sage.say("start");
    await sage.outcome();
    const [first, second] = tasksIn(sage.facts()).tasks;
    assert.ok(first && second);
    const list = (args: string, lang: "en" | "zh" = "en") =>
      tasksText(tasksIn(sage.facts()).tasks, args, lang, first.at + 61_000);
    assert.match(await list(""), new RegExp(`^${first.id}  running, .*  sleep 1000\\n`));
    assert.equal(await list(`stop ${first.id}`), `${first.id} stopped.`);
    assert.equal(await list(`stop ${first.id}`), `${first.id} has already ended.`);
    await assert.rejects(list("stop x", "zh"), /没有后台命令 x；/);
    assert.equal(await list(`output ${second.id}`), "No output yet.");
    assert.match(
      await list(`keep ${second.id.slice(0, 5)}`),
      new RegExp(`^${second.id} keeps running when Sage exits`),
    );
    assert.match(await list(""), new RegExp(`${second.id}  running, .* · kept  sleep 1001`));
    assert.match(await list("", "zh"), /已结束/);
    const facts = sage.facts();
    assert.deepEqual(tasksIn(forkOf(facts, facts.at(-1)?.seq ?? 0)).tasks, []);
    await until(() => !store.session(sage.session)?.owned, "the session to be let go");
    const home = { settings: here.path("settings.json"), output: here.path("output") };
    await deleteSession(store, home, sage.session, { by: "Lin", surface: "test" });
    await until(() => !groupLives(second.pid, second.started), "the group to be gone");
  });

  test("whose turn was taken back can still be stopped, and its end is told", async () => {
    using here = workspace();
    const store = sqliteStore(here.path("journal.db"));
    const told: string[] = [];
    const script = [
      ({ messages }: { messages: readonly Message[] }) => ({
        calls: [
          last(messages) === "start"
            ? inBackground("sleep 1000")
            : { tool: "KillShell", input: { id: taskOf(sage).id } },
        ],
      }),
      { text: "ok" },
      ({ messages }: { messages: readonly Message[] }) => {
        told.push(JSON.stringify(messages));
        return { text: "ok" };
      },
    ];
    await using sage: TestSage = await sageWith({ script, dir: here.dir, store, ...all });
    await sage.say("start");
    await sage.outcome();
    await until(() => !store.session(sage.session)?.owned, "the session to be let go");
    const back = { turn: 0, what: "conversation", output: here.path("output"), sageHome: undefined } as const;
    await rewindSession(store, existingSession(store, sage.session), {
      ...back,
      sender: { by: "Lin", surface: "test" },
    });
    const { id, pid, started, file } = taskOf(sage);
    await sage.say("stop it");
    await sage.outcome();
    const results = sage.facts().flatMap((fact) => (fact.type === "call.finished" ? [fact.data.text] : []));
    assert.equal(results.at(-1), `${id} was stopped.`);
    await until(() => !groupLives(pid, started), "the group to be gone");
    await sage.say("next");
    await sage.outcome();
    const end = `${id} (sleep 1000) ended without an exit code: stopped from outside, or together with Sage; its output is in ${file}`;
    assert.equal(told[0]?.split(JSON.stringify(end).slice(1, -1)).length, 2, told[0]);
  });

  test("that outlived a killed Sage is found again by its fact, and its end is told", async () => {
    using here = workspace();
    const store = sqliteStore(here.path("journal.db"));
    const script = [{ calls: [inBackground("sleep 1000")] }, { text: "ok" }];
    await using sage = await sageWith({ script, dir: here.dir, store, ...all });
    await sage.say("start");
    await sage.outcome();
    // Another process knows nothing but the facts.
    const facts = JSON.parse(JSON.stringify(sage.facts())) as ReturnType<TestSage["facts"]>;
    const task = tasksIn(facts).tasks[0] ?? assert.fail("no task");
    assert.ok(groupLives(task.pid, task.started) && task.started !== "");
    assert.equal(endOfTask({ ...task, started: "another:1" })?.code, undefined, "a number that somebody else has now");
    assert.notEqual(endOfTask({ ...task, started: "another:1" }), undefined);
    assert.equal(await stopTask(task), "stopped");
    assert.equal(existsSync(`${task.file}.end`), false);
    await until(() => endOfTask(task), "the last of its group to be gone");
    assert.deepEqual(endOfTask(task), { id: task.id, command: "sleep 1000", file: task.file });
  });
});
