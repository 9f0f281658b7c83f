import { signal, type Signal } from "@preact/signals";
import type { Named } from "../../../../protocol/host/about.ts";
import { openLike, failed, runSlash, type Outcome } from "../../../../view/slash/run.ts";
import {
  completeSlash,
  readTypedSlash,
  unknownSlash,
  type Completion,
  type Offer,
} from "../../../../view/slash/read.ts";
import type { OwnSlash } from "../../../../view/slash/table.ts";
import type { Place } from "../state/place.ts";
import type { App } from "../state/state.ts";
import type { Followed } from "./session-state.ts";

/** The box below a session: messages and commands. */
export type Typing = {
  /** Lines that the last command came to. */
  lines: Signal<readonly string[]>;
  /** False where it was not taken; a text stands in the box instead. */
  send(text: string): Promise<boolean | string>;
  complete(text: string): readonly Completion[];
};

type Parts = { id: string; followed: Pick<Followed, "progress">; go(place: Place): void };

export function createTyping(app: App, { id, followed, go }: Parts): Typing {
  const lines = signal<readonly string[]>([]);
  const own = signal<readonly Named[] | undefined>(undefined);
  const learn = async () => {
    own.value ??= [];
    const reply = await app.send({ type: "about", session: id });
    const { commands = [], skills = [] } = (reply.ok && reply.session) || {};
    own.value = [...commands, ...skills.filter(({ invocable }) => invocable)];
  };
  const offer: Offer<"page"> = { place: "page", own: () => own.value ?? [] };

  const say = async (session: string, text: string): Promise<boolean> => {
    const reply = await app.send({ type: "say", session, text, id: app.id() });
    const unknown = unknownSlash(reply, text, offer, app.words.value.slash) ?? app.trouble(reply);
    lines.value = unknown === undefined ? [] : [unknown];
    return reply.ok;
  };

  const doOwn = async (name: OwnSlash<"page">, args: string): Promise<boolean> => {
    switch (name) {
      case "inbox":
      case "sessions":
        go({ page: name });
        return true;
      case "new": {
        const opened = await openLike({ host: app.host, session: id }, { byName: true });
        const taken = args === "" || (await say(opened, args));
        go({ page: "session", id: opened });
        return taken;
      }
      default:
        return name satisfies never;
    }
  };

  const came = async (outcome: Outcome<"page">): Promise<boolean | string> => {
    const words = app.words.value;
    lines.value = outcome.type === "told" ? outcome.told(words) : [];
    switch (outcome.type) {
      case "own":
        return doOwn(outcome.name, outcome.args);
      case "told":
        return outcome.tone === "dim";
      case "done":
        return true; // a fact, which is shown
      case "back":
        return outcome.words;
      case "say":
        return say(id, outcome.text);
      case "go":
        go({ page: "session", id: outcome.session });
        return true;
      default:
        return outcome satisfies never;
    }
  };

  return {
    lines,
    async send(text) {
      const typed = readTypedSlash(text, offer);
      if (!typed) return say(id, text);
      const typist = {
        host: app.host,
        session: id,
        sender: app.me.value,
        offer,
        mode: () => followed.progress.value.mode,
        may: (right: string) => app.may.value.includes(right),
      };
      return runSlash(typed, typist)
        .then(came)
        .catch((error: unknown) => came(failed(typed.name, error)));
    },
    complete(text) {
      if (!/^\s*[/／]/.test(text)) return [];
      if (!own.value) void learn().catch(() => {});
      return completeSlash(text, offer, app.words.value.slash);
    },
  };
}
