// People at the gateways of a round: they speak, watch, answer, answer at once, too late or never, and call things off.
import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Ledger } from "../../../src/journal/replica/ledger.ts";
import { untilWritten } from "../../../src/journal/store/retry.ts";
import type { InputResponse } from "../../../src/protocol/facts/answer.ts";
import type { InputRequest } from "../../../src/protocol/facts/request.ts";
import type { Command } from "../../../src/protocol/host/host.ts";
import type { Observation } from "../history.ts";
import { dice, type Dice } from "../rounds.ts";
import type { Seat } from "./seat.ts";

type Parts = {
  seed: number;
  round: number;
  sessions: number;
  dir: string;
  ledger: Ledger;
  gateways: readonly Seat[];
  observe(what: Observation): void;
};

export type People = {
  ids: readonly string[];
  answers(): number;
  /** Nobody says anything more; whatever is open is answered until nothing is. */
  faultsAreOver(): void;
  /** Is everything over? And how many facts there are. */
  look(): Promise<{ over: boolean; facts: number }>;
  /** While nobody does anything: everything is looked at, `disturb` is awaited, and everything is looked at again. */
  recoverTwice(disturb: () => Promise<void>): Promise<void>;
  /** Every gateway tells every session from its beginning. */
  watchAll(): Promise<void>;
  leave(): Promise<void>;
};

const MOST_MESSAGES = 5;
const MOST_WATCHERS = 40;
const names = ["Lin", "Mei", "Zhao"];

export function attendRound(parts: Parts): People {
  const { seed, round, dir, ledger, gateways, observe } = parts;
  const roll = dice(seed * 1_000 + round + 500_000);
  const ids = Array.from({ length: parts.sessions }, (_, n) => `s${seed}-${round}-${n}${n % 3 === 2 ? "-due" : ""}`);
  const left = new AbortController();
  const silent = new AbortController();
  const speaks = () => !left.signal.aborted && !silent.signal.aborted;
  let [still, answers, watchers] = [false, 0, 0];
  const busy = new Set<string>();
  const known = new Map<string, InputRequest>();
  const living = () => gateways.filter(({ lives }) => lives);
  const ask = <C extends Command>(command: C) => roll.pick(living().length > 0 ? living() : gateways).send(command);
  /** Until somebody says that it is done: whoever was asked may be gone. */
  const insist = async (command: Command) => {
    while (!left.signal.aborted) {
      const reply = await Promise.race([ask(command), pause(3_000, undefined)]);
      if (reply?.ok) return;
      await pause(100);
    }
  };
  const isIdle = async (session: string) => {
    const [row] = await untilWritten(() => ledger.standing(session));
    return row !== undefined && !row.open && !row.unheard;
  };
  const live = async (session: string) => {
    await pause(roll.below(3_000));
    await insist({ type: "open", session, cwd: dir });
    for (let n = 0; n < MOST_MESSAGES && (n === 0 || speaks()); n++) {
      await insist({ type: "say", session, text: "go", id: `m${n}`, by: "Lin", surface: "chat" });
      observe({ type: "said", session });
      // Most wait for the end; some speak into a turn.
      while (speaks() && !roll.chance(0.05) && !(await isIdle(session))) await pause(300);
    }
  };
  const answer = async (response: InputResponse, by: string, surface: string) => {
    const reply = await ask({ type: "respond", response, by, surface });
    observe({ type: "answered", surface, response, reply });
    if (reply?.ok) answers++;
  };
  const answerAll = async (request: InputRequest) => {
    const people = roll.chance(0.25) ? names : [names[0] ?? ""];
    await Promise.all(people.map((by, n) => answer(answerTo(request, roll), by, `chat${n}`)));
    if (roll.chance(0.15)) await answer(answerTo(request, roll), "Wang", "late");
  };
  const answering = (async () => {
    for (; !left.signal.aborted; await pause(80)) {
      if (still) continue;
      const open = await ledger.open().catch(() => undefined);
      if (!open) continue;
      const now = new Map(open.map(({ data }) => [data.id, data]));
      for (const [id, request] of known) {
        if (now.has(id)) continue;
        known.delete(id);
        // It has ended, by its deadline for some: now somebody answers it.
        if (roll.chance(isLeft(request) ? 0.7 : 0.1)) void answer(answerTo(request, roll), "Wang", "late");
      }
      for (const [id, request] of now) {
        known.set(id, request);
        if (busy.has(id) || isLeft(request) || roll.chance(0.6)) continue;
        busy.add(id);
        void answerAll(request).finally(() => busy.delete(id));
      }
      const session = roll.pick(ids);
      const gateway = living()[0] && roll.pick(living());
      if (gateway && watchers < MOST_WATCHERS && roll.chance(0.15) && now.size > 0)
        void gateway.watch(session, `watcher${watchers++}`, "on");
      if (speaks() && roll.chance(0.01))
        void ask({ type: "interrupt", session, cancel: true, by: "Lin", surface: "chat" });
    }
  })();
  const lives = Promise.all(ids.map(live));
  const standings = () => untilWritten(() => ledger.standing());
  /** Nobody runs anything, and whatever has not ended waits for a person. */
  const isStill = async () => {
    const open = new Set((await untilWritten(() => ledger.open())).map(({ session }) => session));
    return (await standings()).every((row) => !row.owned && ((!row.open && !row.unheard) || open.has(row.id)));
  };
  const untilStill = async () => {
    for (let [quiet, tries] = [0, 0]; quiet < 4 && tries < 300; tries++) {
      quiet = (await isStill()) ? quiet + 1 : 0;
      await pause(150);
    }
  };
  const noteAll = async () => {
    for (const session of ids.filter((id) => !id.endsWith("-due"))) {
      const facts = await untilWritten(() => ledger.read(session, 0, { without: ["state.changed"] }));
      const state = hash("sha256", JSON.stringify(facts.map(({ key, type, data }) => [key, type, data])), "hex");
      observe({ type: "recovered", session, state });
    }
  };
  return {
    ids,
    answers: () => answers,
    faultsAreOver: () => silent.abort(),
    async look() {
      const rows = await standings();
      const waits = (await untilWritten(() => ledger.open())).length;
      const over = waits === 0 && rows.length === ids.length && rows.every((row) => !row.open && !row.unheard);
      return { over: over && (await isDone(lives)), facts: rows.reduce((sum, { seq }) => sum + seq, 0) };
    },
    async recoverTwice(disturb) {
      await Promise.race([lives, pause(10_000)]);
      still = true;
      while (busy.size > 0) await pause(50);
      await untilStill();
      await noteAll();
      await disturb();
      for (const session of ids) void ask({ type: "resume", session });
      await pause(500);
      await untilStill();
      await noteAll();
      still = false;
    },
    async watchAll() {
      for (const [n, gateway] of gateways.entries())
        for (const session of ids)
          if (!(await gateway.watch(session, `end${n}`, "once")))
            throw new Error(`${gateway.name} does not tell ${session}`);
    },
    async leave() {
      left.abort();
      await answering;
    },
  };
}

/** One that nobody answers in time. */
function isLeft({ id, deadline }: InputRequest): boolean {
  return deadline !== undefined && Number.parseInt(hash("sha256", id, "hex").slice(0, 2), 16) % 2 === 0;
}

async function isDone(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), pause(0, false)]);
}

function answerTo(request: InputRequest, roll: Dice): InputResponse {
  const requestId = request.id;
  if (roll.chance(0.03)) return { type: "cancelled", requestId, reason: "not now" };
  if (request.kind === "permission") {
    if (roll.chance(0.1)) return { type: "denied", requestId };
    const edits = request.tool === "Act" && roll.chance(0.2);
    return { type: "granted", requestId, ...(edits && { input: { ...request.input, note: "rather so" } }) };
  }
  if (request.kind === "text") return { type: "text", requestId, text: "some text" };
  const answers = request.questions.map(({ question, options }) => [
    question,
    { selected: [roll.pick(options).label] },
  ]);
  return { type: "answers", requestId, answers: Object.fromEntries(answers) };
}
