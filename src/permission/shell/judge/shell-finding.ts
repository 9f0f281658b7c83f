import type { CallPart, Rule } from "../../../protocol/facts/permission.ts";
import type { Reason } from "../../../protocol/reasons/reason.ts";
import type { CanonicalPath } from "../../paths/canonical.ts";
import type { CommandView } from "./command-view.ts";
import type { CommandReading } from "./flow/command-reading.ts";

/** Judgement on a command line before mode and tool have their say. */
export type ShellFinding = {
  parts: JudgedPart[];
  deny?: Rule;
  ask?: Rule;
  /** Only a person may let it run. */
  mustAsk?: Reason;
  /** Why rules cannot cover it as a whole. */
  blocked?: Reason;
  reading: CommandReading;
  /** It changes a repository and can lose nothing of it: git alone, of which no hook and no setting runs anything else. */
  keeps?: boolean;
};

/** A part, with what it would take to allow it. */
export type JudgedPart = CallPart & { found?: Rule; mustAsk?: Reason; need?: Need };

export type Need =
  | { kind: "command"; view: CommandView; heredoc: boolean }
  | { kind: "read" | "write"; paths: readonly CanonicalPath[]; deep: boolean }
  | { kind: "nothing" };

/** Something found on the way through a line, against all of it. `words`: names of which any may be a file. */
export type Found = Partial<Pick<ShellFinding, "deny" | "ask" | "mustAsk" | "blocked" | "parts" | "keeps">> & {
  words?: Iterable<string>;
};

/** Adds what was found: of each kind the first counts. */
export function note(finding: ShellFinding, { deny, ask, mustAsk, blocked, parts, keeps }: Found): void {
  if (deny) finding.deny ??= deny;
  if (ask) finding.ask ??= ask;
  if (mustAsk) finding.mustAsk ??= mustAsk;
  if (blocked) finding.blocked ??= blocked;
  if (parts) finding.parts = parts;
  if (keeps) finding.keeps = keeps;
}

export function againstLine({ found, behavior, mustAsk }: JudgedPart): Found {
  const against: Found = {};
  if (found && behavior === "deny") against.deny = found;
  if (found && behavior === "ask") against.ask = found;
  if (mustAsk) against.mustAsk = mustAsk;
  return against;
}

export function pick({ deny, ask, mustAsk }: ShellFinding): Pick<ShellFinding, "deny" | "ask" | "mustAsk"> {
  return { ...(deny && { deny }), ...(ask && { ask }), ...(mustAsk && { mustAsk }) };
}
