import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { reason, type Reason } from "../../src/protocol/reasons/reason.ts";
import { bash } from "../../src/tools/shell/bash.ts";
import { createExcerpt } from "../../src/tools/content/excerpt.ts";
import { untilGone } from "../support/until.ts";
import { Workspace } from "./workspace.ts";

const ran = async (command: string) => {
  using work = new Workspace();
  return await work.run(bash, { command });
};

test("both outputs come in the order in which they were written, live and in the result", async () => {
  using work = new Workspace();
  const command = "echo 一; echo two >&2; printf three; printf '\\n四' >&2";
  assert.deepEqual(await work.run(bash, { command }), { ok: true, text: "一\ntwo\nthree\n四" });
  assert.equal(work.watched, "一\ntwo\nthree\n四");
  assert.equal(work.pids.length, 1);
});

test("the result tells exit code, signal and silence", async () => {
  const shown = (characters: number, ...notes: Reason[]) => ({ shown: { characters, notes } });
  const none = reason("no-output", {});
  assert.deepEqual(await ran("true"), { ok: true, text: "(no output)", ...shown(0, none) });
  assert.deepEqual(await ran("echo no; exit 3"), {
    ...{ ok: false, text: "no\nExit code 3." },
    ...shown(2, reason("exit-code", { code: 3 })),
  });
  assert.deepEqual(await ran("kill -SEGV $$"), {
    ...{ ok: false, text: "(no output)\nEnded by SIGSEGV." },
    ...shown(0, none, reason("ended-by-signal", { signal: "SIGSEGV" })),
  });
  assert.match((await ran("definitely-not-a-command")).text, /command not found\nExit code 127\.$/);
  assert.match((await ran("if")).text, /syntax error[\s\S]*Exit code 2\.$/);
});

test("the command is an argument, never part of another line", async () => {
  assert.equal((await ran(`echo "$0 $#" '$1' "\${1-}" \`echo "; exit 9"\``)).text, "bash 0 $1  ; exit 9");
});

test("there is no terminal, no input, no start-up file and no pager", async () => {
  using work = new Workspace({ "rc.sh": "echo from BASH_ENV" });
  work.env = { ...work.env, BASH_ENV: work.path("rc.sh"), ENV: work.path("rc.sh"), PAGER: "less", SECRETLESS: "kept" };
  const command =
    'cat; read -r x || echo eof; { : < /dev/tty; } 2>/dev/null || echo no-tty; echo "$PAGER $GIT_PAGER ${BASH_ENV-unset} $SECRETLESS"';
  assert.equal((await work.run(bash, { command })).text, "eof\nno-tty\ncat cat unset kept");
});

test("nothing in the environment makes the shell or git read otherwise than was judged", async () => {
  using work = new Workspace({ ".env": "secret", a: "shown", "sub/b": "" });
  const odd = {
    BASHOPTS: "dotglob:extglob",
    SHELLOPTS: "noglob",
    GLOBIGNORE: "b",
    POSIXLY_CORRECT: "1",
    GIT_DIR: "/x",
  };
  work.env = { ...work.env, ...odd, CDPATH: "/", GIT_INDEX_FILE: "/y" };
  const command =
    'echo *; echo "${GIT_DIR-none} ${GIT_INDEX_FILE-none} ${CDPATH-none}"; git config --get core.fsmonitor';
  assert.equal((await work.run(bash, { command })).text, "a sub\nnone none none\nfalse");
});

test("the working directory is the session's at every call", async () => {
  using work = new Workspace({ "sub/a": "" });
  await work.run(bash, { command: "cd sub && pwd" });
  assert.equal((await work.run(bash, { command: "pwd" })).text, work.root);
});

test("a command that cannot be started is a result", async () => {
  using work = new Workspace();
  const tooLong = await work.run(bash, { command: `echo ${"x".repeat(3_000_000)}` });
  assert.deepEqual([tooLong.ok, /E2BIG/.test(tooLong.text)], [false, true]);
  assert.match((await work.run(bash, { command: "echo \0" })).text, /null bytes/);
  work.cwd = work.path("gone");
  assert.equal((await work.run(bash, { command: "true" })).text, `The working directory ${work.cwd} does not exist.`);
  assert.deepEqual(work.pids, []);
});

test("a UTF-8 character that arrives in pieces is one character; what is not UTF-8 does no harm", async () => {
  using work = new Workspace();
  const command = "printf '\\xe4\\xbd'; sleep 0.1; printf '\\xa0好'; printf '\\xff\\n'; printf '\\xe4\\xbd'";
  assert.equal((await work.run(bash, { command })).text, "你好\ufffd\n\ufffd");
  assert.equal(work.watched, "你好\ufffd\n\ufffd");
});

test("interrupting ends the whole family, and the output so far is kept", async () => {
  using work = new Workspace();
  const abort = new AbortController();
  // A grandchild that ignores the polite signal, and one in the background.
  const command = `(trap '' TERM; echo "stubborn $BASHPID"; while :; do sleep 0.05; done) & sleep 1000 & echo "background $!"; echo ready; wait`;
  work.onOutput = () => work.watched.includes("ready") && work.watched.includes("stubborn") && abort.abort();
  const { ok, text } = await work.run(bash, { command }, abort.signal);
  assert.equal(ok, false);
  assert.match(text, /Interrupted by the person: the command was stopped/);
  const pids = [...text.matchAll(/(?:stubborn|background) (\d+)/g)].map(([, pid]) => Number(pid));
  assert.equal(pids.length, 2);
  for (const pid of [...pids, ...work.pids]) await untilGone(pid);
});

test("a command is not started after an interrupt", async () => {
  using work = new Workspace();
  const { ok, text } = await work.run(bash, { command: "touch started" }, AbortSignal.abort());
  assert.deepEqual([ok, text], [false, "Interrupted by the person before the command was started."]);
  assert.deepEqual(readdirSync(work.root), []);
});

test("a timeout stops the command and says so", async () => {
  using work = new Workspace();
  const { ok, text } = await work.run(bash, { command: "echo begun; sleep 1000", timeout: 300 });
  assert.equal(ok, false);
  assert.match(text, /Timed out after 300 ms: the command was stopped/);
  await untilGone(work.pids[0] as number);
  for (const timeout of [0, -1, 600_001]) assert.ok(!bash.inputSchema.safeParse({ command: "true", timeout }).success);
});

test("A9: a process left in the background neither holds the call nor outlives it", async () => {
  using work = new Workspace();
  const { ok, text } = await work.run(bash, { command: 'sleep 1000 & echo "left $!"' });
  assert.equal(ok, true);
  assert.match(text, /Processes it had left in the background were ended\.$/);
  await untilGone(Number(/left (\d+)/.exec(text)?.[1]));
});

test("a process that leaves the group does not hold the call", async () => {
  using work = new Workspace();
  const { ok, text } = await work.run(bash, {
    command:
      'setsid sleep 1000 & until read -r _ _ _ _ group _ < /proc/$!/stat && [ "$group" = $! ]; do :; done; echo "escaped $!"',
  });
  const pid = Number(/escaped (\d+)/.exec(text)?.[1]);
  assert.equal(ok, true);
  process.kill(pid, "SIGKILL");
});

test("long output is cut in the middle for the model and kept whole on disk, in bounded memory", async () => {
  using work = new Workspace();
  let largest = 0;
  work.onOutput = () => ((work.watched = ""), (largest = Math.max(largest, process.memoryUsage().rss)));
  const before = process.memoryUsage().rss;
  const { ok, text } = await work.run(bash, {
    command: "echo first; yes 一二三四五六七八九 | head -c 60000000; echo; echo last",
  });
  assert.equal(ok, true);
  assert.ok(text.length < 31_000, `${text.length}`);
  assert.match(text, /^first\n/);
  assert.match(text, /last$/);
  assert.ok(largest - before < 60_000_000, `grew by ${largest - before}`);
  const [, path = ""] = /\n\[\d+ characters were cut here; the whole output is in (.*)\]\n/.exec(text) ?? [];
  assert.equal(statSync(path).size, 60_000_012);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("what cannot be kept is said, and the command does not fail for it", async () => {
  using work = new Workspace();
  (work as { keepDir: string }).keepDir = "/dev/null/kept";
  const { ok, text } = await work.run(bash, { command: "seq 100000" });
  assert.equal(ok, true);
  assert.match(text, /\[\d+ characters were cut here \(not all of it could be kept: ENOTDIR/);
});

test("no more than 100 MB are kept", async () => {
  using work = new Workspace();
  const excerpt = createExcerpt(work.keepDir);
  const chunk = Buffer.alloc(30 * 1024 * 1024, "x");
  const text = chunk.toString();
  for (let i = 0; i < 4; i++) await excerpt.push(chunk, text);
  assert.match((await excerpt.end()).text, /\(only its first 100 MB were kept\)/);
  const [name = ""] = readdirSync(work.keepDir);
  assert.equal(statSync(join(work.keepDir, name)).size, 100 * 1024 * 1024);
});

test("an excerpt neither loses nor repeats a character around its limit, and never halves one", async () => {
  using work = new Workspace();
  for (const length of [29_999, 30_000, 30_001, 45_000]) {
    const whole = Array.from({ length }, (_, i) => String.fromCodePoint(0x4e00 + (i % 5_000))).join("");
    const excerpt = createExcerpt(work.keepDir);
    for (let at = 0; at < length; at += 7_001) {
      const part = whole.slice(at, at + 7_001);
      await excerpt.push(Buffer.from(part), part);
    }
    const [head = "", path = "", tail = ""] = (await excerpt.end()).text.split(
      /\n\[\d+ characters were cut here; the whole output is in (.*)\]\n/,
    );
    if (length <= 30_000) assert.equal(head, whole);
    else
      assert.deepEqual(
        [head, tail, readFileSync(path, "utf8") === whole],
        [whole.slice(0, 15_000), whole.slice(-15_000), true],
      );
  }
  const excerpt = createExcerpt(work.keepDir);
  const smileys = `x${"😀".repeat(20_000)}`;
  await excerpt.push(Buffer.from(smileys), smileys);
  assert.ok((await excerpt.end()).text.isWellFormed());
});
