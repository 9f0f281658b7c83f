// How a sandbox begins: with nothing that its parent held, and not at all where a mount is not what was planned.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { cannotConfine, confinedPlace, ordinary } from "../support/confine.ts";
import { until } from "../support/until.ts";

const skip = await cannotConfine();

/** Runs the ways of starting in a process of the ordinary user that holds descriptors which nobody closes on exec. */
function starting(place: ReturnType<typeof confinedPlace>, how: string, held: Record<number, number>): ChildProcess {
  const last = Math.max(3, ...Object.keys(held).map(Number));
  const extra = Array.from({ length: last - 2 }, (_, at) => held[at + 3] ?? ("ignore" as const));
  const { root, home, state } = place;
  return spawn(process.execPath, [new URL("starting.ts", import.meta.url).pathname, how, root, home, state], {
    stdio: ["pipe", "pipe", "inherit", ...extra],
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: home },
    ...ordinary,
  });
}

test(
  "descriptors that Sage was started with reach no command, server or hook, in whichever way it starts",
  { skip },
  async () => {
    using place = confinedPlace();
    const secret = join(place.dir, "secret");
    writeFileSync(secret, "a secret");
    const opened = [4, 5, 9, 200].map((at) => [at, openSync(secret, "r")] as const);
    const child = starting(place, "all", Object.fromEntries(opened));
    const said = await text(child.stdout!);
    for (const [, descriptor] of opened) closeSync(descriptor);
    const seen = JSON.parse(said) as Record<string, string>;
    assert.deepEqual(Object.keys(seen), ["spawner", "directly", "background", "program"]);
    for (const [how, listed] of Object.entries(seen)) {
      assert.match(listed, /began/, how);
      assert.doesNotMatch(listed, /secret/, how);
    }
  },
);

test("a start whose mount is not what was planned leaves no process at its gate", { skip }, async () => {
  using place = confinedPlace();
  const child = starting(place, "swapped", {});
  let said = "";
  child.stdout!.setEncoding("utf8").on("data", (part: string) => (said += part));
  await until(() => said.split("\n").length > 3);
  assert.equal(said, "refused\n".repeat(3));
  assert.deepEqual(descendants(child.pid!), []);
  child.stdin!.end();
  await once(child, "exit");
  assert.equal(existsSync(join(place.root, "ran")), false);
});

/** Command lines of the processes of a session's user that run a sandbox of it. */
function descendants(of: number): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
      const isOurs = environment.includes("SAGE_CONFINED=1") && environment.includes(`SAGE_TEST_STARTED_BY=${of}`);
      return isOurs ? [readFileSync(`/proc/${pid}/cmdline`, "utf8")] : [];
    } catch {
      return []; // it has ended, or is not ours
    }
  });
}
