// Threat E4: a record that is altered or denied later. Whoever can write the journal can compute its hashes anew; the anchors are outside.
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { chain } from "../../src/journal/row.ts";
import { bash, Machine } from "../support/cli.ts";

type Row = { seq: number; session: string; key: string; type: string; at: number; data: string };

/** A machine on which one turn ended: a person refused a command. */
async function afterOneTurn(): Promise<Machine> {
  const machine = new Machine();
  const model = machine.script({ calls: [bash("echo ran >> ran.txt")] }, { text: "As you like." }, { text: "Again." });
  await machine.sage(["-p", "go", "--model", model]);
  const [request] = await machine.pending();
  await machine.sage(["answer", request?.id ?? "", "--no", "--reason", "not today", "--run", "--model", model]);
  const { out } = await machine.sage(["doctor"]);
  assert.match(out, /hash chain intact in 1 session; 1 match an anchor outside the journal/);
  return machine;
}

const journalOf = (machine: Machine) => join(machine.env["SAGE_HOME"] ?? "", "journal.db");
const anchorsOf = (machine: Machine) => join(machine.env["SAGE_HOME"] ?? "", "anchors.jsonl");

/** Changes the facts of the one session as somebody would who knows how they are hashed: afterwards the chain holds. */
function rewrite(machine: Machine, change: (rows: Row[]) => Row[]): void {
  using journal = new DatabaseSync(journalOf(machine));
  const rows = journal.prepare("SELECT seq, session, key, type, at, data FROM fact ORDER BY seq").all() as Row[];
  const session = rows[0]?.session ?? "";
  journal.exec("DELETE FROM fact");
  let head = session;
  for (const [n, row] of change(rows).entries()) {
    head = chain(head, row, row.data);
    const { key, type, at, data } = row;
    journal.prepare("INSERT INTO fact VALUES(?,?,?,?,?,?,?)").run(n + 1, session, key, type, at, data, head);
  }
  journal.prepare("UPDATE session SET head=? WHERE id=?").run(head, session);
}

const told = async (machine: Machine) => {
  const [why, doctor] = [await machine.sage(["why"]), await machine.sage(["doctor"])];
  const { intact } = JSON.parse((await machine.sage(["why", "--json"])).out) as { intact: boolean };
  return { why: why.out, doctor: doctor.out, code: doctor.code, intact };
};

suite("the record of a session", () => {
  test("is intact up to the end of its last turn, and says what that means", async () => {
    using machine = await afterOneTurn();
    const { why, intact, code } = await told(machine);
    assert.match(
      why,
      /intact: nothing was changed, added or removed up to the turn that ended at \d\d:\d\d \(anchored outside the journal\)\.\n/,
    );
    assert.deepEqual([intact, code], [true, 0]);
    assert.equal(statSync(anchorsOf(machine)).mode & 0o777, 0o600);
    assert.equal(statSync(join(machine.env["SAGE_HOME"] ?? "", "keys.json")).mode & 0o777, 0o600);
  });

  test("that somebody rewrote with hashes of their own is not intact: a yes for a no, a record less, the end cut off", async () => {
    const changes: ((rows: Row[]) => Row[])[] = [
      (rows) =>
        rows.map((row) =>
          row.type === "input.resolved"
            ? { ...row, data: row.data.replace('"denied"', '"granted"').replace("not today", "by all means") }
            : row,
        ),
      (rows) => rows.filter(({ type }) => type !== "input.resolved"),
      (rows) => rows.slice(0, -3),
      (rows) => [...rows.slice(0, 4), { ...(rows[3] as Row), key: "said/x" }, ...rows.slice(4)],
    ];
    for (const [n, change] of changes.entries()) {
      using machine = await afterOneTurn();
      rewrite(machine, change);
      const { why, doctor, code, intact } = await told(machine);
      assert.match(why, /does not match its anchor from the turn that ended at/, `${n}`);
      assert.match(doctor, /does not match the anchor of its last turn/, `${n}`);
      assert.deepEqual([intact, code], [false, 1], `${n}`);
    }
  });

  test("without its anchors, or with forged ones, claims no more than its chain shows", async () => {
    using machine = await afterOneTurn();
    const anchor = readFileSync(anchorsOf(machine), "utf8");
    rmSync(anchorsOf(machine));
    assert.match((await told(machine)).why, / chained: .* not ones with recomputed hashes/);

    rewrite(machine, (rows) => rows.slice(0, -1));
    const { seq, hash } = new DatabaseSync(journalOf(machine))
      .prepare("SELECT seq, hash FROM fact ORDER BY seq DESC LIMIT 1")
      .get() as { seq: number; hash: string };
    const forged = { ...(JSON.parse(anchor) as object), seq, hash };
    appendFileSync(anchorsOf(machine), `${JSON.stringify(forged)}\n{"half a li`);
    const { why, doctor, code } = await told(machine);
    assert.match(why, / chained:/);
    assert.match(doctor, /2 anchors in \S+ are damaged or were made with another key/);
    assert.equal(code, 1);
  });

  test("that is gone without having been deleted is missed, and one that was deleted is not", async () => {
    using machine = await afterOneTurn();
    const [session] = JSON.parse((await machine.sage(["sessions", "--json"])).out) as { id: string }[];
    await machine.sage(["sessions", "delete", session?.id ?? "", "--yes"]);
    assert.equal((await machine.sage(["doctor"])).code, 0);

    using other = await afterOneTurn();
    using journal = new DatabaseSync(journalOf(other));
    journal.exec("DELETE FROM fact; DELETE FROM session");
    const { out, code } = await other.sage(["doctor"]);
    assert.match(out, /is missing from the journal and was not deleted with Sage/);
    assert.equal(code, 1);
  });

  test("goes on: what comes after the anchor is told apart, and an anchor that cannot be written loses no turn", async () => {
    using machine = await afterOneTurn();
    const [session] = JSON.parse((await machine.sage(["sessions", "--json"])).out) as { id: string }[];
    await machine.sage(["sessions", "rename", session?.id ?? "", "another title"]);
    assert.match((await told(machine)).why, /The 1 later entries are only chained/);

    rmSync(anchorsOf(machine));
    mkdirSync(anchorsOf(machine));
    const { code, out } = await machine.sage(["-p", "hi", "--model", machine.script({ text: "Hello." })]);
    assert.deepEqual([code, out], [0, "Hello.\n"]);
  });
});
