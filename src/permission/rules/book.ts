import { isStricter } from "../../protocol/facts/consent.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import { isUnknownProgram, resembles, spellingsOf } from "../shell/suspect/resemblance.ts";
import { compile, firstOf, governs, type CompiledRule } from "./compile.ts";
import { mayRun, type PossibleCommand, type PossibleCommands } from "../shell/suspect/possible.ts";

/** A list of rules, taken apart and sorted once, so that a call is held only against those that may be about it. */
export type RuleBook = {
  /** A deny or ask rule that cannot be read may have meant any call. */
  unreadable: Rule | undefined;
  /** A book of one of its rules, by the place of the rule in the list. */
  alone(n: number): RuleBook;
  /** The rules that speak about a tool at all. */
  about(tool: string): RuleGroup;
  /** Allow rules for commands of this name. */
  covering(name: string): readonly CompiledRule[];
  /** The allow rule that is this very text. */
  spelling(command: string): Rule | undefined;
  /** The rule for every command there is. */
  everyCommand: Rule | undefined;
  /** The programs that deny and ask rules name. */
  namedAgainst: readonly string[];
  /** Deny and ask rules that one of these commands meets. */
  against(possible: PossibleCommands): { deny?: Rule; ask?: Rule };
  /** A deny or ask rule that may be about one of these commands, as far as their words and spellings tell. */
  resembling(ways: readonly PossibleCommand[]): Rule | undefined;
};

export type RuleGroup = Record<Rule["behavior"], readonly CompiledRule[]>;

/** Rule lists compiled once and kept by whoever judges many calls with them. */
export type RuleBooks = { of(rules: readonly Rule[], home: string): RuleBook };

export function createRuleBooks(): RuleBooks {
  const compiled = new WeakMap<Rule, CompiledRule>();
  let last: { home: string; rules: readonly CompiledRule[]; book: RuleBook } | undefined;
  const compileOnce = (rule: Rule, home: string): CompiledRule => {
    const earlier = compiled.get(rule);
    if (earlier?.home === home && isSame(earlier.rule, rule)) return earlier;
    const made = compile({ ...rule }, home);
    compiled.set(rule, made);
    return made;
  };
  return {
    of(rules, home) {
      // Compared by content: nothing would be worse than a deny rule that was added to the same list and overlooked.
      const isLast =
        last?.home === home &&
        last.rules.length === rules.length &&
        rules.every((rule, n) => isSame(last!.rules[n]!.rule, rule));
      if (isLast) return last!.book;
      const all = rules.map((rule) => compileOnce(rule, home));
      last = { home, rules: all, book: write(all) };
      return last.book;
    },
  };
}

function isSame(left: Rule, right: Rule): boolean {
  const same = left.text === right.text && left.behavior === right.behavior && left.source === right.source;
  return same && !isStricter(left.consent, right.consent) && !isStricter(right.consent, left.consent);
}

function write(rules: readonly CompiledRule[]): RuleBook {
  const groups = new Map<string, RuleGroup>();
  const about = (tool: string) => {
    let group = groups.get(tool);
    if (group === undefined) {
      const spoken = rules.filter((rule) => governs(rule, tool));
      const by = (behavior: Rule["behavior"]) => spoken.filter(({ rule }) => rule.behavior === behavior);
      groups.set(tool, (group = { deny: by("deny"), ask: by("ask"), allow: by("allow") }));
    }
    return group;
  };
  const { deny, ask, allow } = about("Bash");
  const names = indexed(allow, ({ command }) => command?.name);
  const texts = indexed(allow, ({ text }) => text?.trim());
  const heads = { deny: headed(deny), ask: headed(ask) };
  const single = new Map<number, RuleBook>();
  return {
    about,
    alone(n) {
      let book = single.get(n);
      if (book === undefined) single.set(n, (book = write(rules.slice(n, n + 1))));
      return book;
    },
    unreadable: firstOf(rules.filter(({ tool, rule }) => tool === undefined && rule.behavior !== "allow")),
    covering: (name) => [...(names.get(name) ?? []), ...(names.get(undefined) ?? [])],
    spelling: (command) => firstOf(texts.get(command.trim()) ?? []),
    everyCommand: firstOf(allow.filter(({ whole }) => whole)),
    namedAgainst: [...heads.deny.keys(), ...heads.ask.keys()].filter((name) => name !== undefined),
    against(possible) {
      const [denied, asked] = [met(heads.deny, possible), met(heads.ask, possible)];
      return { ...(denied && { deny: denied }), ...(asked && { ask: asked }) };
    },
    resembling: (ways) => resembling(heads.deny, ways) ?? resembling(heads.ask, ways),
  };
}

type Index = Map<string | undefined, CompiledRule[]>;

function indexed(rules: readonly CompiledRule[], key: (rule: CompiledRule) => string | undefined): Index {
  const index: Index = new Map();
  for (const rule of rules) {
    const list = index.get(key(rule));
    if (list) list.push(rule);
    else index.set(key(rule), [rule]);
  }
  return index;
}

/** Rules by the program they name; under no name those that may mean any. */
function headed(rules: readonly CompiledRule[]): Index {
  return indexed(rules, ({ against }) => against?.head);
}

/** Beside a rule against any program, one that is not known may be it. */
function resembling(index: Index, ways: readonly PossibleCommand[]): Rule | undefined {
  if (index.size === 0) return undefined;
  const hits: CompiledRule[] = [];
  for (const way of ways) {
    if (isUnknownProgram(way)) hits.push(...[...index.values()].flat().filter(({ whole }) => !whole));
    const spellings = spellingsOf(way);
    const named = new Set([undefined, ...spellings.map(({ name }) => name)]);
    for (const name of named)
      for (const rule of index.get(name) ?? []) {
        const resemblance = rule.against?.resemblance;
        if (resemblance && spellings.some((spelling) => resembles(resemblance, spelling))) hits.push(rule);
      }
  }
  return firstOf(hits);
}

function met(index: Index, possible: PossibleCommands): Rule | undefined {
  if (index.size === 0) return undefined;
  const hits: CompiledRule[] = [];
  const look = (list: readonly CompiledRule[] = []) => {
    for (const rule of list) if (rule.whole || (rule.against && mayRun(rule.against, possible))) hits.push(rule);
  };
  look(index.get(undefined));
  for (const name of possible.names) look(index.get(name));
  return firstOf(hits);
}
