// The whole command beside other coding agents, against a model on this machine.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer, type RequestBody, type ServedReply } from "../../test/support/model-server.ts";
import { buildBundle } from "../cli.ts";
import { median, sample, type Command, type Row, type Sample } from "../measure.ts";
import { firstLine, install, unmeasured, type Peer } from "./install.ts";

const root = join(import.meta.dirname, "../..");
const rounds = 7;
const steps = 20;

type Served = { openaiURL: string; anthropicURL: string };
type Driven = Peer & { command(modules: string, place: { home: string; task: string } & Served): Omit<Command, "cwd"> };

const path = process.env["PATH"];
const bin = (modules: string, name: string) => [process.execPath, join(modules, name)];

/** Each with its own way to be pointed at a model on this machine, and to run commands without asking. */
const agents: readonly Driven[] = [
  {
    name: "pi",
    packages: ["@mariozechner/pi-coding-agent"],
    command(modules, { home, task, openaiURL }) {
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      const model = {
        id: "m",
        name: "m",
        reasoning: false,
        input: ["text"],
        cost,
        contextWindow: 128_000,
        maxTokens: 4_096,
      };
      const provider = { baseUrl: openaiURL, apiKey: "none", api: "openai-completions", models: [model] };
      const file = join(home, ".pi/agent/models.json");
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, JSON.stringify({ providers: { bench: provider } }));
      const program = bin(modules, "@mariozechner/pi-coding-agent/dist/cli.js");
      const argv = [...program, "-p", "--provider", "bench", "--model", "m", "--offline", task];
      return { argv, env: { PATH: path, HOME: home, PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" } };
    },
  },
  {
    name: "Codex",
    packages: ["@openai/codex"],
    command(modules, { home, task, openaiURL }) {
      const provider = `{name="bench",base_url="${openaiURL}",wire_api="responses",env_key="BENCH_KEY"}`;
      const settings = ['model_provider="bench"', `model_providers.bench=${provider}`, 'model="gpt-5-codex"'];
      const quiet = ["check_for_update_on_startup=false", "analytics.enabled=false"];
      const config = [...settings, ...quiet].flatMap((setting) => ["-c", setting]);
      const free = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
      const argv = [...bin(modules, "@openai/codex/bin/codex.js"), "exec", ...free, ...config, task];
      return { argv, env: { PATH: path, HOME: home, CODEX_HOME: home, BENCH_KEY: "none" } };
    },
  },
  {
    name: "Claude Code",
    packages: ["@anthropic-ai/claude-code"],
    command(modules, { home, task, anthropicURL }) {
      const scope = join(modules, "@anthropic-ai");
      const own = readdirSync(scope).find((name) => /^claude-code-.*64$/.test(name)); // its installation script would link it
      const argv = [join(scope, own ?? "claude-code", "claude"), "-p", task, "--allowedTools", "Bash(echo:*)"];
      const quiet = { DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
      return {
        argv,
        env: { PATH: path, HOME: home, ANTHROPIC_BASE_URL: anthropicURL, ANTHROPIC_API_KEY: "none", ...quiet },
      };
    },
  },
];

const sage: Driven = {
  name: "Sage",
  packages: [],
  command: (_, { home, task, openaiURL }) => ({
    argv: [process.execPath, join(root, "dist/bin.cjs"), "-p", task, "--yes", "--max-steps", "1000"],
    env: { PATH: path, HOME: home, SAGE_HOME: join(home, ".sage"), OPENAI_BASE_URL: openaiURL, OPENAI_API_KEY: "none" },
  }),
};

type Measured = Sample & { startMs: number };

/** The command of each, with no step and with twenty, in turns against one model that costs nothing. */
export async function peers(dir: string): Promise<Row[]> {
  await buildBundle();
  const found = await Promise.all(agents.map(async (peer) => ({ peer, installed: await install(peer) })));
  const arrivals: number[] = [];
  await using server = await modelServer();
  server.always.play = (body) => {
    arrivals.push(performance.timeOrigin + performance.now());
    return replyTo(body);
  };
  const once = async (peer: Driven, modules: string, task: string): Promise<Measured> => {
    const [home, cwd] = [join(dir, `${peer.name} home`), join(dir, `${peer.name} project`)];
    for (const folder of [home, cwd]) mkdirSync(folder, { recursive: true });
    arrivals.length = 0;
    const measured = await sample({ ...peer.command(modules, { home, task, ...server }), cwd });
    if (arrivals.length <= Number(/\d+/.exec(task)![0]))
      throw new Error(`asked its model ${arrivals.length} times for: ${task}`);
    return { ...measured, startMs: arrivals[0]! - measured.startedAt };
  };
  const missing: Row[] = [];
  const present: { peer: Driven; modules: string; name: string }[] = [{ peer: sage, modules: "", name: "Sage" }];
  for (const { peer, installed } of found) {
    if ("problem" in installed) {
      missing.push(unmeasured(installed));
      continue;
    }
    try {
      await once(peer, installed.modules, "Take 0 steps"); // makes its home
      await once(peer, installed.modules, `Take ${steps} steps`);
      present.push({ peer, modules: installed.modules, name: `${peer.name} ${installed.version}` });
    } catch (error) {
      missing.push(unmeasured({ ...peer, problem: `cannot be driven: ${firstLine(String(error))}` }));
    }
  }
  await once(sage, "", "Take 0 steps");
  const taken = new Map(present.map(({ name }) => [name, { none: [] as Measured[], some: [] as Measured[] }]));
  for (let round = 0; round < rounds; round++)
    for (const { peer, modules, name } of present) {
      taken.get(name)!.none.push(await once(peer, modules, "Take 0 steps"));
      taken.get(name)!.some.push(await once(peer, modules, `Take ${steps} steps`));
    }
  const of = (name: string, kind: "none" | "some", pick: (run: Measured) => number) =>
    median(taken.get(name)![kind].map(pick));
  const rows = (figure: string, unit: string, value: (name: string) => number): Row[] =>
    present.slice(1).map(({ name }) => ({ figure, unit, sage: value("Sage"), floor: { name, value: value(name) } }));
  return [
    ...rows("start to first request", "ms", (name) => of(name, "none", ({ startMs }) => startMs)),
    ...rows("CPU of a run without a step", "ms", (name) => of(name, "none", ({ cpuMs }) => cpuMs)),
    ...rows(`time of a step with a command, of ${steps}`, "ms", (name) => {
      const [some, none] = (["some", "none"] as const).map((kind) => of(name, kind, ({ wallMs }) => wallMs));
      return (some! - none!) / steps;
    }),
    ...rows(`peak memory at ${steps} steps`, "MB", (name) => of(name, "some", ({ peakMb }) => peakMb)),
    ...missing,
  ];
}

/** One command a reply, as many as the task says, in the tool that each of them has for it; then a last word. */
function replyTo(body: RequestBody): ServedReply {
  const text = JSON.stringify(body);
  const wanted = Number(/Take (\d+) steps/.exec(text)?.[1] ?? 0);
  const done = text.split(/"type":"function_call_output"|"role":"tool"|"type":"tool_result"/).length - 1;
  if (done >= wanted) return { text: "All steps are done." };
  const names = JSON.stringify(body.tools ?? []);
  const tool = /"name":"(bash|Bash|exec_command|shell_command|shell)"/.exec(names)?.[1];
  if (tool === undefined) return { text: "There is no tool for commands." };
  const command = `echo step ${done}`;
  const input = { exec_command: { cmd: command }, shell: { command: ["bash", "-c", command] } }[tool] ?? { command };
  return { calls: [{ id: `call_${done}`, tool, arguments: JSON.stringify(input) }] };
}
