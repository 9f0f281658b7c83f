import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { discover } from "../../src/context/discover.ts";
import { findBestMatch } from "../../src/context/skills.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const preload = new URL("../support/bundled-sdk.ts", import.meta.url).href;

const expected: Record<string, RegExp> = {
  "sage-tools.mjs": /^$/, // a module: Sage loads it, see test/cli/modules.test.ts
  "otel.mjs": /^$/, // loaded before Sage, see test/cli/traces.test.ts
  "custom-tool.ts": /杭州: 21 °C, clear\nTake no umbrella/,
  "auto-responder.ts": /ls -a \/ → ran\nrm -rf build → Not run: .*only listing is fine here/,
  "subagent.ts": /no mistakes\nIt can go out\./,
  "skill.ts":
    /Publish 2\.0: run the tests[^]*Write: Not run: the skill in use works with Read, Bash only[^]*I will not write/,
  "answer-from-code.ts": /asked: Which database\?\nSQLite it is\./,
  "writing-tool.ts": /asked: Note \{"line":"buy milk"\}\nIt is on the list\.\nbuy milk\n/,
  "asking-tool.ts": /asked: Who is the guest\?\nasked: What does Ada talk about\?\nAda, who talks about engines/,
  "strategy.ts": /t0\/0\/0\/run0\.finished: hello\nSaid hello/,
  "long-conversation.ts":
    /word for word, oldest first:\n\[message 1\]\nRead the log of every day\n[^]*The first days were read[^]*13 steps, 16 messages/,
  "bad-day.ts": /large was asked 6 times\nopenai\/small replied: Still here\./,
  "habits.ts": /^(call: stopped on the way, after 7 at least\n|turn: I was interrupted, and heard why\.\n){4}$/,
  "own-model.ts": /You used 5 words/,
  "web-server.ts": /^data: \{"type":"end","text":"It works\."\}\n$/,
  "queue-worker.ts": /waits for a person: true\nDeployment is planned\./,
  "own-store.ts": /Hello\. Facts were written\.\nt0\/0 Hello\. 0 tokens/,
  "turns.ts": /pending: question\nneeds input: true\nasked: Which port\?\nListening on 8080\./,
  "traces.ts":
    /^Said hello\.\ninvoke_agent sage\n  chat scripted\n  wait permission\n  execute_tool Bash\n  chat scripted\n$/,
  "inquiry.ts":
    /needs input: true\nreply: Because the file holds ideas[^]*still asked: true\nNot run: the person refused it[^]*Ada asked: "Why rename it\?" You replied: "Because/,
  "persona.ts":
    /success - Understood: nothing from the network\.\nNot run: the person refused it\. Their reason: "Nothing from the network\."/,
  "replay.ts": /success - released 2\.0\nneeds-input - 1 request/,
  "surface.ts": /asks: Bash .*node -p 1\+1.*\ncall: Bash done\nsays: It works/,
};

for (const name of readdirSync(join(root, "examples"))) {
  test(`examples/${name} runs and prints what it promises`, async () => {
    const { stdout } = await run(process.execPath, ["--import", preload, join(root, "examples", name)], {
      timeout: 50_000, // before the runner gives up on this file and leaves the child behind
      killSignal: "SIGKILL",
    });
    assert.match(stdout, expected[name] ?? assert.fail(`say here what examples/${name} prints`));
  });
}

const ownSkill = ".claude/skills/extending-sage/SKILL.md";

test("code shown in the docs is code that runs", () => {
  const pages = [
    "README.md",
    "README.zh.md",
    ownSkill,
    ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];
  let shown = 0;
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8");
    for (const [, file = "", code = ""] of text.matchAll(/```(?:ts|js) file=(\S+)\n([\s\S]*?)```/g)) {
      assert.equal(code, readFileSync(join(root, file), "utf8"), `${page} shows ${file} as it is no longer`);
      shown++;
    }
    if (page === "docs/api.md") continue; // declarations, which a test of its own compares with the types
    assert.doesNotMatch(text, /```ts\n/, `${page} shows code that no test runs; write \`\`\`ts file=…`);
  }
  assert.ok(shown > 0);
});

test("links between the pages lead somewhere", async () => {
  const { dirname } = await import("node:path");
  const pages = [
    "README.md",
    "README.zh.md",
    "AGENTS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];
  for (const page of pages) {
    for (const [, link = ""] of readFileSync(join(root, page), "utf8").matchAll(/\]\(((?!https?:|#)[^)#]+)/g))
      assert.ok(existsSync(join(root, dirname(page), link)), `${page} links to ${link}, which is not there`);
  }
});

test("the repository's own skill is found, matches what people ask, and names files that exist", () => {
  const { skills, problems } = discover(root);
  assert.deepEqual(problems, []);
  const skill = skills.find(({ name }) => name === "extending-sage") ?? assert.fail("not found");
  for (const asked of ["Write a tool of my own for Sage", "给 sage 写一个 module 和 hook"])
    assert.equal(findBestMatch(skills, asked), skill, asked);
  const named = [...skill.body.matchAll(/(?:docs|examples)\/[\w-]+\.(?:md|ts|mjs)/g)].map(([file]) => file);
  assert.ok(named.length > 10);
  for (const file of named) assert.ok(existsSync(join(root, file)), file);
});
