import type { GuestAsk } from "../../guest/driver.ts";
import type { StepScope } from "../../journal/session/durable.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import type { Call } from "../../protocol/facts/message.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { Tool } from "../../tools/definition/tool.ts";
import { isAsShown } from "../call/judge/drift.ts";
import { judgeCall, judgeHooked, readyToJudge } from "../call/judge/judge.ts";
import type { Judging, Tools } from "../state/context.ts";
import { guestDigest } from "./book.ts";

/** Tools of Sage by which a guest's calls may be judged. What a guest calls `Skill` or `Task` is its own. */
const shared = new Set(["Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebFetch", "WebSearch"]);

/** The tools that a guest's calls are judged by: Sage's own where the guest has the same, and for every other name one that may do anything. */
export function guestTools(tools: ToolRegistry): ToolRegistry {
  const others = new Map<string, Tool>();
  const foreign = (name: string): Tool => {
    const known = others.get(name) ?? {
      name,
      description: "",
      inputSchema: anything,
      effect: "writes",
      execute: never,
    };
    others.set(name, known);
    return known;
  };
  return { ...tools, get: (name) => (shared.has(name) ? tools.get(name) : undefined) ?? foreign(name) };
}

const anything = z.record(z.string(), z.unknown());
const never = (): never => {
  throw new Error("a guest runs its tools itself");
};

/** Judges a guest's call like our own. `before`: it ran already, or may have; only a person who is shown that may allow it. */
export async function judgeGuestCall(
  context: Judging,
  ask: GuestAsk,
  { agent, scope, before }: { agent: string; scope: StepScope; before: "unknown" | "forgotten" | undefined },
): Promise<Verdict> {
  const { call } = ask;
  const digest = guestDigest(call);
  const asks = reason(ask.untold ? "guest-asks-untold" : "guest-asks", {
    agent,
    tool: call.tool,
    ...(ask.why !== undefined && { words: ask.why }),
  });
  const person: Verdict = { behavior: "ask", reason: asks, effect: "writes", digest };
  if (ask.questions) return { ...person, effect: "waits", hard: true, reason: reason("asks-person", {}) };
  if (context.memory.refused(call))
    return { ...person, behavior: "deny", repeated: true, reason: reason("refused-before", {}) };
  const verdicts: Verdict[] = [];
  for (const call of meant(ask)) verdicts.push(await judgeHooked(context, call, { scope, settled: false }));
  const verdict = { ...together(verdicts.map((each) => (isUnfit(each) ? person : each))), digest };
  // A guest that asks about a tool which Sage does not know is answered by a person, unless nobody is to be asked about anything.
  const unruled =
    ask.judged.length === 0 && verdict.allowedBy === undefined && context.config.permissionMode !== "bypass";
  const weighed: Verdict =
    verdict.behavior === "allow" && (unruled || ask.insists) ? { ...verdict, ...person } : verdict;
  return withGrant(context, before ? asRerun(weighed, { agent, before }) : weighed);
}

/** No rule, mode or standing order lets a call run a second time. */
function asRerun(verdict: Verdict, { agent, before }: { agent: string; before: "unknown" | "forgotten" }): Verdict {
  if (verdict.behavior === "deny" || verdict.effect === "reads") return verdict;
  const why = verdict.behavior === "ask" && { why: verdict.reason };
  const { allowedBy: _, ...asked } = verdict;
  return { ...asked, behavior: "ask", hard: true, reason: reason("guest-may-have-run", { agent, before, ...why }) };
}

/** Judges a call again after a person allowed it, perhaps with edited input: a rule added since then can still refuse it. */
export async function judgeApproved(
  context: Judging,
  ask: Pick<GuestAsk, "call" | "judged">,
  edited: ToolInput | undefined,
): Promise<Verdict> {
  const approved = { ...context, approved: true };
  const verdicts: Verdict[] = [];
  for (const call of meant(ask)) {
    await readyToJudge(call, context);
    const fields = Object.keys(call.input);
    const input = edited && Object.fromEntries(fields.map((name) => [name, edited[name] ?? call.input[name]]));
    verdicts.push(judgeCall(approved, call, input));
  }
  return together(verdicts.filter((each) => !isUnfit(each)));
}

/** The calls in Sage's words that this one stands for. */
export function meant({ call, judged }: Pick<GuestAsk, "call" | "judged">): Call[] {
  return judged.length === 0 ? [call] : judged.map(({ tool, input }) => ({ ...call, tool, input }));
}

/** Sage's schemas are strict, and a guest's tools grow: a call that they do not take is for a person to read. */
function isUnfit({ digest, repeated }: Verdict): boolean {
  return digest === "" && !repeated;
}

const order = ["deny", "ask", "allow"] as const;

/** The strictest verdict on the things that one call does holds for all of it. */
function together(verdicts: readonly Verdict[]): Verdict {
  const ranked = [...verdicts].sort(
    (left, right) =>
      order.indexOf(left.behavior) - order.indexOf(right.behavior) ||
      Number(right.hard ?? false) - Number(left.hard ?? false),
  );
  const first = ranked[0] ?? {
    behavior: "ask",
    reason: reason("guest-asks", { agent: "", tool: "" }),
    effect: "writes",
    digest: "",
  };
  const parts = ranked.flatMap((verdict) => verdict.parts ?? []);
  return parts.length > 0 ? { ...first, parts } : first;
}

/** A yes that the guest did not live to use, once. */
function withGrant({ memory }: Tools, verdict: Verdict): Verdict {
  const granted = verdict.behavior === "ask" ? memory.takeGrant((digest) => digest === verdict.digest) : undefined;
  if (!granted || !isAsShown(verdict, granted.shown)) return verdict;
  const why = reason("approved-earlier", { request: granted.request.id });
  return { ...verdict, behavior: "allow", allowedBy: "person", reason: why };
}
