// Who hears an answer: askers outside of Sage as real processes, killed while they wait.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { otherEndOf } from "../../src/input/other-end.ts";
import { askFromOutside } from "../../src/input/outside.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { Machine, mark } from "../support/cli.ts";
import { until } from "../support/until.ts";

const event = (cwd: string, command: string) =>
  JSON.stringify({
    ...{ session_id: "c1", cwd, hook_event_name: "PermissionRequest", tool_name: "Bash" },
    tool_input: { command },
  });

/** A hook of a person's own Claude Code that waits for an answer, and the id of its request. */
async function waiting(here: Machine, command: string) {
  const before = new Set((await here.pending()).map(({ id }) => id));
  const hook = here.start(["hook", "claude"]);
  hook.type(event(here.cwd, command));
  hook.end();
  let id = "";
  await until(async () => {
    id = (await here.pending()).find((request) => !before.has(request.id))?.id ?? "";
    return id !== "";
  }, "the request");
  return { hook, id };
}

test("a hook was killed: an answer is told that nobody hears it, and a host that looks ends its request by itself", async () => {
  using here = new Machine();
  mkdirSync(here.env["SAGE_HOME"] ?? "", { recursive: true });
  const first = await waiting(here, "touch a");
  assert.equal((await here.sage(["answer", first.id, "--yes"])).code, 0);
  assert.match((await first.hook.ended).out, /"behavior":"allow"/, "one that waits hears it");

  const second = await waiting(here, "touch b");
  second.hook.kill("SIGKILL");
  await second.hook.ended;
  const { code, out, err } = await here.sage(["answer", second.id, "--yes"]);
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, /claude asked is gone; nobody hears an answer/);
  assert.match((await here.sage(["answer", second.id, "--yes", "--lang", "zh"])).err, /没有谁会收到回答/);

  const third = await waiting(here, "touch c");
  third.hook.kill("SIGKILL");
  await third.hook.ended;
  assert.equal((await here.pending()).length, 1);
  assert.doesNotMatch((await here.sage(["inbox"])).out, /touch b/);
  await until(async () => (await here.pending()).length === 0, "the request to end");
  const ends = await here.facts("input.resolved");
  assert.deepEqual(
    ends.map(({ data }) => data["outcome"]),
    ["answered", "superseded", "superseded"],
  );
  assert.deepEqual(readdirSync(join(here.env["SAGE_HOME"] ?? "", ".processes")), []);
});

test("whoever comes back for its answer is gone for nobody, nor is one of a version that did not say", async () => {
  using here = new Machine();
  const journal = join(here.env["SAGE_HOME"] ?? "", "journal.db");
  const store = sqliteStore(journal);
  const signal = new AbortController().signal;
  const body = { kind: "text", prompt: "why?" } as const;
  const frame = { agent: ["Some Agent"], cwd: here.cwd, body } as const;
  const { request } = await askFromOutside({ store, version: "1", signal }, { ...frame, id: "a" });
  const { asker, ...older } = { ...request, id: request.id.replace("asked/a", "asked/b") };
  assert.equal(asker, "returning");
  store.append(request.session, { key: "asked/b", type: "input.requested", at: request.at, data: older });
  const attached = { ...older, asker: "attached", id: older.id.replace("asked/b", "asked/c") } as const;
  store.append(request.session, { key: "asked/c", type: "input.requested", at: request.at, data: attached });
  assert.deepEqual(
    store.pending().map((open) => otherEndOf(store, open)),
    ["returns", "returns", "gone"],
  );
  store.close();
  const outs = await Promise.all([request, older].map(({ id }) => here.sage(["answer", id, "--text", "so"])));
  assert.match(outs[0]?.out ?? "", /The answer is kept until it comes back for it/);
  assert.match(outs[1]?.out ?? "", /hears the answer there/);
});

test("the same answer from the same account is told the same, whichever was first; another one that it is too late", async () => {
  using here = new Machine();
  const asks = here.script({ calls: [mark] }, { text: "done" });
  assert.equal((await here.sage(["-p", "go", "--model", asks])).code, 3);
  const [request] = await here.pending();
  const answer = (...how: string[]) => here.sage(["answer", request?.id ?? "", ...how]);
  const [first, ...others] = await Promise.all([answer("--yes"), answer("--yes"), answer("--yes")]);
  others.push(await answer("--yes"));
  for (const other of others)
    assert.deepEqual([other.code, other.out.split("\n")[0]], [0, first.out.split("\n")[0]], other.err);
  const late = await answer("--no");
  assert.deepEqual([late.code, late.out], [1, ""]);
  assert.equal((await here.facts("input.resolved")).length, 1);
});
