import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { acpDriver } from "../../src/guest/acp/acp.ts";
import { codexDriver } from "../../src/guest/codex/codex.ts";
import { serversIn, stopCodex } from "../../src/guest/codex/server.ts";
import { pending } from "../../src/host/commands/requests/request.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { settle } from "../../src/input/respond.ts";
import { mayEdit } from "../../src/view/request/choices.ts";
import { allow, workspace } from "../support/sage.ts";
import { guestSage, type GuestOptions, type GuestSage } from "../support/guests/guest-sage.ts";

const stand = (name: string) => new URL(`../support/guests/${name}.mjs`, import.meta.url).pathname;
const guests = mkdtempSync(join(tmpdir(), "sage-drivers-"));
after(async () => {
  await stopCodex(guests);
  rmSync(guests, { recursive: true, force: true });
});

const codex = () => codexDriver({ name: "codex", command: stand("fake-codex"), args: [], dir: guests });
/** The stand-in finds its script by its environment. */
const acp = (dir: string) => {
  Object.assign(process.env, { FAKE_SCRIPT: join(dir, "script.json"), FAKE_STATE: join(dir, "threads") });
  return acpDriver({ name: "gemini", command: process.execPath, args: [stand("fake-acp")] });
};
const run = (options: Omit<GuestOptions, "script"> & { script: object[] }) => guestSage(options);
const touch = (name: string) => ({ id: `call_${name}`, command: `touch ${name}` });
const acpTouch = (name: string) => ({ id: `call_${name}`, input: { command: `touch ${name}` } });
const yes = (request: InputRequest | undefined) => ({ type: "granted" as const, requestId: request?.id ?? "" });
const heard = (dir: string) =>
  readdirSync(join(dir, "threads")).flatMap(
    (name) => (JSON.parse(readFileSync(join(dir, "threads", name), "utf8")) as { heard: string[] }).heard,
  );
const asked = (sage: GuestSage) => sage.facts("input.requested").length;

test("Codex keeps its request while Sage is gone; the same one is answered later, and the command runs once", async () => {
  using place = workspace();
  const store = memoryStore();
  const options = { dir: place.dir, store, driver: codex(), script: [{ calls: [touch("a")] }, { text: "Done." }] };
  const first = await run({ ...options, session: "one" });
  await first.say("make a");
  const [request] = await first.open();
  assert.deepEqual(request?.agent, ["codex"]);
  await first[Symbol.asyncDispose]();
  assert.deepEqual([existsSync(place.path("a")), pending(store, "one")[0]?.carried], [false, undefined]);
  await using sage = await run({ ...options, session: "one" });
  const outcome = sage.outcome();
  await sage.answer(yes(request));
  assert.equal((await outcome).status, "success");
  assert.deepEqual([existsSync(place.path("a")), asked(sage), heard(place.dir)], [true, 1, ["make a"]]);
});

test("an app-server that was killed while it asked has its answer carried: the call is made again and not asked about", async () => {
  using place = workspace();
  const store = memoryStore();
  const script = [{ calls: [touch("a")] }, { calls: [touch("a")] }, { text: "Done." }];
  const options = { dir: place.dir, store, driver: codex(), script };
  const first = await run({ ...options, session: "one" });
  await first.say("make a");
  const [request] = await first.open();
  await first[Symbol.asyncDispose]();
  for (const { pid, lives } of serversIn(guests)) if (lives) process.kill(-pid, "SIGKILL");
  await using sage = await run({ ...options, session: "one" });
  const outcome = sage.outcome();
  await sage.answer(yes(request));
  assert.equal((await outcome).status, "success");
  assert.deepEqual([existsSync(place.path("a")), asked(sage)], [true, 1]);
  assert.match(heard(place.dir)[1] ?? "", /touch a[^]*allowed it/);
});

test("a patch is judged file by file: one that a rule refuses is refused whole, and Codex hears why", async () => {
  using place = workspace();
  const add = (name: string) => ({ path: place.path(name), kind: { type: "add" }, diff: "x\n" });
  const script = [{ calls: [{ id: "p", changes: [add("fine.txt"), add("secret.txt")] }] }, { text: "I see." }];
  const rules = [allow("Write(**)"), { behavior: "deny", text: "Write(secret.txt)", source: "user" }] as const;
  await using sage = await run({ dir: place.dir, driver: codex(), script, rules: [...rules] });
  await sage.say("patch");
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual([asked(sage), existsSync(place.path("fine.txt"))], [0, false]);
  assert.match(heard(place.dir)[1] ?? "", /^steered: /);
});

test("an agent that was killed while it asked is told the answer in words, makes the call again, and it runs once", async () => {
  using place = workspace();
  const store = memoryStore();
  const script = [{ calls: [acpTouch("a")] }, { calls: [{ ...acpTouch("a"), id: "another" }] }, { text: "Done." }];
  const options = { dir: place.dir, store, driver: acp(place.dir), script };
  const first = await run({ ...options, session: "one" });
  await first.say("make a");
  const [request] = await first.open();
  await first[Symbol.asyncDispose]();
  assert.deepEqual(
    pending(store, "one").map(({ carried }) => carried),
    [true],
  );
  await using sage = await run({ ...options, session: "one" });
  const outcome = sage.outcome();
  await sage.answer(yes(request));
  assert.equal((await outcome).status, "success");
  assert.deepEqual([existsSync(place.path("a")), asked(sage)], [true, 1]);
  assert.match(heard(place.dir)[1] ?? "", /touch a/);
  // Its protocol does not tell what its model has read.
  assert.deepEqual(
    sage.facts("answer.undelivered").map(({ data }) => data),
    [{ requestId: request?.id, unknown: true }],
  );
});

test("rules decide on an agent's commands, and on nothing else of it", async () => {
  using place = workspace();
  const script = [
    { calls: [{ id: "s", input: { command: "sleep 0" } }] },
    { calls: [{ id: "f", kind: "fetch", input: { url: "x" } }] },
    { text: "Done." },
  ];
  await using sage = await run({ dir: place.dir, driver: acp(place.dir), script, rules: [allow("Bash(sleep *)")] });
  await sage.say("go");
  const [request] = await sage.open();
  assert.deepEqual(request?.kind === "permission" && [request.tool, request.input], ["fetch", { url: "x" }]);
  assert.deepEqual(
    sage.facts("call.finished").map(({ data }) => data.end),
    ["done"],
  );
  await sage.answer({ type: "denied", requestId: request?.id ?? "", reason: "离线" });
  assert.equal((await sage.outcome()).status, "success");
  assert.match(heard(place.dir)[1] ?? "", /离线/);
});

test("an agent that takes no edited call is not sent one, and runs nothing where an earlier version took the edit", async () => {
  for (const agent of ["codex", "gemini"] as const) {
    using place = workspace();
    const [driver, call] = agent === "codex" ? [codex(), touch("a")] : [acp(place.dir), acpTouch("a")];
    await using sage = await run({ dir: place.dir, driver, script: [{ calls: [call] }, { text: "Done." }] });
    await sage.say("go");
    const [request] = await sage.open();
    assert.ok(request?.kind === "permission" && request.fixed && !mayEdit(request), agent);
    const edited = { ...yes(request), input: { command: "touch b" } };
    const refused = await sage.answer(edited);
    assert.deepEqual(!refused.ok && [refused.code, refused.reason?.code], ["request-invalid", "input-fixed"], agent);
    assert.equal((await sage.open()).length, 1);
    const answered = { requestId: request.id, by: "Lin", surface: "test", at: 0, outcome: "answered" } as const;
    await settle(sage.store, request, { ...answered, response: edited });
    await sage.outcome();
    assert.deepEqual([existsSync(place.path("a")), existsSync(place.path("b"))], [false, false], agent);
    const [finished] = sage.facts("call.finished");
    assert.match(finished?.data.text ?? "", /allowed only as edited.*touch b/, agent);
  }
});
