import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { GuestExecutor } from "../../../src/agent/guest/executor.ts";
import { claudeDriver } from "../../../src/guest/claude/claude.ts";
import type { GuestDriver } from "../../../src/guest/driver.ts";
import { createHost } from "../../../src/host/host.ts";
import { memoryStore } from "../../../src/journal/store/memory.ts";
import type { Store } from "../../../src/journal/store/store.ts";
import type { Fact, FactType } from "../../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../../src/protocol/facts/request.ts";
import type { ExecutionOptions } from "../../../src/protocol/host/options.ts";
import { config, personAt, type TestConfig, type TestPerson } from "../sage.ts";

export type FakeCall = {
  name: string;
  input: Record<string, unknown>;
  id?: string;
  sub?: FakeCall[];
  beside?: number;
  unhooked?: true;
};
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

export type GuestSage = TestPerson & {
  /** Facts of the session, or those of some types. */
  facts<T extends FactType = FactType>(...types: T[]): Fact<T>[];
  /** Words that the guest was told, what its model read of results and remarks, and calls that it ran, in order. */
  heard(): string[];
  read(): string[];
  ran(): string[];
};

/** A host with one session that the stand-in runs, and a person who can do what a surface can. */
export async function guestSage(options: GuestOptions): Promise<GuestSage> {
  const { store = memoryStore(), dir, script, driver = standIn(), sleepAfterMs } = options;
  writeFileSync(`${dir}/script.json`, JSON.stringify(script));
  const { model: _, ...made } = config({ ...options, script: [], store });
  const env = {
    ...(options.env ?? process.env),
    FAKE_DIR: dir,
    CLAUDE_CONFIG_DIR: `${dir}/claude`,
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
  const kept = () =>
    JSON.parse(readFileSync(sessionFile(dir, store, session), "utf8")) as { heard: string[]; sent: string[] };
  const person = personAt({ host, store, session, watched: true, everyMs: 5 });
  return {
    ...person,
    async say(text) {
      await person.say(text);
      person.outcome().catch(() => {});
    },
    facts: <T extends FactType>(...types: T[]) =>
      store.load(session).filter(({ type }) => types.length === 0 || types.includes(type as T)) as Fact<T>[],
    heard: () => kept().heard,
    read: () => kept().sent,
    ran: () => ranIn(dir),
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

export const yes = (request: InputRequest | undefined, more = {}) => ({
  type: "granted" as const,
  requestId: request?.id ?? "",
  ...more,
});
export const no = (request: InputRequest | undefined, reason?: string) => ({
  type: "denied" as const,
  requestId: request?.id ?? "",
  ...(reason !== undefined && { reason }),
});
export const commandOf = (request: InputRequest | undefined) =>
  request?.kind === "permission" ? request.input["command"] : undefined;
export const finished = (sage: GuestSage) => sage.facts("call.finished").map(({ data }) => [data.end, data.text]);
