// Reasons are data: one table for each code, and sentences of our own only where programmers read them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const src = join(import.meta.dirname, "../../src");

test("no two tables of reasons declare the same code", () => {
  const declared = new Map<string, string>();
  const twice: string[] = [];
  let tables = 0;
  for (const file of ["confine.ts", ...readdirSync(join(src, "protocol/reasons")).map((name) => `reasons/${name}`)]) {
    const text = readFileSync(join(src, "protocol", file), "utf8");
    for (const [, table = "", body = ""] of text.matchAll(/export type (\w+Args) = (?:[\w &]+)?\{\n([^]*?)\n\};?\n/g)) {
      tables++;
      for (const [, code = ""] of body.matchAll(/^ {2,4}"?([a-z][a-z0-9-]*)"?: /gm)) {
        const other = declared.get(code);
        // As an intersection of both, a code declared twice would take the arguments of both tables.
        if (other !== undefined && other !== table) twice.push(`${code}: ${other} and ${table}`);
        declared.set(code, table);
      }
    }
  }
  assert.ok(tables >= 5 && declared.size > 100, `read ${tables} tables and ${declared.size} codes`);
  assert.deepEqual(twice, []);
});

/** English that only programmers read: mistakes of a caller of the SDK or of a peer on a socket. Not more of it than this. */
const forProgrammers: Record<string, number> = {
  "agent/state/lifecycle.ts": 1,
  "cli/connect/acp.ts": 1,
  "cli/host/journal.ts": 1,
  "cli/serve/web/web.ts": 1,
  "host/assembly/prompts.ts": 1,
  "host/commands.ts": 2,
  "host/run/runner.ts": 1,
  "host/socket/messages.ts": 2,
  "host/socket/serve.ts": 1,
  "input/ask.ts": 2,
  "input/channel.ts": 9,
  "models/scripted.ts": 3,
  "sdk/client.ts": 3,
  "sdk/turns.ts": 1,
  "tools/registry.ts": 1,
};

test("what people read is a reason with a code, in their language; said(…) with our own English is for programmers", () => {
  const found: Record<string, number> = {};
  for (const file of readdirSync(src, { recursive: true, encoding: "utf8" }).sort()) {
    if (!file.endsWith(".ts")) continue;
    const count = [...readFileSync(join(src, file), "utf8").matchAll(/\bsaid\(\s*(?:"[^"]|'[^']|`[^`])/g)].length;
    if (count > 0) found[file] = count;
  }
  assert.deepEqual(found, forProgrammers, "a text for people needs a code in protocol/ and sentences in texts/");
});
