import { messageOf } from "../protocol/index.ts";
import type { CallPart, PermissionMode, PermissionResult, Rule, RuleDestination } from "../protocol/index.ts";
import { createReach } from "./access.ts";
import { openDisk } from "./canonical.ts";
import { uncovered } from "./command.ts";
import { compile, firstOf, governs } from "./compile.ts";
import type { CompiledRule } from "./compile.ts";
import { judgeFiles } from "./files.ts";
import { unusable } from "./finding.ts";
import type { Finding } from "./finding.ts";
import type { ShellGrammar } from "./grammar.ts";
import { pathTools } from "./rules.ts";
import { judgeShell } from "./shell.ts";
import { judgeWeb } from "./web.ts";
import { matchesGlob, star } from "./wild.ts";

/** One call and everything its permission depends on, the disk aside. */
export type DecisionInput = {
  rules: readonly Rule[];
  mode: PermissionMode;
  /** What relative paths of the call are relative to. */
  cwd: string;
  /** What `./` in rules stands for: where the session began, if that is not `cwd`. */
  anchor?: string | undefined;
  home: string;
  /** Folders in which reading needs no permission. */
  roots: readonly string[];
  tool: string;
  input: unknown;
  requiresUserInteraction?: boolean | undefined;
  /** What rules match of a tool that is not built in. */
  specifier?: string | undefined;
  /** The tool's own opinion. */
  view?: (() => PermissionResult) | undefined;
  /** From `loadGrammar`. Without it no command is allowed. */
  grammar?: ShellGrammar | undefined;
  /** Where Sage keeps its state, if not in `~/.sage`. */
  sageHome?: string | undefined;
};

/** May this call run? Pure and synchronous: a function of the call, the rules and the disk. It never throws. */
export function decide(call: DecisionInput): PermissionResult {
  try {
    return conclude(examine(call), call);
  } catch (error) {
    return { behavior: "ask", hard: true, reason: `The call could not be judged: ${messageOf(error)}` };
  }
}

/** The first step that answers ends the matter; neither a rule's detail nor its place in the list counts. */
function conclude(
  { deny, ask, unreadable, view, allow, parts }: Finding & { unreadable?: Rule },
  call: DecisionInput,
): PermissionResult {
  const known = parts === undefined || parts.length === 0 ? {} : { parts };
  if (deny) return { ...byRules("deny", [deny], "Denied by"), ...known };
  // Ahead of the ask rules, or adding one would turn a tool's no into a question.
  if (view.behavior === "deny") return { ...view, ...known };
  if (ask) return { ...byRules("ask", [ask], "A person is asked because of"), hard: true, ...known };
  if (unreadable)
    return { ...byRules("ask", [unreadable], "A person is asked because nobody can read"), hard: true, ...known };

  const needsPerson = call.requiresUserInteraction === true;
  if (view.behavior === "ask" && (view.hard === true || needsPerson)) return { ...view, hard: true, ...known };
  if (needsPerson) return { behavior: "ask", hard: true, reason: `${call.tool} needs a person to answer.`, ...known };
  if (view.behavior === "allow") return { ...view, ...known };
  if (call.mode === "bypass") return { behavior: "allow", reason: "Bypass mode: nothing forbids it.", ...known };
  if (view.behavior === "ask") return { ...view, ...known };
  if (allow && allow.length > 0) return { ...byRules("allow", allow, "Allowed by"), ...known };
  return { behavior: "ask", reason: `No rule covers this call${view.reason && ` (${view.reason})`}.`, ...known };
}

function byRules(behavior: "allow" | "deny" | "ask", rules: readonly Rule[], because: string): PermissionResult {
  // Of several that only together allow it, the one that was given last made the difference.
  const first = rules.find(({ source }) => source === "session") ?? rules[0];
  const named = rules.map((rule) => `${rule.text} of ${places[rule.source]}`);
  return {
    behavior,
    reason: `${because} the ${named.length > 1 ? "rules" : "rule"} ${named.join(", ")}.`,
    ...(first && { rule: first.text, source: first.source }),
  };
}

const places: Record<RuleDestination, string> = {
  session: "this session",
  local: "your settings for this project",
  project: "the project's settings",
  user: "your own settings",
};

function examine(call: DecisionInput): Finding & { unreadable?: Rule } {
  const rules = call.rules.map((rule) => compile(rule, call.home));
  // A deny or ask rule that cannot be read may have meant this very call.
  const unreadable = firstOf(rules.filter(({ tool, rule }) => tool === undefined && rule.behavior !== "allow"));
  const found = finding(call, rules);
  return { ...found, ...(unreadable && { unreadable }), view: stricter(found.view, call) };
}

/** A tool may be stricter than what is known of its kind, and never laxer. */
function stricter(known: PermissionResult, { tool, view }: DecisionInput): PermissionResult {
  const own = opinionOf(view);
  if (tool !== "Bash" && tool !== "WebFetch" && !pathTools.has(tool)) return own;
  if (own.behavior === "deny") return own;
  return own.behavior === "ask" && known.hard !== true ? own : known;
}

function finding(call: DecisionInput, rules: readonly CompiledRule[]): Finding {
  const { tool, cwd, home, roots, grammar, anchor = cwd, sageHome = process.env["SAGE_HOME"] } = call;
  const input: Record<string, unknown> = typeof call.input === "object" && call.input !== null ? { ...call.input } : {};
  if (tool === "WebFetch") return webFinding(input["url"], rules);
  if (tool !== "Bash" && !pathTools.has(tool)) return otherFinding(call, rules);
  const disk = openDisk();
  const reach = createReach(rules, { cwd: anchor, home, roots, disk, sageHome });
  if (tool !== "Bash") return judgeFiles(tool, input, { cwd, home, reach, disk, rules });
  const { command } = input;
  if (typeof command !== "string") return unusable(rules, "Bash", "the command is not a text");
  const {
    parts: judged,
    whole,
    hard,
    blocked,
    deny,
    ask,
  } = judgeShell({
    ...{ command, rules, reach, disk, cwd, home, grammar },
  });
  const parts = judged.map(({ text, behavior, rule, reason, writes }) => ({
    ...{ text, behavior, reason },
    ...(rule !== undefined && { rule }),
    ...(writes && { writes }),
  }));
  const allowed = blocked === undefined && judged.every(({ behavior }) => behavior === "allow");
  const by = judged.flatMap(({ found, behavior }) => (found && behavior === "allow" ? [found] : []));
  const waiting = blocked ?? waitingFor(judged);
  return {
    ...(deny && { deny }),
    ...(ask && { ask }),
    view:
      hard !== undefined
        ? { behavior: "ask", hard: true, reason: hard }
        : shellView(allowed && by.length === 0, waiting),
    ...(whole ? { allow: [whole] } : allowed && { allow: [...new Set(by)] }),
    parts: whole
      ? parts.map((part) =>
          part.behavior === "ask" && !part.rule ? { ...part, behavior: "allow", rule: whole.text } : part,
        )
      : parts,
  };
}

/** What a person has to decide about: named where there is more than one part, explained where there is more to say. */
function waitingFor(parts: readonly CallPart[]): string {
  const part = parts.find(({ behavior }) => behavior !== "allow");
  const reason = part?.reason === uncovered ? "" : (part?.reason ?? "");
  return [parts.length > 1 && part?.reason === uncovered ? part.text : "", reason]
    .filter((text) => text !== "")
    .join(": ");
}

function shellView(readOnly: boolean, waiting: string): PermissionResult {
  if (readOnly) return { behavior: "allow", reason: "Only reads, inside of the workspace." };
  return { behavior: "passthrough", reason: waiting };
}

function webFinding(url: unknown, rules: readonly CompiledRule[]): Finding {
  const about = rules.filter((rule) => governs(rule, "WebFetch"));
  const by = (behavior: Rule["behavior"]) => about.filter(({ rule }) => rule.behavior === behavior);
  const { deny, ask, allow, hard, reason } = judgeWeb(url, { deny: by("deny"), ask: by("ask"), allow: by("allow") });
  return {
    ...(deny && { deny }),
    ...(ask && { ask }),
    ...(allow && { allow: [allow] }),
    view: hard === undefined ? { behavior: "passthrough", reason } : { behavior: "ask", hard: true, reason: hard },
  };
}

/** An allow names the very specifier; a deny may use stars, and holds where there is none. */
function otherFinding({ tool, specifier }: DecisionInput, rules: readonly CompiledRule[]): Finding {
  const hit = (behavior: Rule["behavior"]) =>
    firstOf(
      rules.filter((rule) => {
        if (rule.rule.behavior !== behavior || !governs(rule, tool)) return false;
        if (rule.whole) return true;
        if (specifier === undefined) return behavior !== "allow";
        return behavior === "allow"
          ? !rule.glob.includes(star) && rule.glob.join("") === specifier
          : matchesGlob(rule.glob, specifier);
      }),
    );
  const [deny, ask, allow] = [hit("deny"), hit("ask"), hit("allow")];
  return {
    ...(deny && { deny }),
    ...(ask && { ask }),
    ...(allow && { allow: [allow] }),
    view: { behavior: "passthrough", reason: "" },
  };
}

function opinionOf(view: (() => PermissionResult) | undefined): PermissionResult {
  if (view === undefined) return { behavior: "passthrough", reason: "" };
  try {
    const opinion = view();
    if (["allow", "deny", "ask", "passthrough"].includes(opinion.behavior)) return opinion;
    return { behavior: "ask", hard: true, reason: "The tool's own check gave no usable answer." };
  } catch (error) {
    return { behavior: "ask", hard: true, reason: `The tool's own check failed: ${messageOf(error)}` };
  }
}
