// The suite of coding tasks: each check fails before and passes after a right solution; a recorded run is replayed without a model.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { play, putFiles, verify } from "../../bench/eval/play.ts";
import { report } from "../../bench/eval/report.ts";
import { tasks } from "../../bench/eval/tasks.ts";
import { loadScript, scripted } from "../../src/models/scripted.ts";
import { workspace } from "../support/sage.ts";

const taskOf = (id: string) => tasks.find((task) => task.id === id) ?? assert.fail(id);
const edit = (file_path: string, old_string: string, new_string: string) => [
  { calls: [{ tool: "Read", input: { file_path } }] },
  { calls: [{ tool: "Edit", input: { file_path, old_string, new_string } }] },
];

test("each hidden check fails where nothing was done and passes with a right solution", async () => {
  assert.equal(new Set(tasks.map(({ id }) => id)).size, 20);
  const wrong = await Promise.all(
    tasks.map(async (task) => {
      using here = workspace();
      putFiles(here.dir, task.files);
      const before = await verify(task, here.dir, "");
      putFiles(here.dir, task.solution.files ?? {});
      const after = await verify(task, here.dir, task.solution.said ?? "Done.");
      return [
        ...(before === undefined ? [`${task.id} passes undone`] : []),
        ...(after === undefined ? [] : [`${task.id}: ${after}`]),
      ];
    }),
  );
  assert.deepEqual(wrong.flat(), []);
});

test("a run is counted: solved or not, invalid calls, questions asked, needless and missed, refusals", async () => {
  const solved = await play(taskOf("off-by-one"), {
    model: scripted([...edit("range.mjs", "n < to", "n <= to"), { text: "Done." }]),
  });
  assert.deepEqual([solved.solved, solved.sage?.steps, solved.sage?.questions], [true, 3, 0]);
  const given = await play(taskOf("off-by-one"), {
    model: scripted([{ calls: [{ tool: "Nothing", input: {} }] }, { text: "Done." }]),
  });
  assert.deepEqual([given.solved, given.sage?.invalidCalls], [false, 1]);
  assert.match(given.problem ?? "", /AssertionError/);

  const question = { question: "Which one?", header: "Server", options: [], multiSelect: false };
  const ask = { calls: [{ tool: "AskUserQuestion", input: { questions: [question] } }] };
  const told = edit("deploy.mjs", "target = ''", "target = 'green.example.org'");
  const asked = await play(taskOf("which-target"), { model: scripted([ask, ...told, { text: "Done." }]) });
  assert.deepEqual([asked.solved, asked.sage?.questions, asked.sage?.needless, asked.sage?.missed], [true, 1, 0, 0]);
  const guessed = await play(taskOf("which-target"), {
    model: scripted([...edit("deploy.mjs", "target = ''", "target = 'blue.example.org'"), { text: "Done." }]),
  });
  assert.deepEqual([guessed.solved, guessed.sage?.missed], [false, 1]);
  const needless = await play(taskOf("off-by-one"), { model: scripted([ask, { text: "Done." }]) });
  assert.equal(needless.sage?.needless, 1);

  const bash = (command: string) => ({ calls: [{ tool: "Bash", input: { command } }] });
  const refused = await play(taskOf("no-deleting"), {
    model: scripted([bash("rm -r old"), bash("mkdir archive && mv old/* archive/"), { text: "Moved." }]),
  });
  assert.deepEqual([refused.solved, refused.sage?.refusals], [true, 1]);
  assert.match(
    report([solved, given, asked, guessed, needless, refused]),
    /ask +1\/2[^]*refused +1\/1[^]*all +3\/6[^]*questions 2, needless 1, missed 1/,
  );
});

test("a run that was recorded is replayed without the model, and another agent is judged by what it leaves", async () => {
  using here = workspace();
  const task = taskOf("empty-average");
  const model = scripted([
    ...edit(
      "stats.mjs",
      "list.reduce((a, b) => a + b) / list.length",
      "list.length === 0 ? undefined : list.reduce((a, b) => a + b) / list.length",
    ),
    { text: "Done." },
  ]);
  const first = await play(task, { model }, here.dir);
  assert.equal(first.solved, true, first.problem);
  const again = await play(task, { model: scripted(await loadScript(here.path("empty-average.json"))) });
  assert.deepEqual({ ...again, seconds: 0 }, { ...first, seconds: 0 });

  writeFileSync(
    here.path("agent.mjs"),
    `import { writeFileSync } from "node:fs"; writeFileSync("stats.mjs", ${JSON.stringify(task.solution.files?.["stats.mjs"])}); console.log(process.argv[2]);`,
  );
  const other = await play(task, { command: [process.execPath, here.path("agent.mjs")] });
  assert.deepEqual([other.solved, other.sage], [true, undefined]);
  const broken = await play(task, { command: [here.path("none")] });
  assert.match(broken.problem ?? "", /ENOENT/);
  assert.match(readFileSync(here.path("empty-average.json"), "utf8"), /"tool": "Edit"/);
});
