// Sessions that are opened on a remote: each works in a clone of its own, which a worker makes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { openDaemon } from "../../src/cli/serve/daemon.ts";
import { isAllowed, remoteOf } from "../../src/config/remote-repository.ts";
import { collectClones } from "../../src/host/clone-remains.ts";
import { makeWorkspace } from "../../src/host/clones.ts";
import { joinCluster } from "../../src/host/cluster/cluster.ts";
import { createGatewayHost } from "../../src/host/cluster/stream/gateway.ts";
import { startWorker } from "../../src/host/cluster/worker/worker.ts";
import { createHost } from "../../src/host/host.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { scripted } from "../../src/models/scripted.ts";
import { reason, SageError } from "../../src/protocol/reasons/reason.ts";
import { createDatabase, hasPostgres } from "../support/postgres.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { wordsOf } from "../support/worded.ts";

const lin = { by: "Lin", surface: "test" };
const signal = new AbortController().signal;
const env = { PATH: process.env["PATH"], HOME: "/nonexistent" };

function git(cwd: string, ...args: string[]): string {
  const who = ["-c", "user.name=Lin", "-c", "user.email=lin@example.invalid", "-c", "init.defaultBranch=main"];
  return execFileSync("git", [...who, ...args], {
    cwd,
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

/** A repository with a branch in Chinese, and a hook and a submodule that must not do anything. */
function repository(dir: string): string {
  const source = join(dir, "源");
  mkdirSync(source);
  git(source, "init", "-q");
  writeFileSync(join(source, "README.md"), "on main\n");
  writeFileSync(join(source, ".gitmodules"), `[submodule "sub"]\n\tpath = sub\n\turl = file://${dir}/none\n`);
  git(source, "add", ".");
  git(source, "commit", "-qm", "first");
  git(source, "checkout", "-qb", "功能/登录");
  writeFileSync(join(source, "README.md"), "在分支上\n");
  git(source, "commit", "-qam", "second");
  git(source, "checkout", "-q", "main");
  return `git+file://${encodeURI(source)}`;
}

suite("remotes", () => {
  test("have one spelling, and a branch of any language", () => {
    assert.deepEqual(remoteOf("git+https://host/a/../b.git#功能/登录"), {
      name: "git+https://host/b.git#功能/登录",
      scheme: "https",
      url: "https://host/b.git",
      branch: "功能/登录",
    });
    assert.equal(remoteOf("git+ssh://git@host:2222/team/b.git").url, "ssh://git@host:2222/team/b.git");
    assert.equal(remoteOf("git+https://host/b.git#%E5%8A%9F%E8%83%BD").branch, "功能");
  });

  test("that git would take for something else are refused, and no password is told", () => {
    const refused: Record<string, string[]> = {
      scheme: [
        "git+ext::sh -c id",
        "git+http://host/a.git",
        "git+git://host/a.git",
        "GIT+HTTPS://host/a.git",
        "git+-x",
      ],
      form: [
        "git+https://host/a b.git",
        "git+https://ho\u0000st/a.git",
        "git+https://",
        "git+https://host/a.git#%E5%8",
      ],
      password: [
        "git+https://lin:geheim@host/a.git",
        "git+https://geheim@host/a.git",
        "git+ssh://git:geheim@host/a.git",
      ],
      address: [
        ...["git+https://host/", "git+https://host/a.git?x=--upload-pack", "git+https://host/a%2f..%2fb.git"],
        ...["git+ssh://-oProxyCommand=id/a.git", "git+file://host/a.git", "git+ssh://-x@host/a.git"],
      ],
      branch: ["--upload-pack=id", "-b", "a..b", "a~1", "a:b", "a.lock", "/a", "a//b", "@{u}", ".a"].map(
        (branch) => `git+https://host/a.git#${branch}`,
      ),
    };
    for (const [why, all] of Object.entries(refused))
      for (const one of all)
        assert.throws(
          () => remoteOf(one),
          (error: SageError) => {
            assert.deepEqual(
              [error.code, error.reason?.args && Reflect.get(error.reason.args, "why")],
              ["input-invalid", why],
              one,
            );
            assert.doesNotMatch(`${wordsOf(error)}${JSON.stringify(error)}`, /geheim/);
            return true;
          },
          one,
        );
  });

  test("are cloned where the worker's settings list them or what they lie below", () => {
    const remote = remoteOf("git+https://host/team/a.git#x");
    for (const allowed of ["git+https://host/", "git+https://host/team", "git+https://host/team/a.git", remote.name])
      assert.equal(isAllowed(remote, [allowed]), true, allowed);
    for (const allowed of [
      "git+https://hos",
      "git+https://host/tea",
      "git+ssh://host/",
      "git+https://host/team/a.git#y",
    ])
      assert.equal(isAllowed(remote, [allowed]), false, allowed);
  });

  test("a host that runs sessions itself refuses them, and says who takes them", async () => {
    const host = createHost({
      store: memoryStore(),
      version: "test",
      executor: async () => assert.fail("nothing runs"),
    });
    const opened = await host.send({ type: "open", cwd: "git+https://host/a.git" });
    assert.match(opened.ok ? "" : wordsOf(opened), /sage worker/);
    await host.close();
  });
});

suite("clones", () => {
  const opened = async (dir: string) => {
    const store = memoryStore();
    const from = `${repository(dir)}#功能/登录`;
    store.create("s", { cwd: remoteOf(from).name, version: "test" });
    store.claim("s");
    const folder = join(dir, "clones");
    return { store, from: remoteOf(from).name, folder, options: { folder, allowed: ["git+file:///"], env, signal } };
  };

  test("are recorded when they are whole; one that was cut short is nobody's and goes", async () => {
    using here = workspace();
    const { store, from, folder, options } = await opened(here.dir);
    // A git that writes half a repository, and hangs.
    const bin = here.path("bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "git"), `#!/bin/sh\nfor last; do :; done\necho half > "$last/half"\nsleep 60\n`);
    chmodSync(join(bin, "git"), 0o755);
    const frozen = new AbortController();
    const slow = makeWorkspace(store, "s", from, {
      ...options,
      env: { ...env, PATH: bin + ":" + env.PATH },
      signal: frozen.signal,
    });
    const late = assert.rejects(slow);
    await until(
      () => existsSync(folder) && readdirSync(folder).some((one) => existsSync(join(folder, one, "half"))),
      "nothing is cloned",
    );
    mkdirSync(join(folder, "s-0f0f0f")); // of a process that was killed
    mkdirSync(join(folder, "s-x-0f0f0f")); // of another session

    store.claim("s");
    const cwd = await makeWorkspace(store, "s", from, options);
    assert.equal(store.session("s")?.cwd, cwd);
    assert.equal(readFileSync(join(cwd, "README.md"), "utf8"), "在分支上\n");
    assert.equal(statSync(cwd).mode & 0o777, 0o700);
    assert.equal(existsSync(join(cwd, ".git", "hooks")), false);
    const [, made] = store.load("s");
    assert.deepEqual(made?.data, { cwd, from, commit: git(cwd, "rev-parse", "HEAD") });
    frozen.abort(new Error("killed"));
    await late;
    assert.deepEqual(
      readdirSync(folder)
        .map((one) => join(folder, one))
        .sort(),
      [cwd, join(folder, "s-x-0f0f0f")].sort(),
    );
  });

  test("one that is made by somebody who has lost the session is not recorded, and goes", async () => {
    using here = workspace();
    const { store, from, folder, options } = await opened(here.dir);
    const lost = {
      ...store,
      claim: () => 1,
      commit: (id: string, _: number, facts: never[]) => store.commit(id, 0, facts),
    };
    await assert.rejects(makeWorkspace(lost, "s", from, options), { code: "lease-lost" });
    assert.deepEqual([readdirSync(folder), store.session("s")?.cwd], [[], from]);
  });

  test("too slow, not there, and not allowed are told apart", async () => {
    using here = workspace();
    const { store, from, folder, options } = await opened(here.dir);
    const why = async (remote: string, more = {}) =>
      makeWorkspace(store, "s", remote, { ...options, ...more }).then(
        () => "made",
        (error: SageError) => error.reason?.code,
      );
    assert.deepEqual(
      [
        await why(from, { limitMs: 1 }),
        await why(`${from}不存在`),
        await why("git+file:///nowhere/a.git"),
        await why(from, { allowed: [] }),
        await why(from, { env: { PATH: here.dir } }),
      ],
      ["clone-too-slow", "clone-failed", "clone-failed", "remote-not-allowed", "clone-failed"],
    );
    assert.deepEqual(readdirSync(folder), []);
  });

  test("go with their session, unless work in them is nowhere else; nothing that an agent wrote there is run", async () => {
    using here = workspace();
    const { from, folder, options } = await opened(here.dir);
    const store = memoryStore();
    const clones: Record<string, string> = {};
    for (const id of ["clean", "changed", "committed", "nested", "gone"]) {
      store.create(id, { cwd: from, version: "test" });
      store.claim(id);
      clones[id] = await makeWorkspace(store, id, from, options);
    }
    const { clean = "", changed = "", committed = "", nested = "", gone = "" } = clones;
    const trap = here.path("trapped");
    for (const cwd of [clean, changed]) {
      git(cwd, "config", "core.fsmonitor", `touch ${trap}; false`);
      git(cwd, "config", "filter.trap.clean", `touch ${trap}; cat`);
    }
    writeFileSync(join(changed, ".gitattributes"), "* filter=trap\n");
    writeFileSync(join(changed, "README.md"), "changed\n");
    writeFileSync(join(committed, "new.txt"), "new\n");
    git(committed, "add", ".");
    git(committed, "commit", "-qm", "not pushed");
    // A repository inside of it, as a submodule whose own settings name a program.
    git(nested, "clone", "-q", nested, "sub");
    git(nested, "add", "sub");
    git(nested, "commit", "-qm", "with a submodule");
    git(nested, "update-ref", "refs/remotes/origin/x", "HEAD");
    git(join(nested, "sub"), "config", "filter.trap.clean", `touch ${trap}; cat`);
    mkdirSync(join(nested, "sub/.git/info"), { recursive: true });
    writeFileSync(join(nested, "sub/.git/info/attributes"), "* filter=trap\n");
    utimesSync(join(nested, "sub/README.md"), 1, 1);
    for (const id of ["clean", "changed", "committed", "nested"]) {
      store.release(id, store.claim(id));
      const { cwd = "" } = store.session(id) ?? {};
      store.housekeeping.remove(id, store.load(id).at(-1)?.seq ?? 0, {
        session: id,
        cwd,
        title: "",
        ...lin,
        receipts: [],
      });
    }
    assert.deepEqual(await collectClones(store, { folder, env, signal }), {
      removed: [clean],
      kept: [changed, committed, nested],
    });
    assert.deepEqual(
      [clean, changed, committed, nested, gone].map((cwd) => existsSync(cwd)),
      [false, true, true, true, true],
    );
    assert.equal(existsSync(trap), false);
  });

  test("nothing but a clone of the deleted session goes, whatever path its worker wrote", async () => {
    using here = workspace();
    const { from, folder, options } = await opened(here.dir);
    const store = memoryStore();
    for (const id of ["other", "liar"]) {
      store.create(id, { cwd: from, version: "test" });
      store.claim(id);
    }
    const other = await makeWorkspace(store, "other", from, options);
    git(here.dir, "clone", "-q", other, "liar-0f0f0f");
    const last = { title: "", ...lin, receipts: [] };
    for (const cwd of [other, join(folder, "..", "liar-0f0f0f"), `${folder}/../liar-0f0f0f`, `${folder}/..`]) {
      const id = `liar${cwd.length}`;
      store.create(id, { cwd, version: "test" });
      store.housekeeping.remove(id, store.load(id).at(-1)?.seq ?? 0, { session: "liar", cwd, ...last });
    }
    assert.deepEqual(await collectClones(store, { folder, env, signal }), { removed: [], kept: [] });
    assert.ok(existsSync(other) && existsSync(here.path("liar-0f0f0f")));
  });

  test("one whose record may be on the server is kept, though its worker never heard so", async () => {
    using here = workspace();
    const { store, from, folder, options } = await opened(here.dir);
    const leaves = new AbortController();
    let tries = 0;
    const cut: typeof store = {
      ...store,
      commit(...given) {
        if (++tries === 1) store.commit(...given);
        else leaves.abort(new Error("this process leaves"));
        throw new SageError("journal-locked", reason("database-away", { path: "", problem: "cut" }), {
          retryable: true,
        });
      },
    };
    await assert.rejects(makeWorkspace(cut, "s", from, { ...options, signal: leaves.signal }), /leaves/);
    assert.deepEqual(
      readdirSync(folder).map((one) => join(folder, one)),
      [store.session("s")?.cwd],
    );
  });
});

suite("a session on a remote", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("says why it has no folder, tries again with the next message, and works in its clone", async () => {
    using here = workspace();
    const remote = `${repository(here.dir)}#功能/登录`;
    const home = here.path("home/sage");
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const settings = (remotes: string[]) =>
      writeFileSync(join(home, "settings.json"), JSON.stringify({ remotes }), { mode: 0o600 });
    settings([]);
    const { url, drop } = await createDatabase();
    const { noteChild, children, callOf } = memoryStore();
    const local = { noteChild, children, callOf, place: undefined };
    const enter = (as: "gateway" | "worker") =>
      joinCluster({ url, as, local, place: () => "here", roster: as === "gateway" });
    const [front, back] = [await enter("gateway"), await enter("worker")];
    const wake = (session: string) => void front.dispatch.wake(session, "here");
    const nobody = { guard: () => true, personOf: () => undefined, warn: () => {} };
    const environment = { ...env, HOME: here.dir, SAGE_HOME: home };
    const speaking = openDaemon({
      ...{ store: front.replica.store, env: environment, lang: "en", spec: undefined, ...nobody },
      elsewhere: { wake },
    });
    const people = createGatewayHost(speaking.host, front.replica);
    const model = scripted([{ calls: [{ tool: "Read", input: { file_path: "README.md" } }] }, { text: "read" }]);
    const { host } = openDaemon({
      ...{ store: back.replica.store, env: environment, lang: "en", spec: undefined, ...nobody },
      ...{ model: async () => model, letsGo: true, sleepAfterMs: 50 },
    });
    const working = await startWorker({ cluster: back, place: "here", host });
    try {
      const open = await people.send({ type: "open", cwd: remote });
      assert.ok(open.ok);
      const { session } = open;
      const ends = async (count: number) =>
        until(async () => {
          const reply = await people.send({ type: "facts", session });
          const facts = reply.ok ? reply.facts : [];
          return facts.filter(({ type }) => type === "turn.ended").length >= count && facts;
        }, "the turn does not end");
      const say = async (text: string) => assert.ok((await people.send({ type: "say", session, text, ...lin })).ok);
      await say("第一条");
      const first = (await ends(1)).at(-1);
      assert.ok(first?.type === "turn.ended" && first.data.status === "error");
      assert.match(JSON.stringify(first.data), /remote-not-allowed/);
      settings(["git+file:///"]);
      await say("再试一次");
      const facts = await ends(2);
      const types = facts.map(({ type }) => type);
      assert.ok(types.indexOf("workspace.made") < types.lastIndexOf("turn.begun"), "recorded before the turn begins");
      assert.match(JSON.stringify(facts), /在分支上/);
      const row = await people.send({ type: "sessions", session });
      const cwd = row.ok ? (row.sessions[0]?.cwd ?? "") : "";
      assert.ok(cwd.startsWith(here.path("home/sage-workspaces/")), cwd);
      assert.equal((await front.ledger.standing(session))[0]?.cwd, cwd);
      assert.equal(await front.ledger.verify(session), undefined);
    } finally {
      await working.stop();
      await people.close();
      await back.close();
      await front.close();
      await drop();
    }
  });
});
