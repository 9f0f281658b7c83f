// Two machines: one serves, the other works there. Real processes, real pairing, a kill under an open permission.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";

test("paired by a link, killed under an open permission, started again: the answer goes through and the turn goes on", async () => {
  using box = new Machine({ folder: "work" });
  using mine = new Machine();
  const model = box.script({ text: "I look first.", calls: [bash("echo ran >> ran.txt")] }, { text: "All done 完成." });
  const first = box.start(["serve", "--port", "0", "--model", model]);
  await first.until(/#k=\S+/);
  const [link = ""] = /http:\S+#k=\S+/.exec(first.output()) ?? [];
  const { origin, port } = new URL(link);

  const added = await mine.sage(["hosts", "add", link, "box"], { env: { SAGE_KEYS: "file" } });
  assert.equal(added.code, 0, added.err);
  assert.match(added.out, /^Paired with http:\S+ as .*\nWork there with: .* --host box$/m);
  const keys = join(mine.env["SAGE_HOME"] ?? "", "keys.json");
  assert.equal(statSync(keys).mode & 0o777, 0o600);
  const [, key = ""] = /"key": "([^"]+)"/.exec(readFileSync(keys, "utf8")) ?? [];
  assert.equal(key.length > 40, true);
  assert.equal([added.out, added.err, first.output(), first.errors()].join("").includes(key), false);
  const again = await mine.sage(["--host", link, "inbox"]);
  assert.equal(again.code, 1);
  assert.match(again.err, /did not accept the link or code.*`sage devices add`/s);

  const there = mine.start(["--host", "box", "make it"]);
  await there.until("Allow? (y/n/…) >");
  first.kill("SIGKILL");
  await there.until("Connection to the host lost");
  there.type("y\n");
  await there.until("not sent: there is no connection to the host");
  const second = box.start(["serve", "--port", port, "--model", model]);
  await there.until("Connected again.");
  there.type("y\n");
  await there.until("All done 完成.");
  there.end();
  const { out } = await there.ended;
  assert.equal(box.file("ran.txt"), "ran\n", "ran once, on the machine of the host");
  assert.equal(mine.file("ran.txt"), undefined);
  for (const text of ["I look first.", "All done 完成.", "Connection to the host lost", "Connected again."])
    assert.equal(out.split(text).length, 2, `${text} stands there once:\n${out}`);
  assert.match(out, /Resume with: .*--host box --resume \w+/);
  assert.equal((await box.facts("turn.begun")).length, 1, "the same turn went on");

  const why = await mine.sage(["why", "--host", "box"]);
  assert.match(why.out, /echo ran >> ran\.txt\n\s+allowed/);
  assert.equal((await box.sage(["devices", "remove", "--all"])).code, 0);
  const revoked = await mine.sage(["--host", "box", "sessions"]);
  assert.equal(revoked.code, 1);
  assert.match(revoked.err, /does not accept this machine's key any more; run `sage devices add` there/);
  second.kill("SIGKILL");
  await second.ended;
  assert.match(
    (await mine.sage(["hosts", "remove", "box"])).out,
    /forgotten here. It could not be reached/,
    "the key goes all the same",
  );
  assert.equal(readFileSync(keys, "utf8").includes(key), false);
  const unknown = await mine.sage(["--host", "box", "inbox"]);
  assert.match(unknown.err, /no host is called "box"/);
  // A repository names no host: neither by its settings nor by a file of its own.
  mkdirSync(join(mine.cwd, ".sage"));
  writeFileSync(join(mine.cwd, ".sage/settings.json"), JSON.stringify({ hosts: { box: origin } }));
  assert.match((await mine.sage(["--host", "box", "inbox"])).err, /no host is called "box"/);
});
