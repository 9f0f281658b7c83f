import { hash } from "node:crypto";
import {
  callKey,
  callOfKey,
  callsOf,
  isWithinKey,
  stepOfKey,
  type Call,
  type Fact,
  type InputRequest,
  type Verdict,
} from "../../protocol/index.ts";
import { canonical } from "../state/digest.ts";

/** A call of the guest, as the facts of the open turn tell it. */
export type KnownCall = {
  /** Key of the call. */
  place: string;
  call: Call;
  /** Of the guest's tool and its exact input. Files that it changes are in its hands, and not in ours. */
  digest: string;
  verdict: Verdict | undefined;
  request: InputRequest | undefined;
  /** It may have run. */
  started: boolean;
  /** `unknown`: it was started, and nobody here knows how it ended. */
  end: "open" | "finished" | "unknown";
  /** The guest has told of it itself; a prompt may come before that. */
  told: boolean;
};

/** The calls of the open turn. A call is the same if its id and its digest are: models repeat ids. */
export type Book = {
  readonly all: readonly KnownCall[];
  add(place: string, call: Call, told: boolean): KnownCall;
  /** The newest call with this id and this input. */
  find(call: Call): KnownCall | undefined;
  /** The newest call with this id that has no end yet. */
  open(id: string): KnownCall | undefined;
};

export function createBook(facts: readonly Fact[], turn: string): Book {
  const all: KnownCall[] = [];
  const add = (place: string, call: Call, told: boolean): KnownCall => {
    const known: KnownCall = {
      ...{ place, call, digest: guestDigest(call), verdict: undefined, request: undefined },
      ...{ started: false, end: "open", told },
    };
    all.push(known);
    return known;
  };
  const at = (key: string) => all.findLast(({ place }) => place === callOfKey(key));
  for (const fact of facts) {
    if (!isWithinKey(fact.key, turn)) continue;
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
  };
}

function note(known: KnownCall, fact: Fact): void {
  if (fact.type === "calls.judged") known.verdict = fact.data.verdicts[0];
  else if (fact.type === "input.requested") known.request = fact.data;
  else if (fact.type === "call.started") known.started = true;
  else if (fact.type === "call.finished") known.end = "finished";
  else if (fact.type === "call.unknown") known.end = "unknown";
}

export function guestDigest({ tool, input }: Call): string {
  return hash("sha256", `${tool}\n${canonical(input)}`, "base64url");
}
