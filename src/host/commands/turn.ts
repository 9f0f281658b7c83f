import { randomUUID } from "node:crypto";
import { endOf } from "../../input/respond.ts";
import { existingSession } from "../../journal/session/existing-session.ts";
import { openSession, stoppedBy } from "../../journal/session/session.ts";
import type { InboundFact, SessionRow, Store } from "../../journal/store/store.ts";
import type { FactData } from "../../protocol/facts/fact.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { unseenMessages } from "../../protocol/facts/unseen.ts";
import { errorOf } from "../../protocol/host/refusal.ts";
import { interruptKey, modeChosenKey, readNowKey } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { CommandParts, Handlers } from "./parts.ts";
import type { SessionRun } from "../run/runner.ts";

/** Turns: stopped, continued, and compacted. */
export function turnCommands(parts: CommandParts): Handlers<"interrupt" | "resume" | "chooseMode" | "compact"> {
  const { store, runner, executor, watched, leaving } = parts;

  /** In one commit: an agent must not continue after one request was cancelled before it hears that all of it was. */
  const interrupt = async (session: string, key: string, to: "pause" | "cancel", sender: Sender): Promise<void> => {
    const at = Date.now();
    const why = reason("stopped-by", { by: sender.by });
    const ends = (to === "cancel" ? store.pending(session) : []).map((request) =>
      endOf(request, { requestId: request.id, ...sender, at, outcome: "cancelled", reason: why }),
    );
    const fact = { key, type: "turn.interrupted", at, data: { to, ...sender } } as const;
    await store.appendAll([...ends, { session, fact }]);
    if (to === "cancel") runner.wake(session); // if nobody runs it, the turn is ended here
  };

  return {
    async interrupt({ session, cancel, to: meant, id = randomUUID(), by, surface }) {
      const row = existingSession(store, session);
      if (meant === "now") {
        const waits = unseenMessages(store.since(session, 0)).at(-1);
        const facts = waits ? readingNow(parts, session, waits, { by, surface }) : [];
        await store.appendAll(facts);
        if (facts.length > 0) runner.wake(session);
        return { ok: true, to: facts.length > 0 ? "now" : "nothing" };
      }
      const key = interruptKey(id);
      const before = store.fact(session, key);
      if (before?.type === "turn.interrupted") return { ok: true, to: before.data.to };
      const run = runner.of(session);
      const standing = runState(row, run);
      if (cancel !== true && meant !== "cancel" && isAboutToReply(parts, session)) return { ok: true, to: "nothing" };
      const forGood = meant === undefined ? cancel : meant === "cancel";
      const to = interruptOf(standing, { attended: forGood === undefined ? watched(session) : !forGood });
      // The person saw work, and by now the turn waits for an answer or is paused: neither is to be cancelled.
      if (to === "nothing" || (meant === "pause" && to === "cancel")) return { ok: true, to: "nothing" };
      if (standing === "beginning") run?.stop(stoppedBy({ to, by, surface }));
      else if (to === "pause" && run?.phase.name === "working") {
        run.phase.log.stop(stoppedBy({ to, by, surface })); // whoever hears why the step ended hears who ended it
        run.phase.lifecycle.handleInterrupt();
      }
      await interrupt(session, key, to, { by, surface });
      return { ok: true, to };
    },
    resume({ session }) {
      runner.of(session)?.resume();
      if (existingSession(store, session).open || isUnseen(store, session)) runner.wake(session);
      return { ok: true };
    },
    async chooseMode({ session, mode, by, surface }) {
      existingSession(store, session);
      const fact = { key: modeChosenKey(randomUUID()), type: "mode.chosen", at: Date.now() } as const;
      await store.append(session, { ...fact, data: { mode, by, surface } });
      return { ok: true };
    },
    async compact({ session }) {
      const checkIdle = (row: SessionRow): SessionRow => {
        if (runner.of(session) === undefined && !row.owned && !row.open) return row;
        throw new SageError("input-invalid", reason("turn-is-open", {}));
      };
      const agent = await executor(checkIdle(existingSession(store, session)));
      checkIdle(existingSession(store, session)); // somebody may have spoken while it was made
      const log = openSession(store, session);
      const leave = () => log.close();
      leaving.addEventListener("abort", leave);
      try {
        const outcome = await agent.compact({ log });
        if (outcome.status === "error") throw errorOf({ ok: false, ...outcome.error });
        if ("reason" in outcome) throw new SageError("input-invalid", outcome.reason); // interrupted, or left
        if (outcome.text !== "") throw new SageError("input-invalid", reason("too-short-to-summarise", {}));
        return { ok: true };
      } finally {
        leaving.removeEventListener("abort", leave);
        const released = log.release();
        if (released) await released;
        if (isUnseen(store, session)) runner.wake(session); // sent in the meantime
      }
    },
  };
}

/** Longest time for which a second Esc is taken for the first one, while a model is silent. */
const AGAIN_MS = 5_000;

/** A message is to be read now, and the reply to it has not begun: whoever presses Esc twice means it once. */
function isAboutToReply({ store, isReplying }: CommandParts, session: string): boolean {
  const last = store.load(session).findLast(({ type }) => type === "turn.interrupted" || type === "model.replied");
  if (last?.type !== "turn.interrupted" || last.data.to !== "now") return false;
  return Date.now() - last.at < AGAIN_MS && !isReplying(session);
}

/** Facts that interrupt a step for this message, in one commit with it. Requests end, except a spending limit, which no message lifts. */
export function readingNow(
  { store, runner }: Pick<CommandParts, "store" | "runner">,
  session: string,
  said: { key: string; data: Pick<FactData["user.said"], "text"> },
  { by, surface }: Sender,
): { session: string; fact: InboundFact }[] {
  const key = readNowKey(said.key);
  const row = existingSession(store, session);
  if (store.fact(session, key) || runState(row, runner.of(session)) === "idle") return [];
  const at = Date.now();
  const text = briefly(said.data.text);
  const message = { key: said.key, text };
  const fact = { key, type: "turn.interrupted", at, data: { to: "now", message, by, surface } } as const;
  const frame = { by, surface, at, outcome: "cancelled", reason: reason("read-now", { by, text }) } as const;
  const ended = store.pending(session).filter((request) => !isSpendingLimit(request));
  return [{ session, fact }, ...ended.map((request) => endOf(request, { requestId: request.id, ...frame }))];
}

const BRIEF = 200;

function briefly(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > BRIEF ? `${line.slice(0, BRIEF)}…` : line;
}

function isSpendingLimit(request: InputRequest): boolean {
  return request.kind === "question" && request.questions.some(({ own }) => own?.code === "go-on-spending");
}

/** Is there a message without a turn? The process that accepted it may have been killed before the turn began. */
function isUnseen(store: Store, session: string): boolean {
  return unseenMessages(store.since(session, 0)).length > 0;
}

/** How far a session is when somebody interrupts it. */
export type Standing =
  /** No turn is open and none is about to begin. */
  | "idle"
  /** A message was sent here and its turn has not begun, or an open turn is about to continue. */
  | "beginning"
  | "working"
  /** For a person: in memory or asleep, here or in another process. */
  | "waiting"
  /** A turn is open, and it is paused or no process runs it. */
  | "stopped";

/** An interrupt pauses work, and cancels a turn that waits. Without a surface nobody could end a pause, and it cancels too. */
export function interruptOf(standing: Standing, { attended }: { attended: boolean }): "nothing" | "pause" | "cancel" {
  switch (standing) {
    case "idle":
      return "nothing";
    case "beginning":
    case "working":
      return attended ? "pause" : "cancel";
    case "waiting":
    case "stopped":
      return "cancel";
    default:
      return standing satisfies never;
  }
}

/** `run`: the session's run in this process, if there is one. */
export function runState({ open, owned, pending }: SessionRow, run: SessionRun | undefined): Standing {
  if (run?.phase.name === "preparing") return "beginning";
  if (!open) return run?.log && run.log.unseen().length > 0 ? "beginning" : "idle";
  if (!run) return !owned ? "stopped" : pending > 0 ? "waiting" : "working";
  if (run.phase.name !== "working") return "waiting";
  const { state } = run.phase.lifecycle.state;
  return state === "executing" ? "working" : state === "waitingForConfirmation" ? "waiting" : "stopped";
}
