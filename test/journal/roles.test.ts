// Logins of workers and gateways on a real server: whatever a worker's login tries, it answers for nobody.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { Client, Pool } from "pg";
import { PgBoss } from "pg-boss";
import { startDispatch } from "../../src/host/cluster/dispatch.ts";
import { rolesOf } from "../../src/journal/postgres/schema/grants.ts";
import { postgresLedger } from "../../src/journal/postgres/postgres-ledger.ts";
import type { Ledger } from "../../src/journal/replica/ledger.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Fact, FactData, FactType } from "../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { reason, said as inWords, SageError } from "../../src/protocol/reasons/reason.ts";
import { asLogin, createPrepared, hasPostgres } from "../support/postgres.ts";
import { answer, fact, opened, requestFor, resolved as ended, said } from "./journals.ts";

const hasCode = (code: string) => (error: unknown) =>
  (error instanceof SageError || error instanceof Error) && (error as { code?: string }).code === code;
const denied = hasCode("42501");
const refused = hasCode("SG004");

let base: Awaited<ReturnType<typeof createPrepared>>;
let owner: Pool;
let workerPool: Pool;
let gatewayPool: Pool;
let worker: Ledger;
let gateway: Ledger;
let sessions = 0;

function poolAt(url: string, max = 3): Pool {
  const pool = new Pool({ connectionString: url, max });
  return pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
}

/** A session with a permission that waits, taken by a worker. */
async function waiting(more: Partial<InputRequest> = {}) {
  const session = `s${sessions++}`;
  await gateway.create(session, opened, "here");
  await gateway.append(session, said("said/1", "go"));
  const { epoch } = await worker.take(session);
  const key = "t0/0/0/permit0";
  const request = { ...requestFor(key), ...more, id: `${session}/${key}`, session } as InputRequest;
  const number = { last: 0 };
  const commit = (...facts: Fact[]) =>
    worker.commit(session, epoch, { number: ++number.last, facts, unheard: false, knew: 99 });
  await commit(fact(key, "input.requested", request));
  const isOpen = async () => (await gateway.open()).some(({ data }) => data.id === request.id);
  const forge = (k: string, type: string, text: string, long: string | null = null) =>
    workerPool.query("SELECT * FROM sage.worker_append($1,$2,$3,1,$4,$5,NULL)", [session, k, type, text, long]);
  return { session, epoch, key, request, commit, isOpen, forge, resolved: `${key}.resolved` };
}

const permission: Partial<InputRequest> = {
  kind: "permission",
  tool: "Bash",
  input: { command: "rm -r x" },
  suggestions: [],
  hard: false,
};

suite("logins that own nothing", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  before(async () => {
    base = await createPrepared();
    owner = poolAt(base.url);
    workerPool = poolAt(base.worker);
    gatewayPool = poolAt(base.gateway);
    worker = await postgresLedger(workerPool, { process: "w", as: "worker" });
    gateway = await postgresLedger(gatewayPool, { process: "g", as: "gateway" });
  });
  after(async () => {
    await Promise.all([worker.close(), gateway.close(), owner.end()]);
    await base.drop();
  });

  test("write to no table, make nothing, and become nobody else", async () => {
    const { rows: tables } = await owner.query<{ name: string; column: string }>(
      "SELECT 'sage.' || c.relname AS name, (SELECT attname FROM pg_attribute WHERE attrelid=c.oid AND attnum=1) AS column FROM pg_class c WHERE relnamespace='sage'::regnamespace AND relkind='r'",
    );
    assert.ok(tables.length >= 6);
    const { worker: ofWorker, gateway: ofGateway } = rolesOf(base.name);
    for (const pool of [workerPool, gatewayPool]) {
      for (const { name, column } of tables) {
        await assert.rejects(pool.query(`DELETE FROM ${name}`), denied);
        await assert.rejects(pool.query(`UPDATE ${name} SET ${column}=${column}`), denied);
        await assert.rejects(pool.query(`INSERT INTO ${name} DEFAULT VALUES`), denied);
        await assert.rejects(pool.query(`TRUNCATE ${name}`), denied);
        await assert.rejects(pool.query(`SELECT 1 FROM ${name} FOR UPDATE`), denied);
        await assert.rejects(
          pool.query(`CREATE TRIGGER x AFTER INSERT ON ${name} EXECUTE FUNCTION suppress_redundant_updates_trigger()`),
          denied,
        );
      }
      await assert.rejects(pool.query("CREATE TABLE sage.x()"), denied);
      await assert.rejects(
        pool.query(
          "CREATE OR REPLACE FUNCTION sage.check_worker(a text,b text,c text,d text,e text) RETURNS void LANGUAGE sql AS ''",
        ),
        denied,
      );
      await assert.rejects(pool.query("SET SESSION AUTHORIZATION sage"), denied);
      await assert.rejects(pool.query("SET ROLE sage"), denied);
      await assert.rejects(pool.query(`ALTER FUNCTION sage.take SET search_path = public`), /owner/);
    }
    await assert.rejects(workerPool.query(`SET ROLE "${ofGateway}"`), denied);
    await assert.rejects(workerPool.query(`GRANT "${ofGateway}" TO "${ofWorker}"`), denied);
  });

  test("call what they need, and nothing else", async () => {
    const callable = async (pool: Pool) =>
      (
        await pool.query<{ name: string }>(
          "SELECT proname AS name FROM pg_proc WHERE pronamespace='sage'::regnamespace AND has_function_privilege(oid, 'EXECUTE') ORDER BY 1",
        )
      ).rows.map(({ name }) => name);
    const ofWorkers = [
      "bury",
      "gateways",
      "make_queue",
      "register",
      "release",
      "take",
      "unregister",
      "worker_append",
      "worker_beat",
      "worker_commit",
    ];
    assert.deepEqual(await callable(workerPool), ofWorkers);
    const speaks = ["append_fact", "commit_facts", "create_session", "gateway_beat", "lock_session", "move_session"];
    const keepsHouse = ["copy_session", "forget_removed", "remove_session"];
    const remembers = [
      "gateway_leaves",
      "gateway_looks",
      "surface_change",
      "surface_hold",
      "surface_leave",
      "surface_read",
      "surface_write",
    ];
    assert.deepEqual(await callable(gatewayPool), [...ofWorkers, ...speaks, ...keepsHouse, ...remembers].toSorted());
    await assert.rejects(workerPool.query("SELECT * FROM sage.memory"), denied);
    // Functions that run as the owner look names up in the catalogue alone.
    await gatewayPool.query("SELECT key FROM sage.door");
    await assert.rejects(workerPool.query("SELECT key FROM sage.door"), denied);
    const { rows: loose } = await owner.query(
      "SELECT proname FROM pg_proc WHERE pronamespace='sage'::regnamespace AND prosecdef AND proconfig IS DISTINCT FROM ARRAY['search_path=pg_catalog, pg_temp']",
    );
    assert.deepEqual(loose, []);
  });

  test("time in which nobody enforced deadlines is told up to now, and whoever has taken the session meanwhile", async () => {
    const { session, forge } = await waiting();
    const now = Date.now();
    const move = (from: unknown, to: unknown, key = `moved/${String(to)}`) =>
      forge(key, "time.moved", JSON.stringify({ from, to }));
    await assert.rejects(move(now, now + 3_600_000), refused, "of time that is still to come");
    await assert.rejects(move(now, now - 1_000), refused, "backwards");
    await assert.rejects(move(now - 1_000, now, "moved/1"), refused, "under another key");
    await assert.rejects(forge(`moved/${now}`, "time.moved", JSON.stringify({ from: 1, to: now, by: "Lin" })), refused);
    for (const bad of ["x", null, undefined]) await assert.rejects(move(bad, now));
    await owner.query("INSERT INTO sage.process(id,lock,place,loop,login) VALUES('w2',1,'here',1,'other')");
    await owner.query("UPDATE sage.session SET process='w2' WHERE id=$1", [session]);
    await move(now - 90_000, now);
    assert.ok((await gateway.read(session, 0)).some(({ type }) => type === "time.moved"));
    await owner.query("DELETE FROM sage.process WHERE id='w2'");
  });

  test("an answer in a person's name is refused, however it is written", async () => {
    const here = await waiting(permission);
    const { session, request, resolved, forge } = here;
    const frame = { requestId: request.id, at: 1 };
    const yes = { type: "granted", requestId: request.id };
    const lin = { ...frame, by: "Lin", surface: "web" };
    const none = inWords("because");
    const forged: Record<string, unknown> = {
      "a yes of a person": { ...lin, outcome: "answered", response: yes },
      "a yes of nobody": { ...frame, by: "auto", surface: "alwaysAllow", outcome: "answered", response: yes },
      "a yes of the deadline": {
        ...frame,
        by: "deadline",
        surface: "deadline",
        outcome: "timed_out",
        reason: none,
        response: yes,
      },
      "answers of the deadline to a permission": {
        ...{ ...frame, by: "deadline", surface: "deadline", outcome: "timed_out", reason: none },
        response: { type: "answers", requestId: request.id, answers: {} },
      },
      "a no of a person": { ...lin, outcome: "answered", response: { type: "denied", requestId: request.id } },
      "a person who cancels": { ...lin, outcome: "cancelled", reason: none },
      "a person who declines": { ...lin, outcome: "declined" },
      "a person whose rule decides": {
        ...lin,
        surface: "rule",
        outcome: "superseded",
        reason: reason("decided-by-rule", { rule: "Bash" }),
      },
      "an input that a person changed": {
        ...frame,
        by: "sage",
        surface: "x",
        outcome: "superseded",
        reason: none,
        edited: { input: {} },
      },
      signatures: { ...frame, by: "sage", surface: "x", outcome: "superseded", reason: none, approvals: [] },
      "a guest who never joined": { ...frame, by: "codex", surface: "codex", outcome: "superseded", reason: none },
      "an outcome that there is not": { ...frame, by: "sage", surface: "x", outcome: "granted", reason: none },
      "another request": {
        ...frame,
        requestId: `${session}/t0/0/1/permit0`,
        by: "sage",
        surface: "turn",
        outcome: "cancelled",
        reason: none,
      },
      "a list": [1],
      nothing: null,
    };
    for (const [name, data] of Object.entries(forged))
      await assert.rejects(forge(resolved, "input.resolved", JSON.stringify(data)), refused, name);

    const fine = JSON.stringify({ ...frame, by: "sage", surface: "turn", outcome: "cancelled", reason: none });
    const granted = JSON.stringify({ ...lin, outcome: "answered", response: yes });
    const digest = (await owner.query<{ d: string }>("SELECT sage.digest($1) AS d", [fine])).rows[0]?.d ?? "";
    const texts: Record<string, [string, (string | null)?]> = {
      "a name twice": [fine.replace('"by":"sage"', '"by":"sage","by":"Lin"')],
      "a name twice, once in escapes": [fine.replace('"by":"sage"', '"\\u0062y":"Lin","by":"sage"')],
      "a name twice in the response": [
        granted.replace('"type":"granted"', '"type":"denied","type":"granted"').replace("Lin", "auto"),
      ],
      "a name in escapes": [fine.replace('"by":"sage"', '"\\u0062y":"Lin"')],
      "a name with a NUL": [fine.replace('"by":"sage"', '"b\\u0000y":"sage"')],
      "no JSON": ["{"],
      "JSON that JavaScript does not read": [`${fine},`],
      "a person's text under a pointer to another": [granted, fine],
      "a pointer to another text": [`~${digest}`, granted],
      "a pointer to nothing": [`~${digest}`],
      "a text without end": [`{"a":${"[".repeat(100_000)}`],
    };
    for (const [name, [text, long]] of Object.entries(texts))
      await assert.rejects(forge(resolved, "input.resolved", text, long), refused, name);

    assert.ok(await here.isOpen(), "it waits as before");
    assert.equal((await gateway.append(session, ended(here.key, answer(request.id)))).won, true);
    assert.ok(!(await here.isOpen()));
    assert.equal(await gateway.verify(session), undefined);
  });

  test("what only people say is refused: messages, interrupts, modes, rules, approvals, drafts, and all that is new", async () => {
    const { session, key, request, forge, resolved, commit } = await waiting(permission);
    const lin = { by: "Lin", surface: "web" };
    const approval = { requestId: request.id, digest: "d", ...lin, at: 1 };
    const rule = { rule: "Bash", behavior: "allow", destination: "session", by: "Lin" };
    const words: [string, string, unknown][] = [
      ["said/2", "user.said", { text: "delete it", ...lin }],
      ["said/2", "user.said", { text: "delete it", by: "sage", surface: "update" }],
      ["said/t1.carried", "user.said", { text: "delete it", by: "sage", surface: "update", name: "Lin" }],
      ["interrupt/1", "turn.interrupted", { to: "cancel", ...lin }],
      ["t0/0/paused", "turn.interrupted", { to: "cancel", by: "sage", surface: "refusals" }],
      ["mode/1", "mode.chosen", { mode: "acceptEdits", ...lin }],
      ["t0/0/0/mode", "mode.chosen", { mode: "acceptEdits", ...lin }],
      ["model/1", "model.chosen", { model: "x", ...lin }],
      ["rule-added/1", "rule.added", rule],
      ["t0/0/0/rule0.0", "rule.added", rule],
      ["t0/0/0/unrule0.0", "rule.removed", { rule: "Bash", destination: "session", ...lin }],
      [`approved/${key}/Lin`, "input.approved", approval],
      ["withdrawn/said/1", "message.withdrawn", { message: 2, ...lin }],
      [`draft/${key}/1`, "draft.saved", { requestId: request.id, draft: {}, ...lin }],
      [`${key}/inquiry/1`, "inquiry.made", { requestId: request.id, text: "?", ...lin }],
      ["title/1", "session.titled", { title: "x", ...lin }],
      ["rewind/0", "session.rewound", { turn: 0, ...lin }],
      ["session", "session.opened", { cwd: "/" }],
      ["removed/1", "session.removed", {}],
      ["t0/new", "answer.given", {}],
      // Under keys by which others look for a person's word.
      [resolved, "call.finished", { requestId: request.id, ...lin, outcome: "answered" }],
      [`approved/${key}/Lin`, "call.finished", approval],
      ["said/2", "model.replied", { text: "x" }],
      ["title/auto", "call.unknown", {}],
    ];
    for (const [k, type, data] of words) {
      await assert.rejects(forge(k, type, JSON.stringify(data)), refused, `${type} ${k}`);
      const forged = fact(k, type as FactType, data as FactData[FactType]);
      await assert.rejects(commit(forged), hasCode("not-permitted"), `${type} ${k} in a commit`);
    }
    assert.deepEqual(
      (await gateway.read(session, 0)).map(({ type }) => type),
      ["session.opened", "user.said", "input.requested"],
    );
  });

  test("a request shown under the name of another is refused: a yes would go to that one", async () => {
    const theirs = await waiting(permission);
    const mine = await waiting();
    const shown = { ...requestFor("t0/1/0/ask0"), id: theirs.request.id, session: theirs.session };
    await assert.rejects(mine.commit(fact("t0/1/0/ask0", "input.requested", shown)), hasCode("not-permitted"));
    const own = { ...shown, id: `${mine.session}/t0/1/0/ask0` };
    await assert.rejects(mine.commit(fact("t0/1/0/ask0", "input.requested", own)), hasCode("not-permitted"));
  });

  test("what a run does by itself is written: expiry, withdrawal, rules and modes that were given with a yes, texts of every kind", async () => {
    const plan = { ...permission, why: reason("plan-waits", {}) };
    const { session, key, request, commit, resolved } = await waiting(plan);
    const odd = "NUL \0, half \ud83d, both 😀, \\u0000 in words, 中文";
    const second = "t0/0/1/permit0";
    const more = { ...request, id: `${session}/${second}`, why: inWords(odd) };
    const frame = (id: string) => ({ requestId: id, at: 1 });
    await commit(fact(second, "input.requested", more));
    const rule = { rule: "Bash(rm \\0:*)", behavior: "allow", destination: "session" } as const;
    const yes = {
      type: "granted" as const,
      requestId: request.id,
      rules: [rule],
      comment: odd,
      mode: "acceptEdits" as const,
    } satisfies InputResponse;
    await gateway.append(session, {
      ...{ key: resolved, type: "input.resolved", at: 1 },
      data: { ...frame(request.id), by: "Lin", surface: "web", outcome: "answered", response: yes },
    });
    await commit(
      fact("t0/0/0/rule0.0", "rule.added", { ...rule, by: "Lin", saved: odd }),
      fact("t0/0/0/mode", "mode.chosen", { mode: "acceptEdits", by: "Lin", surface: "web" }),
      fact(`${second}.resolved`, "input.resolved", {
        ...{ ...frame(more.id), by: "Lin", surface: "rule", outcome: "superseded" },
        reason: reason("decided-by-rule", { rule: rule.rule }),
      }),
      fact("t0/0/0/run0.finished", "call.finished", { ok: true, text: odd.repeat(3_000), end: "done" }),
      fact("t0/joined0", "guest.joined", { agent: "codex", session: "x", version: "1" }),
    );
    const other = { ...rule, rule: "Bash(*)" };
    await assert.rejects(
      commit(fact("t0/0/0/rule0.1", "rule.added", { ...other, by: "Lin" })),
      hasCode("not-permitted"),
    );
    const free = { mode: "ask", by: "Ann", surface: "web" } as const;
    await assert.rejects(commit(fact("t0/0/0/mode", "mode.chosen", free)), hasCode("not-permitted"));

    const ends: [string, object][] = [
      ["deadline", { by: "deadline", surface: "deadline", outcome: "timed_out", reason: inWords(odd.repeat(2_000)) }],
      ["turn", { by: "sage", surface: "turn", outcome: "cancelled", reason: inWords(odd) }],
      ["inquiry", { by: "agent", surface: "inquiry", outcome: "superseded", reason: inWords(odd) }],
      ["codex", { by: "codex", surface: "codex", outcome: "superseded", reason: inWords(odd) }],
      ["reject", { by: "policy", surface: "reject", outcome: "no_surface", reason: inWords("one") }],
      ["deny", { by: "auto", surface: "alwaysDeny", outcome: "answered", response: { type: "denied" } }],
    ];
    for (const [n, [name, data]] of ends.entries()) {
      const at = `t0/2/${n}/permit0`;
      const asks = { ...request, id: `${session}/${at}` };
      const end = { ...frame(asks.id), ...data } as FactData["input.resolved"];
      await commit(fact(at, "input.requested", asks), fact(`${at}.resolved`, "input.resolved", end));
      assert.ok(
        (await gateway.read(session, 0)).some((one) => one.key === `${at}.resolved`),
        name,
      );
    }
    const question = `${session}/t0/3/0/ask0`;
    const silent: InputResponse = { type: "answers", requestId: "", answers: { Which: { selected: ["A"] } } };
    const deadline = { at: 1, timeoutMs: 1, policy: { default: silent } };
    const late = {
      ...frame(question),
      by: "deadline",
      surface: "deadline",
      outcome: "timed_out",
      reason: inWords("late"),
    } as const;
    await commit(fact("t0/3/0/ask0", "input.requested", { ...requestFor("x"), id: question, session, deadline }));
    const others = { ...silent, requestId: question, answers: { Which: { selected: ["B"] } } };
    await assert.rejects(
      worker.append(session, {
        key: "t0/3/0/ask0.resolved",
        type: "input.resolved",
        at: 1,
        data: { ...late, response: others },
      }),
      hasCode("not-permitted"),
    );
    const said = { ...late, response: { ...silent, requestId: question } };
    await worker.append(session, { key: "t0/3/0/ask0.resolved", type: "input.resolved", at: 1, data: said });
    const remind = { requestId: request.id, n: 0 };
    await worker.append(session, { key: `reminded/${key}/0`, type: "input.reminded", at: 1, data: remind });
    const title = { title: "清理", by: "auto", surface: "runtime" };
    await worker.append(session, { key: "title/auto", type: "session.titled", at: 1, data: title });
    const update = { text: "Sage was updated", by: "sage", surface: "update" };
    await worker.append(session, { key: "said/t1.carried", type: "user.said", at: 1, data: update });
    assert.equal((await gateway.standing(session))[0]?.title, "清理");
    assert.equal(await gateway.verify(session), undefined);
  });

  test("a yes is used once, and for what it was given to: not for another mode, rule or call, nor after it was taken back", async () => {
    const { session, key, request, commit, forge, resolved } = await waiting(permission);
    const refusedIn = hasCode("not-permitted");
    const rule = { rule: "Bash(ls)", behavior: "allow", destination: "session" } as const;
    const gone = { rule: "Bash(rm)", behavior: "allow", destination: "session" } as const;
    const frame = { requestId: request.id, at: 1, by: "Lin", surface: "web" };
    const verdict = { behavior: "allow", allowedBy: "person", effect: "writes", digest: "d" } as const;
    const judged = (k: string, why: FactData["calls.judged"]["verdicts"][number]["reason"]) =>
      fact(k, "calls.judged", { verdicts: [{ ...verdict, reason: why }] });
    const earlier = reason("approved-earlier", { request: request.id });
    await assert.rejects(commit(judged("t0/1/judged", earlier)), refusedIn, "before anybody has answered");
    await assert.rejects(commit(judged("t0/0/0/judged2", reason("approved-unchanged", {}))), refusedIn);
    await gateway.append(session, {
      ...{ key: resolved, type: "input.resolved", at: 1 },
      data: {
        ...{ ...frame, outcome: "answered" },
        response: { type: "granted", requestId: request.id, rules: [rule], removeRules: [gone], mode: "acceptEdits" },
      },
    });
    await commit(
      judged("t0/1/judged", earlier),
      judged("t0/0/0/judged2", reason("approved-unchanged", {})),
      fact("t0/0/0/unrule0.0", "rule.removed", { ...gone, by: "Lin", surface: "web" }),
      fact("t0/0/0/rule0.0", "rule.added", { ...rule, by: "Lin" }),
    );
    const mode = (to: "ask" | "acceptEdits") => ({ mode: to, by: "Lin", surface: "web" });
    const { behavior: _, ...wider } = gone;
    const again: [string, FactType, unknown][] = [
      ["t1/0/0/rule0.0", "rule.added", { ...rule, by: "Lin" }],
      ["t0/0/0/unrule0.1", "rule.removed", { ...gone, by: "Lin", surface: "web" }],
      ["t0/0/0/unrule0.1", "rule.removed", { ...wider, by: "Lin", surface: "web" }],
      // The request was none for a plan; and keys that only look like a call's.
      ["t0/0/0/mode", "mode.chosen", mode("acceptEdits")],
      ["t0.x", "mode.chosen", mode("ask")],
      ["t0/0/0/Mode", "mode.chosen", mode("ask")],
      ["t0/0/1/judged2", "calls.judged", { verdicts: [{ ...verdict, reason: reason("approved-unchanged", {}) }] }],
      [
        "t0/2/judged",
        "calls.judged",
        { verdicts: [{ ...verdict, reason: reason("approved-earlier", { request: "s/t9" }) }] },
      ],
      ["t0/2/judged", "calls.judged", { verdicts: { length: 1 } }],
    ];
    for (const [k, type, data] of again)
      await assert.rejects(commit(fact(k, type, data as FactData[FactType])), refusedIn, `${type} ${k}`);
    // One by one, without an epoch, a worker says nothing about a run.
    for (const [k, type, data] of [
      ["t0/3/judged", "calls.judged", { verdicts: [] }],
      ["t9", "turn.begun", { loop: 999 }],
      [`${key}x`, "input.requested", { ...request, id: `${session}/${key}x` }],
    ] as const)
      await assert.rejects(forge(k, type, JSON.stringify(data)), refused, type);
  });

  test("a mode comes with a yes to a plan alone: the one that was said, by whoever said it, in the call of that plan", async () => {
    const plan = { ...permission, why: reason("plan-waits", {}) };
    const { session, request, commit } = await waiting(plan);
    const answered = (k: string, id: string, response: object) =>
      gateway.append(session, {
        ...{ key: `${k}.resolved`, type: "input.resolved", at: 1 },
        data: { requestId: id, at: 1, by: "Lin", surface: "web", outcome: "answered", response } as never,
      });
    await answered("t0/0/0/permit0", request.id, { type: "granted", requestId: request.id, mode: "acceptEdits" });
    const others = { quiet: { type: "granted" }, refused: { type: "denied" } };
    for (const [n, response] of Object.values(others).entries()) {
      const k = `t0/1/${n}/permit0`;
      await commit(fact(k, "input.requested", { ...request, id: `${session}/${k}` }));
      await answered(k, `${session}/${k}`, { ...response, requestId: `${session}/${k}` });
    }
    const mode = (to: "ask" | "acceptEdits", by = "Lin") => ({ mode: to, by, surface: "web" });
    const forged: [string, string, ReturnType<typeof mode>][] = [
      ["another mode", "t0/0/0/mode", mode("ask")],
      ["another person", "t0/0/0/mode", mode("acceptEdits", "Ann")],
      ["another call", "t0/0/1/mode", mode("acceptEdits")],
      ["another key of the call", "t0/0/0/Mode", mode("acceptEdits")],
      ["more than a yes without a word on it", "t0/1/0/mode", mode("acceptEdits")],
      ["a plan that was refused", "t0/1/1/mode", mode("ask")],
    ];
    for (const [name, k, data] of forged)
      await assert.rejects(commit(fact(k, "mode.chosen", data)), hasCode("not-permitted"), name);
    await commit(fact("t0/1/0/mode", "mode.chosen", mode("ask")));
    await commit(fact("t0/0/0/mode", "mode.chosen", mode("acceptEdits")));
  });

  test("the folder of a session is its clone: a worker names no other", async () => {
    const session = `s${sessions++}`;
    const from = "git+https://host/team/x.git";
    await gateway.create(session, { ...opened, cwd: from }, "here");
    const { epoch } = await worker.take(session);
    let number = 0;
    const made = (cwd: string, remote = from, { key = "workspace", more = {} } = {}) => {
      const facts = [fact(key, "workspace.made", { cwd, from: remote, commit: "c", ...more })];
      return worker.commit(session, epoch, { number: ++number, facts, unheard: false, knew: 99 });
    };
    const clone = `/srv/clones/${session}-0f0f0f`;
    for (const cwd of [
      "/",
      "/home/lin",
      `/srv/${session}`,
      `${clone}/..`,
      `${clone}0`,
      `/srv/clones/${session}-/../..`,
      `/srv/clones/${session}-0F0F0F`,
      `/srv/x${session}-0f0f0f`,
      clone.slice(1),
    ])
      await assert.rejects(made(cwd), hasCode("not-permitted"), cwd);
    const refusedIn = hasCode("not-permitted");
    await assert.rejects(made(clone, "git+https://host/team/y.git"), refusedIn);
    await assert.rejects(made(clone, from, { key: "t0/workspace" }), refusedIn, "under another key");
    await assert.rejects(made(clone, from, { more: { by: "Lin" } }), refusedIn, "with more than there is to say");
    await made(clone);
    assert.equal((await gateway.standing(session))[0]?.cwd, clone);

    const local = `s${sessions++}`;
    await gateway.create(local, { ...opened, cwd: "/srv/x" }, "here");
    const taken = await worker.take(local);
    const data = { cwd: `/srv/clones/${local}-0f0f0f`, from: "/srv/x", commit: "c" };
    const facts = [fact("workspace", "workspace.made", data)];
    const moved = worker.commit(local, taken.epoch, { number: 1, facts, unheard: false, knew: 99 });
    await assert.rejects(moved, refusedIn, "a folder of the machine has no clone");
  });

  test("no setting and nothing of a worker's own gets between a function and what it means", async () => {
    const { session, request, resolved, forge } = await waiting(permission);
    const client = new Client(base.worker);
    await client.connect();
    const forged = {
      requestId: request.id,
      by: "Lin",
      surface: "web",
      at: 1,
      outcome: "cancelled",
      reason: inWords("x"),
    };
    const values = [session, resolved, "input.resolved", JSON.stringify(forged)];
    const tricks = [
      "CREATE TEMP TABLE session AS SELECT * FROM sage.session; CREATE TEMP TABLE fact AS SELECT * FROM sage.fact",
      "CREATE FUNCTION pg_temp.check_worker(text,text,text,text,text) RETURNS void LANGUAGE sql AS ''",
      "CREATE FUNCTION pg_temp.starts_with(text,text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
      "CREATE FUNCTION pg_temp.eq(text,text) RETURNS boolean LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR pg_temp.= (LEFTARG=text, RIGHTARG=text, FUNCTION=pg_temp.eq)",
      "CREATE FUNCTION pg_temp.json_typeof(json) RETURNS text LANGUAGE sql AS $$SELECT 'object'$$",
      "SET search_path = pg_temp, sage, pg_catalog",
      "SET standard_conforming_strings = off",
      "SET backslash_quote = on",
      "SET transform_null_equals = on",
      "SET default_transaction_isolation = 'repeatable read'",
    ];
    for (const trick of tricks) {
      await client.query(trick);
      await assert.rejects(
        client.query("SELECT * FROM sage.worker_append($1,$2,$3,1,$4,NULL,NULL)", values),
        refused,
        trick,
      );
    }
    await client.end();
    // A notification that nobody wrote a fact for: whoever hears it reads, and finds what is there.
    await workerPool.query("SELECT pg_notify('sage_fact', $1)", [`0 99 ${session}`]);
    await assert.rejects(forge(resolved, "input.resolved", "{}"), refused);
    assert.equal((await gateway.read(session, 0)).length, 3);
  });

  test("a login of its own keeps a worker's sessions: another can neither take, write, let go of nor bury them while it lives", async () => {
    const login = `other_${sessions}`;
    await owner.query(`CREATE ROLE ${login} LOGIN IN ROLE "${rolesOf(base.name).worker}"`);
    const pool = poolAt(asLogin(base.url, login));
    const { session, epoch } = await waiting();
    const holding = new Client(base.worker);
    await holding.connect();
    await holding.query("SELECT pg_advisory_lock(7, 77)");
    await workerPool.query("SELECT sage.register('w',77,'here',1,NULL,NULL,false)");
    const first = async (text: string, values: unknown[]) =>
      Object.values((await pool.query(text, values)).rows[0] ?? {})[0];
    assert.equal(await first("SELECT sage.take($1,'w',NULL,NULL,NULL,NULL)", [session]), null);
    assert.equal(await first("SELECT sage.take($1,'mine',NULL,NULL,NULL,NULL)", [session]), null);
    assert.equal(await first("SELECT sage.release($1,$2,99)", [session, epoch]), false);
    const write =
      "SELECT sage.worker_commit($1,$2,2,ARRAY['t0/x'],ARRAY['call.unknown'],ARRAY[1::bigint],ARRAY['{}'],ARRAY[NULL],false,99)";
    await assert.rejects(pool.query(write, [session, epoch]), hasCode("SG002"));
    await assert.rejects(workerPool.query(write, [session, null]), hasCode("SG002"), "no epoch is nobody's");
    const title = ["title/auto", "session.titled", JSON.stringify({ title: "x", by: "auto", surface: "runtime" })];
    const append = "SELECT sage.worker_append($1,$2,$3,1,$4,NULL,NULL)";
    await assert.rejects(pool.query(append, [session, ...title]), hasCode("SG002"));
    await pool.query("SELECT sage.unregister('w')");
    assert.equal(await first("SELECT sage.bury('mine', 0)", []), undefined);
    assert.equal((await gateway.standing(session))[0]?.owned, true);
    await holding.end();
    await pool.end();
    await workerPool.query("SELECT sage.unregister('w')");
  });

  test("jobs are a worker's to run, and their queues nobody's to describe", async () => {
    const dispatch = await startDispatch(base.worker, workerPool, { notified: true, graceMs: 10_000 });
    await dispatch.wake("s0", "here");
    await dispatch.stop({ timeoutMs: 1_000 });
    const boss = new PgBoss({
      connectionString: base.worker,
      migrate: false,
      supervise: false,
      schedule: false,
      max: 2,
    });
    const errors: unknown[] = [];
    boss.on("error", (error) => errors.push(error));
    await boss.start();
    const [job] = await boss.fetch("turn.here", { includeMetadata: true });
    assert.ok(job);
    await boss.touch("turn.here", job.id);
    await boss.fail("turn.here", [{ id: job.id, retryCount: job.retryCount }]);
    const [again] = await boss.fetch("turn.here", { includeMetadata: true });
    await boss.complete("turn.here", [{ id: again?.id ?? "", retryCount: again?.retryCount ?? 0 }]);
    await boss.supervise("turn.here");
    await boss.stop({ graceful: false });
    assert.deepEqual(errors, []);
    for (const text of ["table_name = 'job; SELECT 1'", "name = 'x'", "policy = 'short'", "dead_letter = 'x'"])
      await assert.rejects(workerPool.query(`UPDATE pgboss.queue SET ${text}`), denied, text);
    await assert.rejects(workerPool.query("INSERT INTO pgboss.queue SELECT * FROM pgboss.queue"), denied);
    await assert.rejects(workerPool.query("UPDATE pgboss.version SET version=0"), denied);
    await assert.rejects(workerPool.query("SELECT pgboss.create_queue('x', '{\"policy\":\"short\"}')"), denied);
    for (const name of ["x", "turn.", "turn.a b", "turn.a'; DROP TABLE sage.fact; --", `turn.${"a".repeat(41)}`])
      await assert.rejects(workerPool.query("SELECT sage.make_queue($1, true)", [name]), hasCode("22023"), name);
  });
});
