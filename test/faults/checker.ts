// Nothing lost, nothing twice: fifteen things that hold whatever was killed, cut, filled up or sent twice, and when.
import { isDeepStrictEqual } from "node:util";
import { fold } from "../../src/agent/turn/projection.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { Approved } from "../../src/protocol/facts/request.ts";
import { checkCalls } from "./calls.ts";
import { broken, eventsOf, plain, requestsOf, type Event, type History, type Violation } from "./history.ts";

export function check(history: History): Violation[] {
  return [
    ...answersAreKept(history),
    ...firstAnswerWins(history),
    ...checkCalls(history),
    ...lowestIsPresented(history),
    ...nothingHangs(history),
    ...nothingAcknowledgedIsLost(history),
    ...recoveryIsIdempotent(history),
    ...replayEqualsLive(history),
    ...oneOwner(history),
    ...timeOnlyPasses(history),
    ...cancelIsFinal(history),
    ...onlyTheDurableIsShown(history),
    ...nobodyGrantsAlone(history),
    ...silenceGrantsNothing(history),
  ];
}

export function show(violations: readonly Violation[]): string {
  return violations.map(({ invariant, what }) => `${invariant}: ${what}`).join("\n");
}

/** I1: every answer a surface was told is recorded is in the journal, once, with the same value. */
function* answersAreKept(history: History): Generator<Violation> {
  const requests = requestsOf(history);
  for (const { surface, response, reply } of eventsOf(history, "answered")) {
    if (!reply?.ok) continue;
    if (!reply.resolution) {
      yield* signatureIsKept(history, reply.approved, surface);
      continue;
    }
    const kept = requests.get(response.requestId)?.resolution;
    if (!isDeepStrictEqual(kept, plain(reply.resolution)))
      yield broken(
        "I1",
        `${surface} was told that ${response.requestId} is recorded; the journal has ${JSON.stringify(kept)}`,
      );
    else if ("response" in reply.resolution && !isDeepStrictEqual(plain(reply.resolution.response), plain(response)))
      yield broken("I1", `${surface} sent another answer to ${response.requestId} than was recorded`);
  }
}

function* signatureIsKept(
  history: History,
  { requestId, by, approvals }: Approved,
  surface: string,
): Generator<Violation> {
  const kept = [...history.journal.values()]
    .flat()
    .flatMap((fact) => (fact.type === "input.approved" ? [fact.data] : []));
  for (const one of approvals)
    if (!kept.some((fact) => isDeepStrictEqual(fact, plain(one))))
      yield broken("I1", `${surface} was told that ${one.by} approved ${requestId}, and the journal does not have it`);
  if (!approvals.some((one) => one.by === by))
    yield broken("I1", `${surface} was told that ${by} approved, among others`);
}

/** I14: what takes several people is granted by that many, each by name and once, for this very input, and never by who asked. */
function* nobodyGrantsAlone(history: History): Generator<Violation> {
  const ended = requestsOf(history);
  for (const fact of [...history.journal.values()].flat())
    if (fact.type === "input.approved" && fact.seq > (ended.get(fact.data.requestId)?.resolvedSeq ?? 0))
      yield broken("I14", `${fact.data.by} approved ${fact.data.requestId} after its end, or before it was asked`);
  for (const [id, { request, resolution, resolvedSeq }] of ended) {
    if (request.kind !== "permission" || !request.consent || !resolution || !("response" in resolution)) continue;
    if (resolution.response?.type !== "granted") continue;
    const { approvals: needed, except = [] } = request.consent;
    const facts = history.journal.get(request.session) ?? [];
    const given = facts.flatMap((fact) =>
      fact.type === "input.approved" && fact.data.requestId === id && fact.seq < resolvedSeq ? [fact.data] : [],
    );
    const people = new Set(given.filter(({ digest }) => digest === request.digest).map(({ by }) => by));
    for (const one of except)
      if (people.delete(one)) yield broken("I14", `${id} was approved by ${one}, who asked for it`);
    for (const one of ["auto", "deadline", "sage", "policy"])
      if (people.delete(one)) yield broken("I14", `${id} counts ${one} as a person`);
    if (people.size < needed) yield broken("I14", `${id} was granted by ${people.size} of ${needed}`);
  }
}

/** I15: silence grants nothing. */
function* silenceGrantsNothing(history: History): Generator<Violation> {
  for (const [id, { resolution }] of requestsOf(history))
    if (resolution?.outcome === "timed_out" && resolution.response?.type === "granted")
      yield broken("I15", `${id} was granted because nobody answered`);
}

/** I2: one end per request; whoever came later was told the one that is there. */
function* firstAnswerWins(history: History): Generator<Violation> {
  const ends = new Map<string, number>();
  for (const fact of [...history.journal.values()].flat())
    if (fact.type === "input.resolved") ends.set(fact.data.requestId, (ends.get(fact.data.requestId) ?? 0) + 1);
  for (const [id, count] of ends) if (count > 1) yield broken("I2", `${id} ended ${count} times`);
  const requests = requestsOf(history);
  const won = new Set<string>();
  for (const { surface, response, reply } of eventsOf(history, "answered")) {
    const { requestId } = response;
    if (reply?.ok) {
      if (!reply.resolution || reply.again) continue; // one yes of several, or the winner's own answer once more
      if (won.has(requestId)) yield broken("I2", `${surface} was told that it won ${requestId}, and so was another`);
      won.add(requestId);
    } else if (reply?.code === "request-resolved") {
      if (!isDeepStrictEqual(plain(reply.resolution), requests.get(requestId)?.resolution))
        yield broken("I2", `${surface} came late for ${requestId} and was told another end than the journal has`);
    }
  }
}

/** I5: what is listed is what is open, the lowest first, and that one is what a surface presents. */
function* lowestIsPresented(history: History): Generator<Violation> {
  const requests = requestsOf(history);
  const seq = (id: string) => requests.get(id)?.seq ?? Infinity;
  const inOrder = (ids: readonly string[]) => ids.every((id, n) => n === 0 || seq(ids[n - 1]!) < seq(id));
  const open = [...requests].filter(([, { resolution }]) => !resolution).map(([id]) => id);
  const listed = new Set(history.listed);
  if (!inOrder(history.listed)) yield broken("I5", `the open requests are listed out of order: ${[...listed].join()}`);
  for (const id of open) if (!listed.has(id)) yield broken("I5", `${id} is open and not listed`);
  for (const id of listed) if (requests.get(id)?.resolution) yield broken("I5", `${id} has ended and is listed`);
  for (const event of eventsOf(history, "ready"))
    if (!inOrder(event.requests)) yield broken("I5", `${event.surface} got ${event.requests.join()} out of order`);
  for (const { surface, request, open: among } of eventsOf(history, "shown"))
    if (among.some((id) => seq(id) < seq(request)))
      yield broken("I5", `${surface} presented ${request} while an older one of ${among.join()} was open`);
}

/** I6: whoever waits, waits for something that is listed; what is listed is waited for; and in the end every turn ends. */
function* nothingHangs(history: History): Generator<Violation> {
  for (const { session, running, listed, waiting } of eventsOf(history, "settled")) {
    if (!running) continue;
    if (listed.length === 0) yield broken("I6", `${session} waits for nothing that anybody could answer`);
    for (const id of waiting) if (!listed.includes(id)) yield broken("I6", `${session} waits for ${id}: not listed`);
    for (const id of listed) if (!waiting.includes(id)) yield broken("I6", `${id} is listed and nobody waits for it`);
  }
  if (!history.over) return;
  for (const [session, facts] of history.journal) {
    const begun = facts.filter(({ type }) => type === "turn.begun").length;
    const ended = facts.filter(({ type }) => type === "turn.ended").length;
    if (begun !== ended) yield broken("I6", `${session} began ${begun} turns and ended ${ended}`);
    const saw = facts.reduce((seen, fact) => Math.max(seen, "sawUpTo" in fact.data ? fact.data.sawUpTo : 0), 0);
    for (const fact of facts)
      if (fact.type === "user.said" && fact.seq > saw) yield broken("I6", `${session}: ${fact.key} was never heard`);
  }
  for (const id of history.listed) yield broken("I6", `${id} is open though everything is over`);
}

/** I7: what was acknowledged is there, unchanged, in order, under a chain that holds. */
function* nothingAcknowledgedIsLost(history: History): Generator<Violation> {
  const there = new Map<string, Fact>();
  for (const [session, facts] of history.journal) {
    for (const [n, fact] of facts.entries()) {
      there.set(`${session}\n${fact.key}`, fact);
      if (n > 0 && fact.seq <= facts[n - 1]!.seq)
        yield broken("I7", `${session}: ${fact.key} does not come after what it follows`);
    }
  }
  for (const { session, facts } of eventsOf(history, "committed"))
    for (const { key, seq, data } of facts) {
      const kept = there.get(`${session}\n${key}`);
      if (!kept) yield broken("I7", `${session}: ${key} was acknowledged and is not there`);
      else if (kept.seq !== seq || JSON.stringify(kept.data) !== data)
        yield broken("I7", `${session}: ${key} was acknowledged and is another now`);
    }
  for (const [session, record] of history.broken)
    yield broken("I7", `${session}: the hash chain does not hold at ${record}`);
}

/** I8: recovered twice, with nobody doing anything in between, is recovered once. */
function* recoveryIsIdempotent(history: History): Generator<Violation> {
  const before = new Map<string, string>();
  for (const event of history.events) {
    if (event.type === "said") before.delete(event.session);
    if (event.type === "answered") before.delete(event.response.requestId.split("/")[0]!);
    if (event.type !== "recovered") continue;
    const was = before.get(event.session);
    if (was !== undefined && was !== event.state)
      yield broken("I8", `${event.session} was recovered to one state, and then to another`);
    before.set(event.session, event.state);
  }
}

/** I9: what a process had in mind is what the journal says; and the model is asked the same again. */
function* replayEqualsLive(history: History): Generator<Violation> {
  for (const { session, messages, status } of eventsOf(history, "ended")) {
    if (status === "paused" || status === "error") continue;
    const all = history.journal.get(session) ?? [];
    const folded = all.flatMap((fact, n) =>
      fact.type === "turn.ended" ? [JSON.stringify(fold(all.slice(0, n + 1)).messages)] : [],
    );
    if (!folded.includes(JSON.stringify(messages)))
      yield broken("I9", `${session}: no turn folds to the conversation that the process had in mind`);
  }
  const asked = new Map<string, string>();
  for (const { session, step, saw, prompt } of eventsOf(history, "prompted")) {
    const place = `step ${step} of ${session} after ${saw} messages`;
    const before = asked.get(place);
    if (before !== undefined && before !== prompt)
      yield broken("I9", `${place}: the model was asked something else the second time`);
    asked.set(place, prompt);
  }
}

/** I10: facts of two owners never interleave. */
function* oneOwner(history: History): Generator<Violation> {
  const written = eventsOf(history, "committed").filter(({ epoch, facts }) => epoch !== undefined && facts.length > 0);
  const bySession = Map.groupBy(written, ({ session }) => session);
  for (const [session, commits] of bySession) {
    commits.sort((a, b) => a.facts[0]!.seq - b.facts[0]!.seq);
    for (const [n, { epoch, facts }] of commits.entries()) {
      const before = commits[n - 1];
      if (before && epoch! < before.epoch!)
        yield broken("I10", `${session}: owner ${epoch} wrote ${facts[0]!.key} after ${before.epoch}`);
    }
  }
}

/** I11: nothing expires early, measured on the true time while its owner lives and on the wall across restarts. */
function* timeOnlyPasses(history: History): Generator<Violation> {
  const moments = new Map<string, Event>();
  for (const event of eventsOf(history, "committed"))
    for (const { key } of event.facts) moments.set(`${event.session}/${key}`, event);
  for (const [id, { request, resolution }] of requestsOf(history)) {
    if (resolution?.outcome !== "timed_out" || !request.deadline) continue;
    const [opened, ended] = [moments.get(id), moments.get(`${id}.resolved`)];
    if (!opened || !ended) continue;
    const [lived, shown] = [ended.mono - opened.mono, ended.wall - opened.wall];
    const enough = request.deadline.timeoutMs - 1;
    const otherOwner = history.events.slice(opened.n, ended.n).some((event) => {
      if (event.process === opened.process) return event.type === "crashed" || event.type === "silenced";
      return event.type === "committed" && event.session === request.session && event.epoch !== undefined;
    });
    if (lived < enough && (!otherOwner || shown < enough))
      yield broken("I11", `${id} expired after ${lived} ms of ${request.deadline.timeoutMs}`);
  }
}

/** I12: while a call's request is open, after it was cancelled, and after its turn has ended, it does not start. */
function* cancelIsFinal(history: History): Generator<Violation> {
  const requests = requestsOf(history);
  const cancelled = [...requests].filter(([, { resolution }]) => resolution?.outcome === "cancelled");
  for (const [session, facts] of history.journal)
    for (const fact of facts) {
      if (fact.type !== "call.started") continue;
      const call = fact.key.slice(0, fact.key.lastIndexOf("/"));
      for (const [id, { resolvedSeq }] of cancelled)
        if (id.startsWith(`${session}/${call}/`) && fact.seq > resolvedSeq)
          yield broken("I12", `${session}: ${fact.key} was started after ${id} was cancelled`);
      for (const [id, { seq, resolvedSeq }] of requests)
        if (id.startsWith(`${session}/${call}/`) && fact.seq > seq && fact.seq < resolvedSeq)
          yield broken("I12", `${session}: ${fact.key} was started while ${id} was open`);
      const turn = facts.find(({ key }) => key === `${fact.key.split("/")[0]}.ended`);
      if (turn && fact.seq > turn.seq) yield broken("I12", `${session}: ${fact.key} was started after its turn`);
    }
  for (const { surface, response, reply, n } of eventsOf(history, "answered")) {
    if (reply?.ok && !reply.resolution) continue; // one yes of several: I14 looks at when it came
    const ended = history.events.find(
      (event) =>
        event.type === "committed" &&
        event.n < n &&
        event.facts.some(({ key }) => `${event.session}/${key}` === `${response.requestId}.resolved`),
    );
    const mine = reply?.ok && isDeepStrictEqual(plain(reply.resolution), requests.get(response.requestId)?.resolution);
    if (ended && reply?.ok && !mine) yield broken("I12", `${surface} answered ${response.requestId} after its end`);
  }
}

/** I13: nobody hears of what is not on disk, and whoever comes (again) sees everything that is open. */
function* onlyTheDurableIsShown(history: History): Generator<Violation> {
  for (const { session, key, durable } of eventsOf(history, "heard"))
    if (!durable) yield broken("I13", `${session}: ${key} was told before it was on disk`);
  for (const { surface, request, durable } of eventsOf(history, "shown"))
    if (!durable) yield broken("I13", `${surface} showed ${request} before it was on disk`);
  const requests = requestsOf(history);
  for (const { surface, session, knows, durable, requests: listed } of eventsOf(history, "ready"))
    for (const [id, asked] of requests) {
      const open = asked.seq <= knows && asked.resolvedSeq > durable;
      if (asked.request.session === session && open && !listed.includes(id))
        yield broken("I13", `${surface} came and was not shown ${id}, which was open`);
    }
}
