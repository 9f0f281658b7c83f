import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Machine, asks, bash, mark } from "../support/cli.ts";

const sub = (agent: string, prompt: string) => ({ tool: "Task", input: { agent, description: "look", prompt } });

test("a run is recorded and plays again on another machine, with its answers and its subagents", async () => {
  using here = new Machine();
  const script = join(here.dir, "script-root.json");
  const token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].join("");
  writeFileSync(
    script,
    JSON.stringify({
      "": [
        { reasoning: "first two looks", calls: [sub("Execute", "mark one"), sub("Execute", "mark two")] },
        { calls: [bash("echo 三 >> ran.txt"), asks({ question: "下一步?", labels: ["继续", "停"] })] },
        { text: `done with ${token}`, usage: { inputTokens: 7 } },
      ],
      Execute: [{ calls: [mark] }, { text: "marked" }],
    }),
  );
  const files = { script: join(here.dir, "replies.json"), answers: join(here.dir, "answers.json") };
  const record = ["--record", files.script, "--record-answers", files.answers];
  assert.equal((await here.sage(["-p", "go", "--model", `scripted/${script}`])).code, 3);
  const ways: Record<string, string[]> = { permission: ["--yes", "--comment", "好"], question: ["--choose", "继续"] };
  for (let rounds = 0; rounds < 2; rounds++) {
    for (const { id, kind } of await here.pending()) await here.sage(["answer", id, ...(ways[kind] ?? [])]);
    const { code, err } = await here.sage(["-p", "--continue", ...record]);
    assert.equal(code, rounds === 0 ? 3 : 0, err);
    if (rounds === 1) assert.match(err, /recorded 7 replies .*\n.*recorded 4 answers .*\n.*1 secret removed/);
  }
  assert.equal(here.file("ran.txt"), "ran\nran\n三\n");
  assert.equal(statSync(files.script).mode & 0o777, 0o600);
  const recorded = JSON.parse(readFileSync(files.script, "utf8")) as Record<string, unknown[]>;
  assert.deepEqual(
    Object.entries(recorded).map(([agent, turns]) => [agent.replace(/@\w{8}$/, "@"), turns.length]),
    [
      ["", 3],
      ["Execute@", 2],
      ["Execute@", 2],
    ],
  );
  assert.doesNotMatch(JSON.stringify(recorded), /16C7e42F/);

  using there = new Machine();
  const replay = ["-p", "go", "--replay", files.script, "--replay-answers", files.answers, "--output-format", "json"];
  const { code, out, err } = await there.sage(replay);
  assert.equal(code, 0, err);
  assert.match(out, /"text":"done with \[secret\]"/);
  assert.equal(there.file("ran.txt"), "ran\nran\n三\n");
  const resolutions = await there.facts("input.resolved");
  assert.ok(resolutions.every(({ data }) => data["by"] === "replay"));

  // One answer less: the run ends with its own code, names what nobody answered, and leaves the turn open.
  const some = (JSON.parse(readFileSync(files.answers, "utf8")) as object[]).slice(0, 3);
  const fewer = join(there.dir, "fewer.json");
  writeFileSync(fewer, JSON.stringify(some));
  const failed = await there.sage(["-p", "go", "--replay", files.script, "--replay-answers", fewer]);
  assert.equal(failed.code, 3);
  assert.match(failed.err, /fewer\.json has no answer to \w{8}\/t0\/1\/1\/ask0: 下一步\?/);
  assert.equal((await there.pending()).length, 1);
});

test("a rule that was given then holds for the replayed session alone, and wrong files are named", async () => {
  using here = new Machine();
  const model = here.script({ calls: [bash("touch a")] }, { text: "ok" });
  const answers = join(here.dir, "answers.json");
  const rule = { rule: "Bash(touch a)", behavior: "allow", destination: "user" };
  const asked = { kind: "permission", tool: "Bash", input: { command: "touch a", timeout: 120_000 } };
  const write = (value: unknown) => writeFileSync(answers, JSON.stringify(value));
  write([{ asked, by: "lin", response: { type: "granted", rules: [rule] } }]);
  const { code, err } = await here.sage(["-p", "go", "--model", model, "--replay-answers", answers]);
  assert.equal(code, 0, err);
  const [added] = await here.facts("rule.added");
  assert.equal(added?.data["destination"], "session");

  write([{ asked, by: "lin", response: { type: "sure" } }]);
  for (const [flags, expected] of [
    [["--replay-answers", answers], /answers\.json should be a list of answers/],
    [["--replay-answers", join(here.dir, "none.json")], /cannot read .*none\.json/],
    [["--record", join(here.dir, "no", "where.json")], /cannot write .*where\.json/],
    [["--replay-answers", answers, "--yes"], /cannot be combined with/],
    [["--replay", answers], /cannot be combined with/],
  ] as const) {
    const wrong = await here.sage(["-p", "go", "--model", model, ...flags]);
    assert.equal(wrong.code, 2, flags.join(" "));
    assert.match(wrong.err, expected);
  }
  const gone = await here.sage(["-p", "go", "--replay", join(here.dir, "none.json")]);
  assert.equal(gone.code, 2);
  assert.match(gone.err, /there is no file .*none\.json/);
});

test("a persona answers in a journal of its own, its answers are recorded and played there, and the person's journal knows nothing of it", async () => {
  using here = new Machine();
  const script = join(here.dir, "played.json");
  const allow = { calls: [{ tool: "respond", input: { decision: "allow", words: "quick" } }] };
  writeFileSync(script, JSON.stringify({ "": [{ calls: [mark] }, { text: "done" }], persona: [allow] }));
  const file = join(here.dir, "careful.md");
  writeFileSync(file, "An impatient maintainer.\n");
  const answers = join(here.dir, "answers.json");
  const model = ["--model", `scripted/${script}`];
  assert.equal((await here.sage(["go", "--persona", file, ...model])).code, 2, "only with -p");
  const ran = await here.sage(["-p", "go", "--persona", file, "--record-answers", answers, ...model]);
  assert.deepEqual([ran.code, ran.out], [0, "done\n"], ran.err);
  const [answer] = JSON.parse(readFileSync(answers, "utf8")) as { by: string }[];
  assert.equal(answer?.by, "persona careful");
  const again = await here.sage(["-p", "go", "--replay-answers", answers, ...model]);
  assert.equal(again.code, 0, again.err);
  assert.equal(here.file("ran.txt"), "ran\nran\n");
  assert.match((await here.sage(["sessions"])).out, /No sessions yet/);
  const refuse = { calls: [{ tool: "respond", input: { decision: "deny", words: "no" } }] };
  writeFileSync(script, JSON.stringify({ "": [{ calls: [mark] }, { text: "done" }], persona: [refuse] }));
  const refused = await here.sage(["-p", "go", "--persona", file, ...model]);
  assert.match(refused.err, /refused by persona careful: Bash/, "nobody takes it for a person");
});
