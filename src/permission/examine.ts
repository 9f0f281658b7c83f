import type { CallPart, PermissionResult, Rule } from "../protocol/facts/permission.ts";
import { reason, type Reason } from "../protocol/reasons/reason.ts";
import { createReach } from "./rules/access.ts";
import type { RuleBook } from "./rules/book.ts";
import { openDisk } from "./paths/canonical.ts";
import { firstOf, uncovered } from "./rules/compile.ts";
import type { DecisionInput } from "./decide.ts";
import { judgeFiles } from "./files.ts";
import { hits, unusable, type Finding } from "./finding.ts";
import { pathTools } from "./rules/rules.ts";
import type { CommandReading } from "./shell/judge/flow/command-reading.ts";
import { judgeShell, type ShellCall } from "./shell/judge/judge-shell.ts";
import type { JudgedPart } from "./shell/judge/shell-finding.ts";
import { isFromLookup, judgeWeb } from "./web.ts";
import { matchesGlob } from "./text/wild.ts";

/** Holds a call against the rules and against what its tool is known to do. `reading`: its command, read before. */
export function examine(call: DecisionInput, book: RuleBook, reading?: CommandReading): Finding {
  const { tool, cwd, home, roots, grammar, environment, anchor = cwd, sageHome } = call;
  if (tool !== "Bash" && tool !== "WebFetch" && !pathTools.has(tool)) return otherFinding(call, book);
  const input: Record<string, unknown> = typeof call.input === "object" && call.input !== null ? { ...call.input } : {};
  if (tool === "WebFetch") return webFinding(input["url"], book, call.addresses);
  const { disk = openDisk() } = call;
  const reach = createReach(book, { cwd: anchor, home, roots, disk, sageHome });
  if (tool !== "Bash") return judgeFiles(tool, input, { cwd, home, reach, disk, book });
  const { command } = input;
  if (typeof command !== "string") return unusable(book, "Bash", reason("command-not-text", {}));
  return shellFinding({ command, book, reach, disk, cwd, home, grammar, environment, reading });
}

function shellFinding(call: ShellCall): Finding {
  const shell = judgeShell(call);
  const { parts: judged, mustAsk, blocked, deny, ask } = shell;
  const { everyCommand } = call.book;
  const allowed = blocked === undefined && judged.every(({ behavior }) => behavior === "allow");
  const by = judged.flatMap(({ found, behavior }) => (found && behavior === "allow" ? [found] : []));
  // A rule for every command is not a rule for a file that others run.
  const isLater = judged.some(({ reason: why, behavior }) => behavior === "ask" && why.code === "runs-later");
  const every = isLater ? undefined : everyCommand;
  const allow = every ? [every] : allowed ? [...new Set(by)] : [];
  return {
    ...hits(deny, ask),
    allow,
    shell,
    parts: judged.map((part): CallPart => {
      const { text, behavior, rule, reason: why, writes } = part;
      const open = behavior === "ask" && rule === undefined && part.mustAsk === undefined;
      const covered = open && every && { behavior: "allow" as const, rule: every.text };
      const reported = rule === undefined ? {} : { rule };
      return { text, behavior, reason: why, ...reported, ...(writes && { writes }), ...covered };
    }),
    view: shellView({ mustAsk, readOnly: allowed && by.length === 0, waiting: blocked ?? waitingFor(judged) }),
  };
}

type ShellView = { mustAsk: Reason | undefined; readOnly: boolean; waiting: Reason };

function shellView({ mustAsk, readOnly, waiting }: ShellView): PermissionResult {
  if (mustAsk) return { behavior: "ask", hard: true, reason: mustAsk };
  if (readOnly) return { behavior: "allow", reason: reason("only-reads", {}) };
  return { behavior: "passthrough", reason: waiting };
}

/** Reason of the part that a person has to decide about, which is named where there is more than one. */
function waitingFor(parts: readonly JudgedPart[]): Reason {
  const part = parts.find(({ behavior }) => behavior !== "allow");
  if (part === undefined || part.reason !== uncovered) return part?.reason ?? uncovered;
  return parts.length > 1 ? reason("no-rule-command", { part: part.text }) : uncovered;
}

function webFinding(url: unknown, book: RuleBook, addresses: readonly string[] | undefined): Finding {
  const { deny, ask, allow, mustAsk, reason: why } = judgeWeb(url, book.about("WebFetch"), addresses);
  return {
    // An ask rule asks in any case; where the name leads is the reason that a person must not miss.
    ...hits(deny, mustAsk && isFromLookup(mustAsk) ? undefined : ask),
    ...(allow && { allow: [allow] }),
    view: mustAsk ? { behavior: "ask", hard: true, reason: mustAsk } : { behavior: "passthrough", reason: why },
  };
}

/** An allow names the very specifier; a deny may use stars, and holds where there is none. */
function otherFinding({ tool, specifier }: DecisionInput, book: RuleBook): Finding {
  const { deny, ask, allow } = book.about(tool);
  const view: PermissionResult = { behavior: "passthrough", reason: reason("no-rule-tool", { tool }) };
  if (deny.length + ask.length + allow.length === 0) return { view };
  const against = (list: typeof deny): Rule | undefined =>
    firstOf(list.filter((rule) => rule.whole || specifier === undefined || matchesGlob(rule.glob, specifier)));
  const by = firstOf(allow.filter((rule) => rule.whole || (specifier !== undefined && rule.text === specifier)));
  return { ...hits(against(deny), against(ask)), ...(by && { allow: [by] }), view };
}
