import { hash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { integrityOf } from "../../archive/integrity.ts";
import { changed, receiptsOf } from "../../archive/receipts.ts";
import { lastSessionIn, sessionBy } from "../../view/find-session.ts";
import { ruleFiles } from "../../archive/sessions.ts";
import type { SessionRow, Store } from "../../journal/store/store.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { Command, FoundReceipts } from "../../protocol/host/host.ts";
import type { Receipt } from "../../protocol/host/receipt.ts";
import { requestId, splitRequestId } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Runner } from "../run/runner.ts";
import type { HostHome } from "./parts.ts";
import { summary } from "./session.ts";

const RECEIPTS = 200;
const MAX_RECEIPTS = 2_000;
/** A file beyond this is not read to say whether it has changed. */
const MAX_BYTES = 64 * 1024 * 1024;

type Parts = { store: Store; runner: Runner; home: HostHome };
type Asked = Extract<Command, { type: "receipts" }>;
type Found = {
  receipts: Receipt[];
  sessions: SessionRow[];
  modes?: Fact<"mode.chosen">[];
  file?: string;
  deleted?: true;
  more?: true;
};

/** Finds receipts by the id of a session or of a call, or by the start of one; by the path of a file; of the last session in a folder; or the latest of all. */
export async function findReceipts({ store, runner, home }: Parts, asked: Asked): Promise<FoundReceipts> {
  const { receipts, sessions, modes, file, deleted, more } = await find({ store, home }, asked);
  const integrity = await integrityOf(
    store,
    home.anchors(),
    sessions.map(({ id }) => id),
  );
  return {
    receipts,
    sessions: sessions.map((row) => summary(row, runner.of(row.id) !== undefined)),
    records: [...integrity.sessions].map(([session, record]) => ({ session, ...record })),
    ...(modes && { modes }),
    ...(file !== undefined && { file: { path: file, now: sinceThen(file, receipts) } }),
    ...(deleted && { deleted }),
    ...(more && { more }),
  };
}

type Where = Pick<Parts, "store" | "home">;

async function find(where: Where, { of: target, cwd, before, limit }: Asked): Promise<Found> {
  const { store } = where;
  if (target === undefined) {
    if (cwd === undefined) return latest(where, { before, limit });
    return ofSession(where, lastSessionIn(store.sessions(), cwd));
  }
  const exact = store.session(target);
  if (exact) return ofSession(where, exact);
  const path = realFile(resolve(cwd ?? "/", target));
  if (existsSync(path)) return ofFile(where, path);
  const { session: prefix, key } = splitRequestId(target);
  const own =
    store.sessions().some(({ id }) => prefix !== "" && id.startsWith(prefix)) && sessionBy(store.sessions(), prefix);
  if (own) {
    const whole = await ofSession(where, own);
    if (prefix === target) return whole;
    const wanted = requestId(own.id, key);
    const receipts = whole.receipts.filter(
      ({ id, asked }) => id === wanted || asked.some(({ request }) => request.id === wanted),
    );
    if (receipts.length > 0) return { receipts, sessions: [own] };
  }
  const deleted = (await ofDeleted(store)).filter(({ id, session: of }) => of.startsWith(target) || id === target);
  if (deleted.length > 0) return { receipts: deleted, sessions: [], deleted: true };
  const gone = await ofFile(where, path);
  if (gone.receipts.length > 0) return gone;
  throw new SageError("session-unknown", reason("receipts-unknown", { given: target }));
}

async function ofSession({ store, home }: Where, session: SessionRow): Promise<Found> {
  const facts = await store.read(session.id);
  return {
    receipts: receiptsOf(facts, ruleFiles(home, session.cwd)),
    modes: facts.filter((fact) => fact.type === "mode.chosen"),
    sessions: [session],
  };
}

async function ofDeleted(store: Store): Promise<Receipt[]> {
  return (await store.housekeeping.removed()).flatMap(({ data }) => data.receipts as Receipt[]);
}

async function ofFile(where: Where, file: string): Promise<Found> {
  const { store } = where;
  const touching: { session: SessionRow; receipts: Receipt[] }[] = [];
  for (const session of store.sessions()) {
    const receipts = (await ofSession(where, session)).receipts.filter((receipt) => changed(receipt, file));
    if (receipts.length > 0) touching.push({ session, receipts });
  }
  const deleted = (await ofDeleted(store)).filter((receipt) => changed(receipt, file));
  return {
    file,
    receipts: [...deleted, ...touching.flatMap(({ receipts }) => receipts)].sort((a, b) => a.at - b.at),
    sessions: touching.map(({ session }) => session),
  };
}

async function latest(
  where: Where,
  { before = Infinity, limit = RECEIPTS }: { before: number | undefined; limit: number | undefined },
): Promise<Found> {
  const { store } = where;
  const most = Math.min(limit, MAX_RECEIPTS);
  let receipts: Receipt[] = [];
  const sessions: SessionRow[] = [];
  for (const session of store.sessions().toSorted((a, b) => b.lastAt - a.lastAt)) {
    const oldest = receipts.at(-most - 1)?.at;
    if (oldest !== undefined && session.lastAt < oldest) break;
    const found = (await ofSession(where, session)).receipts.filter(({ at }) => at < before);
    if (found.length === 0) continue;
    sessions.push(session);
    receipts = [...receipts, ...found].sort((a, b) => a.at - b.at);
  }
  const page = receipts.slice(-most);
  const named = new Set(page.map(({ session }) => session));
  return {
    receipts: page,
    sessions: sessions.filter(({ id }) => named.has(id)),
    ...(receipts.length > most && { more: true }),
  };
}

function plain(file: string): { isFile: boolean; size: number } {
  const found = statSync(file);
  return { isFile: found.isFile(), size: found.size };
}

/** After every link, also of a file that is gone: the journal knows files by that. */
function realFile(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  return existsSync(dirname(path)) ? join(realpathSync(dirname(path)), basename(path)) : path;
}

function sinceThen(file: string, receipts: readonly Receipt[]): "same" | "changed" | "gone" | "unknown" {
  const left = receipts.findLast((receipt) => receipt.left[file] !== undefined)?.left[file];
  if (!existsSync(file)) return "gone";
  // A command's own changes are not known by their content, so nothing is claimed about what it left.
  if (left === undefined || receipts.at(-1)?.left[file] === undefined) return "unknown";
  // A pipe in its place would wait for a writer, and everybody with it.
  const { isFile, size } = plain(file);
  if (!isFile || size > MAX_BYTES) return isFile ? "unknown" : "changed";
  return hash("sha256", readFileSync(file), "hex") === left ? "same" : "changed";
}
