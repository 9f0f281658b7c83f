import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { decide } from "../../src/permission/decide.ts";
import { looksSecret } from "../../src/permission/text/secret.ts";
import { narrower, suggest } from "../../src/permission/suggest/suggest.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { callOf, rulesOf } from "./asking.ts";

const offered = (command: string, ...rules: string[]) => suggest(callOf(rulesOf(...rules), "Bash", { command }));
const texts = (command: string, ...rules: string[]) => offered(command, ...rules).map(({ rule }) => rule);

test("a rule per part, as long as it takes to say what the command is about", () => {
  const cases: [command: string, ...rules: string[]][] = [
    ["npm test", "Bash(npm test:*)"],
    ["npm test -- -t 'a b'", "Bash(npm test:*)"],
    ["npm run build --silent", "Bash(npm run build:*)"],
    ["pnpm run lint", "Bash(pnpm run lint:*)"],
    ["git push origin main", "Bash(git push:*)"],
    ["cargo build --release", "Bash(cargo build:*)"],
    ["docker compose up -d", "Bash(docker compose up:*)"],
    ["gh pr create --title x", "Bash(gh pr create:*)"],
    ["uv run pytest -q", "Bash(uv run pytest:*)"],
    ["make deploy", "Bash(make deploy:*)"],
    ["make", "Bash(make)"],
    ["timeout 60 make deploy", "Bash(make deploy:*)"],
    ["CI=1 npm run x:y", "Bash(npm run x:y:*)"],
    ["cd sub && npm test && git push", "Bash(npm test:*)", "Bash(git push:*)"],
    ["npm test; npm test", "Bash(npm test:*)"],
    ["npm test | tee", "Bash(npm test:*)", "Bash(tee)"],
    ['kubectl get pods -n "$(kubectl config view)"', "Bash(kubectl get:*)", "Bash(kubectl config:*)"],
    ["npm run $X"],
    ["git clone https://me:pw@h/x", "Bash(git clone:*)"],
  ];
  for (const [command, ...rules] of cases) assert.deepEqual(texts(command), rules, command);
});

test("only the exact command where a prefix would say too little", () => {
  const cases: [command: string, rule: string][] = [
    ["python script.py --x", "Bash(python script.py --x)"],
    ["bash scripts/a.sh", "Bash(bash scripts/a.sh)"],
    ["node -e 'f(1)'", "Bash(node -e 'f\\(1\\)')"],
    ["curl -s http://x/y", "Bash(curl -s http://x/y)"],
    ["npx vitest run", "Bash(npx vitest run)"],
    ["docker run --rm alpine", "Bash(docker run --rm alpine)"],
    ["kubectl exec web -- ls", "Bash(kubectl exec web -- ls)"],
    ["git -C sub fetch", "Bash(git -C sub fetch)"],
    ["npm --silent test", "Bash(npm --silent test)"],
    ["sudo make install", "Bash(sudo make install)"],
    ["./run.sh a", "Bash(./run.sh a)"],
    ['echo "it\'s *" $(true)x', ""],
    ['ssh host "it\'s up"', 'Bash(ssh host "it\'s up")'],
    ["go run ./cmd", "Bash(go run ./cmd)"],
    ["less +G a.txt", "Bash(less +G a.txt)"],
  ];
  for (const [command, rule] of cases) assert.deepEqual(texts(command), rule === "" ? [] : [rule], command);
});

test("files: the very file first, then its folder, and what that would allow besides", () => {
  assert.deepEqual(suggest(callOf([], "Write", { file_path: "/w/x/src/a.ts", content: "" })), [
    { type: "addRule", rule: "Edit(./src/a.ts)", behavior: "allow", destination: "session" },
    {
      type: "addRule",
      rule: "Edit(./src/**)",
      behavior: "allow",
      destination: "session",
      note: reason("offer-write-below", { folder: "./src" }),
    },
  ]);
  assert.deepEqual(
    suggest(callOf([], "Edit", { file_path: "[id] (1)/*?.ts" })).map(({ rule }) => rule),
    ["Edit(./\\[id] \\(1\\)/\\*\\?.ts)", "Edit(./\\[id] \\(1\\)/**)"],
  );
  assert.deepEqual(
    suggest(callOf([], "Write", { file_path: "a.ts" })).map(({ rule, note }) => [rule, note]),
    [
      ["Edit(./a.ts)", undefined],
      ["Edit(./**)", reason("offer-write-folder", {})],
    ],
  );
  assert.deepEqual(texts("npm test > out/log.txt"), ["Bash(npm test:*)", "Edit(./out/log.txt)"]);
  assert.deepEqual(texts("npm test > out/log.txt", "+ Bash(npm test)"), ["Edit(./out/log.txt)", "Edit(./out/**)"]);
  assert.deepEqual(texts("cp a lib/b"), ["Bash(cp a lib/b)", "Edit(./lib/b)"]);
  assert.deepEqual(texts("cat /etc/hosts"), ["Read(/etc/hosts)"]);
  assert.deepEqual(texts("ls /etc"), ["Read(/etc/**)"]);
  assert.deepEqual(
    suggest(callOf([], "Read", { file_path: "~/notes.md" })).map(({ rule }) => rule),
    ["Read(~/notes.md)"],
  );
  assert.deepEqual(
    suggest(callOf([], "Write", { file_path: "b.ts" }, { cwd: "/w/x/sub", anchor: "/w/x" })).map(({ rule }) => rule),
    ["Edit(./sub/b.ts)", "Edit(./sub/**)"],
  );
});

test("other tools: a host, a tool of a server, a specifier", () => {
  assert.deepEqual(suggest(callOf([], "WebFetch", { url: "https://A.org./x" })), [
    {
      type: "addRule",
      rule: "WebFetch(domain:a.org)",
      behavior: "allow",
      destination: "session",
      note: reason("offer-host", { host: "a.org" }),
    },
  ]);
  assert.deepEqual(
    suggest(callOf([], "mcp__jira__search", {})).map(({ rule }) => rule),
    ["mcp__jira__search"],
  );
  assert.deepEqual(
    suggest(callOf([], "Deploy", {}, { specifier: "eu (1)" })).map(({ rule }) => rule),
    ["Deploy(eu \\(1\\))"],
  );
  assert.deepEqual(suggest(callOf([], "Deploy", {})), []);
});

test("nothing for what no rule allows, what escalates, what is protected or outside, and what holds a secret", () => {
  const none = [
    ...[
      "for ((i=0;i<2;i=i+1)); do make; done",
      "export A=1; npm test",
      "FOO=1 npm test",
      "$X test",
      "npm test &&",
      "",
      "cd .. && npm test",
    ],
    ...["find . -delete", "timeout 5 find . -delete", "fd -x ls", "git -c a=b log", "sort -o x y", "sed -i s/a/b/ x"],
    ...[
      "npm test <<E\nx\nE",
      "npm test > /tmp/x",
      "npm test > $X",
      "npm test > .git/config",
      "cp a ../b",
      "rm -rf /",
      "python $X",
    ],
    ...["curl --token abc http://x", "API_KEY=x npm test", "npm run ghp_abcdefghijklmnop"],
    ...[`python ${"a".repeat(1_000)}`, "make a; make b; make c; make d; make e; make f"],
  ];
  for (const command of none) assert.deepEqual(offered(command), [], command);
  for (const call of [
    callOf([], "Write", { file_path: ".git/config" }),
    callOf([], "Write", { file_path: "/etc/x" }),
    callOf([], "Write", { file_path: "\0" }),
    callOf(rulesOf("? Edit"), "Write", { file_path: "a" }),
    callOf(rulesOf("- Edit"), "Write", { file_path: "a" }),
    callOf([], "WebFetch", { url: "http://localhost/" }),
    callOf([], "WebFetch", { url: "https://a.org/?token=abcdef" }),
    callOf([], "mcp__a__b", {}, { requiresUserInteraction: true }),
    callOf([], "Bash", { command: "make" }, { grammar: undefined }),
  ])
    assert.deepEqual(suggest(call), [], JSON.stringify(call.input));
});

test("a link that leads elsewhere is not offered under the name it has here", (t) => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "sage-offer-")));
  t.after(() => rmSync(cwd, { recursive: true }));
  mkdirSync(join(cwd, "real"));
  writeFileSync(join(cwd, "real/a"), "");
  symlinkSync(tmpdir(), join(cwd, "away"));
  const where = { cwd, roots: [cwd] };
  assert.deepEqual(suggest(callOf([], "Write", { file_path: "away/x" }, where)), []);
  assert.equal(suggest(callOf([], "Write", { file_path: "real/a" }, where)).length, 2);
});

test("what is offered is kept: the same call is allowed by it, and what it is wider by is said", () => {
  const commands = [
    ...["npm test && git push 2>&1 | tail -3", "make deploy > out.txt", "python a.py 'b c'", "cat /etc/hosts"],
  ];
  for (const command of commands) {
    const call = callOf([], "Bash", { command });
    const offers = suggest(call);
    const rules = offers.map(({ rule }): Rule => ({ behavior: "allow", text: rule, source: "session" }));
    assert.equal(decide({ ...call, rules }).behavior, "allow", command);
    for (const { rule, note } of offers) assert.equal(rule.includes("*"), note !== undefined, rule);
  }
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

test("rules that allow a call only together say so; one that may stand for another does not", () => {
  assert.deepEqual(
    offered("npm test && git push").map(({ rule, together }) => [rule, together]),
    [
      ["Bash(npm test:*)", true],
      ["Bash(git push:*)", true],
    ],
  );
  assert.ok(offered("npm test > out.txt").every(({ together }) => together));
  const files = suggest(callOf([], "Write", { file_path: "/w/x/src/a.ts", content: "" }));
  assert.deepEqual(
    files.map(({ together }) => together),
    [undefined, undefined],
  );
});

test("a narrower ask rule is offered where one is plain: it still asks about this call, and about less than the one that asks", () => {
  const cases: [tool: string, input: object, asks: string, offered: string | undefined][] = [
    ["Bash", { command: "git push origin main" }, "Bash(git:*)", "Bash(git push:*)"],
    ["Bash", { command: "git push" }, "Bash(*)", "Bash(git push:*)"],
    ["Bash", { command: "git push && npm test" }, "Bash(git:*)", "Bash(git push:*)"],
    ["Bash", { command: "touch a" }, "Bash", "Bash(touch a)"],
    ["Bash", { command: "npm run build" }, "Bash(npm:*)", "Bash(npm run build:*)"],
    [
      "WebFetch",
      { url: "https://a.example.org/x" },
      "WebFetch(domain:*.example.org)",
      "WebFetch(domain:a.example.org)",
    ],
    ["mcp__s__t", {}, "mcp__s", "mcp__s__t"],
    // Nothing is narrower than it, what would be offered is wider, or two would do.
    ["Bash", { command: "git push origin main" }, "Bash(git push:*)", undefined],
    ["Bash", { command: "git push --force o" }, "Bash(git push --force:*)", undefined],
    ["Bash", { command: "node x.js" }, "Bash(node x.js)", undefined],
    ["Bash", { command: "git push && git tag v1" }, "Bash(git:*)", undefined],
    ["mcp__s__t", {}, "mcp__s__t", undefined],
    // A secret is in no rule.
    ["Bash", { command: "curl -u me:ghp_0123456789abcdefghijABCDEFGHIJ012345 x" }, "Bash(curl:*)", undefined],
  ];
  for (const [tool, input, asks, expected] of cases)
    assert.equal(narrower(callOf(rulesOf(), tool, input), asks), expected, `${JSON.stringify(input)} under ${asks}`);
});
