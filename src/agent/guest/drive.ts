import type { Guest } from "../../guest/driver.ts";
import { signalGroup } from "../../processes/group.ts";
import { Stopped } from "../../journal/session/session.ts";
import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";
import { branchKey, guestProcessKey, stepKeys } from "../../protocol/key.ts";
import { noticeOf, reason, type Reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";
import { askIfOverLimit } from "../turn/spinning.ts";
import { again, giveUp, resolvedOf } from "./calls.ts";
import { stillAsked } from "./carry.ts";
import { runGuest } from "./run.ts";
import { noteParked, type GuestTurn } from "./state.ts";

const GONE_MS = 2_000;

/** Runs the guest until its turn is over: it is left while a person thinks, and resumed with what they said. */
export async function driveGuest(turn: GuestTurn, env: NodeJS.ProcessEnv): Promise<OutcomeStatus> {
  const { log, driver } = turn;
  const agent = driver.name;
  for (let deaths = 0; ; turn.runs++) {
    if (driver.parks !== "on leaving") giveUp(turn);
    if (log.stopped) {
      // It was called off while nobody ran it.
      if (log.stopped instanceof Stopped && log.stopped.why === "cancelled") await stopElsewhere(turn, env);
      throw log.stopped;
    }
    // A guest that keeps its prompts elsewhere is joined at once; nothing is started for any other before there is an answer.
    if (driver.parks !== "on leaving") await everyAnswer(turn);
    await passLimit(turn);
    const before = turn.progress.steps;
    const ended = await runGuest(turn, await join(turn, env));
    if (ended.how === "done" && turn.untold) continue;
    // Nothing that a guest does ends what it asked: the answer goes to it in words.
    if (ended.how !== "parked" && ended.how !== "died" && stillAsked(turn).length > 0) continue;
    switch (ended.how) {
      case "done":
        giveUp(turn);
        return { status: "success" };
      case "interrupted":
        if (turn.limited) break;
        throw log.stopped ?? new Stopped("cancelled", reason("guest-stopped", { agent }));
      case "parked":
        await noteParked(
          turn,
          turn.book.all.flatMap(({ call, request, end }) => (request && end === "open" ? [call.id] : [])),
        );
        break;
      case "failed":
        giveUp(turn);
        throw new SageError("turn-failed", reason("guest-failed", { agent, words: ended.words }));
      case "died":
        deaths = turn.progress.steps > before ? 1 : deaths + 1;
        if (deaths > 1 && stillAsked(turn).length === 0) {
          giveUp(turn);
          throw new SageError("turn-failed", reason("guest-died", { agent, words: ended.words }));
        }
        notice(turn, reason("guest-died", { agent, words: ended.words }));
        break;
      default:
        return ended satisfies never;
    }
  }
}

/** At a limit of spending a person is asked before the guest begins, and before it goes on after it was stopped there. */
async function passLimit(turn: GuestTurn): Promise<void> {
  const { log, key, context, progress } = turn;
  const line = log.branch(key).branch(branchKey(progress.steps));
  if (!turn.limited && turn.joins > 0 && !line.known(stepKeys.limit)) return;
  await askIfOverLimit(line, context, false);
  if (log.stopped) throw log.stopped;
  turn.limited = false;
}

/** A guest that outlives Sage still holds the turn that was called off. It is not started for that: the signal is aborted already. */
async function stopElsewhere({ log, driver, context, joined }: GuestTurn, env: NodeJS.ProcessEnv): Promise<void> {
  if (driver.parks !== "on leaving" || !joined) return;
  const { signal } = log;
  const start = { cwd: context.options.workingDirectory, env, signal, resume: joined.session, spawned: () => {} };
  const guest = await driver.start(start).catch(() => undefined);
  if (!guest) return;
  const late = setTimeout(() => void guest.close(), GONE_MS);
  if (guest.goesOn) guest.interrupt();
  if (guest.goesOn) for await (const { type } of guest.events) if (type === "ended") break;
  clearTimeout(late);
  await guest.close();
}

/** A guest that no longer knows what it asked is left until that is answered. */
async function join(turn: GuestTurn, env: NodeJS.ProcessEnv): Promise<Guest> {
  const guest = await start(turn, env);
  if (guest.silent) notice(turn, reason("guest-silent", { agent: turn.driver.name }));
  if (guest.goesOn) return guest;
  giveUp(turn);
  if (!stillAsked(turn).some(({ request }) => request && !turn.log.store.resolution(request.id))) return guest;
  await guest.close();
  await everyAnswer(turn);
  return start(turn, env);
}

/** Waits for every open request of this turn, no matter which attempt asked it. */
async function everyAnswer(turn: GuestTurn): Promise<void> {
  const opened = stillAsked(turn).map((known) => ({ known, opened: again(turn, known) }));
  const lost = opened.some(({ known, opened: { resolution } }) => !resolution && !turn.parked.has(known.call.id));
  if (lost) notice(turn, reason("guest-carried", { agent: turn.driver.name }));
  await Promise.all(opened.map(({ known, opened: handle }) => resolvedOf(turn, known, handle)));
  if (turn.log.stopped) throw turn.log.stopped;
}

async function start(turn: GuestTurn, env: NodeJS.ProcessEnv): Promise<Guest> {
  const { log, driver, context, joined } = turn;
  await endOrphans(turn);
  turn.resumed = joined?.session;
  try {
    return await log.during(() =>
      driver.start({
        cwd: context.options.workingDirectory,
        env,
        signal: log.signal,
        ...(joined && { resume: joined.session }),
        spawned: (pid) => log.store.noteChild(log.id, guestProcessKey, pid),
      }),
    );
  } catch (error) {
    if (log.stopped) throw log.stopped;
    if (error instanceof SageError) throw error;
    throw new SageError("turn-failed", reason("guest-not-started", { agent: driver.name, words: messageOf(error) }));
  }
}

/** A guest that outlived the process before this one: two of them on one conversation would spoil it. */
async function endOrphans({ log }: GuestTurn): Promise<void> {
  const living = () => log.store.children(log.id, guestProcessKey);
  for (const group of living()) signalGroup(group, "SIGKILL");
  for (const end = performance.now() + GONE_MS; living().length > 0 && performance.now() < end;)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A word to everybody who watches. */
function notice({ log, key, runs }: GuestTurn, why: Reason): void {
  const place = { session: log.id, key, attempt: log.epoch * 1_000 + runs, n: 0 };
  log.commits.show({ ...place, ...noticeOf(why) });
}
