// An update that is killed: journals of each version, with every kind of thing that may be open, are opened, migrated, answered by two
// processes and gone on with, and each of these is ended by kill -9 at any moment.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { cannotConfine } from "../support/confine.ts";
import { killAtCommit, killAtMigration } from "../support/kill.ts";
import { workspace } from "../support/sage.ts";
import { read } from "./fixture.ts";
import { dice, roundsOf, seed, type Dice } from "./rounds.ts";
import { leavePlace, PLACE, restoreFiles, takePlace, updates } from "./update-fixture.ts";
import { waitings } from "./waiting-fixture.ts";

const folder = join(import.meta.dirname, "../fixtures/journals");
const PATIENCE_MS = 30_000;
type Told = { up?: string; id?: string; by?: string; outcome?: string; ended?: boolean };

/** Facts of a fixture in a database as that version made it: in its format, and with no table or column of a later one. */
function databaseOf(version: string, facts: readonly Fact[], path: string): void {
  const made = `${path}.made`;
  const store = sqliteStore(made);
  const [opened, ...rest] = facts as [Fact<"session.opened">, ...Fact[]];
  store.create("s", opened.data);
  const epoch = store.claim("s");
  store.commit("s", epoch, rest);
  store.release("s", epoch);
  store.close();
  const old = new DatabaseSync(path);
  old.exec(readFileSync(join(folder, `${version}.sql`), "utf8"));
  old.exec(`ATTACH '${made}' AS made`);
  for (const table of ["fact", "session", "ask", "long", "process", "child"]) {
    const columns = old
      .prepare(`SELECT name FROM pragma_table_info('${table}', 'main')`)
      .all()
      .map(({ name }) => String(name));
    if (columns.length === 0) continue;
    old.exec(
      `DELETE FROM main.${table}; INSERT INTO main.${table}(${columns.join()}) SELECT ${columns.join()} FROM made.${table}`,
    );
  }
  old.exec("DELETE FROM process; DETACH made; PRAGMA journal_mode=WAL");
  old.close();
  for (const end of ["", "-wal", "-shm"]) rmSync(made + end, { force: true });
}

/** Puts a folder before all others on the path, whose `touch` writes down what it was asked for. */
function witnessing(bin: string, witness: string): string {
  writeFileSync(join(bin, "touch"), `#!/bin/sh\necho "$*" >> ${witness}\nexec /usr/bin/touch "$@"\n`);
  chmodSync(join(bin, "touch"), 0o755);
  return `${bin}:${process.env["PATH"]}`;
}

/** A process at the journal, killed as the dice say; what it told before. */
async function live(
  args: string[],
  env: Record<string, string>,
  killAfterMs?: number,
): Promise<{ told: Told[]; err: string; killed: boolean }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "updater.ts"), ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs ?? PATIENCE_MS);
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  clearTimeout(timer);
  const told = out
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Told);
  return { told, err, killed: signal === "SIGKILL" };
}

/** A commit that never comes does not keep it alive. */
const LATEST_MS = 4_000;

function faultFor(roll: Dice): { env: Record<string, string>; afterMs: number } {
  const side = roll.pick(["before", "after"] as const);
  if (roll.chance(0.2)) return { env: killAtMigration(side), afterMs: LATEST_MS };
  if (roll.chance(0.5)) return { env: killAtCommit(1 + roll.below(14), side), afterMs: LATEST_MS };
  return { env: {}, afterMs: 200 + roll.below(1_500) };
}

const fixtures = globSync("[0-9]*-*.jsonl", { cwd: folder }).flatMap((file) => {
  const [, version = "", name = ""] = /^([\d.]+)-(?:update-)?(\w+)\.jsonl$/.exec(file) ?? [];
  const kind = [...updates, ...waitings].find((known) => known === name);
  return kind ? [{ file, version, kind }] : [];
});

suite("an update that is killed", { skip: process.platform !== "linux" }, async () => {
  const unconfined = await cannotConfine();
  const playable = fixtures.filter(({ kind }) => kind !== "confined" || !unconfined);
  before(takePlace, { timeout: 300_000 });
  after(leavePlace);

  for (let round = 0; round < roundsOf(2); round++) {
    const { file, version, kind } = playable[(seed + round) % playable.length]!;
    test(
      `${file} is lost nowhere, and nothing of it is asked or done twice (seed ${seed + round})`,
      { timeout: 240_000 },
      async () => {
        using here = workspace();
        const roll = dice(seed + round);
        const inPlace = updates.some((name) => name === kind);
        const dir = inPlace ? PLACE : here.dir;
        for (const name of readdirSync(PLACE)) rmSync(join(PLACE, name), { recursive: true, force: true });
        const { recorded, facts: left } = read(
          readFileSync(join(folder, file), "utf8").replaceAll('"/work', `"${dir}`),
        );
        if (inPlace) restoreFiles(recorded.files ?? {});
        const path = join(dir, "journal.db");
        databaseOf(version, left, path);
        const bin = here.path("bin");
        mkdirSync(bin);
        const witness = here.path("witness");
        const PATH = witnessing(bin, witness);
        const lost = roll.pick(["done", "rerun"]);
        const acknowledged: Told[] = [];
        let errors = "";
        const play = async (mode: string, by: string, fault: ReturnType<typeof faultFor> | undefined) => {
          const life = await live([kind, dir, path, mode, by, lost], { PATH, ...fault?.env }, fault?.afterMs);
          acknowledged.push(...life.told.filter(({ id }) => id));
          errors += life.err;
          return life.told.some(({ ended }) => ended);
        };
        const deadly = 1 + roll.below(4);
        for (let lives = 0; lives < deadly; lives++) {
          const one = play("run", "Bo", faultFor(roll));
          const other = roll.chance(0.5)
            ? sleep(roll.below(300)).then(() => play(roll.pick(["run", "answer"]), "Cy", faultFor(roll)))
            : undefined;
          await Promise.all([one, other]);
        }
        assert.ok(await play("run", "Bo", undefined), `it does not come to an end\n${errors}${stateIn(path)}`);
        judge({ path, left, kind, acknowledged, witness, lost });
      },
    );
  }
});

/** What a session that hangs waits for. */
function stateIn(path: string): string {
  const store = sqliteStore(path);
  const [row, open, facts] = [store.session("s"), store.pending("s"), store.load("s")];
  store.close();
  return JSON.stringify(
    [row, open.map(({ id }) => id), facts.slice(-12).map(({ key, type }) => `${key} ${type}`)],
    null,
    1,
  );
}

const callOf = (key: string) => key.slice(0, key.lastIndexOf("/"));

/** What became of the call so far. */
function told(facts: readonly Fact[], key: string): string {
  const own = facts.filter((fact) => fact.key.startsWith(`${callOf(key)}/`) || fact.type === "state.changed");
  return own.map((fact) => `${fact.key} ${JSON.stringify(fact.data).slice(0, 700)}`).join("\n");
}

type Judged = { path: string; left: Fact[]; kind: string; acknowledged: Told[]; witness: string; lost: string };

function judge({ path, left, kind, acknowledged, witness, lost }: Judged): void {
  const store = sqliteStore(path);
  const facts = store.load("s", { verified: true });
  assert.deepEqual(
    [store.verify("s"), store.lookAtIndexes(), store.pending("s")],
    [undefined, { missing: 0, stale: 0 }, []],
  );
  store.close();
  assert.deepEqual(
    facts.slice(0, left.length).map(({ key, data }) => [key, data]),
    left.map(({ key, data }) => [key, data]),
  );
  const last = facts.findLast(({ type }) => type === "turn.ended");
  assert.equal(last?.type === "turn.ended" && last.data.status, "success", JSON.stringify(last));
  const ends = new Map(
    facts.flatMap((fact) => (fact.type === "input.resolved" ? [[fact.data.requestId, fact.data]] : [])),
  );
  for (const { id, by, outcome } of acknowledged)
    assert.deepEqual([ends.get(id!)?.by, ends.get(id!)?.outcome], [by, outcome], `somebody was told so of ${id}`);
  const asked = (list: readonly Fact[]) => list.flatMap((fact) => (fact.type === "input.requested" ? [fact] : []));
  // Whoever has a call run again is asked about what it meets then: what its first run did is there by now.
  const again = [...ends].flatMap(([id, end]) =>
    JSON.stringify(end).includes('"rerun"') ? [callOf(id.slice(2))] : [],
  );
  for (const { key, data } of asked(facts).slice(asked(left).length))
    assert.ok(
      data.source === "recovery" || again.includes(callOf(key)),
      `${key} is asked anew: ${JSON.stringify(data.why)}\n${told(facts, key)}`,
    );
  // A form goes with its call; all others have been answered by people.
  for (const { data } of asked(left)) {
    const end = ends.get(data.id);
    assert.equal(end?.outcome, kind === "form" ? "superseded" : "answered", data.id);
  }
  const reruns = [...ends.values()].filter(
    (end) => end.outcome === "answered" && /\/lost\d+/.test(end.requestId) && JSON.stringify(end).includes("rerun"),
  );
  const did = existsSync(witness) ? readFileSync(witness, "utf8").trimEnd().split("\n") : [];
  for (const what of new Set(did)) {
    const times = did.filter((line) => line === what).length;
    assert.ok(times <= 1 + (lost === "rerun" ? reruns.length : 0), `${what} was done ${times} times`);
  }
}
