import { hash } from "node:crypto";
import type { Fact } from "../../protocol/facts/fact.ts";
import { callsOf, type Call } from "../../protocol/facts/message.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { callKey, callOfKey, isWithinKey, stepOfKey } from "../../protocol/key.ts";
import { canonical } from "../state/digest.ts";

/** A call of the guest, as the facts of the open turn tell it. */
export type KnownCall = {
  place: string;
  call: Call;
  /** Digest of the guest's tool and its exact input. Files that it changes are in its hands, and not in ours. */
  digest: string;
  verdict: Verdict | undefined;
  request: InputRequest | undefined;
  started: boolean;
  /** `unknown`: it was started, and nobody here knows how it ended. */
  end: "open" | "finished" | "unknown";
  /** Text of its result. */
  result: string | undefined;
  /** The guest reported the call itself; a prompt for it may come earlier. */
  told: boolean;
  /** It belongs to a conversation that the guest has lost. */
  forgotten: boolean;
};

/** The calls of the open turn. A call is the same if its id and its digest are: models repeat ids. */
export type Book = {
  readonly all: readonly KnownCall[];
  add(place: string, call: Call, told: boolean): KnownCall;
  /** The newest call with this id and this input. */
  find(call: Call): KnownCall | undefined;
  open(id: string): KnownCall | undefined;
  /** A repeated call needs a person: `unknown`: its end is not known; `forgotten`: the guest lost the conversation in which it ran. */
  ranBefore(digest: string): "unknown" | "forgotten" | undefined;
  /** The guest begins a new conversation: whatever it did in the one before it, it does not know. */
  forget(): void;
};

export function createBook(facts: readonly Fact[], turn: string): Book {
  const all: KnownCall[] = [];
  const add = (place: string, call: Call, told: boolean): KnownCall => {
    const known: KnownCall = {
      place,
      call,
      digest: guestDigest(call),
      verdict: undefined,
      request: undefined,
      started: false,
      end: "open",
      result: undefined,
      told,
      forgotten: false,
    };
    all.push(known);
    return known;
  };
  const earlier = lostBefore(facts, turn);
  const at = (key: string) => all.findLast(({ place }) => place === callOfKey(key));
  const forget = () => all.forEach((known) => (known.forgotten = true));
  let session: string | undefined;
  for (const fact of facts) {
    if (!isWithinKey(fact.key, turn)) continue;
    if (fact.type === "guest.joined") {
      if (fact.data.session !== session) forget();
      session = fact.data.session;
    }
    if (fact.type === "model.replied")
      for (const [n, call] of callsOf(fact.data).entries()) add(callKey(stepOfKey(fact.key) ?? "", n), call, true);
    const known = at(fact.key);
    if (known) note(known, fact);
  }
  return {
    all,
    add,
    find: (call) => all.findLast((known) => known.call.id === call.id && known.digest === guestDigest(call)),
    open: (id) => all.findLast(({ call, end }) => call.id === id && end === "open"),
    forget,
    ranBefore(digest) {
      const newest = all.findLast((known) => known.digest === digest && known.started);
      if (!newest) return earlier.has(digest) ? "unknown" : undefined;
      if (newest.verdict?.effect === "reads" || newest.end === "open") return undefined;
      return newest.end === "unknown" ? "unknown" : newest.forgotten ? "forgotten" : undefined;
    },
  };
}

function note(known: KnownCall, fact: Fact): void {
  if (fact.type === "calls.judged") known.verdict = fact.data.verdicts[0];
  else if (fact.type === "input.requested") known.request = fact.data;
  else if (fact.type === "call.started") known.started = true;
  else if (fact.type === "call.finished") [known.end, known.result] = ["finished", fact.data.text];
  else if (fact.type === "call.unknown") known.end = "unknown";
}

/** Digests of calls whose newest run, in the turns before this one, has an unknown end and may have changed something. */
function lostBefore(facts: readonly Fact[], turn: string): ReadonlySet<string> {
  const runs = new Map<string, string>();
  const lost = new Set<string>();
  for (const fact of facts) {
    if (isWithinKey(fact.key, turn)) continue;
    const place = callOfKey(fact.key) ?? fact.key;
    if (fact.type === "call.started" && fact.data.effect !== "reads") {
      runs.set(place, fact.data.digest);
      lost.delete(fact.data.digest);
    }
    const digest = fact.type === "call.unknown" ? runs.get(place) : undefined;
    if (digest !== undefined) lost.add(digest);
  }
  return lost;
}

export function guestDigest({ tool, input }: Call): string {
  return hash("sha256", `${tool}\n${canonical(input)}`, "base64url");
}
