// The history of a round in the shape that the checker reads: what its processes saw, and when the database had which fact.
import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Pool } from "pg";
import type { Ledger } from "../../../src/journal/replica/ledger.ts";
import type { Fact } from "../../../src/protocol/facts/fact.ts";
import { splitRequestId } from "../../../src/protocol/key.ts";
import { check } from "../checker.ts";
import { broken, markedCalls, type Event, type Violation } from "../history.ts";
import { readSeen, type Seen, type Told } from "./observe.ts";

export type Judged = { session: string; violations: Violation[]; facts: readonly Fact[] };

/** Clocks of server and processes are the same; a millisecond is lost where they are read. */
const SLACK_MS = 2;
const CLOCK_MS = 20;

/** Everything that a round did wrong, session by session. */
export async function judge(dir: string, ids: readonly string[], pool: Pool, ledger: Ledger): Promise<Judged[]> {
  const seen = readSeen(join(dir, "seen"));
  const open = (await ledger.open()).map(({ data }) => data);
  const witness = existsSync(join(dir, "witness")) ? readFileSync(join(dir, "witness"), "utf8").trim().split("\n") : [];
  const judged: Judged[] = [];
  for (const session of ids) {
    const facts = await ledger.read(session, 0);
    const own = seen.filter((one) => [session, undefined].includes(sessionOf(one)));
    const when = await committedAt(pool, session);
    const events = eventsFrom(own, facts, when);
    const calls = markedCalls(facts);
    for (const mark of witness.filter((one) => one.startsWith(`${session}.`)))
      events.push({
        ...{ n: events.length, mono: Infinity, wall: 0, process: "" },
        ...{ type: "executed", session, mark, tool: "Bash", input: calls.get(mark)?.input ?? {} },
      });
    const damage = await ledger.verify(session);
    const violations = [
      ...check({
        events,
        journal: new Map([[session, facts]]),
        broken: new Map(damage ? [[session, damage.key]] : []),
        listed: open.filter((request) => request.session === session).map(({ id }) => id),
        over: true,
      }),
      ...numbersAreWhole(session, facts),
      ...watchersSawTheSame(session, facts, own),
    ];
    judged.push({ session, violations, facts });
  }
  return judged;
}

function sessionOf(one: Seen): string | undefined {
  if ("session" in one) return one.session;
  return one.type === "answered" ? splitRequestId(one.response.requestId).session : undefined;
}

/** The moment at which the server committed each fact, by its key. */
async function committedAt(pool: Pool, session: string): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ key: string; at: string }>(
    "SELECT key, extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS at FROM sage.fact WHERE session=$1",
    [session],
  );
  return new Map(rows.map(({ key, at }) => [key, Number(at)]));
}

function eventsFrom(seen: readonly Seen[], facts: readonly Fact[], when: ReadonlyMap<string, number>): Event[] {
  const isDurable = (key: string, wall: number) => (when.get(key) ?? Infinity) <= wall + SLACK_MS;
  const newest = (wall: number) => facts.findLast(({ key }) => isDurable(key, wall))?.seq ?? 0;
  const events: Event[] = [];
  for (const one of seen) {
    if (one.type === "told" || one.type === "ran") continue;
    const frame = { ...one, n: events.length };
    if (frame.type === "heard") events.push({ ...frame, durable: isDurable(frame.key, frame.wall) });
    else if (frame.type === "shown")
      events.push({ ...frame, durable: isDurable(splitRequestId(frame.request).key, frame.wall) });
    else if (frame.type === "ready" || frame.type === "executed")
      events.push({ ...frame, durable: newest(frame.wall) });
    else if (frame.type === "committed") events.push(...asked(frame, events.length));
    else events.push(frame);
  }
  return events;
}

/** A deadline counts from the moment of its request, which is some time before the acknowledgement of its commit. */
function asked(event: Extract<Event, { type: "committed" }>, n: number): Event[] {
  return event.facts.map((fact, more) => {
    const opened = fact.type === "input.requested" ? (JSON.parse(fact.data) as { at: number }).at : event.wall;
    // The server's clock is known as well as a round trip is short.
    const ago = Math.min(Math.max(0, event.wall - opened), 60_000) + CLOCK_MS;
    return { ...event, n: n + more, mono: event.mono - ago, wall: event.wall - ago, facts: [fact] };
  });
}

function* numbersAreWhole(session: string, facts: readonly Fact[]): Generator<Violation> {
  const numbers = facts.map(({ seq }) => seq);
  if (numbers.some((seq, n) => seq !== n + 1)) yield broken("I7", `${session}: numbers ${numbers.join()}`);
}

/** Everybody who watches from the beginning is told the same, in the same order, whatever died in between. */
function* watchersSawTheSame(session: string, facts: readonly Fact[], seen: readonly Seen[]): Generator<Violation> {
  const told = Map.groupBy(
    seen.filter((one): one is Told & Seen => one.type === "told"),
    ({ watcher }) => watcher,
  );
  for (const [watcher, list] of told)
    for (const [n, { seq, key, data }] of list.entries()) {
      const fact = facts[n];
      const kept = fact && hash("sha256", JSON.stringify(fact.data), "hex").slice(0, 16);
      if (fact?.seq === seq && fact.key === key && kept === data) continue;
      yield broken("I13", `${session}: ${watcher} was told ${seq} ${key} in the place of ${fact?.seq} ${fact?.key}`);
      break;
    }
}
