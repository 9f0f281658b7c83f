import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ConfinePolicy } from "../../src/permission/confined.ts";
import { judge } from "../../src/permission/decide.ts";
import { suggest } from "../../src/permission/suggest/suggest.ts";
import type { Blocked } from "../../src/protocol/confine.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { answer, callOf, rulesOf } from "./asking.ts";
import { workspace } from "../support/sage.ts";

const contain: ConfinePolicy = { mode: "contain", outside: [], git: "read", blocked: [] };
const autoAllow: ConfinePolicy = { ...contain, mode: "autoAllow" };
const host = (name: string): Blocked => ({ kind: "host", host: name, port: 443 });

function asked(command: string, confine: ConfinePolicy, rules: string[] = [], more = {}) {
  return answer(rulesOf(...rules), "Bash", { command }, { confine, ...more });
}

test("contain changes no decision, and says how the command runs", () => {
  const { behavior, confined } = asked("npm test", contain);
  assert.equal(behavior, "ask");
  assert.deepEqual(confined, { repository: "read", hosts: [], writable: [] });
  assert.deepEqual(asked("npm test", contain, ["+ Bash(npm test)"]).confined, confined);
  assert.deepEqual(asked("ls", contain).confined, confined);
});

test("autoAllow lets everything run that fits in: loops, code, what cannot be taken apart", () => {
  for (const command of [
    "npm test",
    "python3 x.py",
    "for i in 1 2; do make; done",
    "x=make; $x all",
    "cat <<E | sh\nmake\nE",
  ]) {
    const { behavior, reason: why } = asked(command, autoAllow);
    assert.deepEqual([behavior, why.code], ["allow", "runs-confined"], command);
  }
});

test("deny rules, ask rules and everything that needs a person stand above it", () => {
  assert.equal(asked("rm -rf x", autoAllow, ["- Bash(rm:*)"]).behavior, "deny");
  const ruled = asked("npm publish", autoAllow, ["? Bash(npm publish:*)"]);
  assert.deepEqual([ruled.behavior, ruled.hard], ["ask", true]);
  for (const command of ["echo x >> .git/config", "sage answer 1 --yes", "rm -rf /"])
    assert.deepEqual([asked(command, autoAllow).behavior, asked(command, autoAllow).hard], ["ask", true], command);
  assert.equal(asked("make", autoAllow, [], { sessionMode: "plan", effect: "writes" }).behavior, "deny");
});

test("git's folder is written by commands of git alone, and without asking only if the person said so", () => {
  const use = (command: string, policy = contain) => {
    const { confined } = asked(command, policy);
    return confined === "outside" ? confined : confined?.repository;
  };
  for (const command of ["git commit -m x", "cd src && git add a.ts && git commit -m x", "git stash pop"])
    assert.equal(use(command), "write", command);
  const others = [
    "git status",
    "npm test && git commit -m x",
    'git commit -m "$(python3 x.py)"',
    "git -c core.editor=x commit",
    "for f in a; do git add $f; done; python3 y.py",
    "sh -c 'git commit -m x'",
  ];
  for (const command of others) assert.equal(use(command), "read", command);
  assert.equal(asked("git commit -m x", autoAllow).behavior, "ask");
  assert.equal(asked("git commit -m x", { ...autoAllow, git: "write" }).behavior, "allow");
});

test("programs that can only work outside run there once somebody allowed them by name, and never unattended", () => {
  for (const command of [
    "docker ps",
    "git push",
    "make && ssh host",
    "sudo make install",
    "env docker ps",
    "cp x ~/y",
    "cat ~/notes",
  ]) {
    const { behavior, confined } = asked(command, autoAllow);
    assert.deepEqual([behavior, confined], ["ask", "outside"], command);
  }
  assert.equal(asked("docker ps", contain, ["+ Bash(docker ps:*)"]).confined, "outside");
  const broad = asked("git push", contain, ["+ Bash(git:*)"]);
  assert.deepEqual([broad.behavior, broad.reason.code], ["ask", "outside-unnamed"]);
  assert.equal(asked("git push", contain, ["+ Bash"]).behavior, "ask");
  assert.notEqual(asked("docker ps", contain, [], { mode: "bypass" }).confined, "outside");
  assert.notEqual(asked("docker ps", { ...contain, unattended: true }).confined, "outside");
  assert.equal(asked("mytool x", { ...contain, outside: ["mytool"] }).confined, "outside");
});

test("where nothing can be confined no command runs, whatever allows it", () => {
  const problem = reason("confine-impossible", { problem: "bwrap-missing", detail: "" });
  for (const command of ["ls", "npm test"])
    assert.deepEqual(asked(command, { ...contain, problem }, ["+ Bash"], { mode: "bypass" }).reason, problem, command);
});

test("a command that was kept from a host asks for it the next time, and no longer once a rule decides", () => {
  const blocked = [host("a.example")];
  const again = asked("npm ci", { ...autoAllow, blocked });
  assert.deepEqual(
    [again.behavior, again.hard, again.reason],
    ["ask", undefined, reason("confined-blocked", { blocked })],
  );
  assert.deepEqual(again.confined, { repository: "read", hosts: ["a.example"], writable: [] });
  for (const rule of [
    "+ Network(domain:a.example)",
    "+ Network(domain:*.example)",
    "- Network(domain:a.example)",
    "- WebFetch(domain:a.example)",
  ])
    assert.equal(asked("npm ci", { ...autoAllow, blocked }, [rule]).behavior, "allow", rule);
  assert.equal(
    asked("npm ci", { ...contain, blocked }, [], { mode: "bypass" }).behavior,
    "allow",
    "unattended runs ask nothing",
  );
  const alone = asked("npm ci", { ...contain, blocked, unattended: true });
  assert.deepEqual(
    alone.confined,
    { repository: "read", hosts: [], writable: [] },
    "an answer that nobody gave gives nothing",
  );
  const machine: Blocked = { kind: "host", host: "127.0.0.1", port: 80, final: true };
  assert.deepEqual(asked("x", { ...autoAllow, blocked: [machine] }).confined, {
    repository: "read",
    hosts: [],
    writable: [],
  });
});

test("a path that it was kept from may be given where it is nobody's home, no workspace and nothing that others obey", () => {
  using place = workspace();
  const [root, home, data] = ["w", "home", "data"].map((name) => place.path(name)) as [string, string, string];
  for (const folder of [root, join(home, ".sage"), data]) mkdirSync(folder, { recursive: true });
  const where = { cwd: root, roots: [root], home };
  const given = (path: string, rules: string[] = []) => {
    const { confined, behavior } = asked("x", { ...autoAllow, blocked: [{ kind: "write", path }] }, rules, where);
    return [
      behavior,
      confined === "outside" ? confined : confined?.writable,
      confined === "outside" ? confined : confined?.repository,
    ];
  };
  assert.deepEqual(given(join(data, "new/file")), ["ask", [data], "read"]);
  assert.deepEqual(given(join(data, "new/file"), [`+ Edit(${data}/**)`]), ["allow", [data], "read"]);
  for (const path of [home, "/", join(home, ".sage/x"), join(root, "AGENTS.md"), join(data, ".ssh/id")])
    assert.deepEqual(given(path), ["ask", [], "read"], path);
  assert.deepEqual(given(join(root, ".git/index.lock")), ["ask", [], "write"]);
  // The folder that would be given holds more than the path that is named.
  for (const folder of [join(home, ".config/gh"), join(home, ".local/share"), join(place.path("other"), ".git")])
    mkdirSync(folder, { recursive: true });
  for (const path of [join(home, ".config/new/file"), join(home, ".local/share/new"), join(place.path("other"), "new")])
    assert.deepEqual(given(path), ["ask", [], "read"], path);
});

test("the rules that are offered for it would have let it run", () => {
  const call = callOf(
    [],
    "Bash",
    { command: "npm ci" },
    { confine: { ...autoAllow, blocked: [host("a.example"), host("b.example")] } },
  );
  assert.deepEqual(
    suggest(call, judge(call)).map(({ rule }) => rule),
    ["Network(domain:a.example)", "Network(domain:b.example)"],
  );
});
