import { signal, type Signal } from "@preact/signals";
import type { Named } from "../../../../protocol/host/about.ts";
import { openLike, runSlash, type Hand } from "../../../../view/slash/run.ts";
import type { Completion, Offer, TypedSlash } from "../../../../view/slash/read.ts";
import { completeSlash, ownNames, readTypedSlash, unknownSlash } from "../../../../view/slash/read.ts";
import type { Place } from "../state/place.ts";
import type { App } from "../state/state.ts";
import type { Followed } from "./session-state.ts";

export type Typing = {
  /** Lines that the last command came to. */
  lines: Signal<readonly string[]>;
  /** False if it was refused; a text to put into the box instead. */
  send(text: string): Promise<boolean | string>;
  run(typed: TypedSlash): Promise<boolean | string>;
  complete(text: string): readonly Completion[];
};

type Parts = Pick<Followed, "session"> & { go(place: Place): void };

export function createTyping(app: App, { session, go }: Parts): Typing {
  const { id } = session;
  const lines = signal<readonly string[]>([]);
  const own = signal<readonly Named[] | undefined>(undefined);
  const learn = async () => {
    own.value ??= [];
    const reply = await app.send({ type: "about", session: id });
    own.value = ownNames(reply.ok ? reply.session : undefined);
  };
  const offer: Offer<"page"> = { place: "page", own: () => own.value ?? [] };

  const say = async (to: string, text: string, when: "now" | "next" = "next"): Promise<boolean> => {
    const reply = await app.send({ type: "say", session: to, text, id: app.id(), when });
    const unknown = unknownSlash(reply, text, offer, app.words.value.slash) ?? app.trouble(reply);
    lines.value = unknown === undefined ? [] : [unknown];
    return reply.ok;
  };

  const hand: Hand<"page", boolean | string> = {
    async own(name, args) {
      switch (name) {
        case "inbox":
        case "sessions":
          go({ page: name });
          return true;
        case "new": {
          const opened = await openLike(session, { byName: true });
          const taken = args === "" || (await say(opened, args));
          go({ page: "session", id: opened });
          return taken;
        }
        default:
          return name satisfies never;
      }
    },
    say(reply, tone) {
      lines.value = reply(app.words.value);
      return tone === "dim";
    },
    done: () => true, // a fact, which is shown
    back: (words) => words,
    speak: (text, _, when) => say(id, text, when),
    go(opened) {
      go({ page: "session", id: opened });
      return true;
    },
  };
  const run = (typed: TypedSlash) => {
    lines.value = [];
    const may = (right: string) => app.may.value.includes(right);
    return runSlash(typed, { session, sender: app.me.value, offer, may }, hand);
  };

  return {
    lines,
    async send(text) {
      const typed = readTypedSlash(text, offer);
      return typed ? run(typed) : say(id, text);
    },
    run,
    complete(text) {
      if (!/^\s*[/／]/.test(text)) return [];
      if (!own.value) void learn().catch(() => {});
      return completeSlash(text, offer, app.words.value.slash);
    },
  };
}
