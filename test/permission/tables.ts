import assert from "node:assert/strict";
import { bash } from "./asking.ts";

export function table(cases: [command: string, ...rules: string[]][], behavior: string): void {
  for (const [command, ...rules] of cases)
    assert.equal(bash(command, ...rules), behavior, `${JSON.stringify(command)} under ${rules.join(", ")}`);
}
