import { randomUUID } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { openDraft, openForReading } from "./open-database.ts";

/** Pages of a step, after which progress is told: 8 MB. */
const PAGES_PER_STEP = 2_000;
const CHUNK_BYTES = 4 * 1024 * 1024;

type Progress = (done: number, total: number) => void;

/** Paths of kept files within this folder. Asked for after the snapshot: a file is on disk before a fact names it. */
type Kept = { folder: string; names(): Iterable<string> | Promise<Iterable<string>> };

/** Writes journal and kept files into one file, while others write on. Linked into place whole; an existing file is refused (EEXIST). */
export async function writeBackup(
  journal: string,
  target: string,
  kept: Kept,
  { progress = () => {}, rate = PAGES_PER_STEP }: { progress?: Progress; rate?: number } = {},
): Promise<void> {
  await throughDraft(`${target}.${randomUUID()}.partial`, target, async (draft) => {
    const source = openForReading(journal);
    try {
      // A reading transaction of its own: without it, each commit of another process would begin the copy anew.
      source.db.exec("BEGIN");
      source.db.prepare("SELECT max(seq) FROM fact").get();
      await backup(source.db, draft, {
        rate,
        progress: ({ totalPages, remainingPages }) => progress(totalPages - remainingPages, totalPages),
      });
    } finally {
      source.close();
    }
    using db = new DatabaseSync(draft);
    db.exec(
      "PRAGMA journal_mode=DELETE; BEGIN; CREATE TABLE kept(path TEXT, n INTEGER, data BLOB, PRIMARY KEY(path, n))",
    );
    // Processes of this journal are none of the restored one: a session would count as theirs for as long as they live.
    db.exec("DELETE FROM process; UPDATE session SET process=NULL");
    const insert = db.prepare("INSERT INTO kept VALUES(?,?,?)");
    for (const path of await kept.names())
      for (const [n, data] of chunks(join(kept.folder, path))) insert.run(path, n, data);
    db.exec("COMMIT");
  });
}

/** Makes a journal of a backup where there is none. `check` may refuse the draft by throwing. False: not a backup. */
export async function restoreBackup(
  file: string,
  journal: string,
  { folder, check }: { folder: string; check(draft: string): void | Promise<void> },
): Promise<boolean> {
  let isBackup = false;
  await throughDraft(`${journal}.${randomUUID()}.new`, undefined, async (draft) => {
    copyFileSync(file, draft);
    const { db, close } = openDraft(draft, file);
    try {
      isBackup = db.prepare("SELECT 1 FROM sqlite_master WHERE name='kept'").get() !== undefined;
      if (!isBackup) return;
      const [found] = db.prepare("PRAGMA quick_check(1)").all() as { quick_check: string }[];
      const problem = found?.quick_check ?? "";
      if (problem !== "ok") throw damaged(file, problem);
      await check(draft);
      takeOut(db, folder, file);
      db.exec("DROP TABLE kept; VACUUM; PRAGMA journal_mode=WAL");
    } finally {
      close();
    }
    sync(draft);
    linkSync(draft, journal);
    sync(dirname(journal));
  });
  return isBackup;
}

/** Makes a file of this name for its owner, which is gone afterwards; what it became keeps the name `target`. */
async function throughDraft(draft: string, target: string | undefined, work: (draft: string) => Promise<void>) {
  try {
    closeSync(openSync(draft, "wx", 0o600)); // SQLite would create it readable by others
    await work(draft);
    if (target === undefined) return;
    sync(draft);
    linkSync(draft, target);
    sync(dirname(resolve(target)));
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${draft}${end}`, { force: true });
  }
}

function* chunks(path: string): Generator<[number, Uint8Array]> {
  const fd = openSync(path, "r");
  try {
    for (let n = 0; ; n++) {
      const data = Buffer.alloc(CHUNK_BYTES);
      const read = readSync(fd, data);
      if (read > 0 || n === 0) yield [n, data.subarray(0, read)];
      if (read === 0) return;
    }
  } finally {
    closeSync(fd);
  }
}

/** A path that leads out of the folder is not one that Sage wrote. */
function takeOut(db: DatabaseSync, folder: string, file: string): void {
  const rows = db.prepare("SELECT path, n, data FROM kept ORDER BY path, n");
  for (const row of rows.iterate()) {
    const { path, n, data } = row as { path: string; n: number; data: Uint8Array };
    if (path.split("/").some((name) => name === "" || name === "." || name === "..") || path.includes("\0"))
      throw damaged(file, path);
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    if (n === 0 && existsSync(target)) rmSync(target); // of a restore that was cut short; never through a link
    const fd = openSync(target, n === 0 ? "wx" : "a", 0o600);
    writeSync(fd, data);
    closeSync(fd);
  }
}

function damaged(path: string, problem: string): SageError {
  return new SageError("journal-damaged", reason("journal-damaged", { path, problem }));
}

function sync(path: string): void {
  const fd = openSync(path, "r");
  fsyncSync(fd);
  closeSync(fd);
}
