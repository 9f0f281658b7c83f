import { join } from "node:path";
import { messageOf } from "../protocol/index.ts";
import type { CallPart, Rule } from "../protocol/index.ts";
import type { Access, Reach } from "./access.ts";
import { statOf } from "./canonical.ts";
import type { CanonicalPath, Disk } from "./canonical.ts";
import { viewOf } from "./command.ts";
import type { CommandView } from "./command.ts";
import { firstOf, governs } from "./compile.ts";
import type { CompiledRule } from "./compile.ts";
import { stepsOf } from "./flow.ts";
import type { Step } from "./flow.ts";
import type { ShellGrammar } from "./grammar.ts";
import type { Word } from "./lexer.ts";
import { dynamic, readCommand } from "./reading.ts";
import type { CommandReading } from "./reading.ts";
import type { Script } from "./script.ts";
import { collect, isSuspected, suspectsIn, suspicionOf } from "./suspects.ts";
import type { Suspects } from "./suspects.ts";
import { suspiciousPaths, suspiciousRemoval, suspiciousWrite } from "./suspicions.ts";
import { operandTargets, redirectTargets } from "./targets.ts";
import type { Target } from "./targets.ts";
import { currentFolder } from "./use.ts";
import { escaped, star, unitsOf } from "./wild.ts";

/** What is known about a command line before mode and tool have their say. */
export type ShellFinding = {
  parts: JudgedPart[];
  deny?: Rule;
  ask?: Rule;
  /** Only a person may let it run. */
  hard?: string;
  /** Why rules cannot cover it as a whole. */
  blocked?: string;
  /** A rule for every command there is. */
  whole?: Rule;
  reading: CommandReading;
};

/** A part, with what it would take to allow it. */
export type JudgedPart = CallPart & { found?: Rule; hard?: string; need?: Need };

export type Need =
  | { kind: "command"; view: CommandView; heredoc: boolean }
  | { kind: "read" | "write"; paths: readonly CanonicalPath[]; deep: boolean }
  | { kind: "nothing" };

export type ShellCall = {
  command: string;
  rules: readonly CompiledRule[];
  reach: Reach;
  disk: Disk;
  cwd: string;
  home: string;
  grammar: ShellGrammar | undefined;
};

const itself = suspicionOf("sage:*");

type Against = Record<"deny" | "ask", CompiledRule[]>;

export function judgeShell(call: ShellCall): ShellFinding {
  const { command, rules, grammar, home } = call;
  const reading = readCommand(command, grammar, home);
  const bash = rules.filter((rule) => governs(rule, "Bash"));
  const by = (behavior: Rule["behavior"]) => bash.filter(({ rule }) => rule.behavior === behavior);
  const against: Against = { deny: by("deny"), ask: by("ask") };
  const allow = by("allow");
  const whole = firstOf(allow.filter((rule) => rule.whole));
  const finding: ShellFinding = { parts: [], reading, ...hitsOf(against, reading.suspects) };
  if (whole) finding.whole = whole;
  // An agent that runs Sage could answer its own requests, trust a folder or change the rules.
  if (isSuspected(itself, reading.suspects)) finding.hard = "The command runs Sage itself, which only a person may do.";
  if (reading.trouble !== undefined) finding.hard = `The command needs a person: ${reading.trouble}.`;
  try {
    const loose =
      reading.script === undefined ? guess(finding, against) : prove(finding, reading.script, call, { against, allow });
    for (const part of finding.parts) {
      if (part.found && part.behavior === "deny") finding.deny ??= part.found;
      if (part.found && part.behavior === "ask") finding.ask ??= part.found;
    }
    Object.assign(finding, { ...suspect(loose, finding, call), ...pick(finding) });
  } catch (error) {
    // A link that loops, a folder that may not be looked into: what rules have seen so far stays seen.
    finding.hard ??= `The command needs a person: ${messageOf(error)}.`;
    finding.blocked ??= messageOf(error);
  }
  return finding;
}

function pick({ deny, ask, hard }: ShellFinding): Pick<ShellFinding, "deny" | "ask" | "hard"> {
  return { ...(deny && { deny }), ...(ask && { ask }), ...(hard !== undefined && { hard }) };
}

/** What was found in a command that rules cannot cover. Gives every word of it, since any may be a file. */
function guess(finding: ShellFinding, against: Against): string[] {
  const { unclear, trouble, commands, suspects } = finding.reading;
  finding.blocked = unclear ?? trouble ?? "";
  finding.parts = commands.map(({ text, suspects }) => ({
    ...{ text, behavior: "ask" as const, reason: finding.blocked! },
    ...marked(hitsOf(against, collect(suspects))),
  }));
  return [...suspects.words];
}

/** Judges every command by itself. Gives the words of those whose files are not known. */
function prove(
  finding: ShellFinding,
  script: Script,
  { command, reach, disk, cwd }: ShellCall,
  { against, allow }: { against: Against; allow: readonly CompiledRule[] },
): string[] {
  const { text } = finding.reading;
  const words: string[] = [];
  const exact = firstOf(allow.filter((rule) => isText(rule, command)));
  const { steps, loose: groups } = stepsOf(script, cwd, { reach, disk });
  const busy = steps.length > 1;
  // Where a link leads is looked up on the disk, where the one that this line makes is not yet.
  if (busy && steps.some(({ command: { words: all } }) => all.some((word) => /(^|\/)(ln|link)$/.test(word.text ?? ""))))
    finding.blocked ??= "a link is made and may be followed in the same line";
  const source = (word: Word) => (word === currentFolder ? "." : text.slice(word.start, word.end));
  const judged: { at: number; parts: JudgedPart[] }[] = groups.map(({ redirects, bases }) => ({
    at: redirects[0]!.target.start,
    parts: redirectTargets(redirects, { bases, disk, busy, source }).flatMap((one) => judgeTarget(one, { reach })),
  }));
  for (const step of steps) {
    const view = viewOf(step, { allow, exact, session: disk.follow(cwd) });
    if (view.blocks && !(exact && view.blocks.exactly)) finding.blocked ??= view.reason;
    judged.push({ at: startOf(step), parts: judgeStep(step, view, { against, reach, disk, busy, exact, source }) });
    // What follows the colon in `HEAD:file` is a file too.
    if (view.known.use === undefined || view.known.git) words.push(...view.words.flatMap((word) => word.text ?? []));
  }
  finding.parts = judged.sort((a, b) => a.at - b.at).flatMap(({ parts }) => parts);
  if (finding.parts.length === 0) finding.blocked = "it holds no command";
  const hard = finding.parts.find((part) => part.hard !== undefined)?.hard;
  if (hard !== undefined) finding.hard ??= hard;
  return words;
}

function suspect(
  loose: readonly string[],
  { reading }: ShellFinding,
  call: ShellCall,
): Pick<ShellFinding, "deny" | "ask" | "hard"> {
  const { suspects, script, text } = reading;
  const doubts = { ...call, suspects };
  const carried = script === undefined || suspects.readings[0].some(({ anywhere }) => anywhere);
  const hard = suspiciousRemoval(doubts) ?? (carried ? suspiciousWrite(text, doubts) : undefined);
  return { ...suspiciousPaths(loose, doubts), ...(hard !== undefined && { hard }) };
}

function hitsOf({ deny, ask }: Against, suspects: Suspects): { deny?: Rule; ask?: Rule } {
  const hit = (list: readonly CompiledRule[]) =>
    firstOf(list.filter(({ whole, suspicion }) => whole || (suspicion && isSuspected(suspicion, suspects)) === true));
  const [denied, asked] = [hit(deny), hit(ask)];
  return { ...(denied && { deny: denied }), ...(asked && { ask: asked }) };
}

function marked({ deny, ask }: { deny?: Rule; ask?: Rule }): Partial<JudgedPart> {
  if (deny) return { behavior: "deny", found: deny, rule: deny.text, reason: `denied by ${deny.text}` };
  return ask ? { behavior: "ask", found: ask, rule: ask.text, reason: `${ask.text} asks about it` } : {};
}

/** The rule is this very text. */
function isText({ whole, specifier }: CompiledRule, command: string): boolean {
  const units = unitsOf(specifier);
  if (whole || units.includes(star)) return false;
  return (
    units
      .map((unit) => escaped(unit) ?? String(unit))
      .join("")
      .trim() === command.trim()
  );
}

type Judging = {
  against: Against;
  reach: Reach;
  disk: Disk;
  busy: boolean;
  exact: Rule | undefined;
  source(word: Word): string;
};

function judgeStep({ command, bases }: Step, view: CommandView, judging: Judging): JudgedPart[] {
  const { against, reach, disk, busy, source, exact } = judging;
  const parts: JudgedPart[] = [];
  const hits = hitsOf(against, collect(suspectsIn(command.words.map(({ text }) => text ?? dynamic))));
  const text = [...command.assignments.map(({ value }) => value), ...command.words].map(source).join(" ");
  const allowed = view.allowed || (exact !== undefined && view.blocks?.exactly === true);
  const rule = view.rule ?? (allowed && !view.allowed ? exact : undefined);
  const heredoc = command.redirects.some((redirect) => redirect.heredoc !== undefined);
  if (text !== "")
    parts.push({
      text,
      behavior: allowed ? "allow" : "ask",
      reason: rule ? `allowed by ${rule.text}` : view.reason,
      ...(rule && { rule: rule.text, found: rule }),
      ...(!allowed && { need: view.blocks ? { kind: "nothing" } : { kind: "command", view, heredoc } }),
      ...marked(hits),
    });
  const where = { bases, disk, busy, source };
  const targets = redirectTargets(command.redirects, where);
  targets.push(...operandsOf(view, where));
  parts.push(...targets.flatMap((target) => judgeTarget(target, { reach }, view.meant)));
  return parts;
}

/** The files among the words. Of a program that is known, and words that are not, any may be one. */
function operandsOf(
  { known: { kind, use }, words, allowed }: CommandView,
  where: Parameters<typeof operandTargets>[1],
): Target[] {
  if (use !== undefined) return operandTargets(use, where);
  if (kind === "other" || !allowed) return [];
  const rest = words.slice(1).flatMap((word): Word[] => {
    const value = /^--?[^=]*=([^]*)$/.exec(word.text ?? "")?.[1];
    if (value !== undefined) return [{ ...word, text: value, lead: value }];
    return word.text?.startsWith("-") === true ? [] : [word];
  });
  const unsure = operandTargets({ readOnly: false, reads: rest, writes: [], deep: true }, where);
  if (kind === "reads") return unsure;
  return unsure.map((target) => ({ ...target, writes: true, trouble: "what it writes is not clear" }));
}

/** Deny, ask and protection over every path it may be; allowed when each of them is. */
function judgeTarget(target: Target, { reach }: { reach: Reach }, meant?: ReadonlySet<string>): JudgedPart[] {
  const { shown, writes, paths, deep, maybe, from, trouble } = target;
  const look = (path: CanonicalPath) => (writes ? reach.write(path) : reach.read(path));
  const views = paths.map(look);
  const first = <K extends keyof Access>(key: K) => views.find((view) => view[key] !== undefined)?.[key];
  const did = writes ? "writes" : "reads";
  const real = paths[0]?.real ?? shown;
  const [deny, ask] = [first("deny"), first("ask")];
  let hard = first("hard");
  let unclear = trouble;
  let below: { deny?: Rule; ask?: Rule } = {};
  for (const path of deep ? paths : []) {
    const { found, unknown } = reach.ruledBelow(path, writes ? "Write" : "Read");
    if (found && writes) below = { [found.behavior]: found };
    else if (found) hard ??= `${shown} holds what ${found.text} is about`;
    unclear ??= unknown;
    if (writes && from.length === 0 && isRepository(path.real)) hard ??= `${path.real} is a repository`;
    for (const tree of from) {
      const inner = reach.protectedBelow(tree, path.real);
      hard ??= inner.found;
      unclear ??= inner.unknown;
    }
  }
  const hits = marked({ ...below, ...(deny && { deny }), ...(ask && { ask }) });
  const to =
    writes && !maybe
      ? paths.map((path) => ({ path: path.real, ...(!reach.inside(path) && { outside: true as const }) }))
      : [];
  const part = { text: shown, reason: `${did} ${real}`, ...(to.length > 0 && { writes: to }) };
  if (hits.behavior !== undefined) return [{ ...part, behavior: "ask", ...hits }];
  if (hard !== undefined) return [{ ...part, behavior: "ask", reason: hard, hard }];
  if (unclear !== undefined) return [{ ...part, behavior: "ask", reason: unclear, need: { kind: "nothing" } }];
  if (maybe) return [];
  const granted = paths.map((path, i) => (deep && writes ? allowsBelow(path, reach) : views[i]!.allow));
  if (granted.every((one) => one === true) || (!writes && meant?.has(shown) === true)) return [];
  const rule = granted.find((one) => typeof one === "object");
  if (granted.every((one) => one !== undefined) && rule)
    return [
      { ...part, behavior: "allow", reason: `${part.reason}, allowed by ${rule.text}`, rule: rule.text, found: rule },
    ];
  const why = writes ? "no Edit rule covers it" : "outside of the workspace";
  const need = { kind: writes ? ("write" as const) : ("read" as const), paths, deep };
  return [{ ...part, behavior: "ask", reason: `${part.reason}: ${why}`, need }];
}

/** A rule for a folder as such says nothing about what is in it. */
function allowsBelow({ lexical, real }: CanonicalPath, reach: Reach): Rule | true | undefined {
  const probe = "\u{f8ff}/\u{f8ff}";
  const allow = reach.write({ lexical, real }).allow;
  return allow && reach.write({ lexical: join(lexical, probe), real: join(real, probe) }).allow;
}

function isRepository(path: string): boolean {
  return statOf(join(path, ".git")) !== undefined;
}

function startOf({ command: { assignments, words, redirects } }: Step): number {
  return Math.min(
    ...[...assignments.map(({ value }) => value), ...words, ...redirects.map(({ target }) => target)].map(
      ({ start }) => start,
    ),
  );
}
