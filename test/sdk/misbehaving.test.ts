// Code of an embedder may throw, reject, hang or return nonsense at each call. It never ends the process, and allows nothing.
import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import { after, before, mock, test } from "node:test";
import { z } from "zod";
import { assemble } from "../../src/sdk/entries/hosts.ts";
import {
  followSession,
  InputChannel,
  memoryStore,
  noUsage,
  SageAgentSDK,
  scripted,
  UnifiedExecutor,
  type AgentOutcome,
  type HookMoment,
  type Model,
  type RunOptions,
  type SdkOptions,
  type Store,
  type Tool,
} from "../../src/sdk/index.ts";
import { bash, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const ways = {
  throws: () => {
    throw new Error("own mistake");
  },
  rejects: () => Promise.reject(new Error("own mistake")),
  hangs: () => new Promise<never>(() => {}),
  "returns nonsense": () => 5 as never,
  "promises nonsense": async () => ({ decision: "yes", behavior: "yes", ok: "yes" }) as never,
} as const;
type Way = keyof typeof ways;
const misbehave = Object.entries(ways) as [Way, () => never][];

/** Whoever hangs is waited for by clocks of Sage, which go twenty times as fast here. */
const { setInterval: everyReal, clearInterval: endReal, setTimeout: afterReal } = globalThis;
let faster: NodeJS.Timeout | undefined;
before(() => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  syncBuiltinESMExports(); // also for whoever imported them by name
  faster = everyReal(() => mock.timers.tick(40), 2);
});
after(() => endReal(faster)); // the other one ends the timers of the clock that goes faster

/** Errors that would have ended the process. */
const escaped: unknown[] = [];
const note = (error: unknown) => void escaped.push(error);
const noted = ["unhandledRejection", "uncaughtException"] as const;
before(() => noted.forEach((event) => process.on(event, note)));
after(() => noted.forEach((event) => process.off(event, note)));

const calls = { calls: [{ tool: "Own", input: {} }] };
const model = () => scripted([calls, { text: "heard" }]);
const always: RunOptions = { mode: { type: "nonInteractive", autoResponse: "alwaysAllow" } };
const own = (part: Partial<Tool> = {}, effect: Tool["effect"] = "writes"): Tool => ({
  ...{ name: "Own", description: "Does something.", effect, inputSchema: z.object({}) },
  execute: async () => ({ ok: true, text: "ran" }),
  ...part,
});

type Ended = { outcome: AgentOutcome; notices: string[]; asked: number };

/** Runs a turn with this code. A person says no to whatever is asked; a turn that hangs is stopped. */
async function runWith(
  options: Partial<SdkOptions>,
  run: RunOptions & { person?: true; way?: Way } = {},
): Promise<Ended> {
  using here = workspace();
  const { person, way, ...given } = run;
  const sage = new SageAgentSDK({ model: model(), workingDirectory: here.dir, ...options });
  const notices: string[] = [];
  let asked = 0;
  const [channel, handle] = InputChannel.create(4);
  const result = sage.run("go", person ? { ...given, channel } : given);
  void (async () => {
    for (let open = await handle.nextRequest(); open; open = await handle.nextRequest()) {
      asked++;
      await handle.respond({ type: "denied", requestId: open.id });
    }
  })();
  void (async () => {
    for await (const event of result)
      if (event.type === "delta" && event.delta.reason) notices.push(JSON.stringify(event.delta.reason));
  })().catch(() => {});
  const stops = way === "hangs";
  const stop = stops && setTimeout(() => void result.interrupt({ cancel: true }).catch(() => {}), 400);
  const give = stops && setTimeout(() => void sage.close(), 1_500);
  try {
    return { outcome: await result, notices, asked };
  } finally {
    if (stop) clearTimeout(stop);
    if (give) clearTimeout(give);
    handle.close();
    await sage.close();
    assert.deepEqual(escaped, []);
  }
}

const textOf = ({ outcome }: Ended) => outcome.toolHistory[0]?.result.text ?? "";

test(
  "hooks: a broken guard asks, whatever is the matter with it, and others are told of",
  { timeout: 60_000 },
  async () => {
    const moments: HookMoment[] = [
      "beforeCall",
      "permissionRequest",
      "afterCall",
      "waiting",
      "sessionStart",
      "sessionEnd",
    ];
    await Promise.all(
      moments.flatMap((moment) =>
        misbehave.flatMap(([way, run]) =>
          [
            { [moment]: [{ run, timeoutMs: 100 }] },
            ...(way === "hangs" ? [] : [{ has: (asked: HookMoment) => asked === moment, run }]),
            ...(way === "hangs" ? [] : [{ has: run, run: ways.throws }]),
          ].map(async (hooks) => {
            const ended = await runWith({ hooks: hooks as never, tools: [own()] }, { person: true });
            const at = `${moment} ${way}`;
            assert.equal(ended.outcome.status, "success", at);
            assert.equal(ended.asked, 1, at);
            assert.match(textOf(ended), /refused/, at);
          }),
        ),
      ),
    );
    assert.deepEqual(escaped, []);
  },
);

test("hooks in code refuse, allow, ask, change the input and add words, in order; commands stand beside them", async () => {
  const seen: unknown[] = [];
  const hooks: SdkOptions["hooks"] = {
    beforeCall: [
      {
        matcher: "Bash",
        run: ({ input }) => (input["command"] === "git push" ? { decision: "deny", reason: "no" } : {}),
      },
      { matcher: "Bash", run: ({ input }) => ({ input: { command: String(input["command"]).replace("one", "two") } }) },
      { run: ({ input }) => void (seen.push(input["command"]), (input["command"] = "rm -r /")) },
      { command: `echo '{"context":"from a command"}'` },
    ],
    permissionRequest: [{ run: ({ why }) => ({ decision: "allow", reason: why }) }],
    afterCall: [{ run: ({ result }) => ({ context: `it said ${result.text.trim()}` }) }],
  };
  const script = [{ calls: [bash("git push"), bash("node -p '\"one\"'")] }, { text: "heard" }];
  const { outcome } = await runWith({ model: scripted(script), hooks });
  const [pushed, ran] = outcome.toolHistory.map(({ result }) => result.text);
  assert.match(pushed ?? "", /^Not run: no/);
  assert.match(ran ?? "", /^two\n[^]*it said two/);
  assert.match(ran ?? "", /from a command/);
  assert.deepEqual(seen, ["node -p '\"two\"'"], "a copy: what a hook does to its event changes nothing");
});

test(
  "tools: at each call, a failure is the model's to read, or a person's to decide",
  { timeout: 60_000 },
  async () => {
    const parts: (keyof Tool)[] = [
      ...["checkPermissions", "execute", "specifier", "operand", "preview", "preflight", "request", "adapt"],
      ...["addresses", "mayOutlive", "changed", "approve"],
    ] as (keyof Tool)[];
    await Promise.all(
      parts.flatMap((part) =>
        misbehave.map(async ([way, run]) => {
          const ended = await runWith(
            { tools: [own({ [part]: run }, part === "request" ? "waits" : "writes")] },
            { ...always, way },
          );
          const { status } = ended.outcome;
          const expected = way === "hangs" ? ["success", "cancelled", "paused"] : ["success"];
          assert.ok(
            expected.includes(status),
            `${part} ${way}: ${status} ${JSON.stringify(ended.outcome.toolHistory)}`,
          );
          if (part === "checkPermissions") assert.notEqual(textOf(ended), "ran", `${part} ${way} allowed the call`);
        }),
      ),
    );
  },
);

test("models: a reply that is none ends the turn, and an exception begins it again", { timeout: 60_000 }, async () => {
  await Promise.all(
    misbehave.flatMap(([way, reply]) =>
      (["model", "smallModel"] as const).map(async (name) => {
        const given: Model = { id: "own/model", reply };
        const ended = await runWith({ model: scripted([{ text: "ran" }]), [name]: given }, { way });
        const { status } = ended.outcome;
        if (name === "smallModel") assert.equal(status, "success", way);
        else if (way.includes("nonsense")) assert.equal(status, "error", way);
        else assert.ok(["error", "cancelled", "paused"].includes(status), `${way}: ${status}`);
      }),
    ),
  );
});

test(
  "stores: whatever a method does, the run has an end and nothing that was not written has happened",
  { timeout: 60_000 },
  async () => {
    const methods = Object.entries(memoryStore()).flatMap(([name, value]) =>
      typeof value === "function" ? [name] : [],
    );
    await Promise.all(
      methods.flatMap((method) =>
        misbehave.map(async ([way, run]) => {
          const store = { ...memoryStore(), [method]: run } as Store;
          const settled = await Promise.race([
            runWith({ store }, { way }).then(
              ({ outcome }) => outcome.status,
              (error: Error) => error.message,
            ),
            new Promise((done) => void afterReal(() => done("late"), 50_000).unref()),
          ]);
          assert.notEqual(settled, "late", `${method} ${way}`);
        }),
      ),
    );
    assert.deepEqual(escaped, []);
  },
);

test("responders: what is no answer refuses", { timeout: 60_000 }, async () => {
  await Promise.all(
    misbehave.map(async ([way, respond]) => {
      const ended = await runWith({ tools: [own()] }, { mode: { type: "nonInteractive", autoResponse: respond }, way });
      assert.notEqual(textOf(ended), "ran", way);
      const channel = InputChannel.nonInteractive(respond);
      const again = await runWith({ tools: [own()] }, { channel, way });
      assert.notEqual(textOf(again), "ran", way);
    }),
  );
});

test("listeners and surfaces: their mistakes are a warning, and facts go on", { timeout: 60_000 }, async () => {
  const warned: string[] = [];
  const warn = ({ message }: Error) => void warned.push(message);
  process.on("warning", warn);
  for (const [way, mistake] of misbehave) {
    using here = workspace();
    const store = memoryStore();
    await using sage = new SageAgentSDK({ model: model(), tools: [own()], store, workingDirectory: here.dir });
    store.hub.overhear(new Set(["turn.begun"]), mistake);
    const run = sage.run("go", always);
    store.hub.subscribe(run.session, { fact: mistake, delta: mistake, lost: mistake });
    const left = new AbortController();
    const drawn = followSession(sage.host, run.session, { signal: left.signal, changed: mistake });
    drawn.done.catch(() => {});
    assert.equal((await run).text, "heard", way);
    left.abort();
  }
  await until(() => warned.length > 4);
  process.off("warning", warn);
  assert.deepEqual([...new Set(warned)], ["own mistake"]);
  assert.deepEqual(escaped, []);
});

test(
  "turns and strategies: a mistake in what they call rejects, and the turn can go on",
  { timeout: 60_000 },
  async () => {
    for (const [way, mistake] of misbehave) {
      if (way === "hangs") continue;
      using here = workspace();
      await using sage = new SageAgentSDK({ model: model(), tools: [own()], workingDirectory: here.dir });
      const agent = await sage.openTurns();
      const ended = await agent.runTurn("go", { confirm: mistake, onEvent: mistake }).then(
        ({ needsInput }) => `needsInput ${needsInput}`,
        (error: Error) => error.message,
      );
      assert.ok(
        ended === "own mistake" || ended.startsWith("needsInput") || /should|takes/.test(ended),
        `${way}: ${ended}`,
      );
      const strategy = { name: "own", execute: mistake };
      const executor = new UnifiedExecutor({ model: model() }, { workingDirectory: here.dir });
      await executor.executeTask("go", strategy).catch(({ message }: Error) => assert.equal(message, "own mistake"));
    }
    assert.deepEqual(escaped, []);
  },
);

test("loaders: of models, prompts, engines, skills", { timeout: 60_000 }, async () => {
  const search = { calls: [{ tool: "WebSearch", input: { query: "herons" } }] };
  await Promise.all(
    misbehave.map(async ([way, load]) => {
      const prompted = await runWith({ systemPrompt: load }, { way }).catch(({ code }: { code: string }) => code);
      if (way !== "hangs")
        assert.ok(prompted === "config-invalid" || (prompted as Ended).outcome.status === "error", way);
      const script = scripted([search, { text: "heard" }]);
      const searched = await runWith({ model: script, webSearch: { name: "own", search: load } }, { ...always, way });
      if (way !== "hangs") assert.match(textOf(searched), /could not search/, way);
      using here = workspace();
      const host = assemble({ model: load, output: here.dir, turnEnded: load });
      const opened = await host.send({ type: "open", cwd: here.dir });
      assert.ok(opened.ok);
      await host.send({ type: "say", session: opened.session, text: "go", by: "you", surface: "test" });
      await new Promise((done) => void setTimeout(done, 50));
      await host.close({ patienceMs: 200 });
    }),
  );
  assert.deepEqual(escaped, []);
});

test("a reply of a model that is usual ends well beside all of this", async () => {
  const reply = { parts: [{ type: "text", text: "hi" }], usage: noUsage, finish: "stop", model: "own/model" } as const;
  const { outcome } = await runWith({
    model: { id: "own/model", reply: async () => ({ ...reply, parts: [...reply.parts] }) },
  });
  assert.equal(outcome.text, "hi");
});
