import { said } from "../../../src/protocol/index.ts";
import type { PermissionRequest, PermissionSuggestion } from "../../../src/protocol/index.ts";
import { keys, permission } from "./asked.ts";

export const { up, down, left, right, enter, newline, esc, tab, space, erase, pageDown, paste } = keys;
export const requestId = "s/t0/0/0/ask0";

export const suggestion = (
  rule: string,
  destination: PermissionSuggestion["destination"],
  more = {},
): PermissionSuggestion => ({
  type: "addRule",
  rule,
  behavior: "allow",
  destination,
  ...(destination !== "session" && { file: `/p/.sage/${destination}.json` }),
  ...more,
});
export const offered = [
  suggestion("Bash(git push *)", "session"),
  suggestion("Bash(git push *)", "local"),
  suggestion("Bash(npm test)", "session", { note: said("exactly this") }),
  suggestion("Bash(npm test)", "local"),
];
export const push = (more: Partial<PermissionRequest> = {}) =>
  permission("Bash", { command: "git push && npm test" }, { suggestions: offered, ...more });
