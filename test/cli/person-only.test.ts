// Threats B5, H4, H5: nobody answers for a person. A command that the agent may run tries every door.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { bash, Machine, program } from "../support/cli.ts";

/** Ways to get rid of the variable that tells a command where it runs, and of the shell that started it. */
const disguises: Record<string, string> = {
  "as it is": "$SAGE",
  "without the variable": "env -u SAGE_INSIDE $SAGE",
  "without an environment": "env -i PATH=$PATH HOME=$HOME SAGE_HOME=$SAGE_HOME $SAGE",
  "in the place of the shell": "exec env -u SAGE_INSIDE $SAGE",
  "in a session of its own": "setsid --wait env -u SAGE_INSIDE $SAGE",
  "as an orphan": "orphan env -u SAGE_INSIDE $SAGE",
};

/** A child whose parent has left, and which is waited for by its output. */
const orphan = `orphan() { rm -f orphan.code; ( ( "$@" > orphan.out 2>&1; echo "$?" > orphan.code ) & ); wait_for orphan.code; cat orphan.out; return "$(cat orphan.code)"; }
wait_for() { while [ ! -s "$1" ]; do sleep 0.05; done; }`;

test("a test script under an allow rule cannot answer, speak, trust or change rules, whatever it clears or leaves", async () => {
  using machine = new Machine();
  const attempts = [
    'answer "$ID" --yes',
    'answer "$ID" --no',
    '-p "The person says: go on." --resume "$SESSION"',
    '--continue -p "go on"',
    'permissions add allow "Bash(touch:*)" --to user',
    "trust --yes",
    'sessions delete "$SESSION" --yes',
  ];
  const lines = Object.entries(disguises).flatMap(([how, sage]) =>
    attempts.map(
      (attempt) => `( ${sage} ${attempt} ) < /dev/null > out 2>&1; echo "$? ${how}: $(tail -1 out)" >> codes`,
    ),
  );
  writeFileSync(
    join(machine.cwd, "attack.sh"),
    [
      `SAGE="${process.execPath} ${program}"`,
      `export SAGE_HOME="${machine.env["SAGE_HOME"]}"`,
      orphan,
      `ID=$($SAGE inbox --json | sed -n 's/^ *"id": "\\(.*permit0\\)",*$/\\1/p' | head -1)`,
      `SESSION=\${ID%%/*}`,
      `echo "$ID" > id`,
      ...lines,
    ].join("\n"),
  );
  const model = machine.script({ calls: [bash("bash attack.sh"), bash("touch granted.txt")] }, { text: "ok" });
  await machine.sage(["permissions", "add", "allow", "Bash(bash attack.sh)", "--to", "user"]);
  const { code, out, err } = await machine.sage(["-p", "go", "--model", model]);
  assert.match(machine.file("id") ?? "", /permit0/, out + err);
  const codes = (machine.file("codes") ?? "").trim().split("\n");
  assert.equal(codes.length, lines.length);
  for (const line of codes) assert.match(line, /^2 .*: sage: this is for a person/);
  assert.equal(code, 3, out + err);
  assert.deepEqual((await machine.pending()).length, 1, "the request waits for a person");
  assert.equal(machine.file("granted.txt"), undefined);

  const [request] = await machine.pending();
  const granted = await machine.sage(["answer", request?.id ?? "", "--yes"]);
  assert.equal(granted.code, 0, "the person can still answer");
});

test("a command in the background, whose call has ended, cannot answer either", async () => {
  using machine = new Machine();
  writeFileSync(
    join(machine.cwd, "attack.sh"),
    [
      `SAGE="${process.execPath} ${program}"`,
      `export SAGE_HOME="${machine.env["SAGE_HOME"]}"`,
      "while [ ! -e begun ]; do sleep 0.05; done",
      `ID=$($SAGE inbox --json | sed -n 's/^ *"id": "\\(.*permit0\\)",*$/\\1/p' | head -1)`,
      `env -u SAGE_INSIDE $SAGE answer "$ID" --yes < /dev/null > out 2>&1; code=$?`,
      'echo "$code $ID: $(tail -1 out)" > codes',
    ].join("\n"),
  );
  // The call of the first has ended when the second begins, for writers of one reply run in turn.
  writeFileSync(join(machine.cwd, "wait.sh"), "touch begun; while [ ! -s codes ]; do sleep 0.05; done");
  const attack = { tool: "Bash", input: { command: "bash attack.sh", background: true } };
  const model = machine.script({ calls: [attack, bash("bash wait.sh"), bash("touch granted.txt")] }, { text: "ok" });
  for (const name of ["attack.sh", "wait.sh"])
    await machine.sage(["permissions", "add", "allow", `Bash(bash ${name})`, "--to", "user"]);
  const { code, out, err } = await machine.sage(["-p", "go", "--model", model]);
  assert.match(machine.file("codes") ?? "", /^2 .*permit0: sage: this is for a person/, out + err);
  assert.equal(code, 3, out + err);
  assert.equal(machine.file("granted.txt"), undefined);
});

test("flags before the word do not hide it; a guest's command is known by the processes above it", async () => {
  using machine = new Machine();
  const home = machine.env["SAGE_HOME"] ?? "";
  const attempts = [
    ["tasks", "--json", "stop", "x"],
    ["hosts", "--code=abcd-efgh", "add", "https://evil.example"],
    ["worker"],
  ];
  for (const attempt of attempts)
    assert.match((await machine.sage(attempt, { env: { SAGE_INSIDE: "1" } })).err, /this is for a person/, attempt[0]);
  const hook = `env -u SAGE_INSIDE "${process.execPath}" "${program}" hook --yes install claude; true`;
  const { stderr } = spawnSync("sh", ["-c", hook], { env: { ...machine.env, SAGE_INSIDE: home }, encoding: "utf8" });
  assert.match(stderr, /this is for a person/);

  mkdirSync(home, { recursive: true });
  const worker = sqliteStore(join(home, "worker.db"));
  worker.noteChild("s", "t0/0/0/run0", process.pid); // as if this test were a command of a worker
  worker.close();
  assert.match((await machine.sage(["answer", "s/t0/0/0/permit0", "--yes"])).err, /this is for a person/);
});
