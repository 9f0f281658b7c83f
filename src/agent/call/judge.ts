import { z } from "zod";
import { decide } from "../../permission/decide.ts";
import type { DecisionInput } from "../../permission/decide.ts";
import { loadedGrammar, loadGrammar } from "../../permission/shell/read/grammar.ts";
import type { Call, Rule, ToolInput, Verdict } from "../../protocol/index.ts";
import type { Tool, ToolPlace } from "../../tools/tool.ts";
import type { ExecutionContext } from "../state/context.ts";
import { digestOf, hashFile } from "../state/digest.ts";
import { grantedUnder } from "../state/memory.ts";

/** A skill that narrows the tools leaves these: they touch nothing. */
const harmless = ["AskUserQuestion", "Skill", "TodoWrite"];

/** What has to be there before a call is judged, which itself never waits. */
export async function readyToJudge({ tool }: Call): Promise<void> {
  if (tool === "Bash") await loadGrammar();
}

/** May this call run? Runs inside a step: the answer is a fact, and replay never comes here again. */
export function judgeCall(c: ExecutionContext, call: Call, edited?: ToolInput): Verdict {
  const tool = c.config.tools.get(call.tool);
  if ((tool?.requiresUserInteraction ?? call.tool === "AskUserQuestion") && c.agent.length > 0 && !c.asksRoot)
    return refuse(
      `${call.tool} is not available to a subagent: only the main agent may ask the person. Report what you need to know instead`,
    );
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
  return judgeInput(c, tool, parsed.data as ToolInput, edited);
}

function judgeInput(c: ExecutionContext, tool: Tool, input: ToolInput, edited: ToolInput | undefined): Verdict {
  const result = decide(decisionInput(c, tool, input));
  const file = operandOf(c, tool, input);
  const digest = digestOf(tool, schemaOf(c, tool), input, file);
  const behavior = result.behavior === "passthrough" ? "ask" : result.behavior;
  const grant = behavior === "ask" ? c.memory.takeGrant(digest) : undefined;
  return {
    ...result,
    behavior,
    effect: tool.effect,
    digest,
    ...(grant !== undefined && { behavior: "allow", reason: grantedUnder(grant) }),
    ...(file && { operand: file.path, before: file.hash }),
    ...(edited && { input: edited }),
  };
}

/** Is this, right now, what the digest stands for? */
export function isStill(c: ExecutionContext, tool: Tool, input: ToolInput, digest: string): boolean {
  return digestOf(tool, schemaOf(c, tool), input, operandOf(c, tool, input)) === digest;
}

export function decisionInput(c: ExecutionContext, tool: Tool, input: ToolInput): DecisionInput {
  const { permissionMode: mode, roots } = c.config;
  const place = placeOf(c);
  return {
    rules: rulesOf(c),
    mode,
    ...place,
    anchor: anchorOf(c),
    roots,
    tool: tool.name,
    input,
    requiresUserInteraction: tool.requiresUserInteraction,
    specifier: tool.specifier?.(input, place),
    view: tool.checkPermissions && (() => tool.checkPermissions!(input, { ...place, roots, mode })),
    grammar: loadedGrammar(),
  };
}

const joined = new WeakMap<readonly Rule[], { of: readonly Rule[]; rules: readonly Rule[] }>();

/** The same list as long as there are the same rules: what was made of it once is found again by it. */
export function rulesOf({ config: { rules }, sessionRules }: ExecutionContext): readonly Rule[] {
  if (sessionRules.length === 0) return rules;
  let known = joined.get(sessionRules);
  if (known?.of !== rules || known.rules.length !== rules.length + sessionRules.length)
    joined.set(sessionRules, (known = { of: rules, rules: [...rules, ...sessionRules] }));
  return known.rules;
}

/** A subagent may work elsewhere, and rules still mean the folder that the session began in. */
export function anchorOf({ agent, config, options }: ExecutionContext): string {
  return agent.length > 0 ? (config.roots[0] ?? options.workingDirectory) : options.workingDirectory;
}

export function placeOf({ config, options }: ExecutionContext): ToolPlace {
  return { cwd: options.workingDirectory, home: config.home };
}

function operandOf(c: ExecutionContext, tool: Tool, input: ToolInput): { path: string; hash: string } | undefined {
  const path = tool.operand?.(input, placeOf(c));
  return path === undefined ? undefined : { path, hash: hashFile(path) };
}

function schemaOf({ config }: ExecutionContext, tool: Tool): () => unknown {
  return () => config.tools.offers().find(({ name }) => name === tool.name)?.inputSchema;
}

function refuse(reason: string): Verdict {
  return { behavior: "deny", reason, effect: "reads", digest: "" };
}
