// A process on a machine with a policy: each door in turn, and what a session through it saw. Started by policy.test.ts.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSage } from "../../src/cli/assemble/open-sage.ts";
import { openDaemon } from "../../src/cli/serve/daemon.ts";
import { readInstallation } from "../../src/config/home/home.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import type { Host } from "../../src/protocol/host/host.ts";
import { assemble } from "../../src/sdk/entries/hosts.ts";
import {
  InputChannel,
  memoryStore,
  SageAgentSDK,
  scripted,
  sqliteStore,
  UnifiedExecutor,
  type Store,
} from "../../src/sdk/index.ts";
import { bash } from "../support/sage.ts";
import { until } from "../support/until.ts";

const [dir = "", door = ""] = process.argv.slice(2);
const [home, cwd] = [join(dir, "home"), join(dir, "project")];
for (const folder of [home, cwd]) mkdirSync(folder, { recursive: true, mode: 0o700 });
const loose = { permissions: { allow: ["Bash(node:*)", "Bash(touch:*)", "Edit(./**)"] }, sandbox: { mode: "off" } };
writeFileSync(join(home, "settings.json"), JSON.stringify(loose));
const env = { SAGE_HOME: home, HOME: dir, PATH: process.env["PATH"] };
const model = scripted([{ calls: [bash("node -e 1"), bash("touch a")] }, { text: "done" }]);
const rules = { allow: ["Bash(node:*)", "Bash(touch:*)", "Edit(./**)"] };
const code = { model, env, rules, sandbox: { mode: "off" }, permissionMode: "bypass" } as const;
const own = { ...code, workingDirectory: cwd };
const [store, me] = [memoryStore(), { by: "Lin", surface: "test" }];

if (door.startsWith("keeps")) console.log(JSON.stringify(await kept()));
else console.log(JSON.stringify(await through()));
process.exit();

async function through() {
  if (door === "executor") {
    const [channel, handle] = InputChannel.create(4);
    const executor = new UnifiedExecutor({ ...code, store }, { workingDirectory: cwd, signed: [] }, channel);
    const ended = executor.executeTask("go");
    const request = (await handle.nextRequest()) as unknown as PermissionRequest;
    ended.catch(() => {});
    return seen(store, store.pending(request.session)[0] as PermissionRequest);
  }
  const host = await hostOf();
  const reply = await host.send({ type: "open", cwd });
  if (!reply.ok) throw new Error(reply.message);
  await host.send({ type: "say", session: reply.session, text: "go", ...me });
  const request = (await until(() => store.pending(reply.session)[0])) as PermissionRequest;
  const removeRules = (["user", "session"] as const).map((destination) => ({ rule: "Bash(touch:*)", destination }));
  await host.send({ type: "respond", response: { type: "granted", requestId: request.id, removeRules }, ...me });
  return seen(store, request);
}

function seen(kept: Store, { session, signed, confined, why, suggestions }: PermissionRequest) {
  const verdicts = kept.load(session).flatMap(({ type, data }) => (type === "calls.judged" ? data.verdicts : []));
  return { denied: verdicts[0]?.source, why, signed, confined: confined !== undefined, suggestions };
}

async function hostOf(): Promise<Host> {
  const choice = { provider: "own", modelId: "m", load: async () => model };
  switch (door) {
    case "cli": {
      const given = { installation: readInstallation(env), choice, store, cwd, lang: "en", options: {} } as const;
      return (await openSage({ ...given, permissionMode: "bypass" })).host;
    }
    case "serve":
    case "worker": {
      const people = { guard: () => true, personOf: () => undefined, warn() {} };
      const parts = { store, env, lang: "en", spec: undefined, model: async () => model, ...people } as const;
      return openDaemon({ ...parts, ...(door === "worker" && { letsGo: true }) }).host;
    }
    case "assemble":
      return assemble({
        store,
        model: async () => model,
        rules: [],
        permissionMode: "bypass",
        options: { signed: [] },
        env,
      });
    default: {
      const settings = door === "sdk-settings" ? true : door === "sdk-rules" ? "rules" : false;
      return new SageAgentSDK({ ...own, store, settings }).host;
    }
  }
}

/** A session of long ago, and whether it is still there after the door was opened. */
async function kept(): Promise<boolean> {
  const journal = join(home, "journal.db");
  if (!existsSync(journal)) {
    const { now } = Date;
    Date.now = () => now() - 7_200_000;
    const old = new SageAgentSDK({ model: scripted([{ text: "old" }]), journal, env, workingDirectory: cwd });
    await old.run("hello");
    await old.close();
    Date.now = now;
  }
  if (door === "keeps") return true;
  if (door === "keeps-sdk") await new SageAgentSDK({ ...own, journal }).close();
  else assert.ok(new UnifiedExecutor({ ...code, journal }));
  const look = sqliteStore(journal);
  await until(() => look.sessions().length === 0, "the old session to go", { patienceMs: 10_000 }).catch(() => {});
  return look.sessions().length > 0;
}
