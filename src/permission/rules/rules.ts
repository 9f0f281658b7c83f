import type { RuleSource } from "../../protocol/decision.ts";
import { demands } from "../../protocol/facts/consent.ts";
import type { Consent, Rule } from "../../protocol/facts/permission.ts";
import type { RequestTimeout } from "../../protocol/facts/silence.ts";
import type { FileReasonArgs } from "../../protocol/reasons/file.ts";
import { reason, type Reason, SageError } from "../../protocol/reasons/reason.ts";

/** The specifier is kept as written: its escapes mean something to the matcher. */
type ReadRule = { ok: true; tool: string; specifier?: string };
type RuleReading = ReadRule | { ok: false; problem: Reason };
/** Rules as settings files list them. */
export type RuleLists = { deny?: readonly string[]; ask?: readonly (string | AskRule)[]; allow?: readonly string[] };
/** An ask rule that demands more than one yes of anybody. */
export type AskRule = {
  rule: string;
  approvals?: number | undefined;
  notAsker?: boolean | undefined;
  silence?: RequestTimeout | undefined;
};

export function textOfRule(listed: string | Pick<AskRule, "rule">): string {
  return typeof listed === "string" ? listed : listed.rule;
}

/** The person's own settings alone say who is asked, and what happens without an answer. */
function demandsOf(listed: string | AskRule, source: RuleSource): Pick<Rule, "consent" | "silence"> {
  if (typeof listed === "string") return {};
  const { approvals = 1, notAsker = false, silence } = listed;
  const consent: Consent = { approvals, ...(notAsker && { notAsker }) };
  return { ...(demands({ consent }) && { consent }), ...(silence && source === "user" && { silence }) };
}

export const pathTools: ReadonlySet<string> = new Set(["Read", "Grep", "Glob", "Edit", "Write"]);

/** Rules for these name hosts. `Network` is about connections of confined commands. */
const hostTools: ReadonlySet<string> = new Set(["WebFetch", "Network"]);

/** Tools whose input is understood here. */
export function isBuiltIn(tool: string): boolean {
  return tool === "Bash" || tool === "WebFetch" || pathTools.has(tool);
}

// Matching costs at most rule times input: a bound on the one keeps it linear in the other.
const longestRule = 1_000;

/** A deny or ask rule that cannot be read stops the session: losing one silently would be worse. */
export function loadRules(lists: RuleLists, source: RuleSource): { rules: Rule[]; warnings: Reason[] } {
  const rules: Rule[] = [];
  const warnings: Reason[] = [];
  for (const behavior of ["deny", "ask", "allow"] as const) {
    for (const listed of lists[behavior] ?? []) {
      const text = textOfRule(listed);
      const reading = readRule(text, behavior);
      if (reading.ok) rules.push({ behavior, text, source, ...demandsOf(listed, source) });
      else if (behavior === "allow")
        warnings.push(reason("rule-ignored", { rule: text, source, problem: reading.problem }));
      else
        throw new SageError(
          "config-invalid",
          reason("rule-not-read", { rule: text, problem: reading.problem, behavior, source }),
        );
    }
  }
  return { rules, warnings };
}

/** Like `parseRule`, with what only deny and ask rules may do. */
export function readRule(text: string, behavior: Rule["behavior"]): RuleReading {
  const reading = parseRule(text);
  if (!reading.ok || behavior !== "allow" || !reading.tool.includes("*")) return reading;
  const { server, tool } = mcpParts(reading.tool) ?? {};
  if (server !== undefined && !server.includes("*") && tool !== undefined) return reading;
  return no("star");
}

export function parseRule(text: string): RuleReading {
  const rule = text.trim();
  if (rule.length > longestRule)
    return { ok: false, problem: reason("rule-too-long", { limit: longestRule, length: rule.length }) };
  const open = rule.indexOf("(");
  const tool = open < 0 ? rule : rule.slice(0, open);
  if (!/^[A-Za-z0-9_.:/@*-]+$/.test(tool)) return no("tool");
  if (tool.startsWith("mcp__") && !mcpParts(tool)) return no("mcp");
  if (open < 0) return { ok: true, tool };
  const specifier = rule.slice(open + 1, -1);
  if (!rule.endsWith(")") || endsEscaped(specifier)) return no("closing");
  if (specifier.trim() === "") return no("specifier");
  if (hostTools.has(tool) && specifier !== "*" && !/^domain:(\[[0-9A-Fa-f:.]+\]|[^\s/:@?#[\]]+)$/.test(specifier))
    return no("domain");
  if (pathTools.has(tool) && specifier.startsWith("~") && specifier !== "~" && !specifier.startsWith("~/"))
    return no("path");
  return { ok: true, tool, specifier };
}

/** `mcp__server__tool` is split at the first `__` after the server. */
export function mcpParts(name: string): { server: string; tool?: string } | undefined {
  if (!name.startsWith("mcp__")) return undefined;
  const rest = name.slice(5);
  const at = rest.indexOf("__");
  if (at < 0) return rest === "" ? undefined : { server: rest };
  const tool = rest.slice(at + 2);
  return at === 0 || tool === "" ? undefined : { server: rest.slice(0, at), tool };
}

function endsEscaped(specifier: string): boolean {
  let backslashes = 0;
  while (specifier.at(-1 - backslashes) === "\\") backslashes++;
  return backslashes % 2 === 1;
}

function no(expected: FileReasonArgs["rule-form"]["expected"]): { ok: false; problem: Reason } {
  return { ok: false, problem: reason("rule-form", { expected }) };
}
