import assert from "node:assert/strict";
import { chmodSync, copyFileSync, existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { join, relative } from "node:path";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { workspace } from "../support/sage.ts";

const entrance = join(import.meta.dirname, "../../scripts/bin.cjs");
const told = (word: string) => `require("node:worker_threads").parentPort.postMessage("${word}");`;

/** Installs a bundle of one file that tells a word. V8 knows its source by length alone, so kept code of another word is taken for it. */
function install(dist: string, word: string): void {
  mkdirSync(dist, { recursive: true });
  copyFileSync(entrance, join(dist, "bin.cjs"));
  writeFileSync(join(dist, "sage.cjs"), told(word));
}

async function start(dist: string, env: NodeJS.ProcessEnv): Promise<unknown> {
  const worker = new Worker(join(dist, "bin.cjs"), { env });
  const [[word]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
  return word;
}

test("compiled code is kept in the folder of Sage's state, and taken from nowhere that others could have put it", async () => {
  using here = workspace();
  const [dist, home] = [here.path("dist"), here.path("home")];
  const env = { SAGE_HOME: home, XDG_CACHE_HOME: here.path("cache") };
  install(dist, "mine");
  await start(dist, env);
  assert.equal(existsSync(home), false, "a folder that is not there is made by nobody who only starts");

  mkdirSync(home, { mode: 0o777 });
  chmodSync(home, 0o777);
  await start(dist, env);
  assert.deepEqual(globSync(join(home, "**/*.cjs")), [], "others may write there");

  chmodSync(home, 0o700);
  await start(dist, env);
  const [kept = ""] = globSync(join(home, "compiled/*/sage.cjs"));
  assert.deepEqual([kept === "", existsSync(here.path("cache"))], [false, false]);
  install(dist, "news");
  assert.equal(await start(dist, env), "mine", "it is what runs at the next start");

  chmodSync(kept, 0o666);
  assert.equal(await start(dist, env), "news", "others may have written it");
  chmodSync(kept, 0o600);
  install(dist, "that");
  const relativeHome = relative(process.cwd(), home);
  assert.equal(
    await start(dist, { SAGE_HOME: relativeHome }),
    "that",
    "it may have come with the repository that Sage is started in",
  );
});

test("code that a long run keeps, under flags that it has set since, is taken at the next start", () => {
  using here = workspace();
  const dist = here.path("dist");
  mkdirSync(here.path("home"), { mode: 0o700 });
  install(dist, "none");
  const clock = here.path("clock.cjs"); // on which a hundred times as much time passes, and more of it is work
  writeFileSync(
    clock,
    `const real = setTimeout; globalThis.setTimeout = (work, ms) => real(work, ms / 100);
     process.cpuUsage = () => ({ user: 1e6, system: 1e6 });`,
  );
  const run = (word: string) => {
    writeFileSync(join(dist, "sage.cjs"), `setTimeout(() => console.log("${word}"), 5_000);`);
    const argv = ["--require", clock, join(dist, "bin.cjs")];
    return execFileSync(process.execPath, argv, { env: { SAGE_HOME: here.path("home") }, encoding: "utf8" });
  };
  assert.deepEqual([run("mine"), run("news")], ["mine\n", "mine\n"]);
});
