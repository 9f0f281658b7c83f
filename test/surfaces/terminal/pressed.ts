import type { PermissionSuggestion } from "../../../src/protocol/facts/permission.ts";
import type { PermissionRequest } from "../../../src/protocol/facts/request.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
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
