import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Time that the disk takes: as many commits per approval as the journal makes, of two small rows each, and nothing else. */
export function bareCommits(options: { file: string; approvals: number; commits: number }): number[] {
  const { file, approvals, commits } = options;
  remove(file);
  const db = new DatabaseSync(file);
  db.exec(`
    PRAGMA page_size = 4096;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE e(id INTEGER PRIMARY KEY, session TEXT, key TEXT, type TEXT, at INT, data TEXT, UNIQUE(session, key));
  `);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const insert = db.prepare("INSERT INTO e(session, key, type, at, data) VALUES (?, ?, ?, ?, ?)");
  const commit = db.prepare("COMMIT");
  const data = JSON.stringify({ text: "x".repeat(109) });

  const micros: number[] = [];
  for (let approval = 0; approval < approvals; approval++) {
    const before = performance.now();
    for (let n = 0; n < commits; n++) {
      begin.run();
      insert.run("s", `t0/${approval}/${n}.started`, "call.started", Date.now(), data);
      insert.run("s", `t0/${approval}/${n}`, "call.finished", Date.now(), data);
      commit.run();
    }
    micros.push((performance.now() - before) * 1000);
  }
  db.close();
  remove(file);
  return micros;
}

function remove(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}
