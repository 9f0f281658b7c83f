import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { apply, withHook } from "../../src/cli/connect/hook/install.ts";
import type { GuestsSettings } from "../../src/config/settings/model-settings.ts";
import { stopCodex } from "../../src/guest/codex/server.ts";
import { driverOf, guestProgram, guestPrograms } from "../../src/host/guests/guest-programs.ts";
import { installedAgents } from "../../src/host/guests/installed-agents.ts";
import { respond } from "../../src/input/respond.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { guestSage, type GuestSage } from "../support/guests/guest-sage.ts";
import { until } from "../support/until.ts";
import { modelServer, type RequestBody } from "../support/model-server.ts";
import { agents as agentsFor, shell, type Real } from "./agents-setup.ts";

// The real programs, as far as they are on the PATH, against a model on this machine: `npm run test:agents`. Nothing of the person's is
// touched: each agent gets a home of its own, and no key but a made-up one. SAGE_LIVE_AGENTS=claude,codex names some.

const only = process.env["SAGE_LIVE_AGENTS"]?.split(",");
const server = await modelServer();
after(() => server[Symbol.asyncDispose]());

const agents = agentsFor(server);
const found = await installedAgents(guestPrograms(), process.env);
for (const { name, path, version } of found) {
  const real = agents[name];
  const skip = path === undefined ? "not installed" : only && !only.includes(name) ? "not asked for" : !real;
  test(`${name} ${version ?? ""}: asked, left, answered while nobody runs, resumed, run once`, { skip }, async () => {
    if (real) await story(name, real);
  });
}

const claude = found.find(({ name, path }) => name === "claude" && path !== undefined);
const skipsHook = claude === undefined ? "not installed" : only !== undefined && !only.includes("claude");
test(
  "claude's own prompts stand in Sage's inbox through its hook, and an answer there lets it go on",
  { skip: skipsHook },
  async () => {
    const { dir, home, project, env } = scene();
    agents["claude"]?.prepare({ home, env, settings: {} });
    env["SAGE_HOME"] = join(dir, "sage");
    mkdirSync(env["SAGE_HOME"]);
    const made = plays("Bash", shell, project);
    mkdirSync(join(home, ".claude"));
    const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;
    const path = join(home, ".claude", "settings.json");
    apply(withHook("claude", path, `${process.execPath} ${main}`), { lock: join(dir, "lock.db"), keep: true });
    const store = sqliteStore(join(env["SAGE_HOME"], "journal.db"));
    const child = spawn(claude?.path ?? "", ["-p", "make the file made.txt"], {
      cwd: project,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const closed = once(child, "close");
    try {
      const [request] = await until(() => store.pending().length > 0 && store.pending(), "the hook asked nobody");
      assert.deepEqual([request?.agent, request?.kind === "permission" && request.tool], [["claude"], "Bash"]);
      const response = { type: "granted" as const, requestId: request?.id ?? "" };
      await respond(store, response, { by: "somebody", surface: "test" });
      await closed;
      assert.equal(readFileSync(made.path, "utf8"), "ran\n");
    } finally {
      child.kill("SIGKILL");
      store.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
);

async function story(name: string, real: Real): Promise<void> {
  const { dir, home, project, env } = scene();
  const guests = join(dir, "guests");
  const settings: GuestsSettings = {};
  real.prepare({ home, env, settings });
  const made = plays(real.tool, real.input, project);
  const driver = await driverOf(guestProgram(name, settings), { dir: guests, env: process.env });
  const options = { dir: project, env, store: memoryStore(), driver, script: [], session: "one" };
  try {
    const first = await guestSage(options);
    await first.say("make the file made.txt");
    const [request] = await Promise.race([first.open(), ended(first)]);
    assert.deepEqual([request?.kind, request?.agent], ["permission", [name]]);
    if (driver.parks === "at once") await until(() => first.facts("guest.parked").length > 0, "it was not left");
    await first[Symbol.asyncDispose]();
    assert.equal(existsSync(made.path), false);
    const yes = { type: "granted" as const, requestId: request?.id ?? "" };
    await respond(options.store, yes, { by: "Lin", surface: "test" }); // nobody runs
    assert.equal(existsSync(made.path), false);
    await using sage = await guestSage(options);
    assert.deepEqual([(await sage.outcome()).status, readFileSync(made.path, "utf8")], ["success", "ran\n"]);
    const asked = sage.facts("input.requested").map(({ data }) => (data.kind === "permission" ? data.tool : data.kind));
    console.log(
      `${name}: asked about ${asked.join(", ")}; ${made.calls} ${made.calls === 1 ? "call" : "calls"} of the model`,
    );
    assert.equal(asked.length, 1);
    if (driver.parks !== "never") assert.equal(made.calls, 1);
  } finally {
    await stopCodex(guests);
    rmSync(dir, { recursive: true, force: true });
  }
}

/** An agent that ends without asking says why. */
async function ended(sage: GuestSage): Promise<never> {
  const outcome = await sage.outcome();
  throw new Error(`it did not ask: ${JSON.stringify(outcome)}`);
}

function scene() {
  // Codex refuses a home among temporary files.
  const dir = mkdtempSync(join(homedir(), ".sage-live-"));
  const [home, project] = [join(dir, "home"), join(dir, "project")];
  for (const one of [home, project, join(home, ".codex")]) mkdirSync(one);
  const { PATH } = process.env;
  const env: NodeJS.ProcessEnv = { PATH, HOME: home, LANG: "en_US.UTF-8", CODEX_HOME: join(home, ".codex") };
  return { dir, home, project, env };
}

/** The model makes the call until the file is there. Requests without the tool are an agent's own, for a title perhaps. */
function plays(tool: string, input: (command: string) => object, project: string) {
  const made = { path: join(project, "made.txt"), calls: 0 };
  server.always.play = (body: RequestBody) => {
    const isSide = !JSON.stringify(body["tools"] ?? "").includes(`"${tool}"`);
    if (isSide || existsSync(made.path) || made.calls > 5) return { text: isSide ? "ok" : "All done." };
    const id = `call_${made.calls++}`;
    return { text: "I will make it.", calls: [{ id, tool, arguments: JSON.stringify(input("echo ran >> made.txt")) }] };
  };
  return made;
}
