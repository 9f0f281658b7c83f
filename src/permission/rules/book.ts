import type { Rule } from "../../protocol/index.ts";
import { compile, firstOf, governs } from "./compile.ts";
import type { CompiledRule } from "./compile.ts";
import { isSuspected } from "../shell/suspect/suspects.ts";
import type { Suspects } from "../shell/suspect/suspects.ts";

/** A list of rules, taken apart and sorted once, so that a call is held only against those that may be about it. */
export type RuleBook = {
  /** A deny or ask rule that cannot be read may have meant any call. */
  unreadable: Rule | undefined;
  /** The rules that speak about a tool at all. */
  about(tool: string): RuleGroup;
  /** Allow rules for commands of this name. */
  covering(name: string): readonly CompiledRule[];
  /** The allow rule that is this very text. */
  spelling(command: string): Rule | undefined;
  /** The rule for every command there is. */
  everyCommand: Rule | undefined;
  /** The programs that deny and ask rules name. */
  accused: readonly string[];
  /** Deny and ask rules that something among the suspects meets. */
  against(suspects: Suspects): { deny?: Rule; ask?: Rule };
};

export type RuleGroup = Record<Rule["behavior"], readonly CompiledRule[]>;

const books = new WeakMap<readonly Rule[], { home: string; rules: readonly CompiledRule[]; book: RuleBook }>();

export function bookOf(rules: readonly Rule[], home: string): RuleBook {
  const known = books.get(rules);
  // A list is not changed while it is in use, but nothing would be worse than a deny rule that was overlooked.
  const isSame = (rule: Rule, i: number) => {
    const was = known?.rules[i]?.rule;
    return was?.text === rule.text && was.behavior === rule.behavior && was.source === rule.source;
  };
  if (known?.home === home && known.rules.length === rules.length && rules.every(isSame)) return known.book;
  const compiled = rules.map((rule) => compile(rule, home));
  const book = write(compiled);
  books.set(rules, { home, rules: compiled, book });
  return book;
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
  const names = indexed(allow, ({ words }) => words?.name);
  const texts = indexed(allow, ({ text }) => text?.trim());
  const heads = { deny: headed(deny), ask: headed(ask) };
  return {
    about,
    unreadable: firstOf(rules.filter(({ tool, rule }) => tool === undefined && rule.behavior !== "allow")),
    covering: (name) => [...(names.get(name) ?? []), ...(names.get(undefined) ?? [])],
    spelling: (command) => firstOf(texts.get(command.trim()) ?? []),
    everyCommand: firstOf(allow.filter(({ whole }) => whole)),
    accused: [...heads.deny.keys(), ...heads.ask.keys()].filter((name) => name !== undefined),
    against(suspects) {
      const [denied, asked] = [meeting(heads.deny, suspects), meeting(heads.ask, suspects)];
      return { ...(denied && { deny: denied }), ...(asked && { ask: asked }) };
    },
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

/** By the program they name; under no name those that may mean any. */
function headed(rules: readonly CompiledRule[]): Index {
  return indexed(rules, ({ suspicion }) => suspicion?.head);
}

function meeting(index: Index, suspects: Suspects): Rule | undefined {
  if (index.size === 0) return undefined;
  const hits: CompiledRule[] = [];
  const look = (list: readonly CompiledRule[] = []) => {
    for (const rule of list)
      if (rule.whole || (rule.suspicion && isSuspected(rule.suspicion, suspects))) hits.push(rule);
  };
  look(index.get(undefined));
  for (const word of suspects.words) look(index.get(word));
  return firstOf(hits);
}
