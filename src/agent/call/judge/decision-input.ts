import { Stopped } from "../../../journal/session/durable.ts";
import type { ConfinePolicy } from "../../../permission/confined.ts";
import type { DecisionInput } from "../../../permission/decide.ts";
import type { Disk } from "../../../permission/paths/canonical.ts";
import { loadedGrammar } from "../../../permission/shell/read/grammar.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Call } from "../../../protocol/facts/message.ts";
import type { Rule, Verdict } from "../../../protocol/facts/permission.ts";
import { changedAside, changedRules, isTakenBack, type RuleChange } from "../../../protocol/facts/session.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import type { PermissionContext, Tool, ToolPlace } from "../../../tools/definition/tool.ts";
import type { Confining, Judging, Place, Rules, Tools } from "../../state/context.ts";

/** The tool's own opinion, as the decision takes it. */
export type View = DecisionInput["view"];

export function decisionInput(
  context: Judging,
  tool: Tool,
  input: ToolInput,
  view: View = context.memory.opinion(input),
  disk?: Disk,
): DecisionInput {
  const { config } = context;
  const { permissionMode: mode, roots, ruleBooks: books, sageHome } = config;
  const place = toolPlace(context);
  // Without a spread: it is made three times for each approval.
  return {
    rules: rulesFor(context),
    mode,
    sessionMode: modeFor(context, tool),
    effect: tool.effect,
    cwd: place.cwd,
    home: place.home,
    anchor: anchorOf(context),
    roots,
    tool: tool.name,
    input,
    requiresUserInteraction: tool.requiresUserInteraction,
    changed: tool.changed?.() !== undefined,
    specifier: tool.specifier?.(input, place),
    view:
      view ??
      (tool.checkPermissions && (() => tool.checkPermissions!(input, permissionContext(context, tool, unending)))),
    grammar: loadedGrammar(),
    addresses: tool.addresses && context.memory.addresses(input),
    environment: tool.name === "Bash" ? inheritedNames(config.env) : undefined,
    books,
    sageHome,
    confine: tool.name === "Bash" && config.confining ? confinePolicy(context, config.confining, input) : undefined,
    disk,
  };
}

function confinePolicy({ memory, asking }: Judging, confining: Confining, input: ToolInput): ConfinePolicy {
  const { mode, outside, git } = confining;
  const unattended = asking.mode.type === "nonInteractive" && typeof asking.mode.autoResponse !== "function";
  const blocked = memory.blockedIn(input["command"]);
  return { mode, outside, git, problem: confining.problem(), blocked, unattended };
}

/** Names of the variables that commands inherit, made once for each environment: every call is judged with them. */
function inheritedNames(env: object): ReadonlySet<string> {
  let names = inherited.get(env);
  if (names === undefined) inherited.set(env, (names = new Set(Object.keys(env))));
  return names;
}

const inherited = new WeakMap<object, ReadonlySet<string>>();

const unending = new AbortController().signal;

export function permissionContext(context: Judging, tool: Tool, signal: AbortSignal): PermissionContext {
  const { permissionMode: mode, roots } = context.config;
  return { ...toolPlace(context), roots, mode, sessionMode: modeFor(context, tool), signal };
}

function modeFor(context: Judging, tool: Tool): SessionMode {
  const held = context.approved !== true || tool.requiresUserInteraction === true;
  return held ? context.mode() : "ask";
}

/** Configured rules and those of the session, as the person has changed them meanwhile. */
export function rulesFor(context: Rules): readonly Rule[] {
  const { config, sessionRules, setAside, ruleChanges } = context;
  if (ruleChanges && ruleChanges.length > 0) for (const change of ruleChanges.splice(0)) changeRules(context, change);
  const rules =
    setAside.length === 0
      ? config.rules
      : config.rules.filter((rule) => !setAside.some((removal) => isTakenBack(rule, removal)));
  return sessionRules.length === 0 ? rules : [...rules, ...sessionRules];
}

/** Changes the rules of the session: subagents hold the same lists. */
export function changeRules(
  { sessionRules, setAside }: Pick<Rules, "sessionRules" | "setAside">,
  change: RuleChange,
): void {
  sessionRules.splice(0, sessionRules.length, ...changedRules(sessionRules, change));
  setAside.splice(0, setAside.length, ...changedAside(setAside, change));
}

/** A subagent may work elsewhere, and rules still mean the folder that the session began in. */
export function anchorOf({ agent, config, options }: Place): string {
  return agent.length > 0 ? (config.roots[0] ?? options.workingDirectory) : options.workingDirectory;
}

export function toolPlace({ config, options }: Place): ToolPlace {
  return { cwd: options.workingDirectory, home: config.home };
}

/** A turn that continued without one of its tools would go wrong; it waits until the tool is back. */
export function toolFor(context: Tools, call: Call): Tool {
  const tool = context.config.tools.get(call.tool);
  if (tool) return tool;
  throw new Stopped("leaving", reason("tool-missing", { tool: call.tool }));
}

/** It was judged by what the tool took then; a skill or a subagent may be gone since, and the turn waits for it as for a tool. */
export function checkedInput(context: Tools, tool: Tool, call: Call, verdict: Verdict): ToolInput {
  const sent = verdict.input ?? call.input;
  const parsed = context.memory.parse(tool, sent);
  if (parsed.ok) return parsed.input;
  throw new Stopped("leaving", reason("tool-unfit", { tool: call.tool, problem: parsed.problem }));
}
