// A4, A5: a call that means something else once the call before it has run is looked at again, whatever it stood for by name.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { until } from "../support/until.ts";
import { allow, bash, sageWith, workspace, type TestSage } from "../support/sage.ts";

type Story = {
  files?: Record<string, string>;
  links?: Record<string, string>;
  /** Runs first, and changes what the other means. */
  first: string;
  after: string;
};

const deny = (text: string) => ({ ...allow(text), behavior: "deny" as const });

const evil = "#!/bin/sh\ntouch ran\n";
const makes = (path: string) => `python3 -c 'import shutil; shutil.copy("evil", "${path}")'`;

/** A person said yes to both calls of a reply; the second is asked about once more. */
const asked: Record<string, Story> = {
  "an alias of git": { first: "git config alias.st '!touch ran'", after: "git st" },
  "an alias that was none": { first: "git config alias.neu '!touch ran'", after: "git neu" },
  "an alias in a file that is included": { first: "python3 more.py", after: "git mine" },
  "an alias in a folder, before another one there": {
    first: "git config alias.ci '!touch ran'",
    after: "git -C . ci && git -C . st",
  },
  "an alias of another folder, where this one has its like": {
    files: {
      "sub/.git/HEAD": "ref: refs/heads/main\n",
      "sub/.git/refs/x": "",
      "sub/.git/objects/x": "",
      "sub/.git/config": "[core]\n\tbare = false\n[alias]\n\tst = status\n",
    },
    first: "git -C sub config alias.st '!touch ../ran'",
    after: "cd sub; git st",
  },
  "an alias of cargo": {
    files: { ".cargo/config.toml": "[alias]\nship = 'build'\n" },
    first: "python3 cargo.py",
    after: "cargo ship",
  },
  "a program that is a link": { links: { tool: "/bin/true" }, first: "ln -sfn evil tool", after: "./tool" },
  "a program that is a link out of the workspace": {
    links: { tool: "/bin/true" },
    first: "ln -sfn /bin/touch tool",
    after: "./tool ran",
  },
  "a program that was not there": { first: makes("tool"), after: "./tool" },
  "a program on a search path of its own": { first: makes("bin/tool"), after: "PATH=./bin:$PATH tool" },
  "a file that a variable names": { first: makes("env.sh"), after: "BASH_ENV=./env.sh bash -c true" },
  "a file that an option names": { first: makes("env.sh"), after: "bash --init-file=env.sh -ic true" },
  "a hook of git": { first: makes(".git/hooks/pre-commit"), after: "git commit -m x --allow-empty" },
  "hooks that lie elsewhere": {
    files: { "h/pre-commit": evil },
    first: "git config core.hooksPath h",
    after: "git commit -m x --allow-empty",
  },
  "an editor of the repository": { first: "git config core.editor ./evil", after: "git commit --allow-empty" },
};

for (const [what, story] of Object.entries(asked))
  test(`in one reply: ${what} that the call before it changed is asked about again`, async () => {
    using here = ground(story);
    await using sage = await sageWith({
      dir: here.dir,
      script: [{ calls: [bash(story.first), bash(story.after)] }, { text: "ok" }],
    });
    await sage.say("go");
    const [first, second] = await sage.open(2);
    assert.ok(first && second, "both are asked about");
    await sage.answer({ type: "granted", requestId: second.id });
    await sage.answer({ type: "granted", requestId: first.id });
    await until(() => sage.facts().some((fact) => fact.type === "turn.ended") || requestsOf(sage).length > 2);
    assert.equal(requestsOf(sage).length, 3, sage.result(0, 1));
    const [again] = await sage.open();
    assert.match(sentence(again?.why ?? "", "en"), /changed in between/);
    await sage.answer({ type: "denied", requestId: again?.id ?? "" });
    await sage.outcome();
    assert.ok(!existsSync(here.path("ran")), "it ran");
  });

/** Allowed by a rule for every command; a deny rule meets what the second has come to be. */
const denied: Record<string, Story> = {
  "an alias": { first: "python3 alias.py", after: "git x && touch ran" },
  "a copy of a program": { first: "python3 copy.py", after: "./z ran2; touch ran" },
  "a link to a program": { first: "python3 link.py", after: "./z ran2; touch ran" },
  "a link to a file": { first: "python3 link.py", after: "cat shown && touch ran" },
};

for (const [what, story] of Object.entries(denied))
  test(`in one reply: a deny rule meets ${what} that the call before it made`, async () => {
    using here = ground(story);
    await using sage = await sageWith({
      dir: here.dir,
      rules: [allow("Bash"), deny("Bash(rm:*)"), deny("Bash(git push:*)"), deny("Read(**/.env)")],
      script: [{ calls: [bash(story.first), bash(story.after)] }, { text: "ok" }],
    });
    await sage.say("go");
    await sage.outcome();
    assert.ok(!existsSync(here.path("ran")), sage.result(0, 1));
    assert.match(sage.result(0, 1), /Denied by|refused/);
  });

test("in one reply: what a repository's settings say of itself is no other meaning", async () => {
  using here = ground({ first: "", after: "" });
  const calls = ["git branch x", "git config branch.x.description new", "git commit -m x --allow-empty"].map(bash);
  await using sage = await sageWith({ dir: here.dir, script: [{ calls }, { text: "ok" }] });
  await sage.say("go");
  const requests = await sage.open(calls.length);
  for (const request of requests.toReversed()) await sage.answer({ type: "granted", requestId: request.id });
  await sage.outcome();
  assert.equal(requestsOf(sage).length, requests.length);
});

function requestsOf(sage: TestSage) {
  return sage.facts().filter(({ type }) => type === "input.requested");
}

function ground({ files = {}, links = {} }: Story) {
  const here = workspace();
  const all: Record<string, string> = {
    evil,
    ".env": "SECRET=1\n",
    more: "[alias]\nmine = status\n",
    "more.py": "open('more','w').write('[alias]\\nmine = !touch ran\\n')\n",
    "cargo.py": "open('.cargo/' + 'config.toml','w').write('[alias]\\nship = \"publish\"\\n')\n",
    "alias.py": "open('.git/' + 'config','a').write('[alias]\\nx = push\\n')\n",
    "copy.py": "import shutil; shutil.copy('/bin/' + 'r' + 'm', 'z')\n",
    "link.py": "import os; os.symlink('/bin/' + 'rm', 'z'); os.symlink('.e' + 'nv', 'shown')\n",
    ...files,
  };
  execFileSync("git", ["init", "-q"], { cwd: here.dir });
  for (const [key, value] of [
    ["user.name", "a"],
    ["user.email", "a@b"],
    ["alias.st", "status"],
    ["alias.ci", "commit"],
    ["include.path", "../more"],
  ] as const)
    execFileSync("git", ["config", key, value], { cwd: here.dir });
  mkdirSync(here.path("bin"));
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(here.path(name)), { recursive: true });
    writeFileSync(here.path(name), text);
    if (text === evil) chmodSync(here.path(name), 0o755);
  }
  for (const [name, to] of Object.entries(links)) symlinkSync(to, here.path(name));
  assert.ok(readFileSync(here.path("evil"), "utf8").includes("ran"));
  return here;
}
