/** Why a rule, a setting, a skill or a subagent in a file does not count, or counts less than it seems to. */
export type FileReasonArgs = {
  "rule-form": { expected: "tool" | "mcp" | "closing" | "specifier" | "domain" | "path" | "star" };
  "rule-too-long": { limit: number; length: number };
  "id-of-two": { id: string; people: readonly [string, string] };
  "search-without-address": {};

  "larger-than": { limitKb: number };
  "front-matter-missing": {};
  "front-matter-line": { line: string };
  "front-matter-value": { value: string };
  "subagent-text-missing": {};
  "subagent-model-ignored": {};
  "command-text-missing": {};
  "command-name-unfit": {};
  "folder-missing": {};
  "remote-unfit": { remote: string; why: "form" | "scheme" | "password" | "address" | "branch" };
  "remote-elsewhere": { remote: string };
  "remote-not-allowed": { remote: string };
  "clone-failed": { remote: string; problem: string };
  "clone-too-slow": { remote: string; minutes: number };
  "name-taken": { kind: "skill" | "subagent" | "command" | "tool"; name: string };
};
