import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { signal as valueOf } from "@preact/signals";
import type { Host } from "../../../src/protocol/host/host.ts";
import { editSession } from "../../../src/surfaces/acp/session.ts";
import { finishedCard } from "../../../src/surfaces/feishu/cards/progress.ts";
import { speechesFrom } from "../../../src/surfaces/feishu/cards/speech.ts";
import { createView as createChat } from "../../../src/surfaces/feishu/session/view.ts";
import { attachPlain } from "../../../src/surfaces/plain/index.ts";
import { attachTerminal } from "../../../src/surfaces/terminal/index.ts";
import { follow } from "../../../src/surfaces/web/page/session/session-state.ts";
import { createApp } from "../../../src/surfaces/web/page/state/state.ts";
import type { Colours } from "../../../src/surfaces/web/page/state/settings.ts";
import { wordsIn } from "../../../src/surfaces/web/page/words/words.ts";
import { acpTexts } from "../../../src/texts/surfaces/acp.ts";
import { texts } from "../../../src/texts/shared/texts.ts";
import { nameOf } from "../../../src/view/items/summary.ts";
import { noteOf } from "../../../src/view/note.ts";
import { followSession, type FollowedSession } from "../../../src/view/session.ts";
import type { Item } from "../../../src/view/transcript/item.ts";
import { createScreen } from "../../support/screen.ts";

/** A surface on a session, as a test looks at it. */
export type Attached = {
  name: string;
  /** Everything that it shows, and has shown where it only adds. */
  shown(): Promise<string>;
  /** It asks the person for an answer now. */
  asks(): Promise<boolean>;
  /** It says that nobody runs the turn. An editor cannot: there it is resumed. */
  tellsStopped?(): Promise<boolean>;
  /** What was drawn can be drawn anew: text that began again replaces what was there. */
  redraws: boolean;
  stop(): Promise<void>;
};

export type Surface = (host: Host, session: string) => Promise<Attached>;

const t = texts("en");
const STOPPED = "The process running this turn is gone";

/** Text of items for the surfaces whose drawing needs a browser, or is the embedder's. */
function textOf(items: Iterable<Item>): string {
  return [...items]
    .map((item) => {
      if (item.type === "said") return `${item.text}${item.withdrawn ? " (taken back)" : ""}`;
      if (item.type === "text" || item.type === "thought") return item.text;
      if (item.type !== "call") return noteOf(item, t)?.line ?? "";
      return [nameOfCall(item.input), item.output, item.result?.text ?? "", ...item.asked.map(endOf)].join("\n");
    })
    .join("\n");
}

function nameOfCall(input: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(input);
}

function endOf({ resolution }: { resolution?: { by: string } }): string {
  return resolution ? `answered by ${resolution.by}` : "";
}

export async function embedder(
  host: Host,
  id: string,
): Promise<Attached & { session: FollowedSession; changes: string[] }> {
  const left = new AbortController();
  const changes: string[] = [];
  const session = followSession(host, id, {
    signal: left.signal,
    changed: (change) => void changes.push(change.type === "request" ? change.is : change.type),
  });
  return {
    ...{ name: "SDK", session, changes, redraws: true },
    shown: async () => textOf(session.items),
    asks: async () => session.requests.length > 0,
    tellsStopped: async () => session.run === "stopped",
    stop: async () => (left.abort(), await session.done),
  };
}

const terminal: Surface = async (host, session) => {
  const left = new AbortController();
  const logDirectory = mkdtempSync(join(tmpdir(), "sage-test-"));
  const screen = createScreen({ cols: 160, rows: 40, scrollback: 5_000 });
  const surface = attachTerminal(host, {
    ...{ session, lang: "en", by: "Tui", header: "Sage", model: "scripted", env: { TERM: "xterm-256color" } },
    ...{ logDirectory, device: screen.terminal, signal: left.signal },
  });
  return {
    ...{ name: "terminal", redraws: true },
    shown: screen.all,
    asks: async () => /Run this command\?/.test((await screen.rows()).join("\n")),
    tellsStopped: async () => (await screen.all()).includes(STOPPED),
    async stop() {
      left.abort();
      await surface.done;
      screen[Symbol.dispose]();
      rmSync(logDirectory, { recursive: true });
    },
  };
};

/** `name`: lines in this process, or in one with a host elsewhere. */
export const lines =
  (name: string): Surface =>
  async (host, session) => {
    const left = new AbortController();
    const output = new PassThrough();
    let text = "";
    output.setEncoding("utf8").on("data", (more: string) => (text += more));
    const options = { input: new PassThrough(), output, lang: "en", color: false } as const;
    const surface = attachPlain(host, { session, ...options, by: name, signal: left.signal });
    return {
      ...{ name, redraws: false },
      shown: async () => text,
      asks: async () => text.slice(text.lastIndexOf("\n") + 1).includes("?"),
      tellsStopped: async () => text.includes(STOPPED),
      stop: async () => (left.abort(), void (await surface.done)),
    };
  };

const editor: Surface = async (host, id) => {
  const left = new AbortController();
  const told: object[] = [];
  const asked = new Set<string>();
  const parts = {
    ...{ host, words: { t, w: acpTexts("en") }, me: { by: "Ed", surface: "acp" }, form: false, signal: left.signal },
    changed() {},
    editor: {
      notify: (_: string, { update }: { update: object }) => void told.push(update),
      request: (method: string, _: unknown, signal?: AbortSignal) =>
        new Promise<never>((_done, fail) => {
          asked.add(method);
          signal?.addEventListener("abort", () => (asked.delete(method), fail(new Error("folded"))));
        }),
    },
  };
  const session = editSession(parts as never, id, { replay: true });
  session.ready.catch(() => {});
  return {
    ...{ name: "ACP", redraws: false },
    shown: async () => JSON.stringify(told),
    asks: async () => asked.size > 0,
    stop: async () => left.abort(),
  };
};

const page: Surface = async (host, id) => {
  const left = new AbortController();
  const nothing = { devices: {}, leave() {}, notify() {}, paint() {}, switchLanguage() {} };
  const app = createApp({
    host,
    words: await wordsIn("en", () => {}),
    settings: { ...nothing, colour: valueOf<Colours>("system"), notifications: valueOf("off") } as never,
    timing: { now: Date.now, later: () => () => {} },
    shelf: { get: () => undefined, put() {}, names: () => [] },
    place: { page: "session", id },
    id: () => "id",
  });
  const followed = follow(app, id, { signal: left.signal, frame: (act) => void setImmediate(act) });
  const reading = (async () => {
    for await (const event of host.inbox({ signal: left.signal })) app.hear(event);
  })();
  return {
    ...{ name: "page", redraws: true },
    shown: async () => textOf(followed.items.value),
    asks: async () => app.open.value.length > 0,
    tellsStopped: async () => followed.run.value === "stopped",
    stop: async () => (left.abort(), await reading),
  };
};

const chat: Surface = async (host, id) => {
  const left = new AbortController();
  const speeches = speechesFrom("en");
  const [{ words }] = speeches;
  const said: string[] = [];
  const session = followSession(host, id, {
    ...{ signal: left.signal, keep: "turn" },
    changed(change) {
      view.changed(change);
      if (change.type !== "fact") return;
      for (const item of change.items) if (item.type !== "call" && item.type !== "text") said.push(textOf([item]));
      if (change.fact.type === "input.resolved") said.push(`answered by ${change.fact.data.by}`);
    },
  });
  const view = createChat(session, () => words);
  const finish = () => ({ title: "", template: "grey" as const, notes: [] });
  return {
    ...{ name: "Feishu", redraws: true },
    shown: async () =>
      [
        ...said,
        ...view.open().map((request) => nameOf(request, t)),
        JSON.stringify(finishedCard(view.progress(), { in: finish }, speeches).card),
        view.progress().live.join("\n"),
      ].join("\n"),
    asks: async () => view.open().length > 0,
    tellsStopped: async () => view.stopped(),
    stop: async () => (left.abort(), await session.done),
  };
};

/** Every surface that follows a session for a person. */
export const surfaces: readonly Surface[] = [embedder, terminal, lines("lines"), editor, page, chat];
