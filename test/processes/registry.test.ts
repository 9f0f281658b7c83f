// The list of processes, with real ones: who is ended, who is forgotten, and who is nobody's to end.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { signalGroup } from "../../src/processes/group.ts";
import { groupLife, identify, lifeOf, startOf } from "../../src/processes/identity.ts";
import {
  createReaper,
  fateOf,
  listProcesses,
  noteProcess,
  type Entry,
  type Kind,
} from "../../src/processes/registry.ts";
import { until } from "../support/until.ts";

const options = { skip: process.platform !== "linux" && "processes are looked up in /proc" };
const kinds = ["command", "asker", "guest", "keeper", "hook", "server", "probe"] as const satisfies Kind[];

/** A folder with the list, and processes that lead groups of their own. */
class Place {
  readonly dir = mkdtempSync(join(tmpdir(), "sage-processes-"));
  readonly gone: Entry[] = [];
  readonly #groups: number[] = [];
  readonly reap = createReaper(this.dir, {
    runsHere: (session) => session === "here",
    askerGone: async (entry) => void this.gone.push(entry),
  });
  sleeper(): number {
    const { pid = 0 } = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
    this.#groups.push(pid);
    return pid;
  }
  /** Rewrites the entry of a process, as another process, boot, container or machine would have noted it. */
  change(pid: number, edit: (entry: Entry) => Partial<Entry>): void {
    const folder = join(this.dir, ".processes");
    const [name = ""] = readdirSync(folder).filter((one) => one.split(".")[1] === String(pid));
    const entry = JSON.parse(readFileSync(join(folder, name), "utf8")) as Entry;
    writeFileSync(join(folder, name), JSON.stringify({ ...entry, ...edit(entry) }));
  }
  [Symbol.dispose](): void {
    for (const group of this.#groups) signalGroup(group, "SIGKILL");
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const otherBoot = ({ started }: Entry) => ({ started: started.replace(/^\w+/, "00000000") });
const otherStart = ({ started }: Entry) => ({ started: started.replace(/^(\w+):\d+/, "$1:1") });
const otherNamespace = ({ started }: Entry) => ({ started: `${started.split(":", 2).join(":")}:4026500000` });
const otherMachine = () => ({ machine: "elsewhere" });

/** What becomes of a process that lives, and of its entry, when whoever started it was killed. */
const lefts: Record<Kind, "ended" | "stays"> = {
  ...{
    command: "stays",
    asker: "stays",
    guest: "ended",
    keeper: "stays",
    hook: "ended",
    server: "ended",
    probe: "ended",
  },
};

test(
  "crossed: every kind, left behind, alive, dead, in another container, under a number that came back, of another boot",
  options,
  async () => {
    using place = new Place();
    const starter = place.sleeper();
    const by = identify(starter);
    signalGroup(starter, "SIGKILL");
    await until(() => startOf(starter) === "");
    const ways: Record<string, { edit?(entry: Entry): Partial<Entry>; kill?: true; entry: (kind: Kind) => boolean }> = {
      "alive, and its starter too": { entry: () => true },
      "left behind": { edit: () => ({ by }), entry: (kind) => lefts[kind] === "stays" },
      "killed alone": { kill: true, entry: () => false },
      "in another container": { edit: (entry) => ({ by, ...otherNamespace(entry) }), entry: () => true },
      "on another machine": { edit: () => ({ by, ...otherMachine() }), entry: () => true },
      "its number is another's": { edit: (entry) => ({ by, ...otherStart(entry) }), entry: () => false },
      "of another boot": { edit: (entry) => ({ by, ...otherBoot(entry) }), entry: () => false },
    };
    for (const [way, { edit, kill, entry: stays }] of Object.entries(ways)) {
      if (way === "on another machine" && identify(process.pid).machine === undefined) continue;
      const made = kinds.map((kind) => {
        const [pid, command] = [place.sleeper(), place.sleeper()];
        noteProcess(place.dir, kind, pid, {
          session: "here",
          key: kind,
          ...(kind === "keeper" && { command: identify(command) }),
        });
        if (edit) place.change(pid, edit);
        if (kill) signalGroup(pid, "SIGKILL");
        return { kind, pid, command };
      });
      if (kill) await until(() => made.every(({ pid }) => startOf(pid) === ""));
      await place.reap();
      for (const { kind, pid, command } of made) {
        const listed = listProcesses(place.dir).some((entry) => entry.pid === pid);
        // A keeper that is gone while its command runs says by its entry what it left.
        const isLeft =
          kind === "keeper" && ["killed alone", "its number is another's", "of another boot"].includes(way);
        assert.equal(listed, isLeft || stays(kind), `${kind}: ${way}`);
        const lives = way === "left behind" ? lefts[kind] === "stays" : way !== "killed alone";
        assert.equal(startOf(pid) !== "", lives, `${kind}: ${way}`);
        assert.notEqual(startOf(command), "", "a command is nobody's to end");
      }
      const askers = place.gone.splice(0).map(({ key }) => key);
      const isGone = way === "killed alone" || way === "its number is another's" || way === "of another boot";
      assert.deepEqual(askers, isGone ? ["asker"] : [], way);
      rmSync(join(place.dir, ".processes"), { recursive: true, force: true });
    }
  },
);

test("a guest ends when another process runs its session, a keeper when it and its starter are left and the command is over", () => {
  const frame = { starter: "dead", command: "dead", taken: false } as const;
  const table: [Kind, Parameters<typeof fateOf>[2], ReturnType<typeof fateOf>][] = [
    ["guest", frame, "stays"],
    ["guest", { ...frame, taken: true }, "ended"],
    ["keeper", frame, "ended"],
    ["keeper", { ...frame, command: "alive" }, "stays"],
    ["keeper", { ...frame, command: "unknown" }, "stays"],
    ["keeper", { ...frame, starter: "alive" }, "stays"],
    ["hook", { ...frame, starter: "unknown" }, "stays"],
  ];
  for (const [kind, beside, fate] of table)
    assert.equal(fateOf(kind, "alive", beside), fate, JSON.stringify([kind, beside]));
  for (const kind of kinds) assert.equal(fateOf(kind, "unknown", { ...frame, taken: true }), "stays", kind);
});

test(
  "a keeper is given time for its last words, and only what leads a group of its own is ever ended",
  options,
  async () => {
    using place = new Place();
    const [keeper, over] = [place.sleeper(), place.sleeper()];
    const command = identify(over);
    signalGroup(over, "SIGKILL");
    await until(() => startOf(over) === "");
    noteProcess(place.dir, "keeper", keeper, { session: "s", key: "k", command });
    place.change(keeper, () => ({ by: command }));
    // In the group of this test.
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    noteProcess(place.dir, "hook", child.pid ?? 0);
    place.change(child.pid ?? 0, () => ({ by: command }));
    await place.reap();
    assert.notEqual(startOf(keeper), "");
    assert.notEqual(startOf(child.pid ?? 0), "");
    assert.equal(signalGroup(1, 0) || signalGroup(0, 0) || signalGroup(-5, 0), false, "these would be everybody");
    child.kill("SIGKILL");
    await once(child, "exit");
  },
);

test(
  "an entry that was cut off while it was written goes after a while, and other files are not touched",
  options,
  async () => {
    using place = new Place();
    noteProcess(place.dir, "hook", process.pid)();
    const at = (name: string) => join(place.dir, ".processes", name);
    for (const name of ["hook.1.000000000000", "probe.2.000000000001", "notes.txt"]) writeFileSync(at(name), "{");
    utimesSync(at("hook.1.000000000000"), 1, 1);
    utimesSync(at("notes.txt"), 1, 1);
    await place.reap();
    assert.deepEqual(readdirSync(join(place.dir, ".processes")).sort(), ["notes.txt", "probe.2.000000000001"]);
  },
);

test("a process in a container of its own is unknown here, and this one is unknown there", options, async (t) => {
  using place = new Place();
  noteProcess(place.dir, "command", place.sleeper());
  const script = `
    const { listProcesses, noteProcess } = await import(${JSON.stringify(new URL("../../src/processes/registry.ts", import.meta.url).href)});
    console.log(listProcesses(${JSON.stringify(place.dir)}).map(({ life }) => life).join());
    noteProcess(${JSON.stringify(place.dir)}, "probe", process.pid);`;
  const inside = ["--pid", "--fork", "--mount-proc", process.execPath, "--input-type=module", "-e", script];
  const { status, stdout, stderr } = spawnSync("unshare", inside, { encoding: "utf8" });
  if (status !== 0 && /unshare/.test(stderr)) return t.skip("no container can be made here");
  assert.equal(stdout.trim(), "unknown", stderr);
  assert.deepEqual(
    listProcesses(place.dir, "probe").map(({ life }) => life),
    ["unknown"],
  );
  await place.reap();
  assert.equal(listProcesses(place.dir).length, 2);
});

test("what version 0.2.0 noted names no container: outside of one it is as sure as before", options, () => {
  const [boot, ticks] = startOf(process.pid).split(":") as [string, string];
  const { pid } = process;
  assert.equal(lifeOf({ pid, started: `${boot}:${ticks}` }), "alive");
  assert.notEqual(lifeOf({ pid, started: `${boot}:1` }), "alive");
  assert.equal(lifeOf({ pid, started: `00000000:${ticks}` }), "dead");
  assert.equal(groupLife({ pid, started: "" }), "dead");
});
