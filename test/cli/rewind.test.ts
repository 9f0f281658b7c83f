import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { rewindSession } from "../../src/archive/rewind.ts";
import { fold } from "../../src/agent/turn/projection.ts";
import { keptFor } from "../../src/config/output-folder.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { Replaced } from "../../src/protocol/facts/rewind.ts";
import { withoutRewound } from "../../src/protocol/facts/rewound.ts";
import { modeOf } from "../../src/protocol/facts/session.ts";
import { saidKey, turnNumber } from "../../src/protocol/key.ts";
import { readState, sha256 } from "../../src/tools/files/file-state.ts";
import { keep, replacedBy } from "../../src/tools/files/kept-content.ts";
import { Machine } from "../support/cli.ts";
import { killAtCommit } from "../support/kill.ts";
import { worded } from "../support/worded.ts";

const write = (file_path: string, content: string) => ({ tool: "Write", input: { file_path, content } });
const edit = (file_path: string, old_string: string, new_string: string) => ({
  tool: "Edit",
  input: { file_path, old_string, new_string },
});
const read = (file_path: string) => ({ tool: "Read", input: { file_path } });

type Worked = { session: string; facts(): Fact[]; at(name: string): string; text(name: string): string };

/** Two turns: the first creates a file, the second changes one of the person's, creates another and runs a command. */
async function worked(machine: Machine): Promise<Worked> {
  const at = (name: string) => join(machine.cwd, name);
  writeFileSync(at("笔记.txt"), "one\r\ntwo\r\n", { mode: 0o754 });
  const model = machine.script(
    { calls: [write("目录/新.txt", "first\n")] },
    { text: "Created." },
    { calls: [read("笔记.txt"), read("目录/新.txt")] },
    { calls: [edit("笔记.txt", "two", "three"), write("目录/新.txt", "second\n"), write("b.txt", "b\n")] },
    { calls: [{ tool: "Bash", input: { command: "echo x > by-command.txt" } }] },
    { text: "Changed." },
    { text: "Further." },
  );
  const run = ["-p", "--mode", "accept-edits", "--yes", "--model", model];
  assert.equal((await machine.sage([...run, "make a file"])).code, 0);
  const second = await machine.sage([...run, "-c", "改一改"]);
  assert.match(second.out, /Changed\./);
  const facts = (): Fact[] => {
    const store = sqliteStore(join(machine.env["SAGE_HOME"] ?? "", "journal.db"));
    try {
      const session = store.sessions()[0]?.id ?? "";
      assert.equal(store.verify(session), undefined);
      return store.load(session);
    } finally {
      store.close();
    }
  };
  return { session: facts()[0]?.session ?? "", facts, at, text: (name) => readFileSync(at(name), "utf8") };
}

suite("rewind", () => {
  test("the list says what will change, and going back puts files and conversation back", async () => {
    using machine = new Machine();
    const { session, facts, at, text } = await worked(machine);
    const list = await machine.sage(["rewind", session.slice(0, 5)]);
    assert.match(list.out, /t0 .*make a file\n.*t1 .*改一改/);
    const plan = await machine.sage(["rewind", session, "--to", "t1", "--dry-run"]);
    assert.match(plan.out, /restore {2}笔记\.txt/);
    assert.match(plan.out, /restore {2}目录\/新\.txt/);
    assert.match(plan.out, /remove {3}b\.txt/);
    assert.match(plan.out, /cannot be taken back:\n {2}Bash .*by-command/);
    assert.equal(text("b.txt"), "b\n", "a dry run changes nothing");
    const silent = await machine.sage(["rewind", session, "--to", "t1"]);
    assert.equal(silent.code, 3, "nobody is there to say yes");
    assert.equal(text("b.txt"), "b\n");

    const done = await machine.sage(["rewind", session, "--to", "t1", "--yes"]);
    assert.equal(done.code, 0, done.err);
    assert.equal(text("笔记.txt"), "one\r\ntwo\r\n");
    assert.equal(statSync(at("笔记.txt")).mode & 0o777, 0o754);
    assert.equal(text("目录/新.txt"), "first\n");
    assert.deepEqual([existsSync(at("b.txt")), existsSync(at("by-command.txt"))], [false, true]);
    assert.deepEqual(
      withoutRewound(facts()).flatMap((fact) => (fact.type === "user.said" ? [fact.data.text] : [])),
      ["make a file"],
    );
    assert.equal(modeOf(facts()), "acceptEdits", "what people chose stays chosen");

    // The conversation goes on from there, under the keys of a turn that is new.
    const again = await machine.sage(["-p", "-c", "--yes", "once more"]);
    assert.match(again.out, /Changed\./, again.err);
    assert.equal(text("笔记.txt"), "one\r\nthree\r\n");
    assert.deepEqual(
      facts().flatMap(({ type, key }) => (type === "turn.begun" ? [turnNumber(key)] : [])),
      [0, 1, 2],
    );
    const points = await machine.sage(["rewind", session]);
    assert.doesNotMatch(points.out, /改一改/);
    // Back to the very beginning, over the first rewind.
    assert.equal((await machine.sage(["rewind", session, "--to", "0", "--yes"])).code, 0);
    assert.deepEqual([text("笔记.txt"), existsSync(at("目录/新.txt"))], ["one\r\ntwo\r\n", false]);
    assert.equal((await machine.sage(["rewind", session])).out.trim(), "No message to go back to.");
    const why = await machine.sage(["why", session]);
    assert.equal(why.code, 0, why.err);
  });

  test("files alone: the conversation stays, and the agent is told to read them again", async () => {
    using machine = new Machine();
    const { session, facts, text } = await worked(machine);
    assert.equal((await machine.sage(["rewind", session, "--to", "t1", "--files", "--yes"])).code, 0);
    assert.equal(text("笔记.txt"), "one\r\ntwo\r\n");
    const further = await machine.sage(["-p", "-c", "and?"]);
    assert.match(further.out, /Further\./, further.err);
    const { messages } = fold(withoutRewound(facts()));
    assert.match(JSON.stringify(messages), /改一改.*put these files back[^"]*笔记\.txt.*Further/);
  });

  test("the conversation alone: no file is touched", async () => {
    using machine = new Machine();
    const { session, text } = await worked(machine);
    assert.equal((await machine.sage(["rewind", session, "--to", "t1", "--conversation", "--yes"])).code, 0);
    assert.equal(text("笔记.txt"), "one\r\nthree\r\n");
    assert.equal(text("b.txt"), "b\n");
  });

  test("what somebody else changed, removed or swapped for a link is left alone, and a damaged copy is not used", async () => {
    using machine = new Machine();
    const { session, at, text } = await worked(machine);
    writeFileSync(at("笔记.txt"), "mine\n");
    rmSync(at("b.txt"));
    renameSync(at("目录"), join(machine.dir, "elsewhere"));
    symlinkSync(join(machine.dir, "elsewhere"), at("目录"));
    const plan = await machine.sage(["rewind", session, "--to", "t1", "--dry-run"]);
    assert.match(plan.out, /Only if you say so:\n {2}restore {2}笔记\.txt \(somebody else changed it\)/);
    assert.match(plan.out, /leave {4}目录\/新\.txt \(a link leads elsewhere now\)/);
    assert.match(plan.out, /same {5}b\.txt/);
    await machine.sage(["rewind", session, "--to", "t1", "--files", "--yes"]);
    assert.equal(text("笔记.txt"), "mine\n");
    assert.equal(readFileSync(join(machine.dir, "elsewhere/新.txt"), "utf8"), "second\n");

    const kept = join(machine.env["SAGE_HOME"] ?? "", "output/kept", session, "replaced");
    for (const name of readdirSync(kept)) assert.equal(statSync(join(kept, name)).mode & 0o777, 0o600);
    assert.equal((await machine.sage(["rewind", session, "--to", "t1", "--files", "--yes", "--overwrite"])).code, 0);
    assert.equal(text("笔记.txt"), "one\r\ntwo\r\n");

    rmSync(at("目录"));
    mkdirSync(at("目录"));
    writeFileSync(at("目录/新.txt"), "second\n");
    for (const name of readdirSync(kept)) writeFileSync(join(kept, name), "damaged");
    const damaged = await machine.sage(["rewind", session, "--to", "t1", "--dry-run"]);
    assert.match(damaged.out, /leave {4}目录\/新\.txt \(its earlier content was not kept or is damaged\)/);
  });

  test("a protected path and one outside the workspace come back only when the person says so, and from an intact copy", async () => {
    using machine = new Machine();
    const [hook, start, outer] = [".git/hooks/pre-commit", ".envrc", "../outside/外.txt"];
    for (const folder of [".git/hooks", "../outside"]) mkdirSync(join(machine.cwd, folder), { recursive: true });
    const { facts, at, text } = await prepared(machine, [hook, start, outer]);
    const all = () => [hook, start, outer].map(text);
    const plan = await machine.sage(["rewind", "s", "--to", "t1", "--dry-run"]);
    const [, doubts = ""] = plan.out.split("Only if you say so:\n");
    assert.match(doubts, /restore {2}\.git\/hooks\/pre-commit \(a protected path\)/);
    assert.match(doubts, /restore {2}\.envrc \(a protected path\)/);
    assert.match(doubts, /外\.txt \(outside the workspace\)/);
    assert.doesNotMatch(doubts, /数据\.bin/);

    const back = ["rewind", "s", "--to", "t1", "--files", "--yes"];
    assert.equal((await machine.sage(back)).code, 0);
    assert.deepEqual(all(), ["new", "new", "new"]);
    assert.equal(text("数据.bin"), "\0\x01old", "the rest is put back");
    const decided = facts().flatMap((fact) => (fact.type === "session.rewound" ? fact.data.files : []));
    assert.deepEqual(
      decided.map(({ path }) => path),
      [at("数据.bin"), at("b.txt")],
      "nor is it decided, which a crash would finish",
    );

    // Whoever changes the kept copy does not get it written over a hook.
    const kept = join(keptFor(join(machine.env["SAGE_HOME"] ?? "", "output"), "s"), "replaced");
    const copy = join(kept, sha256(`old ${hook}`));
    assert.ok(existsSync(copy));
    writeFileSync(copy, "planted");
    await machine.sage([...back, "--overwrite"]);
    assert.deepEqual(all(), ["new", `old ${start}`, `old ${outer}`]);
  });

  test("a rewind waits for an open turn to end, and is for people only", async () => {
    using machine = new Machine();
    const { session } = await worked(machine);
    const model = machine.script({}, {}, {}, {}, {}, {}, { calls: [{ tool: "Bash", input: { command: "touch z" } }] });
    assert.equal((await machine.sage(["-p", "-c", "--model", model, "more"])).code, 3);
    const refused = await machine.sage(["rewind", session, "--to", "t1", "--yes"]);
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /a turn is open/);
    const inside = await machine.sage(["rewind", session, "--to", "t1", "--yes"], { env: { SAGE_INSIDE: "1" } });
    assert.match(inside.err, /this is for a person/);
  });

  test("a message that comes while a rewind is decided is not taken back with the rest, and waits to be heard", async () => {
    using machine = new Machine();
    const { facts } = await prepared(machine);
    const home = machine.env["SAGE_HOME"] ?? "";
    const [store, other] = [sqliteStore(join(home, "journal.db")), sqliteStore(join(home, "journal.db"))];
    const session = store.session("s")!;
    const say = (text: string) =>
      other.append("s", {
        ...{ key: saidKey(text), type: "user.said", at: Date.now() },
        data: { text, by: "Lin", surface: "test" },
      });
    const back = { turn: 1, what: "both", output: join(home, "output"), sageHome: home } as const;
    const sender = { by: "Lin", surface: "test" };
    // It holds the session and has read the facts by the time it first waits for anything.
    const going = rewindSession(store, session, { ...back, sender });
    say("等等");
    assert.equal((await going).restored.length, 2);
    const messages = withoutRewound(facts()).filter((fact) => fact.type === "user.said");
    assert.deepEqual(
      messages.map(({ data }) => data.text),
      ["message 0", "等等"],
    );
    assert.equal(store.session("s")?.unheard, true);
    await assert.rejects(rewindSession(store, session, { ...back, turn: 0, sender }), worded(/a turn is open/));
    store.close();
    other.close();
    const heard = await machine.sage(["-p", "-r", "s", "--model", machine.script({ text: "Heard." })]);
    assert.match(heard.out, /Heard\./, heard.err);
    assert.deepEqual(
      fold(withoutRewound(facts())).messages.flatMap((one) => (one.role === "user" ? [one.text] : [])),
      ["message 0", "等等"],
    );
  });

  test("killed at any commit, the next rewind or the next turn finishes it, once", async () => {
    for (let nth = 1; ; nth++) {
      using machine = new Machine();
      const { facts, at, text } = await prepared(machine);
      const side = nth % 2 === 0 ? "after" : "before";
      const back = ["rewind", "s", "--to", "t1", "--yes"];
      const killed = await machine.sage(back, { env: killAtCommit(Math.ceil(nth / 2), side) });
      const over = killed.code === 0;
      const isDecided = facts().some(({ type }) => type === "session.rewound");
      const goOn = ["-p", "-r", "s", "--model", machine.script({ text: "On." }), "go on"];
      if (!over) await machine.sage(isDecided && side === "after" ? goOn : back);
      const all = facts();
      const of = (type: Fact["type"]) => all.filter((fact) => fact.type === type).length;
      assert.deepEqual([of("session.rewound"), of("rewind.ended")], [1, 1], `killed at ${nth}`);
      assert.equal(text("数据.bin"), "\0\x01old", `killed at ${nth}`);
      assert.equal(existsSync(at("b.txt")), false, `killed at ${nth}`);
      if (over) return;
    }
  });
});

/** A session of two turns, the second of which replaced a binary file and `more`, and created another, as its tools would have left it. */
async function prepared(machine: Machine, more: readonly string[] = []): Promise<Omit<Worked, "session">> {
  const at = (name: string) => join(machine.cwd, name);
  const home = machine.env["SAGE_HOME"] ?? "";
  const journal = join(home, "journal.db");
  mkdirSync(home);
  writeFileSync(at("数据.bin"), "\0\x01old");
  const before = await readState(at("数据.bin"));
  await keep(keptFor(join(home, "output"), "s"), before);
  writeFileSync(at("数据.bin"), "\0new");
  writeFileSync(at("b.txt"), "b");
  const others: Replaced[] = [];
  for (const name of more) {
    writeFileSync(at(name), `old ${name}`);
    const was = await readState(at(name));
    await keep(keptFor(join(home, "output"), "s"), was);
    writeFileSync(at(name), "new");
    others.push(replacedBy(at(name), was, sha256("new")));
  }
  const store = sqliteStore(journal);
  store.create("s", { cwd: machine.cwd, version: "test" });
  for (const turn of [0, 1]) {
    const said = { text: `message ${turn}`, by: "Lin", surface: "test" };
    const { fact } = store.append("s", { key: `said/${turn}`, type: "user.said", at: Date.now(), data: said });
    const log = openSession(store, "s");
    const line = log.branch("");
    line.decide(`t${turn}`, "turn.begun", () => ({ loop: 1, maxSteps: 9, sawUpTo: fact.seq }));
    if (turn === 1)
      line.decide("t1/0/0/run0.finished", "call.finished", () => ({
        ok: true,
        text: "",
        replaced: [
          replacedBy(at("数据.bin"), before, sha256("\0new")),
          { path: at("b.txt"), before: "", after: sha256("b") },
          ...others,
        ],
      }));
    const stats = { steps: 1, modelCalls: 1, toolCalls: 0, durationMs: 1 };
    line.decide(`t${turn}.ended`, "turn.ended", () => ({ status: "success", text: "", usage: noUsage, stats }));
    await log.release();
  }
  store.close();
  const facts = (): Fact[] => {
    const open = sqliteStore(journal);
    try {
      assert.equal(open.verify("s"), undefined);
      return open.load("s");
    } finally {
      open.close();
    }
  };
  return { facts, at, text: (name) => readFileSync(at(name), "utf8") };
}
