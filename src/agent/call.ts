import { ask } from "../input/ask.ts";
import { settle } from "../input/respond.ts";
import type { Durable, Opened } from "../journal/durable.ts";
import { Stopped } from "../journal/session.ts";
import { suggest } from "../permission/suggest.ts";
import type { Call, InputResponse, NewRequest, Resolution, ToolInput, ToolResult, Verdict } from "../protocol/index.ts";
import type { Tool } from "../tools/tool.ts";
import type { ExecutionContext } from "./context.ts";
import { judgeCall } from "./judge.ts";
import { perform } from "./perform.ts";
import { notApproved, notRun, refused } from "./words.ts";

type Judged = { verdict: Verdict; asked: Opened | undefined; before: Promise<unknown> | undefined };

/** One call from its verdict to its result. Every way through ends in exactly one `call.finished`. */
export async function runCall(d: Durable, c: ExecutionContext, call: Call, judged: Judged): Promise<ToolResult> {
  try {
    return await throughPermission(d, c, call, judged);
  } catch (error) {
    if (!(error instanceof Stopped) || error.why === "leaving") throw error;
    return d.decide("done", "call.finished", () => notRun(error));
  }
}

async function throughPermission(d: Durable, c: ExecutionContext, call: Call, { verdict, asked, before }: Judged): Promise<ToolResult> {
  const finish = (result: ToolResult) => d.decide("done", "call.finished", () => result);
  let comment: string | undefined;
  for (let round = 0; verdict.behavior === "ask"; round++) {
    const opened: Opened = asked ?? openRequest(d, c, call, verdict, round);
    asked = undefined;
    const resolution = await opened.wait();
    c.permits.delete(opened.request.id);
    endTurnIfSaid(d, resolution, opened);
    const tool = c.config.tools.get(call.tool);
    if (tool?.answered && opened.request.kind !== "permission") return finish(tool.answered(inputOf(tool, call, verdict), resolution));
    const next = `judged${round + 1}`;
    if (resolution.outcome === "superseded") {
      verdict = await rejudge(d, next, () => judgeCall(c, call, verdict.input));
      continue;
    }
    const response: InputResponse | undefined = "response" in resolution ? resolution.response : undefined;
    if (response?.type !== "granted") return finish(notApproved(resolution));
    comment = response.comment;
    addRules(d, c, response, { round, by: resolution.by });
    const shown = verdict;
    if (response.input) verdict = await rejudge(d, next, () => afterEdit(judgeCall(c, call, response.input), shown));
    else if (tool?.operand) {
      await before; // an earlier writer of this batch may change the same file
      verdict = await rejudge(d, next, () => afterDrift(judgeCall(c, call, shown.input), shown, c));
    } else break;
  }
  if (verdict.behavior === "deny") return finish(refused(verdict));
  if (verdict.effect === "writes") await before;
  return perform(d, c, call, { verdict, comment });
}

async function rejudge(d: Durable, key: string, judge: () => Verdict): Promise<Verdict> {
  const { verdicts } = await d.step(key, "calls.judged", async () => ({ verdicts: [judge()] }));
  return verdicts[0] as Verdict;
}

/** The edit is the grant, unless a rule refuses it or it raises something only a person may allow and has not seen. */
function afterEdit(judged: Verdict, shown: Verdict): Verdict {
  if (judged.behavior !== "ask" || (judged.hard && judged.reason !== shown.reason)) return judged;
  return { ...judged, behavior: "allow", reason: "approved with this input" };
}

/** What runs must be what was approved. A file that this session itself changed since is no surprise to anyone. */
function afterDrift(judged: Verdict, shown: Verdict, c: ExecutionContext): Verdict {
  if (judged.digest === shown.digest || [...c.seen.values()].includes(judged.before ?? "")) return { ...shown, behavior: "allow", reason: "approved, and unchanged since" };
  return judged.behavior === "deny" ? judged : { ...judged, behavior: "ask", reason: "the file changed after this was approved" };
}

function endTurnIfSaid(d: Durable, resolution: Resolution, { request }: Opened): void {
  if (resolution.outcome === "cancelled") d.stop(new Stopped("cancelled", resolution.reason));
  if (resolution.outcome !== "timed_out" || resolution.response) return;
  d.stop(new Stopped(request.deadline?.policy === "cancel" ? "cancelled" : "timeout", resolution.reason));
}

/** Saves the rules a person gave with a grant, and judges what else is open again: one "always" answers its twins. */
function addRules(d: Durable, c: ExecutionContext, { rules = [] }: InputResponse & { type: "granted" }, { round, by }: { round: number; by: string }): void {
  rules.forEach((grant, n) => {
    const rule = d.decide(`rule${round}.${n}`, "rule.added", () => ({ ...grant, by }));
    c.sessionRules.push({ behavior: rule.behavior, text: rule.rule, source: rule.destination });
  });
  if (rules.length === 0) return;
  for (const [id, { request, judge }] of c.permits) {
    const verdict = judge();
    if (verdict.behavior === "ask") continue;
    c.permits.delete(id);
    const reason = `decided by the new rule ${verdict.rule ?? ""}`;
    settle(c.asking.store, request, { requestId: id, by, surface: "rule", at: Date.now(), outcome: "superseded", reason });
  }
}

export function openRequest(d: Durable, c: ExecutionContext, call: Call, verdict: Verdict, round: number): Opened {
  const tool = c.config.tools.get(call.tool) as Tool;
  const input = inputOf(tool, call, verdict);
  const frame = { agent: c.agent, why: verdict.reason, digest: verdict.digest };
  if (tool.request) return ask(d, `ask${round}`, { ...frame, source: "tool", ...tool.request(input) }, c.asking);
  const request: NewRequest = { ...frame, source: "approval", kind: "permission", tool: tool.name, input, hard: verdict.hard ?? false, suggestions: [] };
  if (verdict.parts) request.parts = verdict.parts;
  if (typeof input["description"] === "string") request.description = input["description"];
  const specifier = tool.specifier?.(input, { cwd: c.options.workingDirectory });
  if (!request.hard && specifier !== undefined) request.suggestions = suggest(tool.name, specifier);
  const opened = ask(d, `permit${round}`, request, c.asking);
  if (!opened.resolution) c.permits.set(opened.request.id, { request: opened.request, judge: () => judgeCall(c, call, verdict.input) });
  return opened;
}

function inputOf(tool: Tool, call: Call, verdict: Verdict): ToolInput {
  return tool.inputSchema.parse(verdict.input ?? call.input) as ToolInput;
}

