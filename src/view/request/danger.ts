import type { PermissionRequest } from "../../protocol/facts/request.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";

/** Signs that a call is dangerous. They decide nothing: they warn the person who does. */
export type Danger = "removes" | "force-push" | "runs-download" | "outside" | "person-only";

/** The program of a simple command, after what may stand before it. */
const before = String.raw`^\s*(?:(?:sudo|doas|env|command|nohup|time|xargs)\s+(?:-\S+\s+)*|\w+=\S*\s+)*(?:\S*\/)?`;
const removal = new RegExp(`${before}(?:rm|rmdir|unlink|shred|truncate)(?:\\s|$)`);
const gitRemoval = new RegExp(`${before}git\\s+(?:\\S+\\s+)*?(?:clean|rm)(?:\\s|$)`);
const hardReset = new RegExp(`${before}git\\s+(?:\\S+\\s+)*?reset\\s(?:.*\\s)?--hard`);
const found = new RegExp(`${before}find\\s.*\\s-delete(?:\\s|$)`);
const forced = new RegExp(`${before}git\\s+(?:\\S+\\s+)*?push\\s(?:.*\\s)?(?:-\\w*f\\w*|--force\\S*|\\+\\S+)(?:\\s|$)`);
const download = /(?:^|[\s;&|(])(?:curl|wget)\s/;
const shell =
  /\|\s*(?:sudo\s+)?(?:\S*\/)?(?:ba|z|da|k|fi)?sh(?:\s|$)|\|\s*(?:sudo\s+)?(?:python|node|perl|ruby)\d?(?:\s|$)|(?:ba|z|da)?sh\s+(?:-c\s+)?(?:"\$\(|<\()\s*(?:curl|wget)/;

export function dangersOf({ tool, input, parts = [], preview, hard }: PermissionRequest): Danger[] {
  const command = tool === "Bash" && typeof input["command"] === "string" ? input["command"] : "";
  const commands = [...parts.map(({ text }) => text), ...command.split(/\n|;|&&|\|\|?|\$\(|`/)];
  const any = (...patterns: RegExp[]) => commands.some((command) => patterns.some((pattern) => pattern.test(command)));
  const outside = preview?.outside === true || parts.some(({ writes = [] }) => writes.some((target) => target.outside));
  return [
    ...(command !== "" && any(removal, gitRemoval, hardReset, found) ? (["removes"] as const) : []),
    ...(command !== "" && any(forced) ? (["force-push"] as const) : []),
    ...(download.test(command) && shell.test(command) ? (["runs-download"] as const) : []),
    ...(outside ? (["outside"] as const) : []),
    ...(hard && tool !== PLAN_TOOL ? (["person-only"] as const) : []),
  ];
}
