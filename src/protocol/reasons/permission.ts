import type { RuleSource } from "../decision.ts";

/** A rule as it is named in a reason. */
export type NamedRule = { text: string; source: RuleSource };

/** Kinds of paths that a person decides about whatever rule or mode allows a write. */
export type ProtectedKind =
  | "sage-state"
  | "sage-settings"
  | "instructions"
  | "agent-settings"
  | "credentials"
  | "git"
  | "shell-start"
  | "system-start"
  | "tool-settings";

/** Pieces of shell language that no rule may cover, and ways in which a command cannot be read. */
export type Construct =
  | "arithmetic"
  | "arrays"
  | "assignment"
  | "backslash-at-line-end"
  | "backslash-in-backticks"
  | "backticks-in-backticks"
  | "bracket-tests"
  | "case-statements"
  | "comment-in-backticks"
  | "command-end"
  | "conditions"
  | "continued-lines"
  | "dollar"
  | "expansion-operators"
  | "foreign-blank"
  | "functions"
  | "group-empty"
  | "group-negated"
  | "grammar-missing"
  | "half-character"
  | "heredoc-delimiter"
  | "heredoc-end-in-substitution"
  | "heredoc-in-backticks"
  | "heredoc-late"
  | "heredoc-open"
  | "heredocs-on-one-line"
  | "loops"
  | "missing-after-operator"
  | "missing-command"
  | "negated-move"
  | "nested-too-deeply"
  | "no-command"
  | "parentheses"
  | "process-substitution"
  | "quote-open"
  | "redirection"
  | "redirection-without-target"
  | "too-many-parts"
  | "two-readings"
  | "unparsable";

/** Reasons of the permission room. */
export type PermissionReasonArgs = {
  // The decision
  "allowed-by-rules": { rules: NamedRule[] };
  "denied-by-rule": { rule: NamedRule };
  "asked-by-rule": { rule: NamedRule };
  "rule-unreadable": { rule: NamedRule };
  bypass: {};
  "accepts-edits": {};
  "plan-mode": { tool: string };
  "not-in-plan-mode": {};
  "plan-waits": {};
  "only-reads": {};
  "lists-tools": {};
  "writes-named": {};
  "needs-person": { tool: string };
  "tool-changed": { tool: string };
  "no-rule-tool": { tool: string };
  /** `part` is the command among several that no rule allows. */
  "no-rule-command": { part?: string };
  "no-rule-write": { path: string };
  "no-rule-host": { host: string };
  "check-unusable": {};
  "command-not-text": {};
  "path-not-text": {};

  // Paths
  "path-empty": {};
  "path-control": {};
  "path-foreign-home": {};
  "path-links": { path: string };
  "path-too-long": {};
  /** Message of the operating system about a path. */
  "path-error": { error: string };
  outside: { path: string };
  "reads-outside": { path: string };
  reads: { path: string };
  writes: { path: string };
  "reads-by-rule": { path: string; rule: NamedRule };
  "writes-by-rule": { path: string; rule: NamedRule };
  protected: { path: string; kind: ProtectedKind };
  "holds-ruled": { path: string; rule: string };
  "is-repository": { path: string };
  /** An archive may put start files into the home folder. */
  "unpacks-repository": { path: string };
  "mounts-home": { path: string };
  "code-builds": { program: string; path: string };
  "unpacks-home": { path: string };
  /** Keys or credentials below a folder that is read as a whole. */
  "holds-private": { path: string; place: string };
  /** A later command runs it without naming it. */
  "runs-later": { path: string };
  /** `holds`: the folder of the session or the home folder, where it lies below `path`. */
  removes: { path: string; holds?: string };
  /** `operand` is what may stand for anything. */
  "removes-anything": { operand?: string };
  "too-much-below": { path: string };
  "link-leads": { path: string; target: string };
  "file-unknown": {};
  "files-too-many": {};
  "file-like-option": {};
  "odd-name": { path: string };
  "file-unnamed": {};
  "not-a-file": { path: string };
  "write-unclear": {};

  // Commands
  "not-understood": { construct: Construct };
  /** A node of the grammar that has no name of its own above. */
  "node-not-understood": { node: string };
  "token-not-understood": { token: string };
  "token-missing": { token: string };
  "command-too-long": { length: number; most: number };
  "hidden-character": { codePoint: string };
  "runs-sage": {};
  /** A deny or ask rule may apply: a word of the command is unknown or spelled differently. */
  "resembles-rule": { command: string; rule: NamedRule };
  /** It puts a program that a rule is about under another name. */
  "copies-program": { program: string };
  /** Code that a program runs is known only when it runs, or is kept from being read. */
  "code-unknown": { program: string };
  "code-hidden": { program: string };
  "stays-inside": {};
  "sets-nothing": {};
  "program-unknown": {};
  "changes-names": { name: string };
  "variable-changes": { variable: string; program: string };
  "program-moved": { program: string; folder: string };
  "option-unnamed": { program: string };
  "address-unnamed": { address: string };
  "move-unknown": { command: string };
  "moves-too-many": {};
  "own-link": {};

  // Repositories
  "repository-bare": { path: string };
  "repository-other": { path: string };
  "repository-incomplete": { path: string };
  "repository-program": { file: string; key: string };
  "repository-hook": {};
  "repository-nested": {};
  "repository-split-index": {};
  "repository-index-huge": {};
  "repository-unreadable": { path: string };
  "repository-unknown": {};
  "repository-locks": {};
  "git-shows": { command: string; rule: string };
  "git-shows-past": { command: string; rule: string };
  "git-shows-unknown": { command: string };

  // Web
  "address-unusable": {};
  "host-private": {
    host: string;
    /** Address that its name resolves to, if the name alone does not tell. */ address?: string;
  };
  "query-long": { length: number };
  "address-secret": {};
  "search-long": { length: number };
  "search-secret": {};

  // Rules that are offered
  "offer-arguments": { command: string; others: boolean };
  "offer-write-below": { folder: string };
  "offer-read-below": { folder: string };
  "offer-write-folder": {};
  "offer-host": { host: string };
  "offer-tool": { tool: string };

  // Effects of an allow rule that its words do not show
  "allows-any-command": {};
  "allows-any-code": { program: string };
  "allows-scripts": { file: string };
  "allows-git": {};
  "allows-sending": { program: string };
  "allows-longer": { text: string };
  "allows-any-read": {};
  "allows-any-write": {};
  "allows-any-host": {};
  "allows-server": { tool: string };
};
