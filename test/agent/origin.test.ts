// Nobody consents without knowing the place: where a request was opened, for whom and for which task.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { whereabouts } from "../../src/context/environment.ts";
import { askFromOutside } from "../../src/input/outside.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { InputRequest, RequestOrigin } from "../../src/protocol/facts/request.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { alikeTo, groupsOf } from "../../src/view/request/alike.ts";
import { destinationName, folderNames, originBrief, originLines } from "../../src/view/request/origin.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

const [en, zh] = [texts("en"), texts("zh")];
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd, stdio: "pipe" });

async function asks(dir: string, home: string, words = "go", script = [bash("touch a")]) {
  const sage = await sageWith({
    ...{ dir, home, script: [{ calls: script }, { calls: [bash("touch a")] }, { text: "over" }] },
    env: { ...process.env, MY_API_KEY: "sk-hunter2-hunter2" },
  });
  await sage.say(words);
  return sage;
}

suite("the origin of a request", () => {
  test("folder, branch, machine, whose task and its words; a branch that was switched since is the new one", async () => {
    using home = workspace();
    const dir = home.path("work/app");
    mkdirSync(dir, { recursive: true });
    git(home.dir, "init", "-q", "-b", "main", dir);
    await using sage = await asks(dir, home.dir, "把 发布\n流程 fix it");
    const [first] = await sage.open(1);
    const origin: RequestOrigin = {
      ...{ folder: "~/work/app", branch: "main", machine: hostname(), by: "Lin", task: "把 发布 流程 fix it" },
    };
    assert.deepEqual(first?.origin, origin);
    writeFileSync(join(dir, ".git/HEAD.lock"), "ref: refs/heads/feature/x\n"); // as git does it
    renameSync(join(dir, ".git/HEAD.lock"), join(dir, ".git/HEAD"));
    await sage.answer({ type: "granted", requestId: first.id });
    const [second] = await sage.open(1);
    assert.deepEqual(second?.origin, { ...origin, branch: "feature/x" });
    assert.equal(second?.digest, first?.digest, "where it is asked is not what is asked");
    assert.deepEqual(originLines(second, en), [
      `In ~/work/app (feature/x) on ${hostname()}`,
      "Task of Lin: 把 发布 流程 fix it",
    ]);
    assert.equal(destinationName("local", second, en), "you, in this project (app)");
    await sage.answer({ type: "denied", requestId: second.id });
  });

  test("a worktree, a commit without a branch and a folder without git are what they are; git is never run", async () => {
    using home = workspace();
    const [main, tree] = [home.path("main"), home.path("tree")];
    git(home.dir, "init", "-q", "-b", "main", main);
    git(main, "commit", "-q", "--allow-empty", "-m", "a");
    git(main, "worktree", "add", "-q", "-b", "side", tree);
    git(main, "checkout", "-q", "--detach");
    const plain = home.path("plain");
    mkdirSync(plain);
    const { PATH } = process.env;
    for (const [dir, branch] of [
      [tree, /^side$/],
      [main, /^[0-9a-f]{7}$/],
      [plain, /^$/],
    ] as const) {
      process.env["PATH"] = "/nowhere";
      await using sage = await asks(dir, "/elsewhere");
      const [request] = await sage.open(1).finally(() => (process.env["PATH"] = PATH));
      assert.match(request?.origin?.branch ?? "", branch, dir);
      assert.equal(request?.origin?.folder, dir, "not below the home");
      await sage.answer({ type: "cancelled", requestId: request.id });
    }
  });

  test("a repository that was made meanwhile, and a branch that was switched in it, are seen the next time", async () => {
    using home = workspace();
    const place = whereabouts(home.dir, "/elsewhere");
    const seen = async () => {
      await setTimeout(5); // what one look has found holds for less
      return place();
    };
    assert.deepEqual(await seen(), { folder: home.dir, machine: hostname() });
    git(home.dir, "init", "-q", "-b", "main");
    assert.equal((await seen()).branch, "main");
    git(home.dir, "symbolic-ref", "HEAD", "refs/heads/side");
    assert.equal((await seen()).branch, "side");
    rmSync(home.path(".git"), { recursive: true });
    assert.equal((await seen()).branch, undefined);
  });

  test("the words are short, on one line, and hold no half of a secret", async () => {
    using here = workspace();
    const words = `deploy with sk-hunter2-hunter2 ${"and then ".repeat(9)} x${"y".repeat(400)} \u202Eend`;
    await using sage = await asks(here.dir, here.dir, words);
    const [request] = await sage.open(1);
    const { task = "" } = request?.origin ?? {};
    assert.ok(task.length <= 120 && task.endsWith("and then…") && !task.includes("hunter2"), task);
    const hostile = { origin: { folder: "/a\n\u202Eb", machine: "m\u001b[2J", by: "ou_12ab", task: "x\u0007" } };
    assert.ok(originLines(hostile, zh).every((line) => !/[\n\u001b\u0007\u202e]/.test(line)));
    assert.ok(!originLines(hostile, zh).join().includes("ou_12ab"), "an id is nobody's name");
    await sage.answer({ type: "cancelled", requestId: request!.id });
  });

  test("a request of an earlier version says nothing of it, and a list names folders as short as they stay apart", () => {
    assert.deepEqual(originLines({}, en), []);
    assert.equal(originBrief({}, en, { cwd: "/a/b" }), "/a/b");
    const named = folderNames(["/home/l/api/app", "/home/l/web/app", "/home/l/docs", "/docs"]);
    assert.deepEqual(["/home/l/api/app", "/home/l/docs", "/docs"].map(named), ["api/app", "l/docs", "/docs"]);
  });

  test("one answer is for one task in one folder: the same command elsewhere, or of a later task, is answered by itself", async () => {
    using here = workspace();
    using there = workspace();
    const store = memoryStore();
    const script = [{ calls: [bash("cargo test a"), bash("cargo test b")] }, { text: "over" }];
    await using one = await sageWith({ script, dir: here.dir, store });
    await using two = await sageWith({ script, dir: there.dir, store });
    await one.say("go");
    await two.say("go");
    const open = [...(await one.open(2)), ...(await two.open(2))];
    assert.deepEqual(
      groupsOf(open.map((request) => ({ request }))).map((group) => group.length),
      [2, 2],
    );
    const [a, b, c] = open as [InputRequest, InputRequest, InputRequest];
    const all = { type: "respondAll", answer: { type: "granted" }, by: "Lin", surface: "test" } as const;
    const mixed = await one.host.send({ ...all, requestIds: [a.id, c.id] });
    assert.ok(!mixed.ok && mixed.reason?.code === "answered-by-itself");
    assert.deepEqual(
      alikeTo(a, open).map(({ id }) => id),
      [a.id, b.id],
    );
    const later = { ...b, id: b.id.replace("/t0/", "/t1/") };
    const moved = { ...b, origin: { ...b.origin!, folder: "/elsewhere" } };
    for (const other of [later, moved]) assert.deepEqual(alikeTo(a, [a, other]), []);
    assert.ok((await one.host.send({ ...all, answer: { type: "denied" }, requestIds: [a.id, b.id] })).ok);
    for (const { id } of open.slice(2)) await two.answer({ type: "denied", requestId: id });
  });

  test("a program outside of Sage asks from its own folder, and the same request again keeps its place", async () => {
    const store = memoryStore();
    const { signal } = new AbortController();
    const ask = {
      ...{ agent: ["bot"] as [string], cwd: "/w", id: "1" },
      body: { kind: "text" as const, prompt: "?" },
    };
    const origin = { folder: "/w", machine: "m" };
    const first = await askFromOutside({ store, version: "0", signal, origin }, ask);
    const again = await askFromOutside({ store, version: "0", signal, origin: { ...origin, folder: "/x" } }, ask);
    assert.deepEqual([first.request.origin, again.request.origin], [origin, origin]);
  });
});
