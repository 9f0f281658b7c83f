import assert from "node:assert/strict";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { shortRequestId } from "../../src/protocol/key.ts";
import type { SageError } from "../../src/protocol/reasons/reason.ts";
import { asks, bash, Machine, mark } from "../support/cli.ts";
import { modelServer } from "../support/model-server.ts";

/** The request that `-p` tells how to answer. */
const requestIn = (text: string) => /sage answer (\S+) --/.exec(text)?.[1] ?? assert.fail(`no request in:\n${text}`);
const sessionIn = (text: string) => /sage --resume (\w+)/.exec(text)?.[1] ?? assert.fail(`no session in:\n${text}`);

suite("sage -p", () => {
  test("prints the last words and nothing else", async () => {
    using machine = new Machine();
    const model = machine.script(
      { text: "Reading.", calls: [{ tool: "Glob", input: { pattern: "*" } }] },
      { text: "It is empty." },
    );
    assert.deepEqual(await machine.sage(["-p", "--model", model, "look around"]), {
      code: 0,
      out: "It is empty.\n",
      err: "",
    });
  });

  test("json is one object; stream-json is a line per event with the outcome last", async () => {
    using machine = new Machine();
    const model = machine.script({ text: "Hello there." });
    const json = JSON.parse((await machine.sage(["-p", "hi", "--model", model, "--output-format", "json"])).out);
    assert.deepEqual(Object.keys(json).sort(), ["requests", "session", "stats", "status", "text", "usage"]);
    assert.deepEqual([json.status, json.text, json.requests], ["success", "Hello there.", []]);
    const { out } = await machine.sage(["-p", "hi", "--model", model, "--output-format", "stream-json"]);
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const facts = events.filter(({ type }) => type === "fact").map(({ fact }) => fact.type);
    assert.deepEqual(facts, [
      "user.said",
      "turn.begun",
      "state.changed",
      "model.replied",
      "state.changed",
      "turn.ended",
    ]);
    assert.equal(
      events
        .filter(({ type }) => type === "delta")
        .map(({ delta }) => delta.text)
        .join(""),
      "Hello there.",
    );
    assert.deepEqual([events.at(-1).type, events.at(-1).outcome.text], ["outcome", "Hello there."]);
  });

  test("a person is needed: exit 3, answered while nothing runs, and the same turn goes on once", async () => {
    using machine = new Machine();
    const model = machine.script({ text: "May I?", calls: [mark] }, { text: "All done." });
    const asked = await machine.sage(["-p", "--model", model, "go"]);
    assert.equal(asked.code, 3);
    assert.match(asked.err, /Run this command\?\n {2}│ echo ran >> ran\.txt[^]*sage answer \S+ --yes \| --no/);
    const session = sessionIn(asked.err);

    const [request] = await machine.pending();
    assert.equal(request?.session, session);
    const inbox = await machine.sage(["inbox", request?.id ?? ""]);
    assert.match(inbox.out, /echo ran >> ran\.txt[^]*No rule allows writing ran\.txt\./);
    assert.match(
      inbox.out,
      new RegExp(`sage answer ${session}/\\w{5} --yes [^]*Session ${session} in ${machine.cwd}, asked .* ago`),
    );

    const flags = ["-p", "--model", model, "--resume", session.slice(0, 5), "--output-format", "json"];
    const again = await machine.sage(flags);
    const outcome = JSON.parse(again.out);
    assert.deepEqual([again.code, outcome.status, outcome.requests], [3, "needs-input", [request]]);

    const under = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh"];
    const nowhere = await machine.sage(["answer", "", "--yes"], { under });
    assert.equal(nowhere.code, 2, "no id is not the id of whatever is open");
    assert.match(nowhere.err, /^sage: name the request/, "also where the folder is gone, which an answer needs not");
    const lost = await machine.sage(["-p", "--model", model, "go"], { under });
    assert.deepEqual(
      [lost.code, /^sage: the folder .* does not exist any more: go to another/.test(lost.err)],
      [2, true],
    );
    const answered = await machine.sage(["answer", requestIn(asked.err), "--yes", "--comment", "go ahead"]);
    assert.deepEqual([answered.code, answered.err], [0, ""]);
    assert.match(
      answered.out,
      new RegExp(
        `Recorded for Bash echo ran >> ran.txt: allowed — “go ahead”\nNothing runs this session now. Resume it with: {2}sage --resume ${session}`,
      ),
    );
    assert.equal(machine.file("ran.txt"), undefined);

    const resumed = await machine.sage(["-p", "--model", model, "--resume", session]);
    assert.deepEqual(resumed, { code: 0, out: "All done.\n", err: "" });
    assert.equal(machine.file("ran.txt"), "ran\n");

    const late = await machine.sage(["answer", request?.id ?? "", "--no"]);
    assert.equal(late.code, 1);
    assert.match(late.err, /already settled; your answer was not recorded\. Answered by you at \d\d:\d\d: allowed/);
    assert.equal((await machine.sage(["answer", requestIn(asked.err), "--no"])).err, late.err, "by its short id too");
    assert.equal((await machine.sage(["answer", session, "--no"])).code, 2, "its session names no request");
  });

  test("a session goes on with the model it was begun with, from any folder, unless another is named", async () => {
    using machine = new Machine();
    machine.script({ calls: [mark] }, { text: "All done." });
    const other = machine.script({ text: "unused" }, { text: "The other." });
    const begun = async () => (await machine.sage(["-p", "--model", "scripted/../script-0.json", "go"])).err;
    const run = await machine.sage(["answer", requestIn(await begun()), "--yes", "--run"]);
    assert.deepEqual([run.code, run.err], [0, ""]);
    assert.match(run.out, /All done\.\n$/);
    const two = await begun();
    await machine.sage(["answer", requestIn(two), "--yes"]);
    assert.equal((await machine.sage(["-p", "--resume", sessionIn(two)])).out, "All done.\n");
    const three = await begun();
    await machine.sage(["answer", requestIn(three), "--yes"]);
    assert.equal((await machine.sage(["-p", "--resume", sessionIn(three), "--model", other])).out, "The other.\n");
  });

  test("--yes grants ordinary permissions, --deny refuses them, neither answers a question", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [mark, asks({ question: "Which?", labels: ["A", "B"] })] }, { text: "End." });
    const history = async (flag: string) => {
      const { code, out } = await machine.sage(["-p", "go", "--model", model, flag, "--output-format", "stream-json"]);
      const facts = out
        .trimEnd()
        .split("\n")
        .flatMap((line) => JSON.parse(line).fact ?? []);
      const results = facts.filter(({ type }) => type === "call.finished").map(({ data }) => data.ok);
      const outcomes = facts.filter(({ type }) => type === "input.resolved").map(({ data }) => data.outcome);
      return { code, worked: results.filter((ok) => ok === true).length, outcomes };
    };
    const { err } = await machine.sage(["-p", "go", "--model", model, "--deny"]);
    assert.equal(
      err,
      "sage: refused by a rule: Bash echo ran >> ran.txt (this run denies every permission request)\n" +
        "sage: not answered: Which? (this run declines every question)\n",
    );
    assert.deepEqual(await history("--deny"), { code: 0, worked: 0, outcomes: ["answered", "declined"] });
    assert.equal(machine.file("ran.txt"), undefined);
    assert.deepEqual(await history("--yes"), { code: 0, worked: 1, outcomes: ["answered", "no_surface"] });
    assert.equal(machine.file("ran.txt"), "ran\n");
  });

  test("--bypass asks for no ordinary permission", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [mark] }, { text: "End." });
    assert.equal((await machine.sage(["-p", "go", "--model", model, "--bypass"])).code, 0);
    assert.equal(machine.file("ran.txt"), "ran\n");
  });

  test("how it ended is the exit code", async () => {
    using machine = new Machine();
    const looping = machine.script({ calls: [{ tool: "Glob", input: { pattern: "*" } }] }, { text: "End." });
    const limited = await machine.sage(["-p", "go", "--model", looping, "--max-steps", "1"]);
    assert.equal(limited.code, 5);
    assert.match(limited.err, /Resume with: {2}sage -p "continue" --resume \w{8}\n$/);
    const slow = machine.script({ text: "Slow.", delayMs: 60_000 });
    assert.equal((await machine.sage(["-p", "go", "--model", slow, "--timeout", "50ms"])).code, 4);
    const empty = machine.script();
    const failed = await machine.sage(["-p", "go", "--model", empty]);
    assert.equal(failed.code, 1);
    assert.match(failed.err, /^sage: the script has no turn 0/);
    assert.equal((await machine.sage(["-p", "go", "--model", "scripted/nowhere.json"])).code, 2);
    assert.equal((await machine.sage(["-p", "--model", empty])).code, 2);
  });

  test("one SIGINT cancels the turn; SIGTERM leaves it open", async () => {
    using machine = new Machine();
    const slow = machine.script({ text: "one two three four five six seven", delayMs: 60_000 });
    const flags = ["-p", "go", "--model", slow, "--output-format", "stream-json"];
    const interrupted = machine.start(flags);
    interrupted.end();
    await interrupted.until(/turn\.begun/);
    interrupted.kill("SIGINT");
    const { code, out } = await interrupted.ended;
    assert.equal(code, 130);
    assert.equal(JSON.parse(out.trimEnd().split("\n").at(-1) ?? "").outcome.status, "cancelled");

    const left = machine.start(flags);
    left.end();
    await left.until(/turn\.begun/);
    left.kill("SIGTERM");
    assert.equal((await left.ended).code, 143);
    const sessions = JSON.parse((await machine.sage(["sessions", "--json"])).out);
    assert.deepEqual(
      sessions.map(({ state }: { state: string }) => state),
      ["stopped", "idle"],
    );
  });

  test("stdin is context for the task, or the task itself", async () => {
    using machine = new Machine();
    await using server = await modelServer({ text: "Because." }, { text: "Yes." }, { text: "Long." });
    const env = { OPENAI_BASE_URL: server.openaiURL };
    const asked = () => server.requests.at(-1)?.body.messages.at(-1)?.content;
    const flags = ["-p", "--model", "openai/test"];
    const first = await machine.sage([...flags, "why?"], { input: "error: ```\nboom\n", env });
    assert.deepEqual([first.code, first.out], [0, "Because.\n"]);
    assert.match((await machine.sage(["sessions"])).out, /\n {4}why\?\n$/);
    assert.equal(asked(), "why?\n\n````stdin\nerror: ```\nboom\n````");
    await machine.sage(flags, { input: "do this\n", env });
    assert.equal(asked(), "do this\n");
    await machine.sage([...flags, "long?"], { input: "é".repeat(600_000), env });
    assert.match(String(asked()), /^long\?\n\n```stdin\né{500000}\n\(truncated: first 1,000,000 bytes/);
  });
});

suite("sage answer", () => {
  const two = asks(
    { question: "Which colour?", labels: ["Red", "Blue"] },
    { question: "哪种水果？", labels: ["苹果", "梨"], multiSelect: true },
  );

  test("--text answers a question that offers nothing to choose from", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [asks({ question: "File name?", labels: [] })] }, { text: "Thanks." });
    const { err } = await machine.sage(["-p", "go", "--model", model]);
    const session = sessionIn(err);
    assert.equal((await machine.sage(["answer", requestIn(err), "--text", "新文件.js"])).code, 0);
    await machine.sage(["-p", "--resume", session, "--model", model]);
    assert.match(String((await machine.facts("call.finished"))[0]?.data["text"]), /新文件\.js/);
  });

  test("chooses for several questions, and refuses what does not fit without touching the request", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [two] }, { text: "Thanks." });
    const { err } = await machine.sage(["-p", "go", "--model", model]);
    const session = sessionIn(err);
    const answer = (...args: string[]) => machine.sage(["answer", requestIn(err), ...args]);
    for (const [args, code, message] of [
      [[], 2, /missing answer/],
      [["--choose", "Red"], 2, /which question does "Red" answer/],
      [["--choose", "Which colour?=Green", "--choose", "2=梨"], 1, /"Green" is not an option/],
      [["--choose", "1=Red"], 1, /1 of 2 questions answered; .* --partial/],
      [["--yes"], 1, /--yes is invalid here: this request is a question\. Use --choose/],
      [["--text", "x"], 1, /--text is invalid here/],
      [["--yes", "--no"], 2, /cannot be combined with/],
      [["--no", "--comment", "x"], 2, /--comment works only with --yes/],
      [["--json", "{}"], 1, /not a response/],
    ] as const) {
      const refused = await answer(...args);
      assert.equal(refused.code, code, refused.err);
      assert.match(refused.err, message);
    }
    const taken = await answer(
      "--choose",
      "Which colour?=blue",
      "--choose",
      "2=1",
      "--choose",
      "2=梨",
      "--other",
      "2=还有葡萄",
      "--remark",
      "谢谢",
    );
    assert.deepEqual([taken.code, taken.err], [0, ""]);
    const resumed = await machine.sage(["-p", "--resume", session, "--model", model, "--output-format", "stream-json"]);
    const told = resumed.out.split("\n").find((line) => line.includes('"call.finished"')) ?? "";
    assert.equal(
      JSON.parse(told).fact.data.text,
      'User answered:\n- Which colour? → "Blue"\n- 哪种水果？ → "苹果"; "梨"; Other, in the person\'s own words: "还有葡萄"\nRemark, in the person\'s own words: "谢谢"',
    );
  });

  test("a no with its reason reaches the model; --run goes on at once", async () => {
    using machine = new Machine();
    await using server = await modelServer(
      { calls: [{ id: "1", tool: "Bash", arguments: JSON.stringify({ command: "rm -r dist" }) }] },
      (body) => ({ text: `I read: ${String(body.messages.at(-1)?.content)}` }),
    );
    machine.env["OPENAI_BASE_URL"] = server.openaiURL;
    machine.env["SAGE_HOME"] = join(machine.dir, "other");
    const { code, out } = await machine.sage([
      "answer",
      requestIn((await machine.sage(["-p", "clean up", "--model", "openai/test"])).err),
      "--no",
      "--reason",
      "use npm run clean",
      "--run",
      "--model",
      "openai/test",
    ]);
    assert.equal(code, 0);
    assert.match(
      out,
      /Recorded for Bash rm -r dist: refused — “use npm run clean”\nI read: Not run: the person refused it\. Their reason: "use npm run clean"/,
    );
  });

  test("--run leaves the turn to a process that waited for the answer and was faster", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [mark] }, { text: "End." });
    const asked = (await machine.sage(["-p", "go", "--model", model])).err;
    const session = sessionIn(asked);
    const store = sqliteStore(join(machine.env["SAGE_HOME"] ?? "", "journal.db"));
    let claimed = false;
    store.hub.subscribe(session, {
      fact({ type }) {
        if (type !== "input.resolved") return;
        try {
          // The second owner after -p. A third one was slow to hear: Sage has gone on meanwhile, and may have ended.
          claimed = store.claim(session) === 2;
        } catch (error) {
          assert.equal((error as SageError).code, "session-owned");
        }
      },
    });
    const { code, out, err } = await machine.sage(["answer", requestIn(asked), "--yes", "--run"]);
    store.close();
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, claimed ? /continues with it/ : /End\./);
  });

  test("B6: --always keeps a rule that was offered, or one of one's own, where it is told to", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [bash("node one.js")] }, { calls: [bash("node one.js")] }, { text: "End." });
    const asked = async () => (await machine.sage(["-p", "go", "--model", model])).err;
    const first = await asked();
    const session = sessionIn(first);
    const answer = (...args: string[]) => machine.sage(["answer", requestIn(first), ...args]);
    for (const [args, code, message] of [
      [["--always", "2"], 1, /1 to 1$/m],
      [["--always", "--to", "nowhere"], 2, /one of session, local, project, user/],
      [["--yes", "--to", "local"], 2, /--to works only with --always/],
      [["--no", "--always"], 2, /cannot be combined with/],
      [["--always", "--rule", "Bash("], 1, /cannot be read/],
    ] as const) {
      const refused = await answer(...args);
      assert.equal(refused.code, code, refused.err);
      assert.match(refused.err, message);
    }
    assert.match(
      (await machine.sage(["inbox", requestIn(first)])).out,
      /--always: .*\(rule 1\)\n {2}1 {2}│ Bash\(node one\.js\)\n/,
    );
    assert.match((await answer("--always")).out, /allowed, always with Bash\(node one\.js\) \(this session\)/);
    assert.equal((await machine.sage(["-p", "--resume", session, "--model", model])).code, 0);

    const local = join(machine.cwd, ".sage/settings.local.json");
    const saved = await machine.sage([
      "answer",
      requestIn(await asked()),
      "--always",
      "1",
      "--to",
      "local",
      "--run",
      "--model",
      model,
    ]);
    assert.equal(saved.err, `Rule saved to ${local}: Bash(node one.js) (sage permissions remove takes it back)\n`);
    assert.deepEqual(JSON.parse(readFileSync(local, "utf8")), { permissions: { allow: ["Bash(node one.js)"] } });
    const free = await machine.sage(["-p", "go", "--model", model]);
    assert.deepEqual([free.code, free.err], [0, ""], "it counts in the next session, and nobody asks for trust");

    const other = machine.script({ calls: [bash("node two.js")] }, { text: "End." });
    const second = requestIn((await machine.sage(["-p", "go", "--model", other])).err);
    const own = ["--always", "--to", "user", "--rule", "Bash(node:*)", "--run", "--model", other];
    assert.match(
      (await machine.sage(["answer", second, ...own])).err,
      /sage\/settings\.json: Bash\(node:\*\) \(sage permissions remove takes it back\)\n$/,
    );
  });

  test("an unknown or ambiguous request is not guessed", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [bash("mkdir one"), bash("mkdir two")] }, { text: "End." });
    const session = sessionIn((await machine.sage(["-p", "go", "--model", model])).err);
    const both = await machine.sage(["answer", session, "--yes"]);
    const ids = (await machine.pending()).map(({ id }) => shortRequestId(id));
    assert.deepEqual([both.code, ids.length, ids.every((id) => both.err.includes(id))], [2, 2, true], both.err);
    const stopped = await machine.sage(["answer", ids[1] ?? "", "--stop"]);
    assert.deepEqual(
      [stopped.code, stopped.out],
      [0, "Recorded for Bash mkdir two: cancelled (stopped by the person)\nTurn stopped.\n"],
    );
    assert.match((await machine.sage(["why", "--lang", "zh"])).out, /取消（由人停止）/);
    assert.equal((await machine.sage(["answer", "nobody", "--yes"])).code, 2);
  });
});

suite("the rest of the command line", () => {
  test("a wrong flag is answered with the one that was meant", async () => {
    using machine = new Machine();
    for (const [args, message] of [
      [["--modle", "x"], /unknown flag --modle; did you mean --model\?/],
      [["inbox", "--jsno"], /did you mean --json\?/],
      [["sesions"], /did you mean `sage sessions`\?/],
      [["-p", "x", "--yes", "--deny"], /--yes cannot be combined with --deny/],
      [["--continue", "--resume", "x"], /cannot be combined with/],
      [["--output-format", "json", "x y"], /works only with -p/],
      [["-p", "x", "--output-format", "xml"], /one of text, json, stream-json; got "xml"/],
      [["-p", "x", "--timeout", "soon"], /--timeout expects a duration such as 30s/],
      [["-p", "x", "--max-steps", "0"], /--max-steps expects a whole number of at least 1/],
      [["-p", "x", "--cwd", "nowhere"], /no such directory/],
      [["--resume", "nope", "--model", "scripted/x"], /no session nope/],
      [["-c", "--model", "scripted/x"], /there is no session in \S+ yet/],
      [["inbox", "now"], /no open request now; list them with `sage inbox`/],
      [["doctor", "please"], /unexpected argument “please”/],
      [["--lang", "zh", "sessions", "all"], /列出会话；后面可跟 rename/],
      [["--lang", "fr"], /--lang expects en or zh/],
    ] as const) {
      const { code, err } = await machine.sage([...args]);
      assert.equal(code, 2, err);
      assert.match(err, message);
      assert.doesNotMatch(err, /\n\s+at /);
    }
  });

  test("--resume without an id lists what it could mean", async () => {
    using machine = new Machine();
    const model = machine.script({ text: "One." }, { text: "Two." });
    await machine.sage(["-p", "first", "--model", model]);
    await machine.sage(["-p", "second", "--model", model]);
    const many = await machine.sage(["--resume", "", "-p", "x", "--model", model]);
    assert.equal(many.code, 2);
    assert.match(many.err, /needs a session id here[^]*second[^]*first/);
    const { code, out } = await machine.sage(["-c", "-p", "again", "--model", model]);
    assert.deepEqual([code, out], [0, "Two.\n"]);
    const listed = await machine.sage(["sessions"]);
    assert.match(listed.out, new RegExp(`\\w{8} {2}idle {2}.* {2}${machine.cwd}\n {4}second\n`));
  });

  test("version and help, in both languages", async () => {
    using machine = new Machine();
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    assert.equal((await machine.sage(["--version"])).out, `${version}\n`);
    assert.match((await machine.sage(["--help"])).out, /Exit codes\n[^]* 130 /);
    const part = (await machine.sage(["answer", "--help"])).out;
    assert.match(part, /--partial\][^]*--run /);
    assert.doesNotMatch(part, /Exit codes|sage inbox/);
    assert.match((await machine.sage(["--help"], { env: { LANG: "zh_CN.UTF-8" } })).out, /退出码/);
  });

  test("doctor says what is wrong and what to do", async () => {
    using machine = new Machine();
    const bare = await machine.sage(["doctor"]);
    assert.equal(bare.code, 0);
    assert.match(
      bare.out,
      /✓ Node 2\d[^]*no journal yet[^]*· no model configured\.[^]*set ANTHROPIC_API_KEY[^]*No problems found\.\n$/,
    );
    const model = machine.script({ text: "One." });
    await machine.sage(["-p", "first", "--model", model]);
    const doctor = () =>
      machine.sage(["doctor"], { env: { ANTHROPIC_API_KEY: "sk-test", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" } });
    const fine = await doctor();
    assert.match(
      fine.out,
      /journal opens: 1 session, 0 open requests[^]*hash chain intact in 1 session[^]*✓ model anthropic\/[^]*ripgrep[^]*No problems found\.\n$/,
    );
    assert.equal(fine.code, 0);
    const home = machine.env["SAGE_HOME"] ?? "";
    chmodSync(home, 0o755);
    {
      using journal = new DatabaseSync(join(home, "journal.db"));
      journal.exec(`UPDATE fact SET data=replace(data, 'first', 'other') WHERE type='user.said'`);
    }
    const ill = await doctor();
    assert.equal(ill.code, 1);
    assert.match(
      ill.out,
      /other users can read [^]*\(755\): run `chmod 700 [^]*was changed or damaged at \d+ \(said\//,
    );
  });

  test("without a model a task is not lost in silence", async () => {
    using machine = new Machine();
    const asked = await machine.sage(["-p", "hello"]);
    assert.deepEqual([asked.code, asked.out], [2, ""]);
    assert.match(asked.err, /set ANTHROPIC_API_KEY[^]*`sage demo`/);
    assert.equal((await machine.sage(["do something"])).code, 2);
  });
});
