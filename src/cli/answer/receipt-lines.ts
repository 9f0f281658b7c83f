import { oneLine } from "../../base/visible.ts";
import type { Inquired } from "../../protocol/facts/inquiry.ts";
import { isOutsideSession } from "../../protocol/host/outside.ts";
import type { Receipt } from "../../protocol/host/receipt.ts";
import type { Style } from "../../view/lines/paint.ts";
import { blockedNames } from "../../texts/reasons/confine.ts";
import { changeLine, headline, timeOf } from "../../texts/shared/resolution.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import { consentLines } from "../../view/request/consent.ts";
import { madeNote, replyNote } from "../../view/inquiry.ts";
import { clipped, exact, fitted } from "../../view/lines/safe.ts";
import { isOpen, standingOfRun } from "../../view/transcript/standing.ts";
import { nameOf, summaryOf } from "../../view/items/summary.ts";
import type { WhyTexts } from "../../texts/commands/why.ts";

/** Lines about one call: its input, who decided, and how it stands. */
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
  return asked.flatMap(({ request, approvals, inquiries = [], resolution }) => [
    w.askedAt(timeOf(request.at), oneLine(t.because(request.why).replaceAll("\n", " "))),
    ...consentLines(request, approvals, t),
    ...inquiries.flatMap((inquiry) => inquiryLines(inquiry, t)),
    ...(resolution ? [headline(resolution, t, undefined, request)] : []),
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
