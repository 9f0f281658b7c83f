import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createConfining } from "../../src/host/assembly/confining.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import { cannotConfine, confinedPlace } from "../support/confine.ts";
import { bash, sageWith } from "../support/sage.ts";

const skip = await cannotConfine();

type Place = ReturnType<typeof confinedPlace>;

function gitIn(root: string) {
  const who = "-c user.name=a -c user.email=a@b -c init.defaultBranch=main".split(" ");
  return (...args: string[]) =>
    execFileSync("git", [...who, ...args], { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();
}

/** A repository with a commit, a stash, work that is in no commit, and a branch `other`. */
function repositoryIn({ root, home }: Place): ReturnType<typeof gitIn> {
  const git = gitIn(root);
  git("init", "-q");
  writeFileSync(join(root, "a.txt"), "a\n");
  git("add", "-A");
  git("commit", "-qm", "one");
  git("branch", "other");
  writeFileSync(join(root, "a.txt"), "stashed\n");
  git("stash", "-q");
  writeFileSync(join(root, "work.txt"), "uncommitted\n");
  writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = a\n\temail = a@b\n");
  return git;
}

/** A session in autoAllow. */
function confined({ root, home, state }: Place) {
  const sandbox = { mode: "autoAllow", writable: [], readable: [], git: "read", outside: [] } as const;
  const place = { root, home, state, session: "s", kept: [], mayRead: () => () => true };
  return { dir: root, home, confining: createConfining(sandbox, { apart: false })(place) };
}

test(
  "an agent adds, commits, switches and branches without asking; stash, commits and uncommitted work stay",
  { skip },
  async () => {
    using place = confinedPlace({ mine: true });
    const git = repositoryIn(place);
    const lines = [
      "echo b > b.txt; echo new > a.txt",
      "git switch -c feature",
      "git add a.txt b.txt",
      `git commit -m "$(cat <<'E'\nfix: a\n\nmore\nE\n)"`,
      "git branch kept HEAD~1",
      "echo later > b.txt",
      "git switch other", // refused by git: b.txt would be lost
      "git commit -am later && git switch other",
    ];
    await using sage = await sageWith({
      ...confined(place),
      script: [...lines.map((line) => ({ calls: [bash(line)] })), { text: "done" }],
    });
    await sage.say("go");
    assert.equal((await sage.outcome()).status, "success");
    const facts = sage.facts();
    assert.deepEqual(
      facts.filter(({ type }) => type === "input.requested"),
      [],
    );
    assert.equal(git("log", "--format=%s", "feature"), "later\nfix: a\none");
    assert.equal(git("branch", "--show-current"), "other");
    assert.equal(git("rev-parse", "kept"), git("rev-parse", "other"));
    assert.equal(git("stash", "list").split("\n").length, 1);
    assert.equal(readFileSync(join(place.root, "work.txt"), "utf8"), "uncommitted\n");
    assert.match(sage.result(6, 0), /would be overwritten/);
  },
);

/** Programs that a repository names, each with the command that would run it. They leave a mark in the workspace. */
const plants: Record<
  string,
  { plant(place: Place, git: ReturnType<typeof gitIn>): void; lines: string[]; asks: boolean }
> = {
  "a hook": {
    plant: ({ root }) => program(root, ".git/hooks/pre-commit"),
    lines: ["git commit -m x --allow-empty"],
    asks: true,
  },
  "a filter": {
    plant({ root }, git) {
      writeFileSync(join(root, ".gitattributes"), "* filter=x\n");
      git("config", "filter.x.clean", "sh evil.sh");
    },
    lines: ["git add -A"],
    asks: true,
  },
  "a monitor": { plant: (_, git) => git("config", "core.fsmonitor", "sh evil.sh"), lines: ["git add -A"], asks: true },
  "an editor": {
    plant: (_, git) => git("config", "core.editor", "sh evil.sh"),
    lines: ["git commit -m x"],
    asks: true,
  },
  "a signature": {
    plant(_, git) {
      git("config", "commit.gpgsign", "true");
      git("config", "gpg.program", "sh evil.sh");
    },
    lines: ["git commit -m x"],
    asks: true,
  },
  "an alias": { plant: (_, git) => git("config", "alias.ci", "!sh evil.sh"), lines: ["git ci -m x"], asks: true },
  "an attribute without settings": {
    plant: ({ root }) => writeFileSync(join(root, ".gitattributes"), "* filter=x diff=x merge=x\n"),
    lines: ["git add -A && git commit -m x", "git switch other"],
    asks: false,
  },
  "a repository inside": {
    plant({ root }, git) {
      git("init", "-q", "in");
      git("-C", "in", "commit", "-qm", "x", "--allow-empty");
      git("-C", "in", "config", "core.fsmonitor", `sh ${root}/evil.sh`);
    },
    lines: ["git add -A && git commit -m x"],
    asks: false,
  },
};

for (const [what, { plant, lines, asks }] of Object.entries(plants))
  test(`what a repository names does not run with it writable: ${what}`, { skip }, async () => {
    using place = confinedPlace({ mine: true });
    const git = repositoryIn(place);
    writeFileSync(join(place.root, "evil.sh"), `touch ${place.root}/MARK\ncat\n`);
    plant(place, git);
    await using sage = await sageWith({
      ...confined(place),
      script: [{ calls: lines.map((line) => bash(line)) }, { text: "done" }],
    });
    await sage.say("go");
    if (asks) {
      const [request] = (await sage.open()) as [PermissionRequest];
      assert.equal(request.tool, "Bash");
      await sage.answer({ type: "denied", requestId: request.id });
    }
    await sage.outcome();
    assert.equal(existsSync(join(place.root, "MARK")), false);
    if (!asks) assert.equal(git("log", "-1", "--format=%s", "main"), "x", sage.result(0, 0));
  });

test(
  "in a linked worktree commits land in the repository, and neither its settings nor hooks can be written",
  { skip },
  async () => {
    using place = confinedPlace({ mine: true });
    const far = join(place.dir, "far");
    mkdirSync(far);
    const git = gitIn(far);
    git("init", "-q");
    git("commit", "-qm", "one", "--allow-empty");
    git("worktree", "add", "-q", join(place.root, "tree"), "-b", "tree");
    const root = join(place.root, "tree");
    writeFileSync(join(place.home, ".gitconfig"), "[user]\n\tname = a\n\temail = a@b\n");
    writeFileSync(join(root, "a.txt"), "a\n");
    await using sage = await sageWith({
      ...confined({ ...place, root }),
      script: [{ calls: [bash("git add -A && git commit -m two")] }, { text: "done" }],
    });
    await sage.say("go");
    await sage.outcome();
    assert.equal(git("log", "-1", "--format=%s", "tree"), "two", sage.result(0, 0));
  },
);

function program(root: string, name: string): void {
  writeFileSync(join(root, name), `#!/bin/sh\ntouch ${root}/MARK\n`);
  chmodSync(join(root, name), 0o755);
}
