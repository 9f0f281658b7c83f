import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { demoScript } from "../../src/cli/open/demo-script.ts";
import { SageAgentSDK, scripted } from "../../src/sdk/index.ts";
import { demoTexts } from "../../src/texts/commands/demo.ts";
import { Machine } from "../support/cli.ts";
import { modelServer } from "../support/model-server.ts";

const choice = "s/d/q > ";
const which = /q {2}quit[^]*\n> /;

/** A person's machine without a keychain. */
function fresh(): Machine {
  const machine = new Machine();
  machine.env["SAGE_KEYS"] = "file";
  return machine;
}

const state = (machine: Machine, name: string) => join(machine.env["SAGE_HOME"] ?? "", name);
const settings = (machine: Machine) => JSON.parse(readFileSync(state(machine, "settings.json"), "utf8")) as unknown;

/** Lists two models, and hands everything else on. */
async function serverWithList(baseURL: string) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/v1/models") {
      asked.push(request.headers.authorization);
      response.end(JSON.stringify({ data: [{ id: "small" }, { id: "通义" }] }));
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const headers = { "content-type": "application/json", authorization: request.headers.authorization ?? "" };
      const target = `${baseURL}${request.url?.slice("/v1".length)}`;
      void fetch(target, { method: "POST", headers, body: Buffer.concat(chunks) }).then(async (answer) => {
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
        response.end(await answer.text());
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, asked, [Symbol.dispose]: () => (server.closeAllConnections(), void server.close()) };
}

suite("the first run", () => {
  test("a person is asked what to do; Enter plays the demo, leaving changes nothing", async () => {
    using machine = fresh();
    const leaving = machine.terminal(["mend it"]);
    await leaving.answer(choice, "x");
    await leaving.until("type s, d or q");
    await leaving.answer(choice, "q");
    assert.equal(await leaving.code, 0);
    const playing = machine.terminal([]);
    await playing.answer(choice, "");
    await playing.until(/demo/i);
    playing.kill("SIGKILL");
    assert.throws(() => settings(machine));
  });

  test("who asks the demo about its request hears that it is a script, and the request stays", async () => {
    for (const lang of ["en", "zh"] as const) {
      const t = demoTexts(lang);
      const sage = new SageAgentSDK({ model: scripted(demoScript(t, 0)) });
      const agent = await sage.openTurns();
      await agent.runTurn(t.task);
      for (const words of ["why?", "and why that?"]) assert.equal((await agent.inquire(words)).text, t.inquired);
      assert.ok(agent.isWaitingInput());
      await sage.close();
    }
  });

  test("a server of one's own: its models are listed, it is tried, kept with its key, and the task goes on", async () => {
    using machine = fresh();
    await using model = await modelServer({ text: "OK" }, { text: "Mended." });
    using server = await serverWithList(model.openaiURL);
    const terminal = machine.terminal(["mend it"]);
    await terminal.answer(choice, "s");
    await terminal.answer(which, "4");
    await terminal.answer("(Enter for http://127.0.0.1:11434/v1) > ", `${server.url}/`);
    await terminal.answer("(hidden; Enter for none) > ", "not a 钥");
    await terminal.until("Invalid key");
    await terminal.answer(which, "4");
    await terminal.answer("(Enter for http://127.0.0.1:11434/v1) > ", server.url);
    await terminal.answer("(hidden; Enter for none) > ", "very-secret-key");
    await terminal.answer("Model (number or name) > ", "");
    await terminal.answer("Model (number or name) > ", "2");
    await terminal.until("local/通义 works.");
    await terminal.until("Mended.");
    terminal.kill("SIGKILL");
    assert.equal(terminal.screen().includes("very-secret"), false);
    assert.deepEqual(server.asked, ["Bearer very-secret-key"]);
    assert.deepEqual(settings(machine), {
      model: "local/通义",
      providers: { local: { baseURL: server.url, apiKeyEnv: "SAGE_LOCAL_API_KEY" } },
    });
    assert.equal(statSync(state(machine, "keys.json")).mode & 0o777, 0o600);
  });

  test("what does not work is said, and nothing is kept unless the person insists", async () => {
    using machine = fresh();
    await using model = await modelServer(
      { status: 401, message: "no such key" },
      { status: 401, message: "no such key" },
    );
    machine.env["ANTHROPIC_BASE_URL"] = model.anthropicURL;
    writeFileSync(join(machine.dir, "keep"), "");
    const terminal = machine.terminal(["setup"]);
    await terminal.answer(which, "");
    await terminal.until(/\nType a number from 1 to 4, or q\./);
    await terminal.answer(which, "gpt-5");
    await terminal.until('Unknown choice "gpt-5": type a number from 1 to 4, or q.');
    await terminal.answer(which, "1");
    await terminal.answer(/API key for anthropic .* > /, "wrong-key-1");
    await terminal.until(/Failed: .*no such key/);
    await terminal.answer("a/k/q > ", "");
    await terminal.answer(which, "1");
    // Back to the list, and again.
    await terminal.answer(/API key for anthropic .* > /, "");
    await terminal.answer(which, "1");
    await terminal.answer(/API key for anthropic .* > /, "right-key-22");
    assert.throws(() => settings(machine));
    await terminal.answer("a/k/q > ", "k");
    await terminal.until("Start with:");
    assert.equal(await terminal.code, 0);
    assert.deepEqual(JSON.parse(readFileSync(state(machine, "keys.json"), "utf8")), {
      ANTHROPIC_API_KEY: { key: "right-key-22" },
    });
    // The key is used, a variable that is set wins, and neither reaches a command of the agent.
    const { out } = await machine.sage(["doctor"]);
    assert.match(out, /model anthropic\//);
    model.plays.push(
      { calls: [{ id: "c", tool: "Bash", arguments: '{"command":"env; cat $SAGE_HOME/keys.json"}' }] },
      { text: "End." },
    );
    await machine.sage(["-p", "--yes", "go"]);
    assert.equal(model.requests.at(-1)?.headers["x-api-key"], "right-key-22");
    assert.equal(JSON.stringify(model.requests.at(-1)?.body).includes("right-key-22"), false);
    model.plays.push({ text: "End." });
    await machine.sage(["-p", "go"], { env: { ANTHROPIC_API_KEY: "from-now-on" } });
    assert.equal(model.requests.at(-1)?.headers["x-api-key"], "from-now-on");
  });

  test("settings that are there stay, and broken ones are not overwritten", async () => {
    using machine = fresh();
    await machine.sage(["doctor"]);
    const file = state(machine, "settings.json");
    const mine = { permissions: { deny: ["Bash(rm:*)"] } };
    writeFileSync(file, JSON.stringify(mine));
    machine.env["ANTHROPIC_API_KEY"] = "k";
    machine.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9";
    const terminal = machine.terminal(["setup"]);
    await terminal.answer(which, "1");
    await terminal.until("Using ANTHROPIC_API_KEY from your environment");
    await terminal.answer("a/k/q > ", "k");
    assert.equal(await terminal.code, 0);
    const { model, ...rest } = settings(machine) as { model: string };
    assert.match(model, /^anthropic\//);
    assert.deepEqual(rest, mine);
    writeFileSync(file, "{ broken");
    const broken = await machine.sage(["setup"]);
    assert.deepEqual([broken.code, readFileSync(file, "utf8")], [2, "{ broken"]);
    assert.match(broken.err, /needs a terminal/);
  });

  test("an agent's command may not set anything up", async () => {
    using machine = fresh();
    const { code, err } = await machine.sage(["setup"], { env: { SAGE_INSIDE: "1" } });
    assert.equal(code, 2);
    assert.match(err, /this is for a person/);
  });
});
