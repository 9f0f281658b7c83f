import type { Redaction } from "../../config/secrets/redact.ts";
import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { CommandReply, InboxEvent, PendingRequest, WatchEvent } from "../../protocol/host/host.ts";

/** An unfinished line is held back whole if it may contain a multi-word secret. */
const suspicious = /pass|pwd|secret|key|token|credential|cookie|auth|bearer|private|-----|:\/\//i;
/** Secrets that go over lines begin so. */
const opens = /-----BEGIN |Private-Lines: /;
const closes = /-----END [^\n]*-----/;
/** A line longer than this is shown before it is complete. */
const MAX_TEXT_LENGTH = 16_384;

/** Secrets are taken out of whatever leaves for somebody's screen, and the number of places goes along. */
export type Veil = {
  fact(fact: Fact): Fact;
  pending(pending: PendingRequest): PendingRequest;
  reply(reply: CommandReply): CommandReply;
  inbox(event: InboxEvent): InboxEvent;
  /** Redacts the events of one watch, in order. Undefined: nothing can be shown yet. */
  watching(): (event: WatchEvent) => WatchEvent | undefined;
  masked(request: InputRequest): number;
  /** The reverse: redacted texts of a request that a person sends back become the originals. */
  lift<T>(request: InputRequest, sent: T): T;
};

/** A fact goes to many watchers, and is the same for all of them. */
const seen = new WeakMap<Redaction, WeakMap<object, unknown>>();

export function createVeil(redaction: Redaction): Veil {
  const known = seen.get(redaction) ?? new WeakMap<object, unknown>();
  seen.set(redaction, known);
  const once = <T extends object>(given: T, make: (given: T) => T): T => {
    const found = known.get(given) as T | undefined;
    if (found) return found;
    const made = make(given);
    known.set(given, made);
    return made;
  };

  const request = (given: InputRequest): InputRequest =>
    once(given, (value) => {
      const shown = redaction.value(value);
      // A mark of ours that was there before must not make one that is new look like none.
      const masked = Math.max(
        countMasks(shown) - countMasks(value),
        JSON.stringify(shown) === JSON.stringify(value) ? 0 : 1,
      );
      return masked > 0 ? { ...shown, masked } : shown;
    });
  const pending = ({ request: asked, ...rest }: PendingRequest): PendingRequest => ({
    request: request(asked),
    ...redaction.value(rest),
  });
  const fact = (given: Fact): Fact =>
    once(given, (value) =>
      value.type === "input.requested"
        ? { ...value, data: request(value.data) }
        : ({ ...value, data: redaction.value(value.data) } as Fact),
    );

  return {
    fact,
    pending,
    reply(reply) {
      if (!reply.ok) return redaction.value(reply);
      if ("requests" in reply) return { ...reply, requests: reply.requests.map(pending) };
      if ("request" in reply) return { ...redaction.value(reply), request: request(reply.request) };
      if ("facts" in reply) return { ...reply, facts: reply.facts.map(fact) };
      return redaction.value(reply);
    },
    inbox(event) {
      if (event.type === "fact") return { ...event, fact: fact(event.fact) };
      return { ...event, requests: event.requests.map(pending), sessions: redaction.value(event.sessions) };
    },
    watching() {
      const text = veilText(redaction);
      return (event) => {
        switch (event.type) {
          case "fact":
            return { ...event, fact: fact(event.fact) };
          case "ready":
            return { ...event, requests: event.requests.map(pending) };
          case "delta": {
            const delta = text(event.delta);
            return delta && { ...event, delta };
          }
          case "owner":
          case "link":
            return event;
          default:
            return event satisfies never;
        }
      };
    },
    masked: (given) => request(given).masked ?? 0,
    lift(given, sent) {
      const meant = new Map<string, string>();
      pairs(request(given), given, meant);
      return meant.size === 0 ? sent : lifted(sent, meant);
    },
  };
}

const countMasks = (value: unknown) => JSON.stringify(value).split("[secret").length - 1;

/** Texts that differ in the two, by how they are shown. */
function pairs(shown: unknown, meant: unknown, found: Map<string, string>): void {
  if (typeof shown === "string") {
    if (typeof meant === "string" && shown !== meant) found.set(shown, meant);
    return;
  }
  if (shown === null || meant === null || typeof shown !== "object" || typeof meant !== "object") return;
  for (const [field, value] of Object.entries(shown)) pairs(value, (meant as Record<string, unknown>)[field], found);
}

function lifted<T>(sent: T, meant: ReadonlyMap<string, string>): T {
  const lift = (given: unknown): unknown => {
    if (typeof given === "string") return meant.get(given) ?? given;
    if (Array.isArray(given)) return given.map(lift);
    if (given === null || typeof given !== "object") return given;
    return Object.fromEntries(Object.entries(given).map(([field, value]) => [meant.get(field) ?? field, lift(value)]));
  };
  return lift(sent) as T;
}

/** `tail`: the last, unfinished line. `shown`: the part of it that was sent, as it was sent. */
type Block = { attempt: number; tail: string; shown: string };

/** Takes secrets out of streamed text: the word being written waits for its end. What is held back comes with the fact. */
export function veilText(redaction: Redaction): (delta: Delta) => Delta | undefined {
  const blocks = new Map<string, Block>();
  return (delta) => {
    const { key, kind, attempt, text } = delta;
    if (kind === "notice" || kind === "state") return redaction.value(delta);
    const id = `${kind} ${key}`;
    let block = blocks.get(id);
    if (!block || block.attempt !== attempt || delta.whole) blocks.set(id, (block = { attempt, tail: "", shown: "" }));
    block.tail += text;
    const told = tell(block, redaction);
    return told === "" && text !== "" && !delta.whole ? undefined : { ...delta, text: told };
  };
}

function tell(block: Block, redaction: Redaction): string {
  const { tail, shown } = block;
  const end = tail.length > MAX_TEXT_LENGTH ? tail.length : safeEnd(tail);
  const clean = redaction.text(tail.slice(0, end));
  const told = unnamed(clean).startsWith(unnamed(shown)) ? clean.slice(shown.length) : "";
  // A line that turned out to be suspicious continues after the part already sent.
  if (!unnamed(shown).startsWith(unnamed(clean))) block.shown = clean;
  const finished = tail.lastIndexOf("\n", end - 1) + 1;
  const goesOn = opens.test(tail) && !closes.test(tail);
  if (tail.length > MAX_TEXT_LENGTH) {
    block.tail = goesOn ? `${/-----BEGIN [^\n]*/.exec(tail)?.[0] ?? ""}\n` : "";
    block.shown = redaction.text(block.tail);
  } else if (finished > 0 && !goesOn) {
    block.tail = tail.slice(finished);
    block.shown = redaction.text(tail.slice(finished, end));
  }
  return told;
}

/** A secret that grows has another mark each time, of the same length. */
const unnamed = (text: string) => text.replaceAll(/\[secret #[0-9a-f]{6}\]/g, "[secret #      ]");

/** End of the part of a text that can be shown: before a suspicious line or an unfinished word. */
function safeEnd(tail: string): number {
  const line = tail.lastIndexOf("\n") + 1;
  if (suspicious.test(tail.slice(line))) return line;
  let end = tail.length;
  while (end > line && isOfWord(tail.charCodeAt(end - 1))) end--;
  return end;
}

/** Secrets are made of printable ASCII; Chinese has no spaces, and should not wait for the end of a line. */
const isOfWord = (code: number) => code > 0x20 && code < 0x7f;
