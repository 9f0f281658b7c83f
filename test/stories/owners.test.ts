// One session, several real processes: the owner dies, freezes and thaws, and whoever follows it goes on.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { respond } from "../../src/input/respond.ts";
import { groupLives } from "../support/lives.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import type { WatchEvent } from "../../src/protocol/host/host.ts";
import { createHost, type LocalHost } from "../../src/host/host.ts";
import { startRunner } from "../support/process.ts";
import { bash, config, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";

type Here = ReturnType<typeof workspace>;

const lin = { by: "Lin", surface: "test" };
/** Says where it is, every so often, until it is ended. */
const ticking = "echo $$ > group; echo out; while :; do echo tick >> ticks; sleep 0.05; done";

function script(here: Here, turns: Script): void {
  writeFileSync(here.path("script.json"), JSON.stringify(turns));
}

/** The owner: a process of its own, allowed to run its command by somebody else. */
async function owner(here: Here) {
  const one = startRunner([here.dir, "s"]);
  await one.until(/input.requested/);
  const store = sqliteStore(here.path("journal.db"));
  const [request] = store.pending("s");
  await respond(store, { type: "granted", requestId: request?.id ?? "" }, lin);
  store.close();
  await one.until(/call.started/);
  return one;
}

/** A host of this process on the same journal, and everything it is told. */
function follower(here: Here) {
  const store = sqliteStore(here.path("journal.db"));
  const turns = JSON.parse(readFileSync(here.path("script.json"), "utf8")) as Script;
  const host: LocalHost = createHost({
    store,
    version: "test",
    executor: async () =>
      new TurnExecutor(config({ script: turns, dir: here.dir, store }), { workingDirectory: here.dir }),
  });
  const leaving = new AbortController();
  const events: WatchEvent[] = [];
  const done = (async () => {
    for await (const event of host.watch("s", { signal: leaving.signal })) events.push(event);
  })();
  return {
    store,
    host,
    output: () => events.map((event) => (event.type === "delta" ? event.delta.text : "")).join(""),
    stopped: () => events.some((event) => event.type === "owner" && event.stopped),
    facts: () => events.flatMap((event) => (event.type === "fact" ? [event.fact] : [])),
    pending: (key: string): InputRequest | undefined => store.pending("s").find(({ id }) => id === `s/${key}`),
    async pick(key: string, label: string) {
      await until(() => store.pending("s").some(({ id }) => id === `s/${key}`));
      const request = store.pending("s").find(({ id }) => id === `s/${key}`);
      if (request?.kind !== "question") throw new Error("expected a question");
      const answers = { [request.questions[0]?.question ?? ""]: { selected: [label] } };
      const reply = await host.send({
        type: "respond",
        response: { type: "answers", requestId: request.id, answers },
        ...lin,
      });
      assert.equal(reply.ok, true);
      return request;
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await done;
      await host.close();
    },
  };
}

const lines = (here: Here, name: string) =>
  existsSync(here.path(name)) ? readFileSync(here.path(name), "utf8").trim().split("\n").length : 0;

/** As if it had been silent for longer than a living process ever is. */
function makeSilent(here: Here): void {
  const db = new DatabaseSync(here.path("journal.db"));
  db.exec("PRAGMA busy_timeout=2000; UPDATE process SET beat=0");
  db.close();
}

test("the owner is killed: whoever follows it sees its output until then, notices, and goes on under the same ids", async () => {
  using here = workspace();
  script(here, [{ calls: [bash(ticking)] }, { text: "over" }]);
  const first = await owner(here);
  await using second = follower(here);
  await until(() => second.output().includes("out"));
  first.child.kill("SIGKILL");
  await until(second.stopped);
  await first.ended;

  assert.deepEqual(await second.host.send({ type: "resume", session: "s" }), { ok: true });
  const outcome = second.host.run("s");
  const asked = await second.pick("t0/0/0/lost0.running", "kill");
  assert.match(sentence(asked.why, "en"), /still running/);
  const lost = await second.pick("t0/0/0/lost0", "done");
  assert.match(
    sentence(lost.why, "en"),
    /Changed in the working directory since it was started, by it or by others:\n[^]*^ {2}ticks$/m,
  );
  assert.equal((await outcome).text, "over");
  const group = Number(readFileSync(here.path("group"), "utf8"));
  assert.equal(groupLives(group), false);
  await until(() => second.facts().some(({ type }) => type === "turn.ended"));
  assert.equal(second.store.verify("s"), undefined);
});

test("the owner freezes, another process takes the session, the owner thaws: it writes nothing more, and its command is ended", async () => {
  using here = workspace();
  script(here, [{ calls: [bash(ticking)] }, { text: "over" }]);
  const first = await owner(here);
  await until(() => lines(here, "ticks") > 2);
  await using second = follower(here);
  await until(() => second.output().includes("out"));
  first.child.kill("SIGSTOP");
  makeSilent(here);
  await until(second.stopped);
  await second.host.send({ type: "resume", session: "s" });
  const outcome = second.host.run("s");
  await until(() => second.pending("t0/0/0/lost0.running") !== undefined);
  const taken = epochs(second.store.load("s"));

  first.child.kill("SIGCONT");
  const { out } = await first.ended;
  assert.match(out, /taken over|"status":"error"/);
  const group = Number(readFileSync(here.path("group"), "utf8"));
  await until(() => !groupLives(group)); // the one who had started it has ended it
  await second.pick("t0/0/0/lost0.running", "wait");
  await second.pick("t0/0/0/lost0", "done");
  assert.equal((await outcome).text, "over");

  const all = epochs(second.store.load("s"));
  assert.deepEqual(all.slice(0, taken.length), taken);
  assert.ok(
    all.every((epoch, n) => n === 0 || epoch >= (all[n - 1] ?? 0)),
    `no fact of an earlier owner after one of a later: ${all.join(" ")}`,
  );
  assert.equal(second.store.verify("s"), undefined);
});

/** The owner that wrote each change of state, in order. */
function epochs(facts: readonly Fact[]): number[] {
  return facts.flatMap(({ type, key }) =>
    type === "state.changed" ? [Number(key.slice("state/".length).split(".")[0])] : [],
  );
}

test("the owner freezes for longer than a lease lasts, and nobody wants the session: thawed, it goes on as if nothing was", async () => {
  using here = workspace();
  const command = "echo begun >> ticks; while [ ! -e stop ]; do sleep 0.02; done; echo ended >> ticks";
  script(here, [{ calls: [bash(command)] }, { text: "over" }]);
  const first = await owner(here);
  await until(() => lines(here, "ticks") === 1);
  first.child.kill("SIGSTOP");
  makeSilent(here);
  await using second = follower(here);
  await until(() => second.facts().length > 0);
  assert.equal(second.store.session("s")?.owned, false);
  first.child.kill("SIGCONT");
  writeFileSync(here.path("stop"), "");
  assert.match((await first.ended).out, /"status":"success","text":"over"/);
  assert.equal(readFileSync(here.path("ticks"), "utf8"), "begun\nended\n");
  await until(() => second.facts().some(({ type }) => type === "turn.ended"));
});

test("the owner ends as it should: whoever follows it stays, and what is said next runs there", async () => {
  using here = workspace();
  script(here, [{ text: "first of all", delayMs: 2_000 }, { text: "second" }]);
  const first = startRunner([here.dir, "s"]);
  await first.until(/session.opened|turn.begun/);
  await using second = follower(here);
  await until(() => second.output().includes("first"));
  assert.match((await first.ended).out, /first of all/); // a follower does not keep it
  await until(() => second.facts().some(({ type }) => type === "turn.ended"));
  assert.equal(second.stopped(), false);
  await second.host.send({ type: "say", session: "s", text: "and now?", ...lin });
  assert.equal((await second.host.run("s")).text, "second");
});
