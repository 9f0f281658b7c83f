// Threats A3, H2: one person's files are not another's. Long output and files that were sent belong to one session.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { collectOutput } from "../../src/archive/output.ts";
import { deleteSession } from "../../src/archive/sessions.ts";
import { keptFor, receivedFor } from "../../src/config/output-folder.ts";
import { START_FILE } from "../../src/context/start.ts";
import { assemble } from "../../src/host/assembly/assemble.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { scripted, type ScriptedTurns } from "../../src/models/scripted.ts";
import { allow, bash, workspace } from "../support/sage.ts";

const lin = { by: "Lin", surface: "test" };
const long = bash("seq 1 20000");

/** A host as `sage serve` has it: sessions of many people in one folder. */
function serving(here: ReturnType<typeof workspace>) {
  const [cwd, output] = [here.path("project"), here.path("output")];
  mkdirSync(cwd, { recursive: true });
  const store = sqliteStore(here.path("journal.db"));
  let turns: ScriptedTurns = [];
  const host = assemble({
    store,
    model: async () => ({ id: "scripted", reply: (request, scope) => scripted(turns).reply(request, scope) }),
    rules: [allow("Bash(seq:*)")],
    permissionMode: "default",
    options: { mode: { type: "batch" } },
    env: { ...process.env, SAGE_HOME: here.dir },
    output,
  });
  return {
    ...{ host, store, output },
    async open(session: string) {
      await host.send({ type: "open", session, cwd });
    },
    /** Lets the session make these calls, each in a step of its own; whether all went through without a person. */
    async calls(session: string, ...calls: ReturnType<typeof bash>[]) {
      const done = store.load(session).filter(({ type }) => type === "model.replied").length;
      turns = [
        ...Array.from({ length: done }, () => ({ text: "before" })),
        ...calls.map((call) => ({ calls: [call] })),
        { text: "ok" },
      ];
      await host.send({ type: "say", session, text: "go", ...lin });
      return (await host.run(session)).status;
    },
    async [Symbol.asyncDispose]() {
      await host.close();
    },
  };
}

const read = (path: string) => ({ tool: "Read", input: { file_path: path } }) as never;
const glob = (path: string) => ({ tool: "Glob", input: { pattern: "**/*", path } }) as never;
const grep = (path: string) => ({ tool: "Grep", input: { pattern: "1", path } }) as never;

test("a session reads its own kept output and received files freely, and another's only with a person's yes", async () => {
  using here = workspace();
  await using served = serving(here);
  const { output, store } = served;
  await served.open("mine");
  assert.equal(await served.calls("mine", long), "success");
  const names = readdirSync(keptFor(output, "mine")).filter((name) => name !== START_FILE);
  const kept = names.map((name) => join(keptFor(output, "mine"), name));
  assert.equal(kept.length, 1);
  const received = join(receivedFor(output, "mine"), "om_1", "private.txt");
  mkdirSync(join(received, ".."), { recursive: true });
  writeFileSync(received, "salary 1\n");
  assert.ok(JSON.stringify(store.load("mine")).includes(kept[0] ?? "?"), "the model is told where it is");
  const own = [
    read(kept[0] ?? ""),
    read(received),
    glob(keptFor(output, "mine")),
    bash(`cat ${received}`),
    grep(received),
  ];
  assert.equal(await served.calls("mine", ...own), "success");

  const tries = [
    read(kept[0] ?? ""),
    read(received),
    glob(output),
    glob(receivedFor(output)),
    grep(output),
    bash(`ls -R ${output}`),
    bash(`cat ${received}`),
    bash(`find ${here.dir} -name private.txt`),
    bash(`cd ${output} && cat received/mine/om_1/private.txt`),
  ];
  for (const [n, call] of tries.entries()) {
    await served.open(`other-${n}`);
    assert.equal(await served.calls(`other-${n}`, call), "needs-input", JSON.stringify(call));
  }
});

test("what was kept goes with its session, and what no session needs is collected", async () => {
  using here = workspace();
  await using served = serving(here);
  const { output, store } = served;
  for (const session of ["one", "two"]) {
    await served.open(session);
    assert.equal(await served.calls(session, long), "success");
    mkdirSync(join(receivedFor(output, session), "om_1"), { recursive: true });
    writeFileSync(join(receivedFor(output, session), "om_1", "a.txt"), "sent");
  }
  writeFileSync(join(keptFor(output, "one"), "0123456789abcdef0123456789abcdef.txt"), "named by nobody");
  const later = Date.now() + 2 * 3_600_000;
  assert.deepEqual(await collectOutput(store, output, { now: later }), { files: 1, bytes: 15 });
  await deleteSession(store, { settings: here.path("settings.json"), output }, "one", lin);
  assert.deepEqual(
    [keptFor, receivedFor].map((of) => [existsSync(of(output, "one")), existsSync(of(output, "two"))]),
    [
      [false, true],
      [false, true],
    ],
  );
});

test("a session cannot be called after the folders above it", async () => {
  using here = workspace();
  await using served = serving(here);
  for (const session of [".", "..", "a/b", ""]) {
    const reply = await served.host.send({ type: "open", session, cwd: here.dir });
    assert.equal(!reply.ok && reply.code, "input-invalid", session);
  }
});
