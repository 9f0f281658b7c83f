import { hash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { SessionRow, Store } from "../../journal/store.ts";
import { oneLine, requestId, SageError, said, splitRequestId, type Fact } from "../../protocol/index.ts";
import { integrityOf, type Integrity } from "../../archive/integrity.ts";
import { changed, receiptsOf, type Receipt } from "../../archive/receipts.ts";
import { ownRedaction } from "../redaction.ts";
import { createAnchors } from "../../config/anchors.ts";
import { sageHome } from "../../config/home.ts";
import { ruleFiles } from "../../archive/sessions.ts";
import type { CliTexts } from "../../texts/cli.ts";
import { timeOf, whoOf } from "../../texts/resolution.ts";
import { whyTexts, type WhyTexts } from "../../texts/why.ts";
import { exitCodes } from "../exit-codes.ts";
import { lastSessionIn, sessionBy } from "../find-session.ts";
import { readFlags, usage } from "../flags.ts";
import { styleOf } from "../style.ts";
import { openJournal } from "../journal.ts";
import { receiptLines } from "../receipt-lines.ts";
import { toStdout } from "../stdout.ts";
import { titleOf } from "../../view/summary.ts";

const options = { json: { type: "boolean" }, all: { type: "boolean" } } as const;

type Found = {
  receipts: Receipt[];
  /** The sessions they are from. */
  sessions: SessionRow[];
  /** Changes of a session's mode. */
  modes?: Fact<"mode.chosen">[];
  file?: string;
  /** Of a session that is there no more. */
  deleted?: true;
};

/** Tells which person or rule allowed a call, when and from where: of a session, of one call, or of everything that changed a file. */
export async function why(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const [target, stray] = positionals;
  if (stray !== undefined) throw usage(t.noWords("why", stray));
  const w = whyTexts(lang);
  const { host, store } = openJournal(process.env, { looks: true });
  const found = find(store, target, t, w);
  const ids = found.sessions.map(({ id }) => id);
  const anchors = createAnchors(sageHome(process.env), process.env);
  const records = [...integrityOf(store, anchors, ids).sessions].map(([session, one]) => ({ session, ...one }));
  const broken = records.filter(({ state }) => state === "broken" || state === "rewritten");
  await host.close();
  const redaction = ownRedaction(process.env);
  const receipts = redaction.value(found.receipts);
  if (values.json) {
    toStdout(`${JSON.stringify({ intact: broken.length === 0, records, receipts }, undefined, 2)}\n`);
    return exitCodes.success;
  }
  const style = styleOf(process.stdout, lang);
  const worth = receipts.filter(
    (one) => values.all || found.file !== undefined || !isFree(one) || receipts.length === 1,
  );
  for (const line of headLines(found, receipts, w)) console.log(redaction.text(line));
  for (const { at, data } of found.modes ?? [])
    console.log(`${timeOf(at)}  ${style.t.modeChosen(style.t.modes[data.mode], whoOf(data, style.t))}`);
  for (const receipt of worth)
    console.log(receiptLines(receipt, { style, w, whole: receipts.length === 1 }).join("\n"));
  if (worth.length < receipts.length) console.log(w.free(receipts.length - worth.length));
  if (found.file !== undefined && receipts.length > 0) console.log(sinceThen(found.file, found.receipts, w));
  for (const record of receipts.length > 0 ? records : broken) console.log(recordLine(record, w));
  if (redaction.removed() > 0) console.error(w.removed(redaction.removed()));
  return exitCodes.success;
}

/** Tells how far the record of a session is proof. */
function recordLine(record: Integrity & { session: string }, w: WhyTexts): string {
  switch (record.state) {
    case "anchored":
      return w.anchored(record.session, timeOf(record.at), record.since);
    case "chained":
      return w.chained(record.session);
    case "broken":
      return w.broken(record.session, record.seq, record.key);
    case "rewritten":
      return w.rewritten(record.session, timeOf(record.at));
    default:
      return record satisfies never;
  }
}

function headLines({ receipts, sessions, file, deleted }: Found, shown: readonly Receipt[], w: WhyTexts): string[] {
  if (file !== undefined) return [(shown.length > 0 ? w.fileBy : w.fileNever)(oneLine(file))];
  const [session] = sessions;
  return [
    ...(deleted ? [w.deleted] : []),
    ...(session ? [w.session(session.id, oneLine(session.cwd), oneLine(titleOf(session)))] : []),
    ...(receipts.length === 0 ? [w.nothing] : []),
  ];
}

/** Reading in the workspace asks nobody and follows no rule: worth a line in a list that was asked for, and no more. */
function isFree({ effect, decision, rule, asked }: Receipt): boolean {
  return effect !== "writes" && decision === "allowed" && rule === undefined && asked.length === 0;
}

function find(store: Store, target: string | undefined, t: CliTexts, w: WhyTexts): Found {
  if (target === undefined) return ofSession(store, lastSessionIn(store, realpathSync("."), t));
  const exact = store.session(target);
  if (exact) return ofSession(store, exact);
  const path = realOf(target);
  if (existsSync(path)) return ofFile(store, path);
  const { session: prefix, key } = splitRequestId(target);
  if (store.sessions().some(({ id }) => id.startsWith(prefix)) && prefix !== "") {
    const session = sessionBy(store, prefix, t);
    const whole = ofSession(store, session);
    if (prefix === target) return whole;
    const wanted = requestId(session.id, key);
    const receipts = whole.receipts.filter(
      ({ id, asked }) => id === wanted || asked.some(({ request }) => request.id === wanted),
    );
    if (receipts.length > 0) return { receipts, sessions: [session] };
  }
  const deleted = ofDeleted(store, target);
  if (deleted.length > 0) return { receipts: deleted, sessions: [], deleted: true };
  const gone = ofFile(store, path);
  if (gone.receipts.length > 0) return gone;
  throw new SageError("session-unknown", said(w.unknown(target)));
}

function ofSession(store: Store, session: SessionRow): Found {
  const facts = store.load(session.id);
  return {
    receipts: receiptsOf(facts, ruleFiles(sageHome(process.env), session.cwd)),
    modes: facts.filter((fact) => fact.type === "mode.chosen"),
    sessions: [session],
  };
}

/** A session that was deleted is named by the start of its id too; one call of it as before. */
function ofDeleted(store: Store, target: string): Receipt[] {
  const receipts = store.housekeeping.removed().flatMap(({ data }) => data.receipts as Receipt[]);
  return receipts.filter(({ id, session }) => session.startsWith(target) || id === target);
}

function ofFile(store: Store, file: string): Found {
  const found = store.sessions().map((session) => ({ session, receipts: ofSession(store, session).receipts }));
  const touching = found
    .map((one) => ({ ...one, receipts: one.receipts.filter((receipt) => changed(receipt, file)) }))
    .filter(({ receipts }) => receipts.length > 0);
  const deleted = store.housekeeping.removed().flatMap(({ data }) => data.receipts as Receipt[]);
  return {
    file,
    receipts: [...deleted.filter((one) => changed(one, file)), ...touching.flatMap(({ receipts }) => receipts)].sort(
      (a, b) => a.at - b.at,
    ),
    sessions: touching.map(({ session }) => session),
  };
}

/** After every link, also of a file that is gone: the journal knows files by that. */
function realOf(target: string): string {
  const path = resolve(target);
  if (existsSync(path)) return realpathSync(path);
  return existsSync(dirname(path)) ? join(realpathSync(dirname(path)), basename(path)) : path;
}

function sinceThen(file: string, receipts: readonly Receipt[], w: WhyTexts): string {
  const left = receipts.findLast((one) => one.left[file] !== undefined)?.left[file];
  if (!existsSync(file)) return w.fileGone;
  // A command's own changes are not known by their content, so nothing is claimed about what it left.
  if (left === undefined || receipts.at(-1)?.left[file] === undefined) return "";
  return hash("sha256", readFileSync(file), "hex") === left ? w.fileSame : w.fileOther;
}
