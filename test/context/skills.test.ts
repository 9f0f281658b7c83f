import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { readAgents } from "../../src/context/discover.ts";
import { findContent } from "../../src/context/content.ts";
import { expandMessage, findBestMatch, readSkills, type Skill } from "../../src/context/skills.ts";
import type { Reason } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { workspace } from "../support/sage.ts";

const written = (why: Reason) => sentence(why, "en");

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const file = (path: string, ...lines: string[]) => ({ path, text: lines.join("\n") });

test("a skill is a folder with a SKILL.md; what cannot be read is told and left out", () => {
  using here = workspace();
  using outside = workspace();
  put(here.path(".sage/skills/review/SKILL.md"), "---\ndescription: Reviews changes\n---\n\nLook twice.\n");
  put(here.path(".sage/skills/no-front/SKILL.md"), "# Just text");
  put(here.path(".sage/skills/bomb/SKILL.md"), "---\na: &a [x]\ndescription: *a\n---\nbody");
  put(here.path(".sage/skills/huge/SKILL.md"), `---\ndescription: x\n---\n${"x".repeat(70_000)}`);
  put(here.path(".sage/skills/wrong/SKILL.md"), "---\ndescription: ok\npriority: high\n---\nbody");
  put(outside.path("SKILL.md"), "---\ndescription: from elsewhere\n---\nbody");
  mkdirSync(here.path(".sage/skills/link"));
  symlinkSync(outside.path("SKILL.md"), here.path(".sage/skills/link/SKILL.md"));
  mkdirSync(here.path(".sage/skills/empty"));
  put(here.path(".sage/skills/notes.txt"), "nothing of ours");
  const found = findContent([here.path(".sage"), here.path(".claude")]);
  assert.equal(found.problems.length, 2);
  assert.match(found.problems.map(written).join("\n"), /huge[^]*larger than 64 KB[^]*link[^]*leaves/);
  const { skills, problems } = readSkills(found.skills);
  assert.deepEqual(skills, [
    {
      name: "review",
      description: "Reviews changes",
      whenToUse: "",
      allowedTools: "all",
      userInvocable: true,
      priority: 50,
      folder: here.path(".sage/skills/review"),
      body: "Look twice.",
    },
  ]);
  assert.equal(problems.length, 3);
  assert.match(problems.map(written).join("\n"), /bomb[^]*no-front[^]*front matter[^]*wrong[^]*priority/);
});

test("the whole front matter, in either spelling; the first of two with one name counts", () => {
  const whole = file(
    "/s/fix/SKILL.md",
    "---",
    "name: fix-tests",
    "description: >",
    "  Finds out why",
    "  a test fails.",
    "when-to-use: a test is red",
    "allowed-tools: Read, Grep, Bash(npm test:*)",
    "user_invocable: false",
    "priority: 95",
    "license: MIT # or so",
    "metadata: 'it''s ours'",
    "---",
    "Run it first.",
  );
  const twin = file("/t/other/SKILL.md", "---", "name: fix-tests", "description: another", "---", "x");
  const list = file(
    "/t/zh/SKILL.md",
    "---",
    "name: 审查",
    "description: 审查代码",
    "allowed_tools: [Read, Edit]",
    "---",
    "看两遍",
  );
  const { skills, problems } = readSkills([whole, twin, list]);
  assert.deepEqual(
    skills.map(({ name, description, whenToUse, allowedTools, userInvocable }) => [
      name,
      description,
      whenToUse,
      allowedTools,
      userInvocable,
    ]),
    [
      ["fix-tests", "Finds out why a test fails.", "a test is red", ["Read", "Grep", "Bash"], false],
      ["审查", "审查代码", "", ["Read", "Edit"], true],
    ],
  );
  assert.match(problems.map(written).join(), /other\/SKILL.md is left out: there is a skill "fix-tests" already/);
});

test("front matter in every form that is met; what is not understood is an error and not a guess", () => {
  const read = (...lines: string[]) => {
    const { skills, problems } = readSkills([file("/s/x/SKILL.md", "---", "description: x", ...lines, "---", "y")]);
    return skills[0] ?? problems.map(written)[0];
  };
  for (const lines of [
    ["allowed_tools:", "  - Read", '  - "Edit"'],
    ["allowed_tools:", "- Read", "- Edit # both"],
    ["allowed-tools: [Read,", "  'Edit']"],
    ["allowed-tools: Read Edit"],
  ]) {
    const skill = read(...lines);
    assert.deepEqual(typeof skill === "object" && skill.allowedTools, ["Read", "Edit"], lines.join());
  }
  for (const [lines, text] of [
    [["when_to_use: |", "  one", "  two"], "one\ntwo"],
    [["when_to_use: >-", "  one", "  two"], "one two"],
    [["when_to_use: one", "  two"], "one two"],
    [['when_to_use: "a: \\"b\\" # c"'], 'a: "b" # c'],
    [["# a remark", "when_to_use: 什么时候: 都行"], "什么时候: 都行"],
  ] as const) {
    const skill = read(...lines);
    assert.equal(typeof skill === "object" && skill.whenToUse, text);
  }
  for (const line of [
    "when_to_use: &a x",
    "when_to_use: *a",
    "when_to_use: {a: b}",
    "just words",
    'when_to_use: "open',
  ])
    assert.match(JSON.stringify(read(line)), /is not understood/, line);
});

const skill = (name: string, description: string, more: Partial<Skill> = {}): Skill => ({
  name,
  description,
  whenToUse: "",
  allowedTools: "all",
  userInvocable: true,
  priority: 50,
  folder: `/s/${name}`,
  body: "…",
  ...more,
});

test("the best match has most words in common, in either language; priority decides between equals", () => {
  const skills = [
    skill("release", "Publishes a new version with changelog and tag"),
    skill("migrate", "Writes database migrations", { whenToUse: "when the database schema changes" }),
    skill("审查", "审查合并请求里的代码改动"),
  ];
  const match = (text: string) => findBestMatch(skills, text)?.name;
  assert.equal(match("please publish the new version and tag it"), "release");
  assert.equal(match("the schema of our database changed"), "migrate");
  assert.equal(match("帮我审查一下这个合并请求"), "审查");
  assert.equal(match("what is the time?"), undefined);
  assert.equal(match("which version is it?"), undefined, "one word in common is chance");
  const twins = [skill("a", "formats python sources"), skill("b", "formats python sources", { priority: 60 })];
  assert.equal(findBestMatch(twins, "format the python sources")?.name, "b");
});

test("a message that calls a skill, or may need one, says so to the model", () => {
  const skills = [skill("release", "Publishes a new version"), skill("hidden", "x", { userInvocable: false })];
  assert.match(
    expandMessage({ skills, commands: [] }, "/release 1.2 beta") ?? "",
    /^\/release 1\.2 beta\n\n\(From Sage: the person calls the skill "release" with the arg/,
  );
  assert.match(expandMessage({ skills, commands: [] }, "publish version 3") ?? "", /the skill "release" may fit/);
  for (const text of ["/hidden", "/nothing", "/release/notes.md is wrong", "hello"])
    assert.equal(expandMessage({ skills, commands: [] }, text), undefined, text);
});

test("a subagent is a file; tools as a list or a line, a model is ignored with a note, what does not fit is left out", () => {
  const { agents, problems } = readAgents([
    file(
      "/a/Tester.md",
      "---",
      "description: Runs the tests",
      "tools: Read, Bash",
      "model: opus",
      "max_steps: 9",
      "---",
      "Run them.",
    ),
    file(
      "/a/guide.md",
      "---",
      "name: 向导",
      "description: 带路",
      "ask: root",
      "working_directory: docs",
      "---",
      "先问。",
    ),
    file("/a/bad name.md", "---", "description: x", "---", "y"),
    file("/a/empty.md", "---", "description: x", "---"),
    file("/a/asks.md", "---", "description: x", "ask: everybody", "---", "y"),
  ]);
  const common = { type: "custom", workingDirectory: "inherited" };
  assert.deepEqual(agents, [
    {
      ...common,
      name: "Tester",
      description: "Runs the tests",
      prompt: "Run them.",
      toolAccess: { restricted: ["Read", "Bash"] },
      maxSteps: 9,
    },
    {
      ...common,
      name: "向导",
      description: "带路",
      prompt: "先问。",
      toolAccess: "inherited",
      ask: "root",
      workingDirectory: { explicit: "docs" },
    },
  ]);
  assert.match(problems.map(written).join("\n"), /"model" is ignored[^]*bad name[^]*empty\.md[^]*asks\.md/);
});
