import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { workspace } from "../support/sage.ts";

const sdk = pathToFileURL(join(import.meta.dirname, "../../src/sdk/index.ts")).href;
const program = `import { SageAgentSDK, scripted } from ${JSON.stringify(sdk)};
  const sage = new SageAgentSDK({ model: scripted([{ text: "done" }]), workingDirectory: process.cwd() });
  await sage.run("go");
  if (process.argv[2] === "stay") {
    process.stdout.write("ran");
    setInterval(() => {}, 1_000);
  } else await sage.close();`;

test("the folder for long results goes with the SDK, and that of a killed process with the next start", async () => {
  using here = workspace();
  const temporary = here.path("tmp");
  mkdirSync(temporary);
  writeFileSync(here.path("program.mjs"), program);
  const options = { cwd: here.dir, env: { ...process.env, TMPDIR: temporary } };
  const folders = () => readdirSync(temporary).filter((name) => name.startsWith("sage-output-"));
  const start = async () => {
    const child = spawn(process.execPath, ["program.mjs", "stay"], {
      ...options,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    return child;
  };
  const [killed, living] = await Promise.all([start(), start()]);
  assert.equal(folders().length, 2);
  killed.kill("SIGKILL");
  await once(killed, "close");

  assert.equal(spawnSync(process.execPath, ["program.mjs"], options).status, 0);
  assert.deepEqual(
    folders().map((name) => name.split("-").at(-3)),
    [String(living.pid)],
    "that of a living process stays",
  );
  living.kill("SIGKILL");
});
