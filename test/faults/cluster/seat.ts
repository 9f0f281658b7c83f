// A place for a process of a cluster: whoever sits there may die, and another sits down.
import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Command, CommandReply } from "../../../src/protocol/host/host.ts";
import type { Observation } from "../history.ts";
import type { Wire } from "./wire.ts";

export type Role = "gateway" | "worker";

/** All that a process is told when it begins. */
export type Life = {
  name: string;
  role: Role;
  url: string;
  dir: string;
  notified: boolean;
  graceMs?: number;
  /** Commands go on when it is killed. */
  outlives: boolean;
  /** Its clock is so far from that of the others. */
  skewMs?: number;
};

/** Ends a process that cannot reach the database as it begins: another comes. */
export const AWAY = 3;

export type Seat = {
  role: Role;
  name: string;
  wire: Wire;
  /** Somebody sits here and is not frozen. */
  readonly lives: boolean;
  send<C extends Command>(command: C): Promise<CommandReply<C["type"]> | undefined>;
  /** A gateway watches a session from its beginning, for as long as it lives or until everything that there is was told: then true. */
  watch(session: string, surface: string, how: "on" | "once"): Promise<boolean>;
  kill(backAfterMs: number): void;
  freeze(ms: number): void;
  leave(): void;
  /** A process sits here, and nothing is wrong with it. */
  settled(): Promise<void>;
  end(): Promise<void>;
};

export type SeatParts = Omit<Life, "name"> & {
  seat: string;
  wire: Wire;
  observe(process: string, what: Observation): void;
  /** It ended though nobody had ended it. */
  ended(process: string, how: string): void;
  env: NodeJS.ProcessEnv;
  execArgv: string[];
};

export function takeSeat({ seat, wire, observe, ended, env, execArgv, ...life }: SeatParts): Seat {
  let child: ChildProcess;
  let ready: Promise<void>;
  let name = "";
  let sat = 0;
  let over = false;
  let frozen = 0;
  let doomed: ChildProcess | undefined;
  let wrong = Promise.resolve();
  let asked = 0;
  const waiting = new Map<number, (reply: unknown) => void>();
  const sit = () => {
    const who = (name = `${seat}.${sat++}`);
    const told: Life = { ...life, name: who };
    const now = fork(join(import.meta.dirname, "peer.ts"), [JSON.stringify(told)], {
      ...{ stdio: ["ignore", "ignore", "inherit", "ipc"], env, execArgv },
    });
    child = now;
    ready = new Promise((resolve) => {
      now.on("message", (message: "ready" | { n: number; reply: unknown }) => {
        if (message === "ready") return resolve();
        waiting.get(message.n)?.(message.reply);
      });
      now.once("exit", (code, signal) => {
        resolve();
        if (!over) observe(who, { type: "crashed" });
        if (!over && doomed !== now && code !== AWAY && code !== 0) ended(who, signal ?? String(code));
        for (const tell of waiting.values()) tell(undefined);
        waiting.clear();
        if (!over && child === now)
          wrong = wrong.then(() => pause(200)).then(() => void (over || child !== now || sit()));
      });
    });
  };
  const isDoomed = () => doomed === child;
  const isThere = () => child.exitCode === null && child.signalCode === null && child.connected;
  const ask = async (what: object): Promise<unknown> => {
    await ready;
    const to = child;
    if (!isThere()) return undefined;
    const n = asked++;
    return new Promise((resolve) => {
      waiting.set(n, (reply) => {
        waiting.delete(n);
        resolve(reply);
      });
      to.send({ n, ...what }, (error) => error && waiting.get(n)?.(undefined));
    });
  };
  sit();
  return {
    role: life.role,
    wire,
    get name() {
      return name;
    },
    get lives() {
      return isThere() && frozen === 0 && !isDoomed();
    },
    send: <C extends Command>(command: C) => ask({ command }) as Promise<CommandReply<C["type"]> | undefined>,
    watch: async (session, surface, how) => (await ask({ watch: session, surface, how })) === true,
    kill(backAfterMs) {
      doomed = child;
      wrong = wrong.then(() => pause(backAfterMs));
      child.kill("SIGKILL");
    },
    freeze(ms) {
      const one = child;
      frozen++;
      one.kill("SIGSTOP");
      if (ms > 8_000) observe(name, { type: "silenced" });
      wrong = Promise.all([wrong, pause(ms)]).then(() => {
        frozen--;
        one.kill("SIGCONT");
      });
    },
    leave() {
      doomed = child;
      child.kill("SIGTERM");
    },
    async settled() {
      do {
        await wrong;
        await ready;
        await pause(100);
      } while (!isThere() || isDoomed());
    },
    async end() {
      over = true;
      if (isThere()) {
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        await gone;
      }
      wire.close();
    },
  };
}
