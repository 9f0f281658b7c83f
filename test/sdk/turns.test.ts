import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { SageAgentSDK, scripted, sqliteStore } from "../../src/sdk/index.ts";
import { type ModelRequest } from "../../src/sdk/entries/models.ts";
import { type TurnEvent } from "../../src/sdk/entries/requests.ts";
import type { Script } from "../../src/models/scripted.ts";
import { askUser, bash, question, workspace } from "../support/sage.ts";

const open = (dir: string, script: Script, journal?: string) =>
  new SageAgentSDK({ model: scripted(script), workingDirectory: dir, ...(journal !== undefined && { journal }) });

test("runTurn returns when a person is needed, and goes on in the very same turn", async () => {
  using here = workspace();
  const seen: ModelRequest[] = [];
  const sage = open(here.dir, [
    { calls: [askUser(question("Which?"))] },
    (request) => {
      seen.push({ ...request, messages: [...request.messages] });
      return { text: "then blue" };
    },
  ]);
  const agent = await sage.openTurns();
  assert.equal(agent.isWaitingInput(), false);
  assert.equal(agent.getPendingQuestion(), undefined);
  await assert.rejects(agent.answerQuestion("Red"), { code: "request-unknown" });

  const events: TurnEvent[] = [];
  const onEvent = (event: TurnEvent) => void events.push(event);
  const first = await agent.runTurn("paint it", { onEvent });
  assert.ok(first.needsInput);
  assert.equal(agent.isWaitingInput(), true);
  assert.deepEqual(agent.getPendingQuestion(), first.question);
  // Attaching again without an answer returns at once, with the same question, and does not show it twice.
  assert.deepEqual(await agent.runTurn("", { onEvent }), first);
  assert.equal(events.filter(({ type }) => type === "question_pending").length, 1);

  await assert.rejects(agent.answerQuestion(""), { code: "request-invalid" });
  assert.equal(agent.isWaitingInput(), true, "an empty answer is none");
  const resolution = await agent.answerQuestion("Blue", { by: "Lin" });
  assert.equal(resolution.by, "Lin");
  assert.equal(agent.isWaitingInput(), false);
  const end = await agent.runTurn("", { onEvent });
  assert.equal(!end.needsInput && end.outcome.text, "then blue");
  assert.deepEqual(
    events
      .flatMap((event) => (event.type === "fact" ? [event.fact.type] : []))
      .filter((type) => /turn|input/.test(type)),
    ["turn.begun", "input.requested", "input.resolved", "turn.ended"],
    "one turn, each fact told once",
  );
  const [request] = seen;
  assert.deepEqual(
    request?.messages.map(({ role }) => role),
    ["user", "assistant", "tool"],
    "the answer is the result of the call, and no message of its own",
  );
  assert.doesNotMatch(JSON.stringify(request?.messages), /pending/);
  await sage.close();
});

test("confirm decides on permissions; without it they are returned like questions", async () => {
  using here = workspace();
  const script: Script = [
    { calls: [bash("echo a >> ran"), bash("echo b >> ran"), askUser(question("Which?"))] },
    { text: "done" },
  ];
  const sage = open(here.dir, script);
  const agent = await sage.openTurns();
  const confirm = (request: { input: Record<string, unknown> }) => String(request.input["command"]).includes("echo a");
  const first = await agent.runTurn("go", { confirm });
  assert.equal(first.needsInput && first.question.kind, "question");
  await agent.answerQuestion(["Red"]);
  assert.equal((await agent.runTurn("", { confirm })).needsInput, false);
  assert.equal(readFileSync(here.path("ran"), "utf8"), "a\n");

  const plain = await sage.openTurns();
  const asked = await plain.runTurn("go");
  assert.equal(asked.needsInput && asked.question.kind, "permission");
  await assert.rejects(plain.answerQuestion("sure, why not"), { code: "request-invalid" });
  await plain.answerQuestion("yes");
  await plain.runTurn("");
  await plain.answerQuestion({ type: "denied", requestId: "", reason: "not twice" });
  await plain.runTurn("");
  await plain.answerQuestion({ "Which?": "Blue" });
  const end = await plain.runTurn("");
  assert.match(JSON.stringify(!end.needsInput && end.outcome.toolHistory), /not twice/);
  assert.equal(readFileSync(here.path("ran"), "utf8"), "a\na\n");
  await sage.close();
});

test("a confirm that throws decides nothing: the request stays open and the caller hears of it", async () => {
  using here = workspace();
  const sage = open(here.dir, [{ calls: [bash("echo a >> ran")] }, { text: "done" }]);
  const agent = await sage.openTurns();
  const confirm = () => assert.fail("the phone is off");
  await assert.rejects(agent.runTurn("go", { confirm }), /the phone is off/);
  assert.equal(agent.isWaitingInput(), true);
  assert.equal(existsSync(here.path("ran")), false);
  await agent.answerQuestion(false);
  assert.equal((await agent.runTurn("")).needsInput, false);
  await sage.close();
});

test("an answer goes to the question that was shown, never to the one that took its place", async () => {
  using here = workspace();
  const journal = here.path("journal.db");
  const sage = open(
    here.dir,
    [{ calls: [askUser(question("First?")), askUser(question("Second?"))] }, { text: "ok" }],
    journal,
  );
  const agent = await sage.openTurns();
  const { question: first } = (await agent.runTurn("go")) as { question: { id: string } };
  // Somebody at another terminal is faster.
  const other = sqliteStore(journal);
  const { respond } = await import("../../src/input/respond.ts");
  const answers = { "First?": { selected: ["Red"] } };
  await respond(other, { type: "answers", requestId: first.id, answers }, { by: "Bo", surface: "cli" });
  other.close();
  await assert.rejects(agent.answerQuestion("Blue"), /already answered by Bo from cli/);
  const next = await agent.runTurn("");
  assert.match(JSON.stringify(next), /Second\?/);
  await agent.answerQuestion("Blue");
  const end = await agent.runTurn("");
  assert.match(JSON.stringify(!end.needsInput && end.outcome.toolHistory), /Red.*Blue/);
  await sage.close();
});

test("a second click answers nothing that was not shown; a whole response goes to the request it names", async () => {
  using here = workspace();
  const sage = open(here.dir, [{ calls: [bash("echo a >> ran"), bash("echo b >> ran")] }, { text: "done" }]);
  const agent = await sage.openTurns();
  const first = await agent.runTurn("go");
  await agent.answerQuestion(true);
  await assert.rejects(agent.answerQuestion(true), { code: "request-resolved" });
  const later = await sage.openTurns({ session: agent.session });
  await assert.rejects(later.answerQuestion(true), /look at getPendingQuestion\(\) first/);
  const requestId = first.needsInput ? first.question.id : "";
  await assert.rejects(later.answerQuestion({ type: "granted", requestId }), { code: "request-resolved" });
  const foreign = { type: "granted", requestId: `other/${requestId}` } as const;
  await assert.rejects(later.answerQuestion(foreign), {
    code: "request-unknown",
    message: /there is no request other\//,
  });
  const second = later.getPendingQuestion()?.id ?? "";
  await later.answerQuestion({ type: "denied", requestId: second });
  assert.equal((await agent.runTurn("")).needsInput, false);
  assert.equal(readFileSync(here.path("ran"), "utf8"), "a\n");
  await sage.close();
});

test("a confirm that gives nothing is told so, and not asked for ever", async () => {
  using here = workspace();
  const sage = open(here.dir, [{ calls: [bash("echo a >> ran")] }, { text: "done" }]);
  const agent = await sage.openTurns();
  let asked = 0;
  const confirm = (() => void asked++) as unknown as () => boolean;
  await assert.rejects(agent.runTurn("go", { confirm }), { code: "request-invalid" });
  assert.equal(asked, 1);
  await sage.close();
});

test("several questions are answered by name, and a signal only stops the looking", async () => {
  using here = workspace();
  const sage = open(here.dir, [{ calls: [askUser(question("One?"), question("Two?"))], delayMs: 300 }, { text: "ok" }]);
  const agent = await sage.openTurns();
  await assert.rejects(agent.runTurn("go", { signal: AbortSignal.timeout(1) }), { name: "TimeoutError" });
  await agent.runTurn("");
  await assert.rejects(agent.answerQuestion(["Red", "Blue"]), /answer them by name: "One\?", "Two\?"/);
  await agent.answerQuestion({ "One?": "Red", "Two?": "在这里" });
  assert.equal((await agent.runTurn("")).needsInput, false);
  assert.equal(
    ((await agent.runTurn("")) as { outcome: { text: string } }).outcome.text,
    "ok",
    "nothing new: the last outcome",
  );
  await sage.close();
});

test("after kill -9 a new process finds the same question, and its answer goes on with the same turn", async () => {
  using here = workspace();
  const journal = here.path("journal.db");
  const script = [{ calls: [askUser(question("Which?")), bash("echo x >> ran")] }, { text: "done" }];
  writeFileSync(here.path("script.json"), JSON.stringify(script));
  const sdk = pathToFileURL(join(import.meta.dirname, "../../src/sdk/index.ts")).href;
  writeFileSync(
    here.path("first.mjs"),
    `import { readFileSync } from "node:fs";
     import { SageAgentSDK, scripted } from ${JSON.stringify(sdk)};
     const model = scripted(JSON.parse(readFileSync("script.json", "utf8")));
     const sage = new SageAgentSDK({ model, journal: "journal.db", workingDirectory: process.cwd() });
     const agent = await sage.openTurns();
     const { question } = await agent.runTurn("go", { confirm: () => true });
     process.stdout.write(JSON.stringify({ session: agent.session, id: question.id }));`,
  );
  const child = spawn(process.execPath, [here.path("first.mjs")], {
    cwd: here.dir,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  child.kill("SIGKILL");
  await once(child, "close");
  const { session, id } = JSON.parse(String(said)) as { session: string; id: string };

  const sage = open(here.dir, script, journal);
  const agent = await sage.openTurns({ session });
  assert.equal(agent.isWaitingInput(), true, "known before anything runs");
  assert.equal(agent.getPendingQuestion()?.id, id);
  await agent.answerQuestion("Red");
  let asked = 0;
  const end = await agent.runTurn("", { confirm: () => ++asked > 0 });
  assert.equal(!end.needsInput && end.outcome.text, "done");
  assert.equal(asked, 1, "the permission, which was open too");
  assert.equal(readFileSync(here.path("ran"), "utf8"), "x\n");
  assert.equal((await sage.openTurns({ session })).isWaitingInput(), false);
  await sage.close();
});

test("the same session opened twice in one program is one turn: the model is asked once, and both see its end", async () => {
  using here = workspace();
  let asked = 0;
  const last = () => (asked++, { text: "then red", delayMs: 20 });
  const sage = open(here.dir, [{ calls: [askUser(question("Which?"))] }, last], here.path("journal.db"));
  const first = await sage.openTurns();
  await first.runTurn("go");
  const second = await sage.openTurns({ session: first.session }); // the next web request
  assert.equal((await second.runTurn("")).needsInput, true);
  await second.answerQuestion("Red");
  for (const agent of [second, first]) {
    const end = await agent.runTurn("");
    assert.equal(!end.needsInput && end.outcome.text, "then red");
  }
  assert.equal(asked, 1);
  await sage.close();
});

test("a turn that another process runs is followed from here, to its next question and to its end", async () => {
  using here = workspace();
  const journal = here.path("journal.db");
  const script: Script = [
    { calls: [askUser(question("One?"))] },
    { calls: [askUser(question("Two?"))], delayMs: 200 },
    { text: "both known", delayMs: 200 },
  ];
  const there = open(here.dir, script, journal);
  const owner = await there.openTurns();
  await owner.runTurn("go");
  const sage = open(here.dir, [], journal); // its model is never asked
  const agent = await sage.openTurns({ session: owner.session });
  for (const [name, label] of [
    ["One?", "Red"],
    ["Two?", "Blue"],
  ] as const) {
    const next = await agent.runTurn("");
    assert.match(JSON.stringify(next.needsInput && next.question), new RegExp(name.replace("?", "\\?")));
    await agent.answerQuestion(label);
  }
  const end = await agent.runTurn("");
  assert.equal(!end.needsInput && end.outcome.text, "both known");
  await Promise.all([sage.close(), there.close()]);
});

test("a question about the request is replied to before it is answered, also after a restart", async () => {
  using here = workspace();
  const journal = join(here.dir, "journal.db");
  const script: Script = {
    "": [{ calls: [bash(`touch ${join(here.dir, "ran")}`)] }, { text: "done" }],
    inquiry: [{ text: "because" }],
  };
  const today = open(here.dir, script, journal);
  const agent = await today.openTurns();
  await assert.rejects(agent.inquire("why?"), { code: "request-unknown" });
  assert.ok((await agent.runTurn("go")).needsInput);
  assert.equal((await agent.inquire("why?", { by: "Ada" })).text, "because");
  await today.close();

  const tomorrow = open(here.dir, script, journal);
  const again = await tomorrow.openTurns({ session: agent.session });
  const asked = again.getPendingQuestion();
  assert.equal((await again.inquire("and why?")).text, "because");
  assert.equal(again.getPendingQuestion()?.id, asked?.id, "it stays open");
  await again.answerQuestion(false);
  const end = await again.runTurn("");
  assert.ok(!end.needsInput && end.outcome.status === "success");
  await assert.rejects(again.inquire("too late?"), { code: "request-resolved" });
  assert.equal(existsSync(join(here.dir, "ran")), false);
  await tomorrow.close();
});
