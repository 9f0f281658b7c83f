import assert from "node:assert/strict";
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDaemon } from "../../src/cli/serve/daemon.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { openSurfaceStores } from "../../src/host/surface-store.ts";
import { projectTrust, trust } from "../../src/config/trust/trust.ts";
import { bash, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

test("sessions of two folders run in one process, each by the rules of its own folder as they are when its turn begins", async () => {
  using here = workspace();
  const folders = ["open", "shut"].map((name) => join(here.dir, name));
  const [open = "", shut = ""] = folders;
  for (const folder of folders) {
    mkdirSync(join(folder, ".sage"), { recursive: true });
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, ".sage/settings.json"), '{"permissions":{"allow":["Bash(node -e 1)"]}}');
  }
  const env = { SAGE_HOME: join(here.dir, "home"), PATH: process.env["PATH"] };
  const home = sageHome(env);
  trust(home.trust, projectTrust(home.trust, open));
  const script = join(here.dir, "script.json");
  writeFileSync(script, JSON.stringify([{ calls: [bash("node -e 1")] }, { text: "done" }]));
  const store = sqliteStore(home.journal);
  const stores = openSurfaceStores(home.surfaces);
  const warned: string[] = [];
  const { host } = openDaemon({
    ...{ home, store, own: stores.of("serve"), env, lang: "en" as const, spec: `scripted/${script}` },
    guard: () => true,
    personOf: () => undefined,
    warn: (text) => void warned.push(text),
  });
  await using _ = {
    async [Symbol.asyncDispose]() {
      await host.close();
      stores.close();
    },
  };
  const begin = async (cwd: string): Promise<string> => {
    const opened = await host.send({ type: "open", cwd });
    assert.ok(opened.ok);
    await host.send({ type: "say", session: opened.session, text: "go", by: "Lin", surface: "test" });
    return opened.session;
  };
  const ended = (session: string) => store.load(session).some(({ type }) => type === "turn.ended");

  const trusted = await begin(open);
  await until(() => ended(trusted));
  const asked = await begin(shut);
  await until(() => store.pending(asked).length === 1);
  assert.equal(store.pending(trusted).length, 0);
  assert.equal(warned.filter((text) => text.includes(realpathSync(shut))).length, 1);

  trust(home.trust, projectTrust(home.trust, shut));
  const later = await begin(shut);
  await until(() => ended(later));
  assert.deepEqual(
    stores
      .of("serve")
      .list("session/")
      .map(({ key }) => key)
      .toSorted(),
    [trusted, asked, later].map((id) => `session/${id}`).toSorted(),
  );

  rmSync(open, { recursive: true });
  const gone = await host.send({ type: "say", session: trusted, text: "again", by: "Lin", surface: "test" });
  assert.ok(!gone.ok && gone.message.includes("is gone"));
});

test("a message that was taken and not begun with is taken up at the next start, and again at the one after", async () => {
  using here = workspace();
  const env = { SAGE_HOME: join(here.dir, "home"), PATH: process.env["PATH"] };
  const home = sageHome(env);
  const script = join(here.dir, "script.json");
  writeFileSync(script, JSON.stringify([{ text: "hello" }]));
  const start = (spec: string) => {
    const store = sqliteStore(home.journal);
    const stores = openSurfaceStores(home.surfaces);
    const daemon = openDaemon({
      ...{ home, store, own: stores.of("serve"), env, lang: "en" as const, spec },
      guard: () => true,
      personOf: () => undefined,
      warn() {},
    });
    return {
      ...daemon,
      store,
      async [Symbol.asyncDispose]() {
        await daemon.host.close();
        stores.close();
      },
    };
  };
  let session = "";
  {
    await using first = start("scripted//no/such/script.json");
    const opened = await first.host.send({ type: "open", cwd: here.dir });
    assert.ok(opened.ok);
    session = opened.session;
    await first.host.send({ type: "say", session, text: "go", by: "Lin", surface: "test" });
    await first.host.run(session).catch(() => {});
  }
  for (const spec of ["scripted//no/such/script.json", `scripted/${script}`]) {
    await using next = start(spec);
    assert.equal((await next.recover()).resumed, 1);
    await next.host.run(session).catch(() => {});
  }
  await using last = start(`scripted/${script}`);
  assert.equal((await last.recover()).resumed, 0);
  assert.ok(last.store.load(session).some(({ type }) => type === "turn.ended"));
});
