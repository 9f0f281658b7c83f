import type { RuleSource } from "../protocol/decision.ts";
import type { Fact, FactData } from "../protocol/facts/fact.ts";
import type { Resolution } from "../protocol/facts/request.ts";
import type { Receipt } from "../protocol/host/receipt.ts";
import { callOfKey, requestId } from "../protocol/key.ts";
import { reasonFrom } from "../protocol/reasons/reason.ts";
import type { AskedItem, CallItem } from "../view/transcript/item.ts";
import { isOpen } from "../view/transcript/standing.ts";
import { transcriptOf } from "../view/transcript/transcript.ts";

/** A receipt for each call of a session, and for each question of Sage's own, in the order in which they were decided. */
export function receiptsOf(facts: readonly Fact[], ruleFile: (source: RuleSource) => string | undefined): Receipt[] {
  const session = facts[0]?.session ?? "";
  const givenBy = (rule: string) =>
    facts.findLast((fact) => fact.type === "rule.added" && fact.data.rule === rule) as Fact<"rule.added"> | undefined;
  const from = (rule: string, source: RuleSource) =>
    source === "session" ? (givenBy(rule)?.data.by ?? ruleFile(source)) : ruleFile(source);
  const changes = changesIn(facts);
  return transcriptOf(facts)
    .flatMap((item) => {
      if (item.type === "call")
        return item.judgedAt === undefined ? [] : [{ ...ofCall(session, item, from), ...changes(item.key) }];
      return item.type === "asked" && item.call === undefined ? [ofQuestion(session, item)] : [];
    })
    .sort((left, right) => left.at - right.at);
}

/** Rules that went with an answer, and whoever undid what came with it. */
function changesIn(facts: readonly Fact[]): (call: string) => Pick<Receipt, "rulesRemoved" | "undone"> {
  const removed = new Map<string, FactData["rule.removed"][]>();
  const undone = new Map<string, Receipt["undone"]>();
  for (const { type, key, at, data } of facts) {
    if (type !== "rule.removed" && type !== "rule.added" && type !== "mode.chosen") continue;
    if (data.undoes !== undefined) undone.set(data.undoes, { by: data.by, surface: data.surface ?? "", at });
    else if (type === "rule.removed" && callOfKey(key) !== undefined)
      removed.set(callOfKey(key)!, [...(removed.get(callOfKey(key)!) ?? []), data]);
  }
  return (call) => ({
    ...(removed.has(call) && { rulesRemoved: removed.get(call)! }),
    ...(undone.has(call) && { undone: undone.get(call)! }),
  });
}

/** Did the call change this file, or a folder that contains it? */
export function changed({ files, runs }: Receipt, path: string): boolean {
  return runs.length > 0 && files.some((file) => file === path || path.startsWith(`${file}/`));
}

function ofCall(
  session: string,
  item: CallItem,
  from: (rule: string, source: RuleSource) => string | undefined,
): Receipt {
  const { verdict, judgedAt = 0, changed, result, runs } = item;
  const { rule, source, parts = [], operand } = verdict ?? {};
  const file = rule !== undefined && source !== undefined ? from(rule, source) : undefined;
  const writes = parts.flatMap((part) => part.writes?.map(({ path }) => path) ?? []);
  const files = [...new Set([...(operand === undefined ? [] : [operand]), ...writes])];
  const seen = runs.length > 0 ? (result?.seen ?? {}) : {};
  return {
    id: requestId(session, item.key),
    session,
    at: judgedAt,
    agent: [...item.agent],
    tool: item.call.tool,
    input: item.input,
    ...(changed && { changed }),
    standing: item.standing,
    effect: verdict?.effect ?? "reads",
    decision: decisionOf(item),
    reason: reasonFrom(verdict?.reason ?? ""),
    ...(rule !== undefined &&
      source !== undefined && { rule: { text: rule, source, ...(file !== undefined && { from: file }) } }),
    asked: item.asked,
    rulesAdded: item.rules,
    digest: verdict?.digest ?? "",
    files,
    runs,
    ...(result?.blocked && { blocked: result.blocked }),
    left: Object.fromEntries(files.flatMap((path) => (seen[path] === undefined ? [] : [[path, seen[path]]]))),
  };
}

/** Asked by Sage itself or from outside: no tool of Sage's is behind it, so no rule is ever suggested or tried by its answer. */
function ofQuestion(session: string, { key, at, request, approvals, resolution }: AskedItem): Receipt {
  return {
    id: requestId(session, key),
    session,
    at,
    agent: [...request.agent],
    tool: "",
    input: {},
    effect: "waits",
    decision: resolution ? decided(resolution) : "open",
    reason: reasonFrom(request.why),
    asked: [{ request, ...(approvals && { approvals }), ...(resolution && { resolution }) }],
    rulesAdded: [],
    digest: "",
    files: [],
    runs: [],
    left: {},
  };
}

function decided(resolution: Resolution): Receipt["decision"] {
  if (resolution.outcome === "superseded" && resolution.reason.code === "answered-there") {
    const { allowed } = resolution.reason.args;
    return allowed === undefined ? "answered" : allowed ? "allowed" : "refused";
  }
  const response = "response" in resolution ? resolution.response : undefined;
  if (!response || response.type === "denied") return "refused";
  return response.type === "granted" ? "allowed" : "answered";
}

/** The last word on whether it may run: a verdict, or a person's where one was asked. */
function decisionOf({ verdict, asked, standing }: CallItem): Receipt["decision"] {
  if (verdict?.behavior !== "ask") return verdict?.behavior === "deny" ? "refused" : "allowed";
  const last = asked.at(-1);
  const end = last?.resolution;
  // A request that a rule made moot is judged again, and that verdict follows.
  if (!last || !end) return "open";
  if (end.outcome === "superseded") return isOpen(standing) ? "open" : "refused"; // it ended without an answer and never ran
  const response = "response" in end ? end.response : undefined;
  if (last.request.kind !== "permission") return response ? "answered" : "refused";
  return response?.type === "granted" ? "allowed" : "refused";
}
