import { Stopped } from "../../../journal/session/session.ts";
import { isPromised, type Awaitable } from "../../../journal/store/store.ts";
import { checkOpinion, judge } from "../../../permission/decide.ts";
import { openDisk } from "../../../permission/paths/canonical.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Call } from "../../../protocol/facts/message.ts";
import type { PermissionOpinion, Verdict } from "../../../protocol/facts/permission.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import type { Judging, Tools } from "../../state/context.ts";
import type { Case } from "./judge.ts";
import { decisionInput, permissionContext, type View } from "./decision-input.ts";

type Checked = { tool: Tool; input: ToolInput };

/** A skill that narrows the tools leaves these: they touch nothing. */
const harmless = ["AskUserQuestion", "Skill", "TodoWrite"];

/** The tool's own check, waited for where the tool looks something up. */
export function hearTool(at: Case): Awaitable<Case> {
  const checked = check(at);
  if ("refused" in checked) return { ...at, check: checked };
  const { checkPermissions, addresses } = checked.tool;
  return checkPermissions || addresses ? heard(at, checked) : withCheck(at, checked);
}

/** The same at once, with the opinion that the tool had before. */
export function checkTool(at: Case): Case {
  const checked = check(at);
  return "refused" in checked ? { ...at, check: checked } : withCheck(at, checked);
}

/** Is there such a tool, may this agent use it, and does it take the input? */
function check({ question: { context, call }, edited }: Case): Checked | { refused: Reason } {
  const { config, memory } = context;
  const tool = config.tools.get(call.tool);
  const needsPerson = tool?.requiresUserInteraction ?? call.tool === "AskUserQuestion";
  if (needsPerson && context.agent.length > 0 && !context.asksRoot)
    return { refused: reason("subagent-may-not-ask", { tool: call.tool }) };
  if (!tool) return { refused: reason("unknown-tool", { tool: call.tool, tools: config.tools.names() }) };
  const { allowed } = memory;
  if (allowed && !allowed.includes(call.tool) && !harmless.includes(call.tool))
    return { refused: reason("skill-limits-tools", { tools: allowed }) };
  if (call.malformed !== undefined && !edited) {
    const text = JSON.stringify(call.malformed.slice(0, 200));
    return { refused: reason("malformed-arguments", { tool: call.tool, text }) };
  }
  const parsed = memory.parse(tool, edited ?? call.input);
  if (!parsed.ok) return { refused: reason("unfit-input", { tool: call.tool, problem: parsed.problem }) };
  return { tool, input: parsed.input };
}

function withCheck(at: Case, { tool, input }: Checked, view?: View): Case {
  const disk = openDisk();
  const decision = checkOpinion(decisionInput(at.question.context, tool, input, view, disk));
  return { ...at, check: { tool, input, disk }, decision };
}

async function heard(at: Case, { tool, input }: Checked): Promise<Case> {
  const { context, signal } = at.question;
  const view = tool.checkPermissions && (await hearOut(context, tool, input, signal));
  if (tool.addresses) await lookUp(context, tool, input, { view, signal });
  return withCheck(at, { tool, input }, view);
}

/** Looks up where a call would connect to, unless that alone would tell a name to the network that nobody has allowed. */
async function lookUp(
  context: Judging,
  tool: Tool,
  input: ToolInput,
  { view, signal }: { view: View; signal: AbortSignal },
): Promise<void> {
  const { behavior } = judge(decisionInput(context, tool, input, view)).result;
  if (behavior !== "allow" && !(behavior === "ask" && context.approved === true)) return;
  using _working = context.activity.begin();
  // A name that cannot be looked up now cannot be fetched either: running it will tell.
  const looked = (async () => tool.addresses!(input, signal))();
  const addresses = await orAborted(looked, signal).catch(() => undefined);
  signal.throwIfAborted();
  if (addresses) context.memory.keepAddresses(input, addresses);
}

/** The opinion of a tool, waited for where it is promised. It throws what the check throws: that makes a hard ask. */
async function hearOut(
  context: Judging,
  tool: Tool,
  input: ToolInput,
  signal: AbortSignal,
): Promise<() => PermissionOpinion> {
  using _working = context.activity.begin();
  const view = await settled(() => tool.checkPermissions!(input, permissionContext(context, tool, signal)), signal);
  // Rules to offer are tried with it, and other requests are judged again by it, where nobody can wait.
  if (view.promised) context.memory.keepOpinion(input, view.opinion);
  return view.opinion;
}

async function settled(
  check: () => PermissionOpinion | Promise<PermissionOpinion>,
  signal: AbortSignal,
): Promise<{ opinion: () => PermissionOpinion; promised: boolean }> {
  let promised = false;
  try {
    const opinion = check();
    promised = isPromised(opinion);
    const heard = isPromised(opinion) ? await orAborted(Promise.resolve(opinion), signal) : opinion;
    return { opinion: () => heard, promised };
  } catch (error) {
    signal.throwIfAborted();
    const fail = () => {
      throw error;
    };
    return { opinion: fail, promised };
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const aborted = () => fail(signal.reason as Error);
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    work.then(done, fail).finally(() => signal.removeEventListener("abort", aborted));
  });
}

/** A turn that continued without one of its tools would go wrong; it waits until the tool is back. */
export function toolFor(context: Tools, call: Call): Tool {
  const tool = context.config.tools.get(call.tool);
  if (tool) return tool;
  throw new Stopped("leaving", reason("tool-missing", { tool: call.tool }));
}

/** It was judged by what the tool took then; a skill or a subagent may be gone since, and the turn waits for it as for a tool. */
export function inputOf(context: Tools, tool: Tool, call: Call, verdict: Verdict): ToolInput {
  const sent = verdict.input ?? call.input;
  const parsed = context.memory.parse(tool, sent);
  if (parsed.ok) return parsed.input;
  throw new Stopped("leaving", reason("tool-unfit", { tool: call.tool, problem: parsed.problem }));
}
