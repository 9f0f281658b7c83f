import { Stopped } from "../../../journal/session/session.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Call } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import type { Tools } from "../../state/context.ts";

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
