// Threat E4: a record that is altered or denied later. Whoever can write the journal can compute its hashes anew; the anchors are outside.
import assert from "node:assert/strict";
import { appendFileSync, chmodSync, cpSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, test } from "node:test";
import { chain } from "../../src/journal/database/row.ts";
import { bash, Machine } from "../support/cli.ts";

type Row = { seq: number; session: string; key: string; type: string; at: number; data: string };

/** A machine on which one turn ended: a person refused a command. Each test works on a copy of its state. */
const machine = new Machine();
after(() => machine[Symbol.dispose]());
before(async () => {
  const model = machine.script({ calls: [bash("echo ran >> ran.txt")] }, { text: "As you like." }, { text: "Again." });
  await machine.sage(["-p", "go", "--model", model]);
  const [request] = await machine.pending();
  await machine.sage(["answer", request?.id ?? "", "--no", "--reason", "not today", "--run", "--model", model]);
});

let copies = 0;
function copied() {
  const home = join(machine.dir, `copy-${copies++}`);
  cpSync(machine.env["SAGE_HOME"] ?? "", home, { recursive: true });
  chmodSync(home, 0o700);
  return { home, sage: (...args: string[]) => machine.sage(args, { env: { SAGE_HOME: home } }) };
}
type Copy = ReturnType<typeof copied>;

const journalOf = ({ home }: Copy) => join(home, "journal.db");
const anchorsOf = ({ home }: Copy) => join(home, "anchors.jsonl");

/** Changes the facts of the one session as somebody would who knows how they are hashed: afterwards the chain holds. */
function rewrite(copy: Copy, change: (rows: Row[]) => Row[]): void {
  using journal = new DatabaseSync(journalOf(copy));
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

const told = async ({ sage }: Copy) => {
  const [why, doctor] = await Promise.all([sage("why"), sage("doctor")]);
  return { why: why.out, doctor: doctor.out, code: doctor.code };
};

const sessionIn = async ({ sage }: Copy) => {
  const [session] = JSON.parse((await sage("sessions", "--json")).out) as { id: string }[];
  return session?.id ?? "";
};

suite("the record of a session", () => {
  test("is intact up to the end of its last turn, and says what that means", async () => {
    const copy = copied();
    const { why, doctor, code } = await told(copy);
    assert.match(
      why,
      /intact: nothing was changed, added or removed up to the turn that ended at \d\d:\d\d \(anchored outside the journal\)\.\n/,
    );
    assert.match(doctor, /hash chain intact in 1 session; 1 match an anchor outside the journal/);
    assert.equal(code, 0);
    assert.equal(statSync(anchorsOf(copy)).mode & 0o777, 0o600);
    assert.equal(statSync(join(copy.home, "keys.json")).mode & 0o777, 0o600);
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
      const copy = copied();
      rewrite(copy, change);
      const { why, doctor, code } = await told(copy);
      assert.match(why, /does not match its anchor from the turn that ended at/, `${n}`);
      assert.match(doctor, /does not match the anchor of its last turn/, `${n}`);
      assert.equal(code, 1, `${n}`);
      if (n > 0) continue;
      const json = JSON.parse((await copy.sage("why", "--json")).out) as Record<string, unknown>;
      assert.equal(json["intact"], false);
    }
  });

  test("without its anchors, or with forged ones, claims no more than its chain shows", async () => {
    const copy = copied();
    const anchor = readFileSync(anchorsOf(copy), "utf8");
    rmSync(anchorsOf(copy));
    assert.match((await told(copy)).why, /: its hashes follow from each other/);

    rewrite(copy, (rows) => rows.slice(0, -1));
    const { seq, hash } = new DatabaseSync(journalOf(copy))
      .prepare("SELECT seq, hash FROM fact ORDER BY seq DESC LIMIT 1")
      .get() as { seq: number; hash: string };
    const forged = { ...(JSON.parse(anchor) as object), seq, hash };
    appendFileSync(anchorsOf(copy), `${JSON.stringify(forged)}\n{"half a li`);
    const { why, doctor, code } = await told(copy);
    assert.match(why, /: its hashes follow from each other/);
    assert.match(doctor, /2 anchors in \S+ are damaged or were made with another key/);
    assert.equal(code, 1);
  });

  test("that is gone without having been deleted is missed, and one that was deleted is not", async () => {
    const copy = copied();
    await copy.sage("sessions", "delete", await sessionIn(copy), "--yes");
    assert.equal((await copy.sage("doctor")).code, 0);

    const other = copied();
    using journal = new DatabaseSync(journalOf(other));
    journal.exec("DELETE FROM fact; DELETE FROM session");
    const { out, code } = await other.sage("doctor");
    assert.match(out, /is missing from the journal and was not deleted with Sage/);
    assert.equal(code, 1);
  });

  test("goes on: what comes after the anchor is told apart, and an anchor that cannot be written loses no turn", async () => {
    const copy = copied();
    await copy.sage("sessions", "rename", await sessionIn(copy), "another title");
    assert.match((await told(copy)).why, /The 1 later entries are only chained/);

    rmSync(anchorsOf(copy));
    mkdirSync(anchorsOf(copy));
    const { code, out } = await copy.sage("-p", "hi", "--model", machine.script({ text: "Hello." }));
    assert.deepEqual([code, out], [0, "Hello.\n"]);
  });
});
