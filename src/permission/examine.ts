import type { PermissionOpinion, Rule } from "../protocol/index.ts";
import { createReach } from "./rules/access.ts";
import type { RuleBook } from "./rules/book.ts";
import { openDisk } from "./paths/canonical.ts";
import { uncovered } from "./shell/judge/command.ts";
import { firstOf } from "./rules/compile.ts";
import type { DecisionInput } from "./decide.ts";
import { judgeFiles } from "./files.ts";
import { hits, unusable } from "./finding.ts";
import type { Finding, LoosePart } from "./finding.ts";
import { pathTools } from "./rules/rules.ts";
import { judgeShell } from "./shell/judge/shell.ts";
import type { ShellCall } from "./shell/judge/shell.ts";
import { judgeWeb } from "./web.ts";
import { matchesGlob } from "./text/wild.ts";

/** What the rules have to say about a call, and what is known about tools of its kind. */
export function examine(call: DecisionInput, book: RuleBook): Finding {
  const { tool, cwd, home, roots, grammar, anchor = cwd, sageHome = process.env["SAGE_HOME"] } = call;
  const input: Record<string, unknown> = typeof call.input === "object" && call.input !== null ? { ...call.input } : {};
  if (tool === "WebFetch") return webFinding(input["url"], book, call.addresses);
  if (tool !== "Bash" && !pathTools.has(tool)) return otherFinding(call, book);
  const disk = openDisk();
  const reach = createReach(book, { cwd: anchor, home, roots, disk, sageHome });
  if (tool !== "Bash") return judgeFiles(tool, input, { cwd, home, reach, disk, book });
  const { command } = input;
  if (typeof command !== "string") return unusable(book, "Bash", "the command is not a text");
  return shellFinding({ command, book, reach, disk, cwd, home, grammar });
}

function shellFinding(call: ShellCall): Finding {
  const { parts: judged, hard, blocked, deny, ask } = judgeShell(call);
  const { everyCommand } = call.book;
  const allowed = blocked === undefined && judged.every(({ behavior }) => behavior === "allow");
  const by = judged.flatMap(({ found, behavior }) => (found && behavior === "allow" ? [found] : []));
  const allow = everyCommand ? [everyCommand] : allowed ? [...new Set(by)] : [];
  return {
    ...hits(deny, ask),
    allow,
    parts: judged.map((part): LoosePart => {
      const { text, behavior, rule, reason, writes } = part;
      const open = behavior === "ask" && rule === undefined && part.hard === undefined;
      const covered = open && everyCommand && { behavior: "allow" as const, rule: everyCommand.text };
      const reported = rule === undefined ? {} : { rule };
      return { text, behavior, reason, ...reported, ...(writes && { writes }), ...covered };
    }),
    view: shellView({ hard, readOnly: allowed && by.length === 0, waiting: blocked ?? waitingFor(judged) }),
  };
}

type ShellView = { hard: string | undefined; readOnly: boolean; waiting: string };

function shellView({ hard, readOnly, waiting }: ShellView): PermissionOpinion {
  if (hard !== undefined) return { behavior: "ask", hard: true, reason: hard };
  if (readOnly) return { behavior: "allow", reason: "Only reads, inside of the workspace." };
  return { behavior: "passthrough", reason: waiting };
}

/** What a person has to decide about: named where there is more than one part, explained where there is more to say. */
function waitingFor(parts: readonly (LoosePart & { reason: string })[]): string {
  const part = parts.find(({ behavior }) => behavior !== "allow");
  if (part?.reason !== uncovered) return part?.reason ?? "";
  return parts.length > 1 ? part.text : "";
}

function webFinding(url: unknown, book: RuleBook, addresses: readonly string[] | undefined): Finding {
  const { deny, ask, allow, hard, reason } = judgeWeb(url, book.about("WebFetch"), addresses);
  return {
    ...hits(deny, ask),
    ...(allow && { allow: [allow] }),
    view: hard === undefined ? { behavior: "passthrough", reason } : { behavior: "ask", hard: true, reason: hard },
  };
}

/** An allow names the very specifier; a deny may use stars, and holds where there is none. */
function otherFinding({ tool, specifier }: DecisionInput, book: RuleBook): Finding {
  const { deny, ask, allow } = book.about(tool);
  const against = (list: typeof deny): Rule | undefined =>
    firstOf(list.filter((rule) => rule.whole || specifier === undefined || matchesGlob(rule.glob, specifier)));
  const by = firstOf(allow.filter((rule) => rule.whole || (specifier !== undefined && rule.text === specifier)));
  return {
    ...hits(against(deny), against(ask)),
    ...(by && { allow: [by] }),
    view: { behavior: "passthrough", reason: "" },
  };
}
