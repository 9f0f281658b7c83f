// I3 and I4: what was done to the world against what the journal says was allowed and begun.
import { isDeepStrictEqual } from "node:util";
import type { ToolInput } from "../../src/protocol/facts/call.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { callOfKey } from "../../src/protocol/key.ts";
import { broken, eventsOf, markedCalls, plain, type Event, type History, type Violation } from "./history.ts";

type Executed = Extract<Event, { type: "executed" }>;

export function* checkCalls(history: History): Generator<Violation> {
  const bySession = Map.groupBy(eventsOf(history, "executed"), ({ session }) => session);
  for (const [session, executed] of bySession) {
    const facts = history.journal.get(session) ?? [];
    const calls = markedCalls(facts);
    yield* remadeWithRight(session, facts);
    for (const [mark, times] of Map.groupBy(executed, (one) => one.mark)) {
      const call = calls.get(mark);
      if (!call) {
        yield broken("I4", `${session}: ${mark} was done, and no reply of the model asked for it`);
        continue;
      }
      yield* atMostOnce(session, facts, call.key, times);
      for (const one of times) yield* withRight(session, facts, call, one);
    }
  }
}

/** I3: between two executions stands a `call.unknown` and a person's word to run it again. */
function* atMostOnce(session: string, facts: readonly Fact[], call: string, times: Executed[]): Generator<Violation> {
  const reruns = facts.filter((fact) => isRerun(fact, `${session}/${call}`));
  const unknown = facts.filter((fact) => fact.type === "call.unknown" && fact.key.startsWith(`${call}/run`));
  const remade = Math.max(0, remakesOf(facts, call).length - 1);
  if (times.length > 1 + remade + Math.min(reruns.length, unknown.length))
    return void (yield broken(
      "I3",
      `${session}: ${call} ran ${times.length} times with ${reruns.length} reruns on a person's word`,
    ));
  for (const [n, { durable: now }] of times.entries()) {
    const before = times[n - 1]?.durable;
    if (n === 0 || before === undefined || now === undefined) continue;
    const between = (seq: number) => seq > before && seq <= now;
    if (!unknown.some(({ seq }) => between(seq)) || !reruns.some(({ seq }) => between(seq)))
      yield broken("I3", `${session}: ${call} ran again before a person said so`);
  }
}

type Started = Fact<"call.started">;

/** Starts of the same call, which a guest that forgot it made again: each under a key of its own, with a permission of its own. */
function remakesOf(facts: readonly Fact[], call: string): Started[] {
  const starts = startsOfGuest(facts);
  const digest = starts.find(({ key }) => callOfKey(key) === call)?.data.digest;
  return starts.filter(({ data }) => data.digest === digest);
}

function startsOfGuest(facts: readonly Fact[]): Started[] {
  if (!facts.some(({ type }) => type === "guest.joined")) return [];
  return facts.filter((fact): fact is Started => fact.type === "call.started");
}

/**
 * I3, of guests: a call whose end nobody heard, or that ran in a conversation which is lost, starts again only after a person's yes to a
 * request that says so.
 */
function* remadeWithRight(session: string, facts: readonly Fact[]): Generator<Violation> {
  for (const starts of Map.groupBy(startsOfGuest(facts), ({ data }) => data.digest).values())
    for (const [n, { key, seq }] of starts.entries()) {
      const before = starts[n - 1];
      if (!before) continue;
      const ended = facts.find((fact) => isEnd(fact, before) && fact.seq < seq);
      if (ended?.type === "call.finished" && conversationAt(facts, before) === conversationAt(facts, { seq })) continue;
      const call = callOfKey(key);
      const asked = facts.find((fact) => fact.type === "input.requested" && callOfKey(fact.key) === call);
      const said = asked?.type === "input.requested" && asked.data.why.code === "guest-may-have-run";
      const granted = facts.some(
        (fact) =>
          fact.type === "input.resolved" &&
          asked?.type === "input.requested" &&
          fact.data.requestId === asked.data.id &&
          fact.seq < seq,
      );
      if (!ended || !said || !granted)
        yield broken(
          "I3",
          `${session}: ${key} was started again, and no person was told that ${before.key} may have run`,
        );
    }
}

function conversationAt(facts: readonly Fact[], { seq }: { seq: number }): string | undefined {
  const joined = facts.findLast((fact) => fact.type === "guest.joined" && fact.seq < seq);
  return joined?.type === "guest.joined" ? joined.data.session : undefined;
}

function isEnd({ type, key }: Fact, started: Started): boolean {
  return (type === "call.finished" || type === "call.unknown") && callOfKey(key) === callOfKey(started.key);
}

function isRerun(fact: Fact, call: string): boolean {
  if (fact.type !== "input.resolved" || !fact.data.requestId.startsWith(`${call}/lost`)) return false;
  if (fact.data.outcome !== "answered" || fact.data.response.type !== "answers") return false;
  return Object.values(fact.data.response.answers).some(({ selected }) => selected.includes("rerun"));
}

/** I4: it was judged or granted before, for exactly this input, and its start was on disk. */
function* withRight(
  session: string,
  facts: readonly Fact[],
  { key, input }: { key: string; input: ToolInput },
  { durable = Infinity, input: ran, tool }: Executed,
): Generator<Violation> {
  const before = facts.filter(({ seq }) => seq <= durable);
  const inputs = new Set<ToolInput>();
  let shown = input;
  let digest: string | undefined;
  const [step, n] = [key.slice(0, key.lastIndexOf("/")), Number(key.slice(key.lastIndexOf("/") + 1))];
  for (const fact of before) {
    if (fact.type === "calls.judged") {
      const verdict =
        fact.key === `${step}/judged`
          ? fact.data.verdicts[n]
          : /^judged\d+$/.test(fact.key.slice(key.length + 1)) && fact.key.startsWith(`${key}/`)
            ? fact.data.verdicts[0]
            : undefined;
      if (!verdict) continue;
      shown = verdict.input ?? shown;
      digest = verdict.digest;
      if (verdict.behavior === "allow") inputs.add(shown);
      if (verdict.behavior === "deny") inputs.clear();
    }
    if (fact.type !== "input.resolved" || !fact.data.requestId.startsWith(`${session}/${key}/permit`)) continue;
    if (!("response" in fact.data) || fact.data.response?.type !== "granted") continue;
    inputs.add(fact.data.response.input ?? shown);
  }
  if (![...inputs].some((one) => isDeepStrictEqual(plain(one), plain(ran))))
    yield broken(
      "I4",
      `${session}: ${tool} at ${key} ran with ${JSON.stringify(ran)}, and nothing on disk allowed that`,
    );
  const started = before.findLast((fact) => fact.type === "call.started" && fact.key.startsWith(`${key}/run`));
  if (started?.type !== "call.started") yield broken("I4", `${session}: ${key} ran before its start was on disk`);
  else if (started.data.digest !== digest)
    yield broken("I4", `${session}: ${key} ran under another digest than it was judged under`);
}
