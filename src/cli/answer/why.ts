import { endLine } from "../../view/request/delivery.ts";
import { ask } from "../../protocol/host/refusal.ts";
import { realpathSync } from "node:fs";
import { oneLine } from "../../base/visible.ts";
import type { FoundReceipts, Host } from "../../protocol/host/host.ts";
import type { Integrity, Receipt } from "../../protocol/host/receipt.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import { ownRedaction } from "../host/redaction.ts";
import { changeLine, timeOf, whoOf } from "../../texts/shared/resolution.ts";
import { type WhyTexts, whyTexts } from "../../texts/commands/why.ts";
import { styleOf, printJson, exitCodes } from "../process/stdout.ts";
import { readFlags, usage } from "../process/flags.ts";
import { hostFlag, openHost } from "../host/open-host.ts";
import { hostsTexts } from "../../texts/serve/hosts.ts";
import type { Lang } from "../../texts/language.ts";
import { nameOf, summaryOf, titleOf } from "../../view/items/summary.ts";
import type { Inquired } from "../../protocol/facts/inquiry.ts";
import { isOutsideSession } from "../../protocol/host/outside.ts";
import type { Style } from "../../view/lines/paint.ts";
import { blockedNames } from "../../texts/reasons/confine.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import { originLines } from "../../view/request/origin.ts";
import { consentLines } from "../../view/request/consent.ts";
import { madeNote, replyNote } from "../../view/inquiry.ts";
import { clipped, exact, fitted } from "../../view/lines/safe.ts";
import { isOpen, standingOfRun } from "../../view/transcript/standing.ts";

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
  if (values.json) return printJson({ intact: broken.length === 0, records, receipts });
  const style = styleOf(process.stdout, lang);
  const worth = receipts.filter(
    (receipt) => values.all || found.file !== undefined || !isFree(receipt) || receipts.length === 1,
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

function headLines({ receipts, sessions, file, deleted }: FoundReceipts, shown: readonly Receipt[], w: WhyTexts) {
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

export function receiptLines(
  receipt: Receipt,
  { style, w, whole }: { style: Style; w: WhyTexts; whole: boolean },
): string[] {
  const { id, at, tool, input, agent, changed, decision, reason, digest, files } = receipt;
  const { paint } = style;
  const outside = isOutsideSession(receipt.session) ? receipt.asked[0]?.request : undefined;
  const what = tool !== "" ? tool : outside ? oneLine(agent[0] ?? "") : w.sage;
  const summary = outside ? nameOf(outside, style.t) : tool === "" ? "" : summaryOf(input);
  const head = `${paint.bold(id)}  ${timeOf(at)}  ${what}`;
  const colour = decision === "refused" ? paint.red : decision === "open" ? paint.yellow : paint.green;
  const by = decided(receipt, style, w);
  const lines = [
    ...(agent.length > 0 ? [w.agent(agent)] : []),
    `${colour(by.word)}${by.rule}`,
    ...(changed ? [changeLine(changed, style.t)] : []),
    ...askedLines(receipt, style, w),
    ...receipt.rulesAdded.map(({ rule, by, saved, destination, problem }) =>
      problem === undefined
        ? w.rule(oneLine(rule), oneLine(by), saved ?? style.t.destination[destination])
        : w.notSaved(oneLine(style.t.because(problem))),
    ),
    ...(receipt.rulesRemoved ?? []).map(({ rule, by, saved, destination = "session", problem }) =>
      problem === undefined
        ? w.ruleGone(oneLine(rule), oneLine(by), saved ?? style.t.destination[destination])
        : oneLine(style.t.because(problem)),
    ),
    ...(receipt.undone ? [w.undone(whoOf(receipt.undone, style.t), timeOf(receipt.undone.at))] : []),
    ...runLines(receipt, style, w),
    ...(receipt.blocked ? [oneLine(w.blocked(blockedNames(receipt.blocked)))] : []),
    ...(files.length > 0 ? [w.files(files.map(oneLine), receipt.runs.length > 0)] : []),
    ...(digest === "" ? [] : [paint.dim(w.digest(whole ? digest : digest.slice(0, 12)))]),
  ];
  const asked = receipt.asked.length > 0 || receipt.rule !== undefined;
  const because = asked || style.t.because(reason) === "" ? [] : [oneLine(w.because(reason))];
  return [
    head,
    ...(whole ? exact(summary, style) : summary === "" ? [] : [`    ${clipped(summary, 120)}`]),
    ...fitted(
      [...lines.slice(0, 2), ...because, ...lines.slice(2)].map((line) => `    ${line}`),
      style.width,
    ),
  ];
}

/** The decision in the words that every surface has for it, with the rule that made it. */
function decided(
  { decision, standing, rule, asked }: Receipt,
  { t }: Style,
  w: WhyTexts,
): { word: string; rule: string } {
  const person = asked.some(({ resolution }) => resolution?.outcome === "answered");
  const byRule = rule !== undefined && !person;
  const allowed = byRule ? w.allowedByRule : w.decision.allowed;
  const refused = standing === undefined ? w.decision.refused : t.standing[isOpen(standing) ? "not-run" : standing];
  return {
    word: { ...w.decision, allowed, refused }[decision],
    rule: byRule ? w.byRule(oneLine(rule.text), w.ruleFrom(rule.source, rule.from)) : "",
  };
}

function askedLines({ asked }: Receipt, { t }: Style, w: WhyTexts): string[] {
  return asked.flatMap(({ request, approvals, inquiries = [], ...end }) => [
    w.askedAt(timeOf(request.at), oneLine(t.because(request.why).replaceAll("\n", " "))),
    ...[originLines(request, t).join(" · ")].filter(Boolean),
    ...consentLines(request, approvals, t),
    ...inquiries.flatMap((inquiry) => inquiryLines(inquiry, t)),
    ...[endLine({ request, ...end }, t) ?? []].flat(),
  ]);
}

/** A line each: the whole of a reply is in the exports. */
function inquiryLines(inquiry: Inquired, t: Texts): string[] {
  const notes = [madeNote(inquiry, t), replyNote(inquiry, t)].filter((note) => note !== undefined);
  return notes.map(({ line, foreign }) => (foreign === undefined ? line : clipped(oneLine(`${line} ${foreign}`), 120)));
}

function runLines({ runs, effect, standing, decision }: Receipt, { t }: Style, w: WhyTexts): string[] {
  if (runs.length === 0) {
    const told = standing === undefined || standing === "done" || isOpen(standing) || decision !== "allowed";
    return told ? [] : [t.standing[standing]];
  }
  if (effect === "reads" && runs.every(({ ok }) => ok)) return [];
  return runs.map((run, n) => {
    const stands = n === runs.length - 1 && standing !== undefined ? standing : standingOfRun(run);
    const how = stands === "done" ? w.run : t.standing[stands];
    return w.ran(run.confined ? w.confined(how) : how, timeOf(run.startedAt ?? run.endedAt ?? 0));
  });
}
