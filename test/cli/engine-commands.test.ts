// Commands that look and answer, on a shared journal: they say what they say of the same journal on this machine.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { Pool } from "pg";
import { publicAddress } from "../../src/journal/postgres/pool.ts";
import { deleteSession, forkSession } from "../../src/archive/sessions.ts";
import { answer } from "../../src/cli/answer/answer.ts";
import { engine } from "../../src/cli/engine/engine.ts";
import { exportSession } from "../../src/cli/record/export.ts";
import { inbox } from "../../src/cli/answer/inbox.ts";
import { run } from "../../src/cli/open/run.ts";
import { sessions } from "../../src/cli/record/sessions/sessions.ts";
import { stats } from "../../src/cli/record/stats.ts";
import { workers } from "../../src/cli/engine/workers.ts";
import { why } from "../../src/cli/answer/why.ts";
import { migrate } from "../../src/journal/postgres/migrate.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { PendingRequest, SessionSummary } from "../../src/protocol/host/host.ts";
import { shortRequestId } from "../../src/protocol/key.ts";
import { asLogin, createDatabase, hasPostgres } from "../support/postgres.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";
import { wordsOf } from "../support/worded.ts";

const lin = { by: "Lin", surface: "test" };

/** Runs a command in this process: what it printed, and its code. */
async function told(command: (args: string[]) => Promise<number>, ...args: string[]) {
  const [write, log, error] = [process.stdout.write.bind(process.stdout), console.log, console.error];
  let [out, err] = ["", ""];
  process.stdout.write = (given: string | Uint8Array, ...more: never[]) => {
    if (typeof given !== "string") return write(given, ...more); // the runner's own
    out += given;
    return true;
  };
  console.log = (text: string) => void (out += `${text}\n`);
  console.error = (text: string) => void (err += `${text}\n`);
  try {
    return { code: await command(args), out, err };
  } finally {
    process.stdout.write = write;
    [console.log, console.error] = [log, error];
  }
}

suite("commands on a shared journal", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  const here = workspace();
  const database = { url: "", drop: async () => {} };
  const ids = { done: "", gone: "", waits: "", forked: "" };
  let asked = "";

  /** Sessions with decisions, a long result, Chinese text, an open request; a fork; and what is left of one that was deleted. */
  before(async () => {
    Object.assign(process.env, { SAGE_HOME: here.dir, HOME: here.dir, LANG: "C.UTF-8" });
    delete process.env["SAGE_ENGINE"];
    process.chdir(here.dir);
    Object.assign(database, await createDatabase());
    const path = join(here.dir, "journal.db");
    const make = async (task: string, calls: string[], answers: readonly ("granted" | "denied")[]) => {
      const script = [{ calls: calls.map(bash) }, { text: `${task}，做完了` }];
      const sage = await sageWith({ script, dir: here.dir, store: sqliteStore(path) });
      await sage.say(task);
      const open = await sage.open(calls.length);
      for (const [n, type] of answers.entries()) await sage.answer({ type, requestId: open[n]?.id ?? "" }, "Lin");
      if (answers.length === calls.length) await sage.outcome();
      await sage.host.close();
      return sage.session;
    };
    ids.done = await make(
      "修好 LOGIN 页面 100%",
      ["node -p '\"长\".repeat(60000)'", "node -p 2"],
      ["granted", "denied"],
    );
    ids.gone = await make("to be deleted", ["node -p 3"], ["granted"]);
    ids.waits = await make("who answers?", ["node -p 4"], []);
    const store = sqliteStore(path);
    ids.forked = await forkSession(store, ids.done, undefined, lin);
    await deleteSession(
      store,
      { settings: join(here.dir, "settings.json"), output: join(here.dir, "output") },
      ids.gone,
      lin,
    );
    asked = shortRequestId(store.pending(ids.waits)[0]?.id ?? "");
    store.close();
    const pool = new Pool({ connectionString: database.url, max: 2 });
    for await (const { how } of migrate(pool, path, "build")) assert.equal(how, "brought");
    await pool.end();
  });
  after(async () => {
    await database.drop();
    here[Symbol.dispose]();
  });

  test("say the same as on this machine", async () => {
    const { url } = database;
    const same: [(args: string[]) => Promise<number>, ...string[]][] = [
      [why, ids.done],
      [why, ids.done, "--json"],
      [why, ids.gone, "--json"],
      [why, "--all", "--lang", "zh"],
      [exportSession, ids.done],
      [exportSession, ids.waits, "--format", "html"],
      [exportSession, ids.forked],
      [stats, "--json"],
      [stats, "--all", "--lang", "zh"],
      [stats, "--session", ids.done, "--json"],
      [inbox, "--json"],
      [inbox, asked, "--json"],
    ];
    for (const [command, ...args] of same) {
      const timeless = async (...more: string[]) => {
        const { out, ...rest } = await told(command, ...args, ...more);
        return { ...rest, out: out.replace(/on \d{4}-\d\d-\d\d [\d:]+\. This page/, "This page") };
      };
      const [local, shared] = [await timeless(), await timeless("--engine", url)];
      assert.notEqual(local.out, "");
      assert.deepEqual(shared, local, args.join(" "));
    }
    const listed = async (...args: string[]) =>
      (JSON.parse((await told(sessions, "list", "--json", ...args)).out) as SessionSummary[]).map(
        ({ place, ...one }) => [one, place] as const,
      );
    for (const search of [
      [],
      ["--search", "login"],
      ["--search", "100%"],
      ["--search", "做完了"],
      ["--search", "a_c"],
    ]) {
      const [local, shared] = [await listed(...search), await listed(...search, "--engine", url)];
      assert.deepEqual(
        shared.map(([one]) => one),
        local.map(([one]) => one),
        search.join(" "),
      );
      for (const [, place] of shared) assert.deepEqual(place, { name: "build", works: false });
    }
    const around = async (...args: string[]) =>
      (await told(sessions, "--search", "login", ...args)).out.replace(/  \d+ s ago(  (at|waits for) build)?/g, "");
    assert.equal(await around("--engine", url), await around());
  });

  test("name the place, and what waits for it; the variable does for the flag", async () => {
    process.env["SAGE_ENGINE"] = database.url;
    try {
      const list = (await told(sessions)).out;
      assert.match(list, new RegExp(`${ids.waits}  .*waits for build`));
      assert.match(list, new RegExp(`${ids.done}  .*at build`));
      assert.match((await told(inbox)).out, /\(waits for build\) Bash/);
      assert.match((await told(inbox, asked)).out, /; waits for build/);
      const [nobody, head, row] = (await told(workers)).out.split("\n");
      assert.match(nobody ?? "", /^No worker runs/);
      assert.match(head ?? "", /^place  worker  since \(UTC\)  sessions  address$/);
      assert.match(row ?? "", /^build  none +1 waits$/);
    } finally {
      delete process.env["SAGE_ENGINE"];
    }
  });

  test("answer, rename, fork and delete; the journal of this machine stays as it was", async () => {
    const { url } = database;
    const engine = ["--engine", url];
    const local = await told(sessions, "--json");
    const answered = await told(answer, asked, "--yes", ...engine);
    assert.deepEqual([answered.code, answered.err], [0, ""]);
    assert.match(answered.out, /No worker of build runs now: .* `sage worker --engine … --place build`/);
    assert.match((await told(sessions, ...engine)).out, new RegExp(`${ids.waits}  waits for a worker  .*at build`));
    const again = await told(answer, asked, "--no", ...engine);
    assert.equal(again.code, 1);
    assert.match(again.err, /allowed/, "the first answer stands");
    assert.deepEqual(JSON.parse((await told(inbox, "--json", ...engine)).out) as PendingRequest[], []);
    const pool = new Pool({ connectionString: url, max: 1 });
    const { rows } = await pool.query("SELECT data->>'session' AS session FROM pgboss.job");
    assert.deepEqual(rows, [{ session: ids.waits }], "its worker has a job when it comes");

    assert.match((await told(sessions, "rename", ids.forked, "新名字", ...engine)).out, /新名字/);
    const forked = await told(sessions, "fork", ids.done, ...engine);
    const [copy = ""] = forked.out.split(" ");
    assert.match((await told(exportSession, copy, ...engine)).out, /forkedFrom/);
    assert.match((await told(sessions, "delete", ids.done, copy, "--yes", ...engine)).out, /2 sessions deleted/);
    const left = JSON.parse((await told(sessions, "--json", ...engine)).out) as SessionSummary[];
    assert.deepEqual(left.map(({ id }) => id).sort(), [ids.forked, ids.waits].sort());
    assert.match((await told(why, ids.done, ...engine)).out, /deleted[^]*refused by a person/i);
    await assert.rejects(told(sessions, "delete", copy, "--yes", ...engine), { code: "session-unknown" });
    assert.equal((await told(sessions, "gc", ...engine)).code, 0);
    await pool.end();
    assert.deepEqual(await told(sessions, "--json"), local);
  });

  test("errors are clear, and no password is shown", async () => {
    const failing = async (engine: string) =>
      told(sessions, "--engine", engine).then(
        () => assert.fail("it should have failed"),
        (error: Error) => `${wordsOf(error)} ${JSON.stringify(error)}`, // neither in words nor as data
      );
    assert.match(await failing("postgres://sage:geheim@/sage?host=/nowhere"), /sage\?host=\/nowhere/);
    assert.doesNotMatch(await failing("postgres://sage:geheim@/sage?host=/nowhere"), /geheim/);
    for (const unfit of [
      ...[
        "mysql://sage:geheim@db/sage",
        "mysql://sage:ge:heim@db/sage",
        "host=db password=geheim",
        "host=db password='ge heim'",
      ],
      ...["postgres://sage:ge#heim@db/sage", "postgres://sage:geheim@db:99999/sage"],
    ]) {
      assert.match(await failing(unfit), /postgres:\/\/user@host\/name/, unfit);
      assert.doesNotMatch(await failing(unfit), /ge.?heim|ge:|heim/, unfit);
    }
    assert.match(await failing(asLogin(database.url, "nobody")), /nobody.*check name and password/);
    const elsewhere = database.url.replace(/@\/\w+/, "@/nothing");
    assert.match(await failing(elsewhere), /nothing.*create that database/);
    await assert.rejects(told(stats, "--engin", database.url), /--engine\?/);
    await assert.rejects(
      told(exportSession, ids.done, "-o", "/nowhere/x"),
      /\/nowhere\/x cannot be written: there is no such/,
    );
    await assert.rejects(told(exportSession, ids.done, "-o", here.dir), /cannot be written: it is a folder/);
    const empty = await createDatabase();
    assert.match(await failing(empty.url), /no journal in postgres.* yet/);
    assert.match(await failing(empty.url), /no journal/, "looking makes none");
    await empty.drop();
    const pool = new Pool({ connectionString: database.url, max: 1 });
    await pool.query("UPDATE sage.journal SET format=99");
    assert.match(await failing(database.url), /99/);
    await pool.query("UPDATE sage.journal SET format=1");
    await pool.end();
    await assert.rejects(told(why, "zzzz", "--engine", database.url), { code: "session-unknown" });
    await assert.rejects(told(inbox, "--engine", database.url, "--host", "box"), { code: "usage" });
    await assert.rejects(
      told((args) => run(args, []), "--engine", database.url, "do it"),
      /gateway/,
    );
  });
});

/** Rights that a login has before it becomes a worker's, each of them a way out of its places. */
const waysOut = {
  roles: "CREATE ROLE $ LOGIN CREATEROLE",
  becomes: "CREATE ROLE $ LOGIN NOINHERIT IN ROLE pg_read_all_data",
  routine: "CREATE ROLE $ LOGIN; GRANT EXECUTE ON ROUTINE sage.append_fact TO $",
};

suite("sage engine prepare", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("gives logins their places, and refuses a login that places would not limit", async () => {
    const { url, name, drop } = await createDatabase();
    const at = (part: string) => `${part}_${name.slice(0, 8)}`;
    const prepare = (...args: string[]) => told(engine, "prepare", url, ...args);
    const first = await prepare();
    assert.match(
      first.out,
      /is ready for workers and gateways\nGive each its own login[^]* IN ROLE "sage_worker_t\w+";/,
    );

    const [worker, gateway] = [at("build"), at("front")];
    const made = await prepare("--worker-login", worker, "--place", "a", "--place", "b", "--gateway-login", gateway);
    assert.equal(made.code, 0);
    assert.match(made.out, new RegExp(`made login ${worker}, without a password`));
    assert.match(made.out, new RegExp(`login ${worker} runs sessions of a, b and of no other place\n$`));
    assert.doesNotMatch(made.out, /IN ROLE/);
    assert.equal(
      (await prepare("--worker-login", worker, "--place", "*")).out.split("\n")[1],
      `login ${worker} runs sessions of every place`,
    );

    for (const [login, why] of [
      [
        gateway,
        /^login front_\w+ is a gateway's, too: with it a worker can answer for people and write at every place\./,
      ],
      [new URL(url.replace("@/", "@h/")).username, /^login \w+ owns the journal: /],
    ] as const) {
      const refused = await prepare("--worker-login", login, "--place", "a");
      assert.deepEqual([refused.code, refused.out], [1, ""]);
      assert.match(refused.err, why);
      assert.match(refused.err, /\nno login and no place was changed\n$/);
    }
    const pool = new Pool({ connectionString: url, max: 1 });
    assert.deepEqual((await pool.query("SELECT * FROM sage.login")).rows, []);
    await pool.end();
    const warned = await prepare("--worker-login", gateway);
    assert.equal(warned.code, 0);
    assert.match(warned.err, /is a gateway's, too/);

    await assert.rejects(prepare("--worker-login", "x", "--gateway-login", "x"), /Name two logins/);
    await assert.rejects(prepare("--place", "a"), /name the login with --worker-login/);
    await assert.rejects(prepare("--worker-login", "x", "--place", "no such/place"), /a place is named with letters/);
    await assert.rejects(prepare("--worker-logn", "x"), /--worker-login\?/);
    await drop();
  });

  test("refuses a login that can leave its places by other rights, or would be a gateway's later", async () => {
    const { url, name, drop } = await createDatabase("T-");
    const prepare = (...args: string[]) => told(engine, "prepare", url, ...args);
    const pool = new Pool({ connectionString: url, max: 1 });
    await prepare();
    for (const [way, sql] of Object.entries(waysOut)) {
      const login = `${way}_${name.slice(-8)}`;
      await pool.query(sql.replaceAll("$", login));
      if (
        way === "roles" &&
        Number((await pool.query("SHOW server_version_num")).rows[0]?.server_version_num) >= 160_000
      )
        continue; // there it can give only roles that it made
      const refused = await prepare("--worker-login", login, "--place", "a");
      assert.deepEqual([refused.code, refused.out], [1, ""], way);
      assert.match(refused.err, new RegExp(`^login ${login} has rights that workers do not have: `));
    }
    const [worker, free, group] = ["bound", "free", "group"].map((part) => `${part}_${name.slice(-8)}`) as [
      string,
      string,
      string,
    ];
    assert.equal((await prepare("--worker-login", worker, "--place", "a")).err, "");
    assert.equal((await prepare("--worker-login", free)).err, "");
    for (const gateway of [worker, `sage_worker_${name}`]) {
      const refused = await prepare("--gateway-login", gateway);
      assert.deepEqual([refused.code, refused.out], [1, ""], gateway);
      assert.match(refused.err, new RegExp(`^login ${worker} is a gateway's, too: `));
    }
    const { rows } = await pool.query("SELECT pg_has_role($1::name, $2::name, 'MEMBER') AS is", [
      worker,
      `sage_gateway_${name}`,
    ]);
    assert.deepEqual(rows, [{ is: false }]);
    assert.match((await prepare("--gateway-login", free)).err, new RegExp(`^login ${free} is a gateway's, too: `));
    await pool.query(`CREATE ROLE ${group}`);
    assert.match((await prepare("--worker-login", group, "--place", "a")).err, /is no login but a role/);
    assert.deepEqual((await pool.query("SELECT * FROM sage.login")).rows, [{ name: worker, place: "a" }]);
    await pool.end();
    await drop();
  });
});

test("an address is shown without user and password, also where a line breaks in it", () => {
  for (const secret of ["p@ss/word?", "line\nline", "密码\r\n@"])
    assert.equal(publicAddress(`postgres://app:${secret}@db:5432/sage?sslmode=require`), "postgres://db:5432/sage");
});
