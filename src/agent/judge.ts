import { z } from "zod";
import { judge } from "../permission/judge.ts";
import type { Call, ToolInput, Verdict } from "../protocol/index.ts";
import { canonicalPath } from "../tools/path.ts";
import type { Tool } from "../tools/tool.ts";
import type { ExecutionContext } from "./context.ts";
import { digestOf, hashFile } from "./digest.ts";

/** A skill that narrows the tools leaves these: they touch nothing. */
const harmless = ["AskUserQuestion", "Skill", "TodoWrite"];

/** May this call run? Runs inside a step: the answer is a fact, and replay never comes here again. */
export function judgeCall(c: ExecutionContext, call: Call, edited?: ToolInput): Verdict {
  const tool = c.config.tools.get(call.tool);
  if (!tool) return refuse(`there is no tool "${call.tool}"; the tools are ${c.config.tools.names().join(", ")}`);
  const { allowed } = c.memory;
  if (allowed && !allowed.includes(call.tool) && !harmless.includes(call.tool))
    return refuse(`the skill in use works with ${allowed.join(", ") || "no tools"} only, until the end of the turn`);
  if (call.malformed !== undefined && !edited)
    return refuse(
      `the arguments of ${call.tool} should be one JSON object; got ${JSON.stringify(call.malformed.slice(0, 200))}`,
    );
  const parsed = tool.inputSchema.safeParse(edited ?? call.input);
  if (!parsed.success) return refuse(`the input of ${call.tool} does not fit: ${z.prettifyError(parsed.error)}`);
  if (tool.requiresUserInteraction && c.agent.length > 0 && !c.asksRoot)
    return refuse(
      `${call.tool} is not available to a subagent: only the main agent may ask the person. Report what you need to know instead.`,
    );
  return judgeInput(c, tool, parsed.data as ToolInput, edited);
}

function judgeInput(c: ExecutionContext, tool: Tool, input: ToolInput, edited: ToolInput | undefined): Verdict {
  const { config, options } = c;
  const where = { cwd: options.workingDirectory, home: config.home, roots: config.roots, mode: config.permissionMode };
  const result = judge({
    rules: c.sessionRules.length > 0 ? [...config.rules, ...c.sessionRules] : config.rules,
    mode: config.permissionMode,
    cwd: where.cwd,
    home: where.home,
    real: realPath(c),
    tool: { name: tool.name, requiresUserInteraction: tool.requiresUserInteraction ?? false },
    specifier: tool.specifier?.(input, where),
    check: () => tool.checkPermissions?.(input, where) ?? { behavior: "passthrough", reason: "" },
  });
  const file = operandOf(c, tool, input);
  return {
    ...result,
    behavior: result.behavior === "passthrough" ? "ask" : result.behavior,
    effect: tool.effect,
    digest: digestOf(tool, schemaOf(c, tool), input, file),
    ...(file && { operand: file.path, before: file.hash }),
    ...(edited && { input: edited }),
  };
}

/** Is this, right now, what the digest stands for? */
export function isStill(c: ExecutionContext, tool: Tool, input: ToolInput, digest: string): boolean {
  return digestOf(tool, schemaOf(c, tool), input, operandOf(c, tool, input)) === digest;
}

/** After every link: an allow rule must cover where a path leads as well as what it says. */
export function realPath(c: ExecutionContext): (path: string) => string {
  return (path) => canonicalPath(path, c.options.workingDirectory).real;
}

function operandOf(c: ExecutionContext, tool: Tool, input: ToolInput): { path: string; hash: string } | undefined {
  const path = tool.operand?.(input, { cwd: c.options.workingDirectory });
  return path === undefined ? undefined : { path, hash: hashFile(path) };
}

function schemaOf({ config }: ExecutionContext, tool: Tool): () => unknown {
  return () => config.tools.offers().find(({ name }) => name === tool.name)?.inputSchema;
}

function refuse(reason: string): Verdict {
  return { behavior: "deny", reason, effect: "reads", digest: "" };
}
