import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { deliveriesIn, readTranscript } from "../../src/guest/claude/transcript.ts";
import { codexDriver } from "../../src/guest/codex/codex.ts";
import { serversIn, stopCodex } from "../../src/guest/codex/server.ts";
import { respond } from "../../src/input/respond.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import type { Asked } from "../../src/protocol/host/receipt.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { noteOf } from "../../src/view/note.ts";
import { endLine } from "../../src/view/request/delivery.ts";
import { transcriptOf } from "../../src/view/transcript/transcript.ts";
import {
  bashCall,
  commandOf,
  guestSage,
  no,
  yes,
  type FakeCall,
  type GuestOptions,
} from "../support/guests/guest-sage.ts";
import { allow, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const run = (dir: string, script: GuestOptions["script"], more: Partial<GuestOptions> = {}) =>
  guestSage({ dir, script, rules: [allow("Bash(sleep *)"), allow("Bash(cat *)")], ...more });
const lin = { by: "Lin", surface: "test" };
const batch = { mode: { type: "batch" } } as const;

// What the model reads after an answer: the reply is not the turn's first, and the call that asks stands anywhere among others.
const asks = bashCall("echo asked; echo asked >> made");
const reads = bashCall("sleep 0.01; echo read");
const slow = { ...bashCall("sleep 0.02; echo slow"), beside: 200 };
const unknown = { name: "NoSuchTool", input: {}, unhooked: true } as const;
const batches: Record<string, FakeCall[]> = {
  alone: [asks],
  "before a reader": [asks, reads],
  "before an unknown tool": [asks, unknown],
  "between readers": [reads, asks, reads],
  "beside a slow reader": [slow, asks, reads],
  "before another that asks": [asks, bashCall("echo other >> made")],
};
const answers: Record<string, { give(request: InputRequest | undefined): object; read: RegExp; made: string }> = {
  yes: { give: (request) => yes(request), read: /^asked\n$/, made: "asked\n" },
  no: { give: (request) => no(request, "never that file"), read: /never that file/, made: "" },
  edit: {
    give: (request) => yes(request, { input: { command: "echo edited; echo edited >> made" } }),
    read: /The person changed this call[^]*echo edited/,
    made: "edited\n",
  },
  comment: { give: (request) => yes(request, { comment: "only today" }), read: /only today/, made: "asked\n" },
};
for (const [where, calls] of Object.entries(batches))
  for (const [how, { give, read, made }] of Object.entries(answers))
    test(`Claude's model reads the answer to a call ${where}: ${how}`, async () => {
      using place = workspace();
      const script = [{ calls: [bashCall("sleep 0")] }, { calls: [bashCall("sleep 0; echo second")] }];
      await using sage = await run(place.dir, [...script, { calls }, { text: "Done." }]);
      await sage.say("go");
      const [request] = await sage.open();
      assert.equal(commandOf(request), asks.input["command"]);
      await sage.answer(give(request) as Parameters<typeof sage.answer>[0]);
      if (calls.length === 2 && calls[1]?.input["command"] === "echo other >> made")
        await sage.answer(
          no(
            (
              await until(
                () => sage.store.pending(sage.session).length > 0 && sage.store.pending(sage.session),
                "the other is not asked",
              )
            )[0],
          ),
        );
      assert.equal((await sage.outcome()).status, "success");
      assert.ok(
        sage.read().some((text) => read.test(text)),
        JSON.stringify(sage.read()),
      );
      const told = sage.facts("answer.delivered", "answer.undelivered").map(({ type, data }) => [type, data.requestId]);
      assert.deepEqual(told[0], ["answer.delivered", request?.id]);
      const ran = sage.ran().filter((command) => command.includes("made"));
      assert.deepEqual(ran.map((command) => `${/echo (\w+) >>/.exec(command)?.[1]}\n`).join(""), made);
      // A bystander was refused for the moment, made again, and ran once.
      if (calls.includes(reads))
        assert.equal(
          sage.ran().filter((command) => command === reads.input["command"]).length,
          calls.filter((call) => call === reads).length,
        );
    });

for (const how of ["yes", "no"] as const)
  test(`an answer that got lost is told in words, and everybody sees that it was not delivered yet: ${how}`, async () => {
    using place = workspace();
    const env = { ...process.env, FAKE_LOSES: "1" };
    await using sage = await run(place.dir, [{ calls: [asks] }, { text: "Done." }], { env });
    await sage.say("go");
    const [request] = await sage.open();
    await sage.answer(how === "yes" ? yes(request) : no(request, "never that file"));
    assert.equal((await sage.outcome()).status, "success");
    const facts = sage.facts("answer.delivered", "answer.undelivered");
    assert.deepEqual(
      facts.map(({ type, data }) => [type, data]),
      ["answer.undelivered", "answer.delivered"].map((type) => [type, { requestId: request?.id }]),
    );
    assert.match(sage.heard()[1] ?? "", how === "yes" ? /allowed and ran[^]*result: asked/ : /never that file/);
    assert.deepEqual(sage.ran().length, how === "yes" ? 1 : 0);
    const seen = (facts: readonly Fact[]) => {
      const items = transcriptOf(facts);
      const call = items.find((item) => item.type === "call");
      const notices = items.flatMap((item) => (item.type === "notice" ? [noteOf(item, texts("en"))?.line] : []));
      return { end: call && endLine(call.asked[0] as Asked, texts("en")), notices };
    };
    const [lost] = facts;
    const before = seen(sage.facts().filter(({ seq }) => seq <= (lost?.seq ?? 0)));
    const after = seen(sage.facts());
    assert.match(before.end ?? "", / · not delivered yet, told in words$/);
    assert.doesNotMatch(after.end ?? "", /delivered/);
    assert.deepEqual(
      after.notices.map((line) => line?.split(":")[0]),
      ["not delivered yet", "delivered"],
    );
  });

const delegated = (...sub: FakeCall[]) => ({ calls: [{ name: "Task", input: { prompt: "x" }, sub }] });

test("a turn lasts while a subagent in the background asks: alive, its answer arrives; several ask at once", async () => {
  using place = workspace();
  const two = { calls: [...delegated(bashCall("touch one")).calls, ...delegated(bashCall("touch two")).calls] };
  await using sage = await run(place.dir, [two, { text: "Done." }]);
  await sage.say("delegate");
  const open = await until(
    () => sage.store.pending(sage.session).length === 2 && sage.store.pending(sage.session),
    "two ask",
  );
  await until(
    () => sage.facts("model.replied").some(({ data }) => data.parts.some((part) => part.type === "text")),
    "it waits",
  );
  assert.deepEqual([sage.facts("turn.ended"), sage.facts("input.resolved")], [[], []]);
  for (const request of open)
    await sage.answer(commandOf(request) === "touch one" ? yes(request) : no(request, "not two"));
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(sage.ran(), ["touch one"]);
});

test("a subagent that was left while it asked: the answer is carried, and its call runs once", async () => {
  using place = workspace();
  const more = { store: memoryStore(), session: "one", options: batch };
  const script = [delegated(bashCall("touch one")), { text: "Done." }];
  const first = await run(place.dir, script, more);
  await first.say("delegate");
  assert.equal((await first.outcome()).status, "needs-input");
  await first[Symbol.asyncDispose]();
  const [request] = more.store.pending("one");
  await respond(more.store, yes(request), lin);
  await using sage = await run(place.dir, script, more);
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual([sage.ran(), sage.facts("input.requested").length], [["touch one"], 1]);
  assert.match(sage.heard()[1] ?? "", /subagent "helper"/);
});

const guests = mkdtempSync(join(tmpdir(), "sage-delivery-"));
after(async () => {
  await stopCodex(guests);
  rmSync(guests, { recursive: true, force: true });
});
const command = new URL("../support/guests/fake-codex.mjs", import.meta.url).pathname;
const touch = (name: string) => ({ id: `call_${name}`, command: `touch ${name}; echo ${name} >> made` });
const codex = (dir: string, script: object[], more: Partial<GuestOptions> = {}) =>
  run(dir, script, {
    driver: codexDriver({ name: "codex", command, args: [], dir: guests }),
    ...more,
  });

test("Codex's app-server dies while Sage lives: what it asked stays open, and the answer is carried", async () => {
  using place = workspace();
  await using sage = await codex(place.dir, [{ calls: [touch("a")] }, { calls: [touch("a")] }, { text: "Done." }]);
  await sage.say("make a");
  const [request] = await sage.open();
  const [server] = serversIn(guests);
  process.kill(-(server?.pid ?? 0), "SIGKILL");
  const isNew = ({ pid, lives }: { pid: number; lives: boolean }) => lives && pid !== server?.pid;
  await until(() => serversIn(guests).some(isNew), "it was not started again");
  await sage.answer(yes(request));
  assert.equal((await sage.outcome()).status, "success");
  const ends = sage.facts("input.resolved").map(({ data }) => data.outcome);
  assert.deepEqual([ends, sage.facts("input.requested").length], [["answered"], 1]);
});

test("a refusal that Codex was cut off from before its model read it is told in words", async () => {
  using place = workspace();
  const more = { store: memoryStore(), session: "one" };
  const script = [{ calls: [touch("a"), touch("b")] }, { text: "Done." }];
  const first = await codex(place.dir, script, more);
  await first.say("go");
  const open = await until(() => more.store.pending("one").length === 2 && more.store.pending("one"), "two ask");
  await first.answer(
    no(
      open.find((request) => JSON.stringify(request).includes("touch a")),
      "never that file",
    ),
  );
  await until(() => first.facts("call.finished").length === 1, "the no is not recorded");
  await first[Symbol.asyncDispose]();
  for (const { pid, lives } of serversIn(guests)) if (lives) process.kill(-pid, "SIGKILL");
  await using sage = await codex(place.dir, script, more);
  const outcome = sage.outcome();
  await sage.answer(yes(more.store.pending("one")[0]));
  assert.equal((await outcome).status, "success");
  const thread = readdirSync(place.path("threads")).map((name) => readFileSync(place.path(`threads/${name}`), "utf8"));
  assert.match(thread.join("\n"), /did not reach you[^]*never that file/);
});

test("three asks in one reply of Codex, where nobody can be asked: all are in the inbox, every resume leaves, each runs once", async () => {
  using place = workspace();
  const more = { store: memoryStore(), session: "one", options: batch };
  const script = [{ calls: [touch("a"), touch("b"), touch("c")] }, { text: "Done." }];
  const statuses: string[] = [];
  for (const names of [[], ["a"], ["b"], ["c"]]) {
    for (const request of more.store.pending("one"))
      if (names.some((name) => commandOf(request)?.toString().includes(`touch ${name};`)))
        await respond(more.store, yes(request), lin);
    const sage = await codex(place.dir, script, more);
    if (names.length === 0) await sage.say("go");
    statuses.push((await sage.outcome()).status, String(more.store.pending("one").length));
    await sage[Symbol.asyncDispose]();
  }
  assert.deepEqual(statuses, ["needs-input", "3", "needs-input", "2", "needs-input", "1", "success", "0"]);
  const facts = more.store.load("one");
  assert.deepEqual(
    facts.flatMap((fact) => (fact.type === "call.finished" ? [fact.data.end] : [])),
    ["done", "done", "done"],
  );
});

test("what a call of the guest prints about a request forges no delivery of its answer", () => {
  using place = workspace();
  const session = "s";
  const request = "ses/t0/1/permit0";
  const line = (type: string, message: object) => JSON.stringify({ type, message });
  const told = [{ request, call: "c", words: ["never that file"] }];
  const prints = { type: "tool_result", tool_use_id: "other", content: `(Request ${request}.) never that file` };
  const reply = line("assistant", { model: "m", content: [{ type: "text", text: "ok" }] });
  const recorded = (content: unknown) => {
    mkdirSync(place.path("projects/p"), { recursive: true });
    const lines = [JSON.stringify({ type: "api-request" }), line("user", { content }), reply];
    writeFileSync(place.path(`projects/p/${session}.jsonl`), lines.join("\n"));
    return deliveriesIn(readTranscript({ CLAUDE_CONFIG_DIR: place.dir }, session), told);
  };
  assert.deepEqual(recorded([prints]), [undefined]);
  assert.deepEqual(recorded([{ ...prints, content: [{ type: "text", text: prints.content }] }]), [undefined]);
  assert.deepEqual(recorded(`(Request ${request}.)`), [true]);
  assert.deepEqual(recorded([prints, { type: "text", text: `(Request ${request}.)` }]), [true]);
});
