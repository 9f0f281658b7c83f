import { canonicalJson } from "../../base/canonical-json.ts";
import type { Call } from "../../protocol/facts/message.ts";
import type { GuestAnswer, GuestAsk } from "../driver.ts";
import { fields } from "../json.ts";
import type { Json, Peer } from "../peer.ts";
import { askOfHook, askOfPrompt, hookReply, inputFor, isBookkeeping, isDelegation, promptReply } from "./map.ts";

/** Calls of the reply that run beside the one that is kept are waited for: a result that comes after that is lost. */
const EARLIER_MS = 60_000;

const another = "Another call of this reply waits for the person. Make this call again once that one has its result.";
type Prompts = {
  readonly isWaiting: boolean;
  /** Ids of the subagents that wait for an answer, and undefined for the agent itself. */
  readonly askers: ReadonlySet<unknown>;
  requested(id: string, request: Json): void;
  /** False if no such prompt is waiting. */
  withdraw(id: string): boolean;
  /** A call has its result. */
  ended<T extends { call: string }>(result: T): T;
  /** False where the words for its model could not be sent along. */
  answer(id: string, given: GuestAnswer | "defer"): boolean;
  /** Leaves the process with the one call that it asks for, and refuses the others. False where something would be lost. */
  defer(asks: readonly GuestAsk[]): Promise<boolean>;
};

/** Unanswered prompts. `arrived` is called for each, `asks` for those that a person has to answer. */
export function createPrompts(peer: Peer, on: { arrived(): void; asks(prompt: GuestAsk): void }): Prompts {
  const open = new Map<string, { ask: GuestAsk; from: "hook" | "prompt"; agent: unknown }>();
  /** Calls that a person has allowed, as they run: a prompt of its own rules for them is answered already. */
  const allowed = new Set<string>();
  /** Calls of its own reply that run, with their tools. */
  const running = new Map<string, string>();
  let settled = () => {};
  let deferred = false;

  const reply = (id: string, response: Json) =>
    peer.send({ type: "control_response", response: { subtype: "success", request_id: id, response } });
  const answer: Prompts["answer"] = (id, given) => {
    const prompt = open.get(id);
    if (!prompt || !open.delete(id)) return true;
    const { ask, from } = prompt;
    if (given === "defer") reply(id, hookReply(ask, given));
    else {
      const lets = given.type !== "refused";
      if (lets && (given.type === "answers" || given.by === "person"))
        allowed.add(runOf(ask.call, inputFor(ask.call, given)));
      if (lets && ask.agent.length === 0) running.set(ask.call.id, ask.call.tool);
      reply(id, from === "hook" ? hookReply(ask, given) : promptReply(ask, given));
    }
    return from === "hook";
  };
  const asks = (prompt: GuestAsk, from: "hook" | "prompt", agent: unknown) => {
    open.set(prompt.id, { ask: prompt, from, agent });
    on.arrived();
    if (deferred) refuseBystander(prompt.id);
    else on.asks(prompt);
  };
  /** Its result comes behind the call that is kept, which is lost unless the turn stops there. */
  const refuseBystander = (id: string) => {
    const prompt = open.get(id);
    open.delete(id);
    if (prompt?.from === "hook") reply(id, { continue: false, stopReason: another, ...hookReply(prompt.ask, later) });
    else if (prompt) reply(id, promptReply(prompt.ask, later));
  };

  return {
    get isWaiting() {
      return open.size > 0;
    },
    get askers() {
      return new Set([...open.values()].map(({ agent }) => agent));
    },
    requested(id, request) {
      const { subtype } = request;
      if (subtype === "hook_callback") {
        const prompt = askOfHook(id, request);
        if (deferred || !isBookkeeping(prompt.call.tool))
          return asks(prompt, "hook", fields(request["input"])["agent_id"]);
        if (prompt.agent.length === 0) running.set(prompt.call.id, prompt.call.tool);
        reply(id, {});
      } else if (subtype === "can_use_tool") {
        const prompt = askOfPrompt(id, request);
        if (allowed.has(runOf(prompt.call))) reply(id, promptReply(prompt, { type: "allowed", by: "person" }));
        else asks(prompt, "prompt", request["agent_id"]);
      } else
        peer.send({ type: "control_response", response: { subtype: "error", request_id: id, error: "not supported" } });
    },
    withdraw: (id) => open.delete(id),
    ended(result) {
      running.delete(result.call);
      if (running.size === 0) settled();
      return result;
    },
    answer,
    async defer(asks) {
      const [first] = asks;
      const kept = asks.length === 1 && first ? open.get(first.id) : undefined;
      // A deferral inside a subagent is lost, and so is whatever else the process holds when it ends.
      const isLost = ({ ask, from }: { ask: GuestAsk; from: string }) => ask.agent.length > 0 || from === "prompt";
      if (!kept || [...open.values()].some(isLost) || [...running.values()].some(isDelegation)) return false;
      deferred = true;
      const others = [...open.keys()].filter((id) => id !== kept.ask.id);
      if (running.size > 0) {
        const late = setTimeout(() => settled(), EARLIER_MS);
        await new Promise<void>((resolve) => (settled = resolve));
        clearTimeout(late);
      }
      answer(kept.ask.id, "defer");
      others.forEach(refuseBystander);
      return true;
    },
  };
}

const later: GuestAnswer = { type: "refused", by: "rule", words: another };

/** Models repeat ids: a yes is for this input alone. */
function runOf({ id, tool, input }: Call, edited = input): string {
  return canonicalJson([id, tool, edited]);
}
