// The page on a host that a test plays: what the host tells is put in, what the person sends is read off.
import { signal } from "@preact/signals";
import type { Command, CommandReply, Host, InboxEvent, WatchEvent } from "../../../../src/protocol/host/host.ts";
import { draw } from "../../../../src/surfaces/web/page/app.tsx";
import { keepTold } from "../../../../src/surfaces/web/page/notify.ts";
import { readPlace } from "../../../../src/surfaces/web/page/state/place.ts";
import { type Colours, type Settings, storage } from "../../../../src/surfaces/web/page/state/settings.ts";
import { createApp, type App } from "../../../../src/surfaces/web/page/state/state.ts";
import { wordsIn } from "../../../../src/surfaces/web/page/words/words.ts";

export type Fake = {
  sent: Command[];
  /** Replies to commands by their type; all others are taken. */
  replies: Record<string, CommandReply>;
  /** An answer is on its way until this is called. */
  hold: boolean;
  inbox(event: InboxEvent): void;
  watch(session: string, ...events: WatchEvent[]): void;
  link(state: "open" | "lost"): void;
  may(...rights: string[]): void;
};

function queue<E>(): { push(event: E): void; read(signal: AbortSignal): AsyncGenerator<E> } {
  const waiting: E[] = [];
  let wake = () => {};
  return {
    push(event) {
      waiting.push(event);
      wake();
    },
    async *read(stop) {
      stop.addEventListener("abort", () => wake());
      while (!stop.aborted) {
        for (const event of waiting.splice(0)) yield event;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

const inbox = queue<InboxEvent>();
const watches = new Map<string, ReturnType<typeof queue<WatchEvent>>>();
const watchOf = (session: string) => {
  const found = watches.get(session) ?? queue<WatchEvent>();
  watches.set(session, found);
  return found;
};
const shown: { app?: App } = {};

const fake: Fake = {
  sent: [],
  replies: {
    past: { ok: true, trials: [] },
    receipts: { ok: true, receipts: [], sessions: [], records: [] },
    about: { ok: true, folders: [] },
    sessions: { ok: true, sessions: [] },
    stats: {
      ok: true,
      stats: {
        ...{ asked: 0, yes: 0, no: 0, none: 0, open: 0 },
        calls: 0,
        sessions: 0,
        tools: [],
        people: [],
        rules: [],
      },
    },
  },
  hold: false,
  inbox: (event) => inbox.push(event),
  watch: (session, ...events) => events.forEach((event) => watchOf(session).push(event)),
  link(state) {
    if (shown.app) shown.app.connection.value = { state, since: Date.now() };
  },
  may(...rights) {
    if (shown.app) shown.app.may.value = rights;
  },
};
Object.assign(globalThis, { fake });

const host: Host = {
  async send(command) {
    fake.sent.push(command);
    while (fake.hold) await new Promise((resolve) => setTimeout(resolve, 10));
    const own: CommandReply = command.type === "open" ? { ok: true, session: "fresh", created: true } : { ok: true };
    return (fake.replies[command.type] ?? own) as never;
  },
  watch: (session, { signal: stop }) => watchOf(session).read(stop),
  inbox: ({ signal: stop }) => inbox.read(stop),
};

const lang = new URLSearchParams(location.search).get("lang") === "zh" ? "zh" : "en";
const settings: Settings = {
  colour: signal<Colours>("system"),
  paint: () => {},
  switchLanguage: () => {},
  notifications: signal<"ask" | "on" | "off">("off"),
  notify: () => {},
  devices: {
    list: () =>
      Promise.resolve([
        { id: "d1", name: "Chrome, Linux", owner: "you", at: Date.now() - 86_400_000, seen: Date.now(), own: true },
        { id: "d2", name: "iPhone", owner: "you", at: Date.now() - 8 * 86_400_000, seen: Date.now() - 3_600_000 },
      ]),
    remove: () => Promise.resolve(),
    invite: () => Promise.resolve("https://sage.example.org/#k=example"),
    addPasskey: () => Promise.resolve({ ok: true }),
    sign: () => Promise.resolve(undefined),
  },
  leave: () => {},
};
const words = await wordsIn(lang, (more) => shown.app && (shown.app.words.value = more));
const app = createApp({
  ...{ host, words, settings, shelf: storage, place: readPlace(location.hash), id: () => "id" },
  timing: {
    now: () => Date.now(),
    later(ms, act) {
      const timer = setTimeout(act, ms);
      return () => clearTimeout(timer);
    },
  },
});
shown.app = app;
app.me.value = { by: "you", surface: "web" };
app.connection.value = { state: "open", since: Date.now() };
draw(app, document.getElementById("app")!);
keepTold(app);
void (async () => {
  for await (const event of host.inbox({ signal: new AbortController().signal })) app.hear(event);
})();
