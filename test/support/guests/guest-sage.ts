import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { GuestExecutor } from "../../../src/agent/guest/executor.ts";
import { claudeDriver } from "../../../src/guest/claude.ts";
import type { GuestDriver } from "../../../src/guest/driver.ts";
import { createHost, type LocalHost } from "../../../src/host/host.ts";
import { memoryStore } from "../../../src/journal/memory.ts";
import type { Store } from "../../../src/journal/store.ts";
import type {
  AgentOutcome,
  ExecutionOptions,
  Fact,
  FactType,
  InputRequest,
  InputResponse,
} from "../../../src/protocol/index.ts";
import { config, type TestConfig } from "../sage.ts";
import { until } from "../until.ts";

export type FakeCall = { name: string; input: Record<string, unknown>; id?: string; sub?: FakeCall[] };
export type FakeStep = { text?: string; calls?: FakeCall[] };

export const bashCall = (command: string, more: Record<string, unknown> = {}): FakeCall => ({
  name: "Bash",
  input: { command, ...more },
});

export const fakeClaude = fileURLToPath(new URL("fake-claude.mjs", import.meta.url));

/** Claude Code's stand-in as the person's own install, with its conversations in a folder. */
export const standIn = (): GuestDriver =>
  claudeDriver({ name: "claude", command: process.execPath, args: [fakeClaude] });

export type GuestOptions = Omit<TestConfig, "script"> & {
  script: FakeStep[];
  options?: Partial<ExecutionOptions>;
  session?: string;
  driver?: GuestDriver;
  /** Tools for which the guest's own rules ask or allow. */
  ownRules?: Record<string, "ask" | "allow">;
  guestVersion?: string;
  sleepAfterMs?: number;
};

export type GuestSage = {
  host: LocalHost;
  store: Store;
  session: string;
  say(text: string): Promise<void>;
  outcome(): Promise<AgentOutcome>;
  open(count?: number): Promise<InputRequest[]>;
  answer(response: InputResponse, by?: string): ReturnType<LocalHost["send"]>;
  /** Facts of the session, or those of some types. */
  facts<T extends FactType = FactType>(...types: T[]): Fact<T>[];
  /** What the guest was told and what it ran, in order. */
  heard(): string[];
  ran(): string[];
} & AsyncDisposable;

/** A host with one session that the stand-in runs, and a person who can do what a surface can. */
export async function guestSage(options: GuestOptions): Promise<GuestSage> {
  const { store = memoryStore(), dir, script, driver = standIn(), sleepAfterMs } = options;
  writeFileSync(`${dir}/script.json`, JSON.stringify(script));
  const { model: _, ...made } = config({ ...options, script: [], store });
  const env = {
    ...(options.env ?? process.env),
    FAKE_DIR: dir,
    FAKE_RULES: JSON.stringify(options.ownRules ?? {}),
    ...(options.guestVersion !== undefined && { FAKE_VERSION: options.guestVersion }),
  };
  const run = { ...options.options, workingDirectory: dir };
  const host = createHost({
    store,
    version: "test",
    keepDir: () => made.keepDir,
    executor: async () => new GuestExecutor({ config: made, options: run, driver, env }),
    ...(sleepAfterMs !== undefined && { sleepAfterMs }),
  });
  const opened = await host.send({
    ...{ type: "open", cwd: dir, agent: driver.name },
    ...(options.session !== undefined && { session: options.session }),
  });
  if (!opened.ok) throw new Error(opened.message);
  const { session } = opened;
  const leaving = new AbortController();
  void (async () => {
    for await (const _ of host.watch(session, { signal: leaving.signal }));
  })();
  let running: Promise<AgentOutcome> | undefined;
  return {
    host,
    store,
    session,
    async say(text) {
      const said = await host.send({ type: "say", session, text, by: "Lin", surface: "test" });
      if (!said.ok) throw new Error(said.message);
      running = host.run(session);
      running.catch(() => {});
    },
    outcome: () => running ?? host.run(session),
    open: (count = 1) =>
      until(
        () => {
          const open = store.pending(session);
          return open.length >= count && open;
        },
        `fewer than ${count} requests are open`,
        { everyMs: 5 },
      ),
    answer: (response, by = "Lin") => host.send({ type: "respond", response, by, surface: "test" }),
    facts: <T extends FactType>(...types: T[]) =>
      store.load(session).filter(({ type }) => types.length === 0 || types.includes(type as T)) as Fact<T>[],
    heard: () => (JSON.parse(readFileSync(sessionFile(dir, store, session), "utf8")) as { heard: string[] }).heard,
    ran: () => ranIn(dir),
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await host.close();
    },
  };
}

/** Process groups of stand-ins that keep their conversations in this folder. */
export function guestsIn(dir: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      if (!readFileSync(`/proc/${name}/cmdline`, "utf8").includes("fake-claude")) return [];
      return readFileSync(`/proc/${name}/environ`, "utf8").includes(`FAKE_DIR=${dir}\0`) ? [Number(name)] : [];
    } catch {
      return []; // it ended while we looked
    }
  });
}

export function ranIn(dir: string): string[] {
  if (!existsSync(`${dir}/log.txt`)) return [];
  return readFileSync(`${dir}/log.txt`, "utf8")
    .split("\n")
    .flatMap((line) => (line.startsWith("ran ") ? [line.slice(4)] : []));
}

function sessionFile(dir: string, store: Store, session: string): string {
  const joined = store.load(session).findLast((fact) => fact.type === "guest.joined");
  return `${dir}/session-${joined?.type === "guest.joined" ? joined.data.session : ""}.json`;
}
