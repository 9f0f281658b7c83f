import type { Durable, Opened } from "../../journal/durable.ts";
import { Stopped } from "../../journal/session.ts";
import {
  isSameReason,
  reason,
  type Call,
  type InputResponse,
  type Resolution,
  type ToolResult,
  type Verdict,
} from "../../protocol/index.ts";
import type { ExecutionContext } from "../state/context.ts";
import { judgeCall, readyToJudge } from "./judge.ts";
import { perform } from "./perform.ts";
import { addRules, closePermit, endTurnIfSaid, inputOf, openRequest } from "./request.ts";
import { waitForPerson } from "../state/states.ts";
import { notApproved, notRun, refused, withContext, withEnd } from "./words.ts";

type Judged = { verdict: Verdict; asked: Opened | undefined; before: Promise<unknown> | undefined };

/** One call from its verdict to its result. Every way through ends in exactly one `call.finished`. */
export function runCall(durable: Durable, context: ExecutionContext, call: Call, judged: Judged): Promise<ToolResult> {
  // It has its result, whatever else is known of it.
  if (durable.known("done")) return Promise.resolve(durable.decide("done", "call.finished", () => notRun(undefined)));
  return throughPermission(durable, context, call, judged).then(
    (result) => context.memory.remember(result, judged.verdict.effect),
    (error: unknown) => {
      if (!(error instanceof Stopped) || error.why === "leaving") throw error;
      durable.withdraw(error.reason);
      return durable.decide("done", "call.finished", () => notRun(error));
    },
  );
}

async function throughPermission(
  durable: Durable,
  context: ExecutionContext,
  call: Call,
  { verdict, asked, before }: Judged,
): Promise<ToolResult> {
  const finish = (result: ToolResult) => durable.decide("done", "call.finished", () => result);
  let comment: string | undefined;
  let approved = false;
  for (let round = 0; verdict.behavior === "ask"; round++) {
    const opened: Opened = asked ?? openRequest(durable, context, call, verdict, round);
    asked = undefined;
    const resolution = await waitForPerson(context, opened);
    closePermit(context, opened.request.id);
    endTurnIfSaid(durable, resolution, opened.request);
    const tool = context.config.tools.get(call.tool);
    if (tool?.answered && opened.request.kind !== "permission")
      return finish(withEnd(tool.answered(inputOf(tool, call, verdict), resolution), "not-run"));
    const granted = grantOf(resolution);
    if (!granted && resolution.outcome !== "superseded") return finish(notApproved(resolution));
    comment = granted?.comment;
    approved = granted !== undefined;
    if (granted) await addRules(durable, context, granted, { round, by: resolution.by });
    const shown = { ...verdict, digest: opened.request.digest };
    if (granted && !granted.input && !tool?.operand) {
      verdict = { ...shown, behavior: "allow" };
      break;
    }
    await (tool?.operand && before); // an earlier writer of this batch may change the same file
    verdict = await rejudge(durable, call, `judged${round + 1}`, () => {
      const judged = {
        ...judgeCall(context, call, granted?.input ?? shown.input),
        ...(shown.context && { context: shown.context }),
      };
      if (!granted || judged.behavior === "deny") return judged;
      return granted.input ? afterEdit(judged, shown) : ifUnchanged(judged, shown, context);
    });
  }
  if (verdict.behavior === "deny") return finish(withContext(refused(verdict), verdict));
  if (verdict.effect === "writes") await before;
  return perform(durable, context, call, { verdict, comment, approved });
}

function grantOf(resolution: Resolution): (InputResponse & { type: "granted" }) | undefined {
  const response = "response" in resolution ? resolution.response : undefined;
  return response?.type === "granted" ? response : undefined;
}

async function rejudge(durable: Durable, call: Call, key: string, judge: () => Verdict): Promise<Verdict> {
  const { verdicts } = await durable.step(key, "calls.judged", async () => {
    await readyToJudge(call);
    return { verdicts: [judge()] };
  });
  return verdicts[0] as Verdict;
}

/** The edit is the grant, unless a rule refuses it or it raises something only a person may allow and has not seen. */
function afterEdit(judged: Verdict, shown: Verdict): Verdict {
  if (judged.behavior !== "ask" || (judged.hard && !isSameReason(judged.reason, shown.reason))) return judged;
  return { ...judged, behavior: "allow", reason: reason("approved-edited", {}) };
}

/** What runs must be what was approved. A file that this session itself wrote since is no surprise to anyone. */
function ifUnchanged(judged: Verdict, shown: Verdict, context: ExecutionContext): Verdict {
  const ownWrite =
    judged.operand !== undefined &&
    judged.operand === shown.operand &&
    context.memory.wrote(judged.operand) === judged.before;
  if (judged.digest === shown.digest || ownWrite)
    return { ...judged, behavior: "allow", reason: reason("approved-unchanged", {}) };
  return { ...judged, behavior: "ask", reason: reason("changed-since-approval", {}) };
}
