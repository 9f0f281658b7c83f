import { ask } from "../../protocol/host/refusal.ts";
import { realpathSync } from "node:fs";
import { oneLine } from "../../base/visible.ts";
import type { Host } from "../../protocol/host/host.ts";
import type { FoundReceipts, Integrity, Receipt } from "../../protocol/host/receipt.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { said } from "../../protocol/reasons/reason.ts";
import { ownRedaction } from "../host/redaction.ts";
import { timeOf, whoOf } from "../../texts/shared/resolution.ts";
import { whyTexts, type WhyTexts } from "../../texts/commands/why.ts";
import { exitCodes } from "../process/exit-codes.ts";
import { readFlags, usage } from "../process/flags.ts";
import { styleOf } from "../process/style.ts";
import { hostFlag, openHost } from "../host/open-host.ts";
import { hostsTexts } from "../../texts/serve/hosts.ts";
import type { Lang } from "../../texts/language.ts";
import { receiptLines } from "./receipt-lines.ts";
import { toStdout } from "../process/stdout.ts";
import { titleOf } from "../../view/items/summary.ts";

const options = { json: { type: "boolean" }, all: { type: "boolean" }, ...hostFlag } as const;

/** Tells which person or rule allowed a call, when and from where: of a session, of one call, or of everything that changed a file. */
export async function why(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const [target, stray] = positionals;
  if (stray !== undefined) throw usage(t.noWords("why", stray));
  const w = whyTexts(lang);
  await using opened = await openHost(values, { lang, looks: true });
  const { host, store } = opened;
  // Folders of this machine say nothing on another one.
  const place = store ? { cwd: realpathSync(".") } : {};
  const of = target ?? (store ? undefined : await newestSession(host, lang));
  const found = await ask(host, { type: "receipts", ...place, ...(of !== undefined && { of }) });
  await host.close();
  const { records } = found;
  const broken = records.filter(({ state }) => state === "broken" || state === "rewritten");
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
  if (found.file !== undefined && receipts.length > 0) console.log(sinceThen[found.file.now](w));
  for (const record of receipts.length > 0 ? records : broken) console.log(recordLine(record, w));
  if (redaction.removed() > 0) console.error(w.removed(redaction.removed()));
  return exitCodes.success;
}

async function newestSession(host: Host, lang: Lang): Promise<string> {
  const { sessions } = await ask(host, { type: "sessions" });
  const [newest] = sessions.filter(({ title }) => title !== "").toSorted((a, b) => b.lastAt - a.lastAt);
  if (newest) return newest.id;
  throw new SageError("session-unknown", said(hostsTexts(lang).noSessions));
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

function headLines(
  { receipts, sessions, file, deleted }: FoundReceipts,
  shown: readonly Receipt[],
  w: WhyTexts,
): string[] {
  if (file !== undefined) return [(shown.length > 0 ? w.fileBy : w.fileNever)(oneLine(file.path))];
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

const sinceThen: Record<NonNullable<FoundReceipts["file"]>["now"], (w: WhyTexts) => string> = {
  same: (w) => w.fileSame,
  changed: (w) => w.fileOther,
  gone: (w) => w.fileGone,
  unknown: () => "",
};
