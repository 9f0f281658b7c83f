// The judge of what may appear, by itself and where a tool or a command writes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { diskTree, mayNotAppear, type Entry } from "../../src/permission/appear/appear.ts";
import { judge } from "../../src/permission/decide.ts";
import { loadGrammar } from "../../src/permission/shell/read/grammar.ts";
import { loadRules } from "../../src/permission/rules/rules.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-appear-")));
after(() => rmSync(root, { recursive: true, force: true }));
execFileSync(
  "bash",
  [
    "-c",
    `mkdir -p docs gh half/objects half/refs headless/objects headless/refs plain/hooks; ln -s docs/guide.md AGENTS.md; ln -s gh .github; ln -s config.d/cargo .cargo
     echo 'ref: refs/heads/x' > half/HEAD; printf '[core]\\n\\tfsmonitor = x\\n' > headless/config; git init -q sub`,
  ],
  { cwd: root },
);
const grammar = await loadGrammar();

const file = { kind: "file", mode: 0o644 } as const;
/** Entry, and why it may not appear. */
const table: [path: string, entry: Omit<Entry, "path">, why: string | undefined][] = [
  ["docs/other.md", file, undefined],
  ["docs/guide.md", file, "instructions"],
  ["docs/agents.md", file, "instructions"],
  ["gh/x.md", file, undefined],
  ["gh/instructions/x.md", file, "instructions"],
  ["half/config", file, "git"],
  ["half/hooks/pre-commit", file, "git"],
  ["half/commondir", file, "git"],
  ["half/readme", file, undefined],
  ["headless/HEAD", file, "git"],
  ["headless/readme", file, undefined],
  ["plain/hooks/pre-commit", file, undefined],
  ["plain/config", file, undefined],
  ["new/.git", file, "git"],
  ["bin/tool", { kind: "file", mode: 0o755 }, undefined],
  ["bin/tool", { kind: "file", mode: 0o4755 }, "setuid"],
  ["bin/tool", { kind: "file", mode: 0o2755 }, "setuid"],
  ["shared", { kind: "folder", mode: 0o2775 }, undefined],
  ["null", { kind: "device", mode: 0o666 }, "device"],
  [".envrc", { kind: "link", mode: 0o777, target: "x" }, "shell-start"],
];

for (const [name, entry, why] of table)
  test(`${entry.kind} ${entry.mode.toString(8)} ${name}: ${why ?? "may appear"}`, () => {
    const path = join(root, name);
    const added = { path, ...entry };
    assert.equal(mayNotAppear(added, diskTree(root, added))?.why, why);
  });

test("Write, Edit and a redirection ask a person wherever the judge refuses, whatever a rule or a mode allows", () => {
  const { rules } = loadRules({ allow: ["Write", "Edit", "Bash"] }, "user");
  const decided = (tool: string, input: object) =>
    judge({ rules, mode: "bypass", cwd: root, home: "/home/x", roots: [root], tool, input, grammar }).result;
  for (const [name, entry, why] of table) {
    if (entry !== file) continue;
    const path = join(root, name);
    const calls = [
      decided("Write", { file_path: path, content: "x" }),
      decided("Edit", { file_path: path, old_string: "a", new_string: "b" }),
      decided("Bash", { command: `echo x > ${path}` }),
    ];
    for (const { behavior, hard } of calls)
      assert.deepEqual([behavior, hard], why === undefined ? ["allow", undefined] : ["ask", true], name);
  }
});
