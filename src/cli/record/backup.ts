import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { keptFiles } from "../../archive/output.ts";
import { sageHome, type Home } from "../../config/home/home.ts";
import { restoreBackup, writeBackup } from "../../journal/database/backup.ts";
import { explained } from "../../journal/database/open-database.ts";
import { sqliteStore } from "../../journal/sqlite/sqlite.ts";
import { backupTexts } from "../../texts/commands/backup.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { engineFlag } from "../host/journal.ts";
import { readFlags, usage } from "../process/flags.ts";
import { succeed } from "../process/stdout.ts";

type Words = ReturnType<typeof backupTexts>;

/** Progress of a journal with fewer pages would be gone before anybody reads it: 64 MB. */
const MANY_PAGES = 16_384;

/** `sage backup FILE` and `sage backup --restore FILE`. */
export async function backup(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, { restore: { type: "boolean" }, ...engineFlag });
  const w = backupTexts(lang);
  if (values.engine !== undefined || process.env["SAGE_ENGINE"]) throw usage(w.shared);
  const [file, stray] = positionals;
  if (file === undefined || stray !== undefined) throw usage(w.usage);
  const home = sageHome(process.env);
  return values.restore ? restore(resolve(file), home, w) : save(resolve(file), home, w);
}

async function save(file: string, home: Home, w: Words): Promise<number> {
  if (!existsSync(home.journal)) throw usage(w.noJournal(home.journal));
  if (existsSync(file)) throw usage(w.exists(file));
  const store = sqliteStore(home.journal, { looks: true });
  let told = 0;
  const progress = (done: number, total: number) => {
    const percent = Math.floor((done / total) * 10) * 10;
    if (total < MANY_PAGES || percent === told) return;
    console.error(w.progress((told = percent)));
  };
  try {
    const kept = { folder: home.output, names: () => keptFiles(store, home.output) };
    await writeBackup(home.journal, file, kept, { progress });
  } catch (error) {
    throw asRefusal(error, file, { exists: w.exists(file), failed: w.unwritable });
  } finally {
    store.close();
  }
  return succeed(w.written(file));
}

async function restore(file: string, home: Home, w: Words): Promise<number> {
  const { journal } = home;
  if (existsSync(journal) || existsSync(`${journal}-wal`)) throw usage(w.occupied(journal));
  let [sessions, open] = [0, 0];
  const check = (draft: string) => {
    const store = sqliteStore(draft);
    try {
      for (const { id } of store.sessions()) {
        const broken = store.verify(id);
        if (broken) throw usage(w.broken(file, id, broken.seq));
        sessions++;
      }
      const left = store.housekeeping.verifyRemoved();
      if (left) throw usage(w.broken(file, left.key, left.seq));
      open = store.pending().length;
    } finally {
      store.close();
    }
  };
  try {
    if (!(await restoreBackup(file, journal, { folder: home.output, check }))) throw usage(w.notBackup(file));
  } catch (error) {
    throw asRefusal(error, file, { exists: w.occupied(journal), failed: w.unreadable });
  }
  return succeed(w.restored(sessions, open));
}

/** Error of the file system or the database in words that name the file. */
function asRefusal(
  error: unknown,
  file: string,
  { exists, failed }: { exists: string; failed: (path: string, why: string) => string },
): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return explained(file, error);
  return usage(code === "EEXIST" ? exists : failed(file, thrownText(error)));
}
