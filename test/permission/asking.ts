import { judge } from "../../src/permission/judge.ts";
import type { Judgement } from "../../src/permission/judge.ts";
import type { PermissionResult, Rule } from "../../src/protocol/index.ts";

export const noOpinion = (): PermissionResult => ({ behavior: "passthrough", reason: "" });

/** `+ Bash(ls)` allows, `- Bash(rm:*)` denies, `? Edit` asks. */
export function rulesOf(...texts: string[]): Rule[] {
  const behaviors = { "+": "allow", "-": "deny", "?": "ask" } as const;
  return texts.map((text) => ({
    behavior: behaviors[text.charAt(0) as keyof typeof behaviors],
    text: text.slice(2),
    source: "user",
  }));
}

export function answer(rules: readonly Rule[], tool: string, specifier?: string, more: Partial<Judgement> = {}) {
  return judge({
    rules,
    mode: "default",
    tool: { name: tool },
    specifier,
    cwd: "/w",
    home: "/home/me",
    check: noOpinion,
    ...more,
  });
}

export function bash(command: string, ...rules: string[]) {
  return answer(rulesOf(...rules), "Bash", command).behavior;
}
