// Commands that outlive their process are found again by their group.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { suite, test } from "node:test";
import { startOf } from "../../src/processes/identity.ts";
import { groupLives } from "../support/lives.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { fact, opened } from "./journals.ts";
import { until } from "../support/until.ts";
import { disk, disposable } from "./disks.ts";

suite(
  "what outlives a process",
  { skip: process.platform !== "linux" && "process groups are looked up in /proc" },
  () => {
    /** A process group: its leader's words, and how to end the leader and the group. */
    const group = async (script: string) => {
      const child = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "pipe", "inherit"] });
      const words = createInterface({ input: child.stdout });
      const [line] = (await new Promise((resolve) => words.once("line", (text: string) => resolve([text])))) as [
        string,
      ];
      const gone = new Promise((resolve) => child.once("exit", resolve));
      return {
        pid: child.pid as number,
        line,
        leave: async () => (child.stdin.end(), await gone),
        [Symbol.dispose]() {
          try {
            process.kill(-(child.pid as number), "SIGKILL");
          } catch {
            // gone already
          }
        },
      };
    };

    test("a group lives as long as anyone in it does, also when its leader is gone", async () => {
      using sleepers = await group("sleep 300 & echo $!; read line");
      const started = startOf(sleepers.pid);
      assert.notEqual(started, "");
      assert.equal(groupLives(sleepers.pid, started), true);
      assert.equal(groupLives(sleepers.pid, `${started}0`), false, "another one under the same number is not ours");
      await sleepers.leave();
      assert.equal(startOf(sleepers.pid), "");
      assert.equal(groupLives(sleepers.pid, started), true, "the child works on");
      assert.equal(groupLives(sleepers.pid, "anotherboot:1"), false, "nothing outlives a reboot");
      process.kill(-sleepers.pid, "SIGKILL");
      await until(() => !groupLives(sleepers.pid, started));
    });

    test("a process that ended and was not collected yet does not count as living", async () => {
      // The inner shell ends at once; its parent has become a sleep that never asks for it.
      using keeper = await group("setsid sh -c 'echo $$' & exec sleep 300");
      const dead = Number(keeper.line);
      await until(() => /\) Z /.test(readFileSync(`/proc/${dead}/stat`, "utf8")));
      assert.equal(startOf(dead), "");
      assert.equal(groupLives(dead), false);
      assert.equal(existsSync(`/proc/${dead}`), true, "it is still listed");
    });

    test("a call that was cut off is told of the command that still runs for it", async () => {
      using here = disk();
      using sleepers = await group("echo up; read line");
      const first = openSession(here.store, "s");
      const started = { tool: "Bash", effect: "writes", digest: "" } as const;
      const dying = first.branch("t0").once(
        "run0",
        async (scope) => {
          scope.spawned(sleepers.pid);
          first.close();
          return { ok: true, text: "" };
        },
        { started: () => started },
      );
      await assert.rejects(dying, { name: "Stopped" });
      const look = async () => {
        const log = openSession(here.store, "s");
        const found = await log.branch("t0").once("run0", () => assert.fail("ran again"), { started: () => started });
        log.release();
        return found;
      };
      const since = here.store.load("s").find(({ type }) => type === "call.started")?.at;
      assert.deepEqual(await look(), { ok: false, running: [sleepers.pid], since });
      assert.deepEqual(await look(), { ok: false, running: [sleepers.pid], since }, "as long as it runs");
      await sleepers.leave();
      assert.deepEqual(await look(), { ok: false, running: [], since });
    });

    test("a command's group is found under its key by the next process, and forgotten when the call has finished", async () => {
      using here = disk();
      here.store.create("z", opened);
      using sleepers = await group("echo up; read line");
      const epochs = [here.store.claim("s"), here.store.claim("z")] as const;
      here.store.noteChild("s", "t0/0/0/run0", sleepers.pid);
      here.store.noteChild("z", "t0/0/0/run0", sleepers.pid);
      using next = disposable(sqliteStore(here.journal));
      assert.deepEqual(next.children("s", "t0/0/0/run0"), [sleepers.pid]);
      assert.deepEqual(next.children("s", "t0/0/0/run1"), []);
      const finished = (session: string) =>
        fact("t0/0/0/run0.finished", "call.finished", { ok: true, text: "" }, session);
      here.store.commit("s", epochs[0], [finished("s")]);
      assert.deepEqual([next.children("s", "t0/0/0/run0"), next.children("z", "t0/0/0/run0")], [[], [sleepers.pid]]);
      here.store.commit("z", epochs[1], [finished("z")]);
      assert.deepEqual(here.raw("SELECT * FROM child"), []);
      await sleepers.leave();
    });
  },
);
