// A whole database as one version writes it, as SQL text: tables, open requests, a draft, a long output, what is left of a removed session.
import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { answer, asked, fact, opened, resolved, said } from "../journal/journals.ts";

/** Of the session `s`. Longer than what a version may keep inside of its fact table. */
export const longOutput = `${"long output of a command, 长输出; ".repeat(1_500)}end`;

export function writeJournal(path: string): void {
  const store = sqliteStore(path);
  for (const session of ["s", "old"]) store.create(session, { ...opened, cwd: "/work" });
  store.append("s", said("said/first", "go"));
  const epoch = store.claim("s");
  store.commit("s", epoch, [
    fact("t0", "turn.begun", { loop: 1, maxSteps: 100, sawUpTo: 3 }),
    fact("t0/0/0/run0.started", "call.started", { tool: "Bash", effect: "writes", digest: "d" }),
    fact("t0/0/0/run0.finished", "call.finished", { ok: true, text: longOutput }),
    asked("t0/0/1/ask0"),
    asked("t0/0/2/ask0"),
  ]);
  store.append("s", resolved("t0/0/1/ask0", answer("s/t0/0/1/ask0", "Blue")));
  const draft = { answers: { "Which colour?": { selected: ["Red"] } } };
  const data = { requestId: "s/t0/0/2/ask0", draft, by: "Lin", surface: "test" };
  store.append("s", { key: "draft/t0/0/2/ask0/1", type: "draft.saved", at: 4_000, data });
  const last = store.load("old").at(-1)?.seq ?? 0;
  const left = { session: "old", cwd: "/work", title: "", by: "Lin", surface: "test", receipts: [] };
  store.housekeeping.remove("old", last, left);
  store.close();
}

/** The same bytes for the same journal, apart from times and ids of processes. */
export function dump(path: string): string {
  using db = new DatabaseSync(path, { readOnly: true });
  const lines: string[] = [];
  for (const name of ["application_id", "user_version"])
    lines.push(`PRAGMA ${name}=${String(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])};`);
  const made = db
    .prepare("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name")
    .all();
  for (const { sql } of made) lines.push(`${String(sql)};`);
  for (const { name, type } of made)
    if (type === "table")
      for (const row of db.prepare(`SELECT * FROM ${String(name)}`).all())
        lines.push(`INSERT INTO ${String(name)} VALUES(${Object.values(row).map(literal).join(",")});`);
  return `${lines.join("\n")}\n`;
}

function literal(value: unknown): string {
  if (value === null) return "NULL";
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : Number(value).toString();
}
