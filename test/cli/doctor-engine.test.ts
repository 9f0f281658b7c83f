// `sage doctor --engine` against real servers: one that keeps what it acknowledges, one that may lose it, and none.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client } from "pg";
import { checkEngine } from "../../src/cli/setup/doctor/engine.ts";
import { asLogin, createDatabase, createPrepared, hasPostgres, openReplica } from "../support/postgres.ts";

async function told(url: string): Promise<string[]> {
  const lines: string[] = [];
  const tell = (mark: string) => (text: string) => void lines.push(`${mark} ${text}`);
  await checkEngine(url, { ok: tell("✓"), bad: tell("✗"), note: tell("·") }, "en");
  return lines;
}

suite("sage doctor --engine", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("names what could lose acknowledged facts", async () => {
    const { url, drop } = await createDatabase();
    const client = new Client(url);
    await client.connect();
    const { rows } = await client.query<{ name: string }>("SELECT current_database() AS name");
    await client.query(`ALTER DATABASE ${rows[0]?.name} SET synchronous_commit='off'`);
    await client.end();
    const lines = await told(url);
    assert.match(lines[0] ?? "", /^✓ [^%]* answers \(PostgreSQL \d+\)$/, "a socket's path as people write it");
    assert.ok(lines.some((line) => line.startsWith("✗ fsync is off"))); // the server of the tests runs without
    assert.ok(lines.some((line) => line.startsWith("✗ synchronous_commit is off")));
    assert.ok(lines.some((line) => line.startsWith("· no standby follows")));
    assert.ok(lines.some((line) => line.startsWith("· there is no journal in it yet")));
    const { replica, close } = await openReplica(url, "here");
    assert.ok((await told(url)).some((line) => line === "✓ shared journal: 0 sessions, 0 open requests, 0 workers"));
    await replica.store.create("s", { cwd: "/", version: "test" });
    const one = await told(url);
    assert.ok(one.includes("✓ shared journal: 1 session, 0 open requests, 0 workers"));
    assert.ok(one.some((line) => line.startsWith("✓ hash chain intact in 1 session")));
    const vandal = new Client(url);
    await vandal.connect();
    await vandal.query("UPDATE sage.fact SET at=at+1");
    await vandal.end();
    assert.ok((await told(url)).some((line) => line.startsWith("✗ the record of session s was changed")));
    await close();
    await drop();
  });

  test("says whose login it is, and how many workers could answer for people", async () => {
    const { url, worker, gateway, drop } = await createPrepared();
    const client = new Client(url);
    await client.connect();
    await client.query("SELECT sage.register('a',1,'here',1,NULL,NULL,false)");
    await client.query("DO $$ BEGIN CREATE ROLE stranger LOGIN; EXCEPTION WHEN duplicate_object THEN END $$");
    await client.end();
    const [ofOwner, ofGateway, ofWorker] = [await told(url), await told(gateway), await told(worker)];
    const has = (lines: string[], start: string) =>
      assert.ok(
        lines.some((line) => line.startsWith(start)),
        start,
      );
    has(ofOwner, "· this login owns the journal");
    has(ofOwner, "· 1 running worker uses a login that can answer for people");
    has(ofGateway, "✓ this login is a gateway's");
    has(ofWorker, "✓ this login is a worker's: it cannot answer for people");
    has(ofWorker, "✓ shared journal: 0 sessions");
    has(await told(asLogin(url, "stranger")), "✗ the journal in");
    const other = new Client(url);
    await other.connect();
    const workers = /[^/@]+(?=@)/.exec(worker)?.[0];
    await other.query("SELECT sage.register('b',1,'there',1,NULL,NULL,false)");
    has(await told(worker), "· it runs sessions of every place");
    await other.query("INSERT INTO sage.login VALUES($1,'here'),($1,'there')", [workers]);
    has(await told(worker), "✓ it runs sessions of here, there and of no other place");
    await other.query("UPDATE sage.journal SET revision = 0");
    await other.end();
    assert.match((await told(worker)).join("\n"), /✗ .* was prepared by an older Sage \(revision 0, /);
    await drop();
  });

  test("says so where nobody answers, without the password", async () => {
    for (const address of ["/sage?host=/nowhere", "/sage?host=%2Fnowhere", "%2Fnowhere/sage"]) {
      const lines = await told(`postgres://sage:secret@${address}`);
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? "", /^✗ postgres:\/\/\/sage\?host=\/nowhere cannot be reached/);
      assert.doesNotMatch(lines.join("\n"), /secret/);
    }
  });
});
