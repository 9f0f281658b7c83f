// One list of cases for every surface that follows a session: what `followSession` tells is what each of them shows.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { createHost } from "../../src/host/host.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { Host } from "../../src/protocol/host/host.ts";
import { listProcesses } from "../../src/processes/registry.ts";
import { rewindKey } from "../../src/protocol/key.ts";
import { Machine, bash as run } from "../support/cli.ts";
import { overWire } from "../support/over-wire.ts";
import { startRunner } from "../support/process.ts";
import { allow, bash, config, sageWith, workspace, type TestConfig } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { embedder, lines, surfaces, type Attached, type Surface } from "./contract/surfaces.ts";

const session = "s";
const ada = { by: "Ada", surface: "feishu" };
const two: Rule = { behavior: "ask", text: "Bash(touch:*)", source: "project", consent: { approvals: 2 } };
/** Runs until there is a file of this name. */
const waiting = "echo begun; until [ -e go ]; do sleep 0.02; done; echo over";
const count = (text: string, part: string) => text.split(part).length - 1;

/** All surfaces on one session, those of `elsewhere` over a WebSocket. */
async function attachAll(host: Host, given: readonly Surface[] = surfaces) {
  const wire = await overWire(host, { by: "Far", surface: "plain" });
  const attached = await Promise.all([
    ...given.map((surface) => surface(host, session)),
    lines("--host")(wire.host, session),
  ]);
  return {
    attached,
    wire,
    /** Each of them comes to this. */
    async each(what: string, holds: (surface: Attached) => boolean | Promise<boolean>) {
      for (const surface of attached)
        await until(() => holds(surface), `the surface "${surface.name}" did not come to this: ${what}`).catch(
          async (error: unknown) => assert.fail(`${String(error)}\n${await surface.shown()}`),
        );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(attached.map((surface) => surface.stop()));
      await wire.close();
    },
  };
}

async function world(script: Script, options: Partial<TestConfig> = {}) {
  const here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const sage = await sageWith({ script, dir: here.dir, store, session, rules: [allow("Bash(echo:*)")], ...options });
  return {
    ...{ here, sage, store, host: sage.host },
    async [Symbol.asyncDispose]() {
      await sage[Symbol.asyncDispose]();
      here[Symbol.dispose]();
    },
  };
}

suite("every surface that follows a session", () => {
  test("joins in the middle of a turn, and shows what was said, what runs and how it ends", async () => {
    const turns = [{ text: "Let me see.", calls: [bash(waiting)] }, { text: "That was all." }];
    await using at = await world(turns, { permissionMode: "bypass" });
    await at.sage.say("look around");
    await until(() => at.sage.facts().some(({ type }) => type === "call.started"));
    await using all = await attachAll(at.host);
    await all.each("the message, the reply and the call", async (surface) => {
      const shown = await surface.shown();
      return /Let me see\./.test(shown) && /until/.test(shown);
    });
    const embedded = await embedder(at.host, session);
    await until(() => embedded.session.phase === "live");
    assert.deepEqual([embedded.session.run, [...embedded.session.progress.running.values()]], ["running", ["Bash"]]);
    writeFileSync(at.here.path("go"), "");
    await all.each("the end", async (surface) => /That was all\./.test(await surface.shown()));
    await until(() => embedded.session.run === "idle");
    await embedded.stop();
  });

  test("asks with the draft, approvals and inquiries that an open request has", async () => {
    await using at = await world([{ calls: [bash("touch done")] }, { text: "Made." }], { rules: [two] });
    await at.sage.say("go");
    const [request] = await at.sage.open();
    const requestId = request?.id ?? "";
    await at.host.send({ type: "saveDraft", requestId, draft: { comment: "after lunch" }, ...ada });
    await at.sage.answer({ type: "granted", requestId }, "Wang");
    await at.host.send({ type: "inquire", requestId, text: "Why touch?", ...ada });
    await using all = await attachAll(at.host);
    await all.each("the request", (surface) => surface.asks());
    const embedded = await embedder(at.host, session);
    await until(() => embedded.session.phase === "live");
    const [open] = embedded.session.requests;
    assert.deepEqual(
      [open?.draft, open?.approvals?.map(({ by }) => by), open?.inquiries.map(({ made }) => made.text)],
      [{ comment: "after lunch" }, ["Wang"], ["Why touch?"]],
    );
    await embedded.stop();
    await at.sage.answer({ type: "granted", requestId }, "Zhao");
    await all.each("the end of it", async (surface) => /Made\./.test(await surface.shown()));
  });

  test("asks no more once somebody answers elsewhere, and says who it was", async () => {
    await using at = await world([{ calls: [bash("touch done")] }, { text: "Made." }], { rules: [] });
    await using all = await attachAll(at.host);
    await at.sage.say("go");
    const [request] = await at.sage.open();
    await all.each("the request", (surface) => surface.asks());
    await at.host.send({ type: "respond", response: { type: "granted", requestId: request?.id ?? "" }, ...ada });
    await all.each("that nothing is asked", async (surface) => !(await surface.asks()));
    await all.each("the end", async (surface) => /Made\./.test(await surface.shown()));
    await all.each(
      "who it was",
      async (surface) => surface.name === "ACP" || /nswered by Ada/.test(await surface.shown()),
    );
  });

  test("knows that the process which ran the turn was killed, from then on or on joining", async () => {
    using here = workspace();
    const turns: Script = [{ calls: [bash("touch done")] }, { text: "Made." }];
    writeFileSync(here.path("script.json"), JSON.stringify(turns));
    const owner = startRunner([here.dir, session]);
    await owner.until(/input.requested/);
    const store = sqliteStore(here.path("journal.db"));
    const script = JSON.parse(readFileSync(here.path("script.json"), "utf8")) as Script;
    const made = config({ script, dir: here.dir, store });
    const executor = async () => new TurnExecutor(made, { workingDirectory: here.dir });
    const host = createHost({ store, version: "test", executor });
    const resumes = (surface: Attached) => surface.tellsStopped === undefined;
    const people = surfaces.filter((surface) => surface.name !== "editor");
    {
      await using all = await attachAll(host, people);
      const embedded = all.attached[0] as Awaited<ReturnType<typeof embedder>>;
      await until(() => embedded.session.phase === "live");
      assert.equal(embedded.session.run, "running");
      await all.each("the request", (surface) => surface.asks());
      owner.child.kill("SIGKILL");
      await owner.ended;
      await all.each("that nobody runs it", async (surface) => (await surface.tellsStopped?.()) ?? false);
      assert.ok(embedded.changes.includes("owner"));
      const late = await embedder(host, session);
      await until(() => late.session.phase === "live");
      assert.equal(late.session.run, "stopped", "whoever joins later is told the same");
      await late.stop();
    }
    // An editor has no word for it: it resumes the turn, and the request can be answered.
    const [editor] = await Promise.all(
      surfaces.filter((one) => !people.includes(one)).map((one) => one(host, session)),
    );
    assert.ok(editor && resumes(editor));
    await until(() => store.session(session)?.owned);
    const [request] = store.pending(session);
    await host.send({ type: "respond", response: { type: "granted", requestId: request?.id ?? "" }, ...ada });
    await until(async () => /Made\./.test(await editor.shown()));
    await editor.stop();
    await host.close();
  });

  test("shows once what happened while its link to the host was lost", async () => {
    await using at = await world([{ text: "First." }, { text: "Second." }]);
    const wire = await overWire(at.host, { by: "Far", surface: "plain" });
    const attached = await Promise.all(surfaces.map((surface) => surface(wire.host, session)));
    const [embedded] = attached as [Awaited<ReturnType<typeof embedder>>];
    await at.sage.say("one");
    for (const surface of attached) await until(async () => /First\./.test(await surface.shown()), surface.name);
    wire.cut();
    await until(() => embedded.session.phase === "lost");
    await at.sage.say("two");
    await at.sage.outcome();
    for (const surface of attached) {
      await until(async () => /Second\./.test(await surface.shown()), surface.name);
      // A text may be told as it grows and in the whole result; no surface shows a reply again.
      if (surface.name !== "Feishu") assert.equal(count(await surface.shown(), "Second."), 1, surface.name);
    }
    await until(() => embedded.session.phase === "live");
    assert.deepEqual(
      embedded.changes.filter((change) => change === "link"),
      ["link", "link"],
    );
    await Promise.all(attached.map((surface) => surface.stop()));
    await wire.close();
  });

  test("shows a message that waits, and that it was taken back before anybody had read it", async () => {
    await using at = await world([{ calls: [bash(waiting)] }, { text: "Done." }], { permissionMode: "bypass" });
    await using all = await attachAll(at.host);
    const embedded = all.attached[0] as Awaited<ReturnType<typeof embedder>>;
    await at.sage.say("go");
    await until(() => at.sage.facts().some(({ type }) => type === "call.started"));
    await at.host.send({ type: "say", session, text: "and sweep up", id: "m", ...ada });
    await all.each("the message", async (surface) => /and sweep up/.test(await surface.shown()));
    assert.deepEqual(
      embedded.session.queue.map(({ text }) => text),
      ["and sweep up"],
    );
    await at.host.send({ type: "withdraw", session, message: embedded.session.queue[0]?.key ?? "", ...ada });
    await all.each("that it was taken back", async (surface) => /taken back/.test(await surface.shown()));
    assert.deepEqual(embedded.session.queue, []);
    writeFileSync(at.here.path("go"), "");
    await all.each("the end", async (surface) => /Done\./.test(await surface.shown()));
  });

  test("begins a text again when another attempt begins it again", async () => {
    await using at = await world([{ text: "Twice." }]);
    await using all = await attachAll(at.host);
    const embedded = all.attached[0] as Awaited<ReturnType<typeof embedder>>;
    await until(() => embedded.session.phase === "live");
    await at.host.send({ type: "say", session, text: "hold", id: "m", ...ada }).catch(() => {});
    await until(() => at.sage.facts().some(({ type }) => type === "turn.ended"));
    await all.each("that it has joined", async (surface) => /Twice\./.test(await surface.shown()));
    const delta = (attempt: number, n: number, text: string) =>
      at.store.hub.delta({ session, key: "t1/0/model", attempt, n, kind: "text", text });
    delta(1, 0, "Onc");
    await all.each("the first", async (surface) => /Onc/.test(await surface.shown()));
    delta(2, 0, "Anew");
    await all.each("the second", async (surface) => /Anew/.test(await surface.shown()));
    delta(1, 1, "Behind");
    for (const surface of all.attached) {
      const shown = await surface.shown();
      assert.doesNotMatch(shown, /Behind/, surface.name);
      if (surface.redraws) assert.doesNotMatch(shown, /Onc/, surface.name);
    }
  });

  test("says that the session was rewound", async () => {
    await using at = await world([{ text: "First." }]);
    await at.sage.say("one");
    await at.sage.outcome();
    await using all = await attachAll(at.host);
    await all.each("the reply", async (surface) => /First\.|one/.test(await surface.shown()));
    await until(() => !at.store.session(session)?.owned, "the session to be let go");
    const elsewhere = sqliteStore(at.here.path("journal.db"));
    const log = openSession(elsewhere, session);
    const data = { turn: 0, what: "conversation", heard: 0, upTo: 0, next: 1, ...ada } as const;
    log.branch("").decide(rewindKey(0), "session.rewound", () => ({ ...data, files: [] }));
    await log.flush();
    await log.release();
    elsewhere.close();
    await all.each("the rewind", async (surface) => /Rewound by Ada/.test(await surface.shown()));
  });
});

test("-p refuses a turn that another process runs, and continues one whose process was killed", async () => {
  using here = new Machine();
  const model = here.script(
    { calls: [run("echo ran >> ran.txt; until [ -e go ]; do sleep 0.05; done")] },
    { text: "Finished." },
  );
  const first = here.start(["-p", "work", "--model", model, "--bypass"]);
  await until(() => here.file("ran.txt"));
  const [id = ""] = (await here.sage(["sessions"])).out.match(/\b[0-9a-z]{8}\b/) ?? [];
  const refused = await here.sage(["-p", "--resume", id, "--model", model]);
  assert.match(refused.err, /another process|runs/i);
  const home = here.env["SAGE_HOME"] ?? "";
  const isKept = () => process.platform !== "linux" || listProcesses(home, "keeper").length > 0;
  await until(isKept, "the keeper to have the command");
  first.kill("SIGKILL");
  await first.ended;
  writeFileSync(join(here.cwd, "go"), "");
  const again = await here.sage(["-p", "--resume", id, "--model", model, "--output-format", "json"]);
  assert.match(again.out, /Finished\./, "the command went on, and nobody is asked what became of it");
  assert.equal(here.file("ran.txt"), "ran\n");
});
