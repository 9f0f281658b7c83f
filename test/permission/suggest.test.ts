import assert from "node:assert/strict";
import { test } from "node:test";
import { looksSecret } from "../../src/permission/secret.ts";
import { suggest } from "../../src/permission/suggest.ts";
import { answer } from "./asking.ts";

test("offers the exact call, and the offer is kept", () => {
  const offers: [tool: string, specifier: string, rule: string][] = [
    ["Bash", "npm test", "Bash(npm test)"],
    ["Bash", " npm  test ", "Bash(npm  test)"],
    ["Bash", 'git commit -m "fix (a) *"', 'Bash(git commit -m "fix \\(a\\) \\*")'],
    ["Bash", 'echo "a:*"', 'Bash(echo "a:\\*")'],
    ["Edit", "/w/a.ts", "Edit(/w/a.ts)"],
    ["Write", "/w/a.ts", "Edit(/w/a.ts)"],
    ["Write", "/w/[id] (1)/*?.ts", "Edit(/w/\\[id] \\(1\\)/\\*\\?.ts)"],
    ["Grep", "/etc", "Grep(/etc)"],
    ["WebFetch", "domain:a.org", "WebFetch(domain:a.org)"],
  ];
  for (const [tool, specifier, rule] of offers) {
    assert.deepEqual(suggest(tool, specifier), [{ type: "addRule", rule, behavior: "allow", destination: "session" }]);
    const rules = [{ behavior: "allow", text: rule, source: "session" }] as const;
    assert.equal(answer(rules, tool, specifier).behavior, "allow", rule);
  }
});

test("offers nothing for what no rule would allow, what escalates, and what holds a secret", () => {
  const none: [tool: string, specifier: string | undefined][] = [
    ["Bash", "npm test && rm x"],
    ["Bash", "echo $HOME"],
    ["Bash", "A=1 npm test"],
    ["Bash", "find . -delete"],
    ["Bash", "timeout 5 find . -delete"],
    ["Bash", "curl --token abc"],
    ["Bash", `echo ${"a".repeat(1_000)}`],
    ["Bash", ""],
    ["Edit", "a.ts"],
    ["Edit", "/w/../a.ts"],
    ["Task", undefined],
  ];
  for (const [tool, specifier] of none) assert.deepEqual(suggest(tool, specifier), [], specifier);
});

test("offers nothing for a path that a link leads elsewhere", () => {
  assert.deepEqual(
    suggest("Edit", "/w/a", (path) => path.replace("/w/a", "/etc/a")),
    [],
  );
  assert.equal(suggest("Edit", "/w/a", (path) => path).length, 1);
});

test("what looks like a secret", () => {
  const secrets = [
    "API_KEY=x npm test",
    "curl --token x",
    "curl --password=x",
    "curl -H 'Authorization: Bearer x'",
    "mysql --dbPassword x",
    "git clone https://me:pw@host/x",
    "echo sk-abcdefghijklmnop",
    "echo ghp_abcdefghijklmnop",
    "echo AKIAIOSFODNN7EXAMPLE",
    "echo eyJhbGciOiJIUzI1NiJ9.e30.x",
    "echo 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "-----BEGIN PRIVATE KEY-----",
  ];
  for (const text of secrets) assert.equal(looksSecret(text), true, text);
  const harmless = [
    "npm test",
    "npm run build:prod",
    "git log --author=me --oneline",
    "git push origin feature/a-rather-long-branch-name-2",
    "/home/me/projects/some-project/src/components/keyboard.ts",
    "docker run -p 8080:80 nginx:1.27",
    "cat monkey.txt token.ts",
  ];
  for (const text of harmless) assert.equal(looksSecret(text), false, text);
});
