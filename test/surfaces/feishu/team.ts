import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { botPerson } from "../../../src/cli/serve/feishu/bot.ts";
import { noSandbox } from "../../../src/config/settings/sandbox.ts";
import { createConfining } from "../../../src/host/assembly/confining.ts";
import { TurnExecutor } from "../../../src/agent/turn/executor.ts";
import { sqliteStore } from "../../../src/journal/sqlite/sqlite.ts";
import type { Script } from "../../../src/models/scripted.ts";
import type { Fact, FactType } from "../../../src/protocol/facts/fact.ts";
import type { Surroundings } from "../../../src/host/commands/parts.ts";
import { createHost } from "../../../src/host/host.ts";
import type { Host } from "../../../src/protocol/host/host.ts";
import { openSurfaceStores } from "../../../src/host/surface-store.ts";
import {
  attachFeishu,
  defaultLimits,
  type FeishuOptions,
  type Team as Settings,
} from "../../../src/surfaces/feishu/index.ts";
import type { TeamChange } from "../../../src/surfaces/feishu/bot/team.ts";
import type { Timings } from "../../../src/surfaces/feishu/transport/api/config.ts";
import { openFeishu } from "../../../src/surfaces/feishu/transport/open.ts";
import type { Tool } from "../../../src/tools/definition/tool.ts";
import { fakeFeishu, type FakeFeishu } from "../../support/feishu/platform.ts";
import type { Seen } from "../../support/feishu/view.ts";
import { config, type TestConfig } from "../../support/sage.ts";

export { until } from "./bridge.ts";

/** Asks a person for a line of text. */
export const askName: Tool<{ prompt: string }> = {
  name: "AskText",
  description: "Asks the person for a line of text.",
  inputSchema: z.object({ prompt: z.string() }),
  effect: "waits",
  requiresUserInteraction: true,
  checkPermissions: () => ({ behavior: "ask", reason: "" }),
  request: ({ prompt }) => ({ kind: "text", prompt }),
  answered: (_, resolution) =>
    resolution.outcome === "answered" && resolution.response.type === "text"
      ? { ok: true, text: resolution.response.text }
      : { ok: false, text: `no answer: ${resolution.outcome}` },
  execute: () => Promise.reject(new Error("answered by a person")),
};

export const ask = (prompt: string) => ({ tool: "AskText", input: { prompt } });

export type TeamOptions = Omit<TestConfig, "script" | "dir" | "store"> & {
  script: Script;
  lang?: "en" | "zh";
  options?: Partial<Pick<FeishuOptions, "redaction" | "now" | "examine" | "account">>;
  /** Over what the settings say otherwise. */
  settings?: Partial<Omit<Settings, "cwd">>;
  timings?: Partial<Timings>;
  surroundings?: Surroundings;
  /** Commands run in a sandbox. */
  confined?: true;
  /** Stands between the surface and the host. */
  between?(host: Host): Host;
};

/** The fake platform, the real library, the real channel, the real bridge, the real host and journal; Lin may approve, Mei may talk. */
export async function team(given: TeamOptions) {
  const feishu = await fakeFeishu();
  const [lin, mei, stranger] = [feishu.user("林"), feishu.user("Mei"), feishu.user("Stranger")];
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-team-")));
  const cwd = join(dir, "repo");
  mkdirSync(cwd);
  const people = { talk: [lin.openId, mei.openId], approve: [lin.openId], tenant: feishu.world.app.tenantKey };
  const { lang = "en" } = given;
  let settings: Settings = {
    ...{ people, cwd, folders: [], workspaces: {}, models: [], agents: [], lang, limits: defaultLimits, chats: {} },
    ...given.settings,
  };
  const changes: TeamChange[] = [];
  let running: Awaited<ReturnType<typeof start>> | undefined;
  const logged: string[] = [];

  const start = async (script: Script = given.script) => {
    const store = sqliteStore(join(dir, "journal.db"));
    const { options, timings, tools = [], confined, ...rest } = given;
    const made = config({
      ...rest,
      ...(confined && sandboxed(dir, cwd)),
      tools: [askName, ...tools],
      script,
      dir: cwd,
      store,
    });
    const host = createHost({
      store,
      version: "test",
      personOf: botPerson([{ team: () => settings }]),
      keepDir: ({ id }) => join(dir, "kept", id),
      ...(given.surroundings && { surroundings: given.surroundings }),
      executor: async (session) => new TurnExecutor(made, { workingDirectory: session.cwd }),
    });
    const stores = openSurfaceStores(join(dir, "surfaces.db"), options?.now);
    const { appId, appSecret, url: domain } = feishu;
    const channel = openFeishu(
      { appId, appSecret, domain, mode: "socket" },
      {
        store: stores.of(`feishu/${appId}`),
        lang,
        log: (level, text) => void logged.push(`${level}: ${text}`),
        timings: { retryMs: 20, leaveMs: 1_000, ...timings },
        now: feishu.clock.now,
      },
    );
    const leaving = new AbortController();
    const surface = attachFeishu(given.between?.(host) ?? host, {
      ...{ channel, store: stores.of(`feishu/${appId}`), app: appId, signal: leaving.signal },
      team: () => settings,
      async changeTeam(change) {
        changes.push(change);
        if (change.type === "chat")
          settings = { ...settings, chats: { ...settings.chats, [change.chat]: change.settings } };
        else {
          const list = change.role === "approver" ? "approve" : "talk";
          const before = settings.people[list] as string[];
          settings = { ...settings, people: { ...settings.people, [list]: [...before, change.openId] } };
        }
      },
      inbox: join(dir, "inbox"),
      mayRead: async (path) => !path.endsWith("denied.txt"),
      log: (line) => void logged.push(line),
      ...options,
    });
    await surface.ready;
    await channel.start(leaving.signal);
    let closed = false;
    return {
      host,
      store,
      surface,
      channel,
      /** As after `kill -9`: whatever was under way is left as it is. */
      async crash() {
        if (closed) return;
        closed = true;
        leaving.abort();
        await channel.close();
        await host.close();
        stores.close();
      },
    };
  };

  running = await start();
  const now = () => {
    if (!running) throw new Error("nothing runs");
    return running;
  };
  return {
    feishu,
    lin,
    mei,
    stranger,
    dir,
    cwd,
    people,
    changes,
    logged,
    /** As if somebody had edited the settings. */
    set(more: Partial<Settings>) {
      settings = { ...settings, ...more };
    },
    get host() {
      return now().host;
    },
    get store() {
      return now().store;
    },
    get surface() {
      return now().surface;
    },
    async crash() {
      await running?.crash();
      running = undefined;
    },
    async restart(script?: Script) {
      await running?.crash();
      running = await start(script);
    },
    facts<T extends FactType>(type: T): Fact<T>[] {
      const { store } = now();
      return store
        .sessions()
        .flatMap(({ id }) => store.load(id))
        .filter((fact) => fact.type === type) as Fact<T>[];
    },
    /** Waits for a card with this button in the chat. */
    card: (chat: string, button: string): Promise<Seen> =>
      feishu.until(chat, ({ from, buttons }) => from === "bot" && buttons.includes(button)),
    sees: (chat: string, pattern: RegExp): Promise<Seen> =>
      feishu.until(chat, ({ from, text }) => from === "bot" && pattern.test(text)),
    async [Symbol.asyncDispose]() {
      await running?.crash();
      await feishu[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function sandboxed(dir: string, root: string): Pick<TestConfig, "confining" | "home"> {
  const [home, state] = [join(dir, "home"), join(dir, "home/.sage")];
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const confining = createConfining({ ...noSandbox, mode: "contain" }, { apart: false });
  return { home, confining: confining({ root, home, state, session: "s", kept: [], mayRead: () => () => true }) };
}

export type Team = Awaited<ReturnType<typeof team>>;

/** Messages of the bot in a chat, as people see them now. */
export const said = (feishu: FakeFeishu, chat: string): Seen[] =>
  feishu.seen(chat).filter(({ from }) => from === "bot");
