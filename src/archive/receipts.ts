import {
  callKey,
  callOfKey,
  callsOf,
  isRunKey,
  parentCallOfKey,
  reasonFrom,
  requestId,
  said,
  splitRequestId,
  stepOfKey,
  type Call,
  type Effect,
  type Fact,
  type FactData,
  type InputRequest,
  type Reason,
  type Resolution,
  type RuleDestination,
  type ToolInput,
  type Verdict,
} from "../protocol/index.ts";

/** The decision about one call, by whom or by which rule, and its consequences. */
export type Receipt = {
  /** Session, turn, step and call: `k7f3q2mz/t0/3/1`. */
  id: string;
  session: string;
  /** When it was judged. */
  at: number;
  /** Names of the agents from the root's child down to the one that called. */
  agent: string[];
  tool: string;
  /** The input that ran, or would have. */
  input: ToolInput;
  effect: Effect;
  decision: "allowed" | "refused" | "answered" | "open";
  reason: Reason;
  rule?: {
    text: string;
    source: RuleDestination;
    /** Of the settings file, or of who gave it in this session. */ from?: string;
  };
  /** Everything a person was asked on the way, with how it ended. */
  asked: { request: InputRequest; resolution?: Resolution }[];
  rulesAdded: FactData["rule.added"][];
  /** Hash of the input that the approval was bound to. */
  digest: string;
  /** Files it changes, by their real paths. */
  files: string[];
  runs: { startedAt?: number; endedAt?: number; ok?: boolean; unknown?: true }[];
  /** sha-256 of the files as it left them. */
  left: Record<string, string>;
};

/** Folds the facts of one session into a receipt for each call, in the order in which they were judged. */
export function receiptsOf(
  facts: readonly Fact[],
  ruleFile: (source: RuleDestination) => string | undefined,
): Receipt[] {
  const calls = new Map<string, { call: Call; agent: string[] }>();
  const receipts = new Map<string, Receipt>();
  const of = (key: string) => receipts.get(callOfKey(key) ?? "");
  const from = (rule: string, source: RuleDestination) => {
    const added = facts.findLast((fact) => fact.type === "rule.added" && fact.data.rule === rule);
    return source === "session" && added?.type === "rule.added" ? added.data.by : ruleFile(source);
  };
  const judge = (fact: Fact, key: string, verdict: Verdict) => {
    const known = receipts.get(key);
    const made = calls.get(key);
    if (!known && !made) return;
    const before = known ?? begin(fact, key, made as { call: Call; agent: string[] });
    receipts.set(key, { ...before, ...judged(verdict, before.input, from) });
  };
  for (const fact of facts) {
    switch (fact.type) {
      case "model.replied":
        for (const [n, call] of callsOf(fact.data).entries())
          calls.set(callKey(stepOfKey(fact.key) ?? "", n), { call, agent: agentOf(fact.key, calls) });
        break;
      case "calls.judged": {
        const alone = callOfKey(fact.key);
        const step = stepOfKey(fact.key) ?? "";
        for (const [n, verdict] of fact.data.verdicts.entries()) judge(fact, alone ?? callKey(step, n), verdict);
        break;
      }
      case "input.requested": {
        const receipt = of(fact.key) ?? standalone(fact);
        receipt.asked.push({ request: fact.data });
        if (fact.data.kind === "permission") receipt.decision = "open";
        receipts.set(splitRequestId(receipt.id).key, receipt);
        break;
      }
      case "input.resolved":
        for (const receipt of receipts.values()) {
          const asked = receipt.asked.find(({ request }) => request.id === fact.data.requestId);
          if (asked) settle(receipt, asked, fact.data);
        }
        break;
      case "rule.added":
        of(fact.key)?.rulesAdded.push(fact.data);
        break;
      case "call.started":
        of(fact.key)?.runs.push({ startedAt: fact.at });
        break;
      case "call.finished": {
        const receipt = of(fact.key);
        if (!receipt || !isRunKey(fact.key)) break;
        const { ok, seen = {} } = fact.data;
        const open = receipt.runs.find((run) => run.endedAt === undefined && !run.unknown);
        if (open) Object.assign(open, { endedAt: fact.at, ok });
        else receipt.runs.push({ endedAt: fact.at, ok });
        for (const file of receipt.files) if (seen[file] !== undefined) receipt.left[file] = seen[file];
        break;
      }
      case "call.unknown": {
        const open = of(fact.key)?.runs.at(-1);
        if (open && open.endedAt === undefined) open.unknown = true;
        break;
      }
      default:
    }
  }
  return [...receipts.values()];
}

/** Did it do something to this file, or to a folder that holds it? */
export function changed({ files, runs }: Receipt, path: string): boolean {
  return runs.length > 0 && files.some((file) => file === path || path.startsWith(`${file}/`));
}

function begin(fact: Fact, key: string, { call, agent }: { call: Call; agent: string[] }): Receipt {
  return {
    ...blank(fact, key),
    agent,
    tool: call.tool,
    input: call.input,
  };
}

/** A question of Sage's own, such as whether to go on with an agent that repeats itself. */
function standalone(fact: Fact<"input.requested">): Receipt {
  return { ...blank(fact, fact.key), agent: [...fact.data.agent], reason: said(fact.data.why), effect: "waits" };
}

function blank({ session, at }: Fact, key: string): Receipt {
  return {
    id: requestId(session, key),
    session,
    at,
    agent: [],
    tool: "",
    input: {},
    effect: "reads",
    decision: "open",
    reason: said(""),
    asked: [],
    rulesAdded: [],
    digest: "",
    files: [],
    runs: [],
    left: {},
  };
}

function judged(
  { behavior, reason, rule, source, digest, effect, operand, parts = [], input }: Verdict,
  before: ToolInput,
  from: (rule: string, source: RuleDestination) => string | undefined,
): Partial<Receipt> {
  const file = rule !== undefined && source !== undefined ? from(rule, source) : undefined;
  const writes = parts.flatMap((part) => part.writes?.map(({ path }) => path) ?? []);
  return {
    decision: behavior === "allow" ? "allowed" : behavior === "deny" ? "refused" : "open",
    reason: reasonFrom(reason),
    effect,
    digest,
    input: input ?? before,
    files: [...new Set([...(operand === undefined ? [] : [operand]), ...writes])],
    ...(rule !== undefined &&
      source !== undefined && { rule: { text: rule, source, ...(file !== undefined && { from: file }) } }),
  };
}

function settle(receipt: Receipt, asked: Receipt["asked"][number], resolution: Resolution): void {
  asked.resolution = resolution;
  const response = "response" in resolution ? resolution.response : undefined;
  if (asked.request.kind !== "permission") {
    if (receipt.decision === "open") receipt.decision = response ? "answered" : "refused";
    return;
  }
  // A call whose request a rule made moot is judged again, and that verdict follows.
  if (resolution.outcome === "superseded") return;
  receipt.decision = response?.type === "granted" ? "allowed" : "refused";
  if (response?.type === "granted" && response.input) receipt.input = response.input;
}

/** A subagent's calls lie below the call that began it. */
function agentOf(key: string, calls: ReadonlyMap<string, { call: Call; agent: string[] }>): string[] {
  const task = calls.get(parentCallOfKey(key) ?? "");
  return task ? [...task.agent, String(task.call.input["agent"])] : [];
}
