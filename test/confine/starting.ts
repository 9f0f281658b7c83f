// Starts commands in each way that Sage has, as the user and with the descriptors that it was given.
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { startConfined } from "../../src/confine/start.ts";
import { createConfining } from "../../src/host/assembly/confining.ts";
import { spawnDirectly } from "../../src/tools/process/spawn.ts";
import { createSpawner } from "../../src/tools/process/spawner.ts";
import { startInBackground } from "../../src/tools/shell/background.ts";
import type { ToolScope } from "../../src/tools/definition/tool.ts";

const [how, root = "", home = "", state = ""] = process.argv.slice(2);
const sandbox = { mode: "contain", writable: [], readable: [], git: "read", outside: [] } as const;
const place = { root, home, state, session: "test", kept: [], mayRead: () => () => true };
const confining = createConfining(sandbox, { apart: false })(place);
const env = { PATH: process.env["PATH"], HOME: home, SAGE_TEST_STARTED_BY: `${process.pid}` };
const launch = () =>
  confining.launch({
    cwd: root,
    env,
    as: { repository: "read", hosts: [], writable: [] },
    reach: () => ({ allowed: false }),
  });

const line = "ls -l /proc/self/fd; for fd in 4 5 9 200; do timeout 0.2 cat <&$fd; done 2>&1; echo began";
const noted = async () => true;
setInterval(() => {}, 1_000); // a start alone keeps no process

const ways: Record<string, () => Promise<string>> = {
  async spawner() {
    const prepared = await launch();
    const started = await createSpawner()({ line, cwd: root, env: prepared.env, noted, launch: prepared });
    const said = await text(started.output);
    await prepared.over();
    return said;
  },
  async directly() {
    const prepared = await launch();
    const started = await spawnDirectly({ line, cwd: root, env: prepared.env, noted, launch: prepared });
    const said = await text(started.output);
    await prepared.over();
    return said;
  },
  async background() {
    const keepDir = join(home, "kept");
    mkdirSync(keepDir);
    const over = Promise.withResolvers<void>();
    const scope = {
      cwd: root,
      keepDir,
      env,
      signal: new AbortController().signal,
      spawned: async () => {},
      async confine() {
        const prepared = await launch();
        return { ...prepared, over: () => prepared.over().finally(over.resolve) };
      },
    };
    const { result } = await startInBackground(line, scope as unknown as ToolScope);
    await over.promise;
    return readFileSync(result.background?.file ?? "", "utf8");
  },
  async program() {
    const prepared = await launch();
    const child = startConfined(prepared, ["bash", "-c", line]);
    const said = text(child.stdout);
    await once(child, "close");
    await prepared.over();
    return said;
  },
};

if (how === "all") {
  const seen: Record<string, string> = {};
  for (const [name, run] of Object.entries(ways)) seen[name] = await run();
  process.stdout.write(JSON.stringify(seen), () => process.exit(0));
} else {
  // Each sandbox is planned, and begins when something else is in the place of a folder.
  const [folder, away] = [join(root, ".vscode"), join(root, "away")];
  mkdirSync(folder);
  for (let starts = 0; starts < 3; starts++) {
    const prepared = await launch();
    renameSync(folder, away);
    symlinkSync("away", folder);
    const child = startConfined(prepared, ["touch", "ran"]);
    await once(child, "close");
    const { failed = "nothing" } = await prepared.over();
    rmSync(folder, { force: true }); // it may have been moved aside
    renameSync(away, folder);
    process.stdout.write(`${failed.endsWith("is not what it was") ? "refused" : failed}\n`);
  }
  await text(process.stdin);
  process.exit(0);
}
