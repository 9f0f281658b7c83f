// I3 and I4: what was done to the world against what the journal says was allowed and begun.
import { isDeepStrictEqual } from "node:util";
import type { Fact, ToolInput } from "../../src/protocol/index.ts";
import { broken, eventsOf, markedCalls, plain, type Event, type History, type Violation } from "./history.ts";

type Executed = Extract<Event, { type: "executed" }>;

export function* checkCalls(history: History): Generator<Violation> {
  const bySession = Map.groupBy(eventsOf(history, "executed"), ({ session }) => session);
  for (const [session, executed] of bySession) {
    const facts = history.journal.get(session) ?? [];
    const calls = markedCalls(facts);
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
  if (times.length > 1 + Math.min(reruns.length, unknown.length))
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
