// Gateways, workers and a database that are killed, frozen and told to leave, while people answer; and what must hold after it.
import { fork, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "pg";
import { postgresLedger } from "../../src/journal/postgres/ledger.ts";
import type { Ledger } from "../../src/journal/ledger.ts";
import { untilWritten } from "../../src/journal/retry.ts";
import type { Command, CommandReply, Fact, InputRequest, InputResponse } from "../../src/protocol/index.ts";
import { startPostgres, type Postgres } from "../../scripts/postgres.ts";
import { check, show } from "./checker.ts";
import { markedCalls, type Event } from "./history.ts";
import { dice, type Dice } from "./rounds.ts";

export type Faults = { killed: number; frozen: number; left: number; databaseKilled: number };
export type Played = Faults & {
  sessions: number;
  answers: number;
  facts: number;
  longestCalmMs: number;
  found: string[];
};

export type PlayOptions = {
  seed: number;
  rounds: number;
  gateways: number;
  sessions: number;
  faults: number;
  /** The longest that something stands still or is away. */
  longestMs: number;
  /** Leaves the database alone. */
  sparesDatabase?: boolean;
  tell?(line: string): void;
};

const PATIENCE_MS = 180_000;

/** Plays rounds: in each, sessions begin, things are killed while people answer, and in the end everything must have ended. */
export async function play(options: PlayOptions): Promise<Played> {
  const { seed, rounds, tell = () => {} } = options;
  const roll = dice(seed);
  const dir = mkdtempSync(join(tmpdir(), "sage-cluster-"));
  const database = await startPostgres(mkdtempSync(join(tmpdir(), "sage-pg-")), { durable: false });
  const pool = new Pool({ connectionString: database.url, max: 3 });
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  const ledger = await postgresLedger(pool, { process: "judge" });
  const gateways = Array.from({ length: options.gateways }, () => "gateway" as const);
  const seats = [...gateways, "worker" as const, "worker" as const].map((role) => seat(role, database.url, dir));
  const played: Played = {
    ...{ killed: 0, frozen: 0, left: 0, databaseKilled: 0 },
    ...{ sessions: 0, answers: 0, facts: 0, longestCalmMs: 0, found: [] },
  };
  try {
    for (let round = 0; round < rounds; round++) {
      await playRound({ ...options, round, roll, dir, database, ledger, seats, played });
      tell(
        `round ${round + 1}: ${played.killed} killed, ${played.frozen} frozen, ${played.left} left, database ${played.databaseKilled}; ${played.sessions} sessions, ${played.answers} answers, longest calm ${Math.round(played.longestCalmMs)} ms, ${played.found.length} found`,
      );
      if (played.found.length > 0) break;
    }
  } finally {
    for (const { end } of seats) end();
    await ledger.close().catch(() => {});
    await database.stop();
    if (played.found.length === 0) rmSync(dir, { recursive: true, force: true });
  }
  return played;
}

type Table = PlayOptions & {
  round: number;
  roll: Dice;
  dir: string;
  database: Postgres;
  ledger: Ledger;
  seats: Seat[];
  played: Played;
};

async function playRound(table: Table): Promise<void> {
  const { round, roll, ledger, seats, played, seed } = table;
  const gateways = seats.filter(({ role }) => role === "gateway");
  const ids = Array.from({ length: table.sessions }, (_, n) => `s${seed}-${round}-${n}`);
  const events: Event[] = [];
  const over = new AbortController();
  const ask = <C extends Command>(command: C) => roll.pick(gateways).send(command);
  /** Until somebody says that it is done: whoever was asked may be gone. */
  const insist = async (command: Command) => {
    while (!(await ask(command))?.ok) await pause(100);
  };
  const begin = async (session: string, n: number) => {
    await insist({ type: "open", session, cwd: table.dir });
    for (let message = 0; message < 1 + (n % 2); message++) {
      await insist({ type: "say", session, text: "go", id: `m${message}`, by: "Lin", surface: "chat" });
      await pause(roll.below(1_500));
    }
  };
  const answer = async (request: InputRequest, by: string, surface: string) => {
    const response = answerTo(request, roll);
    const reply = await ask({ type: "respond", response, by, surface });
    events.push({ ...frame(events), type: "answered", surface, response, reply });
    if (reply?.ok) played.answers++;
  };
  const answering = (async () => {
    const busy = new Set<string>();
    for (; !over.signal.aborted; await pause(100)) {
      const open = await ledger.open().catch(() => []);
      for (const { data: request } of open) {
        if (busy.has(request.id) || !ids.includes(request.session) || roll.chance(0.6)) continue;
        busy.add(request.id);
        const all = [answer(request, "Lin", "chat"), ...(roll.chance(0.3) ? [answer(request, "Mei", "web")] : [])];
        void Promise.all(all).finally(() => busy.delete(request.id));
      }
    }
  })();
  const beginning = Promise.all(ids.map(begin));
  for (let n = 0; n < table.faults; n++) {
    await pause(200 + roll.below(1_200));
    await strike(table);
  }
  await Promise.all(seats.map(({ settled }) => settled()));
  const calm = performance.now();
  const facts = new Map<string, Fact[]>();
  const ended = async () => {
    for (const id of ids) facts.set(id, await untilWritten(() => ledger.read(id, 0)));
    return ids.every((id) => isOver(facts.get(id) ?? []));
  };
  await beginning;
  let done = await ended();
  while (!done && performance.now() - calm < PATIENCE_MS) {
    await pause(250);
    done = await ended();
  }
  over.abort();
  await answering;
  played.longestCalmMs = Math.max(played.longestCalmMs, performance.now() - calm);
  played.sessions += ids.length;
  await judge(table, ids, facts, events);
}

/** Nothing is open, and everything that was said was heard. */
function isOver(facts: readonly Fact[]): boolean {
  const count = (type: Fact["type"]) => facts.filter((fact) => fact.type === type).length;
  const saw = facts.reduce((seen, fact) => Math.max(seen, "sawUpTo" in fact.data ? fact.data.sawUpTo : 0), 0);
  const heard = facts.every(({ type, seq }) => type !== "user.said" || seq <= saw);
  return heard && count("turn.begun") > 0 && count("turn.begun") === count("turn.ended");
}

async function judge(
  { dir, ledger, played }: Table,
  ids: string[],
  facts: ReadonlyMap<string, Fact[]>,
  answers: readonly Event[],
): Promise<void> {
  const witness = existsSync(join(dir, "witness")) ? readFileSync(join(dir, "witness"), "utf8").trim().split("\n") : [];
  const effects = Map.groupBy(witness, (mark) => mark.split(".")[0] ?? "");
  const open = (await ledger.open()).map(({ data }) => data);
  for (const id of ids) {
    const own = facts.get(id) ?? [];
    played.facts += own.length;
    const calls = markedCalls(own);
    const events: Event[] = answers.filter(
      (event) => event.type === "answered" && event.response.requestId.startsWith(`${id}/`),
    );
    for (const mark of effects.get(id) ?? [])
      events.push({
        ...frame(events),
        ...{ type: "executed", session: id, mark, tool: "Bash", input: calls.get(mark)?.input ?? {} },
      });
    const damage = await ledger.verify(id);
    const violations = check({
      events,
      journal: new Map([[id, own]]),
      broken: new Map(damage ? [[id, damage.key]] : []),
      listed: open.filter(({ session }) => session === id).map((request) => request.id),
      over: true,
    });
    const numbers = own.map(({ seq }) => seq);
    if (numbers.some((seq, n) => seq !== n + 1)) played.found.push(`${id}: numbers ${numbers.join()}`);
    if (violations.length > 0)
      played.found.push(
        `${id}\n${show(violations)}\n${own.map(({ seq, key, type }) => `${seq} ${key} ${type}`).join("\n")}`,
      );
  }
}

/** Something goes wrong, and is mended after a while. */
async function strike({ roll, seats, database, played, longestMs, sparesDatabase = false }: Table): Promise<void> {
  const workers = seats.filter(({ role }) => role === "worker");
  const gateways = seats.filter(({ role }) => role === "gateway");
  const away = roll.chance(0.1) ? longestMs : roll.below(Math.min(longestMs, 2_500));
  const kind = roll.below(100);
  if (kind < 45) {
    played.killed++;
    roll.pick(workers).kill(away / 2);
  } else if (kind < 62) {
    played.killed++;
    roll.pick(gateways).kill(away / 4);
  } else if (kind < 75) {
    played.frozen++;
    roll.pick(workers).freeze(away);
  } else if (kind < 80) {
    played.frozen++;
    roll.pick(gateways).freeze(away);
  } else if (kind < 88 || sparesDatabase) {
    played.left++;
    roll.pick(workers).leave();
  } else {
    played.databaseKilled++;
    await database.kill();
    await pause(away);
    for (let tries = 0; ; tries++) {
      const failure = await database.start().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (!failure) return;
      if (tries > 100) throw failure.error;
      await pause(100); // processes of the old one may not have ended yet
    }
  }
}

type Seat = {
  role: "gateway" | "worker";
  send<C extends Command>(command: C): Promise<CommandReply<C["type"]> | undefined>;
  kill(backAfterMs: number): void;
  freeze(ms: number): void;
  leave(): void;
  /** A process sits here, and nothing is wrong with it. */
  settled(): Promise<void>;
  end(): void;
};

/** A place for a process: whoever sits there may die, and another sits down. */
function seat(role: Seat["role"], url: string, dir: string): Seat {
  let child: ChildProcess;
  let ready: Promise<void>;
  let over = false;
  let wrong = Promise.resolve();
  let asked = 0;
  const waiting = new Map<number, (reply: unknown) => void>();
  const sit = () => {
    const now = fork(join(import.meta.dirname, "cluster-peer.ts"), [role, url, dir], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child = now;
    ready = new Promise((resolve) => {
      now.on("message", (message: "ready" | { n: number; reply: unknown }) => {
        if (message === "ready") return resolve();
        waiting.get(message.n)?.(message.reply);
      });
      now.once("exit", () => {
        resolve();
        for (const tell of waiting.values()) tell(undefined);
        waiting.clear();
        // It came while the database was away, was killed, or left: another comes.
        if (!over && child === now)
          wrong = wrong.then(() => pause(200)).then(() => void (over || child !== now || sit()));
      });
    });
  };
  sit();
  return {
    role,
    async send<C extends Command>(command: C): Promise<CommandReply<C["type"]> | undefined> {
      await ready;
      const to = child;
      if (to.exitCode !== null || to.signalCode !== null || !to.connected) return undefined;
      const n = asked++;
      return new Promise((resolve) => {
        waiting.set(n, (reply) => {
          waiting.delete(n);
          resolve(reply as CommandReply<C["type"]> | undefined);
        });
        to.send({ n, command }, (error) => error && waiting.get(n)?.(undefined));
      });
    },
    kill(backAfterMs) {
      wrong = wrong.then(() => pause(backAfterMs));
      child.kill("SIGKILL");
    },
    freeze(ms) {
      const frozen = child;
      frozen.kill("SIGSTOP");
      wrong = Promise.all([wrong, pause(ms)]).then(() => void frozen.kill("SIGCONT"));
    },
    leave: () => void child.kill("SIGTERM"),
    async settled() {
      do {
        await wrong;
        await ready;
        await pause(300);
      } while (child.exitCode !== null || child.signalCode !== null);
    },
    end() {
      over = true;
      child.kill("SIGKILL");
    },
  };
}

function frame(events: readonly Event[]): Pick<Event, "n" | "mono" | "wall" | "process"> {
  return { n: events.length, mono: performance.now(), wall: Date.now(), process: "" };
}

function answerTo(request: InputRequest, roll: Dice): InputResponse {
  const requestId = request.id;
  if (request.kind === "permission") return { type: roll.chance(0.9) ? "granted" : "denied", requestId };
  if (request.kind === "text") return { type: "text", requestId, text: "some text" };
  const answers = request.questions.map(({ question, options }) => [
    question,
    { selected: [roll.pick(options).label] },
  ]);
  return { type: "answers", requestId, answers: Object.fromEntries(answers) };
}
