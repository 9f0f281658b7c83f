import { batch, computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { takesSignature } from "../../../../protocol/facts/consent.ts";
import type { Draft, InputRequest, Resolution } from "../../../../protocol/facts/request.ts";
import type { CommandReply, Host, InboxEvent, PendingRequest } from "../../../../protocol/host/host.ts";
import type { Sender } from "../../../../protocol/sender.ts";
import { headline } from "../../../../texts/shared/resolution.ts";
import { alikeTo } from "../../../../view/request/alike.ts";
import type { Inbox, InboxRequest } from "../../../../view/request/inbox.ts";
import { emptyInbox, ended, foldInbox, forget, openIn, vanished } from "../../../../view/request/inbox.ts";
import { createDrafts, type Drafts, type Shelf, type Timing } from "./drafts.ts";
import { begin, draftOf, signed, step, type Answering, type Did, type Problem, type Unsigned } from "./input.ts";
import type { Place } from "./place.ts";
import type { Settings } from "./settings.ts";
import type { Words } from "../words/words.ts";

/** State of the link to the host. `lost`: it tries again by itself. `refused`: this device has to be paired. */
type Connection = { state: "connecting" | "open" | "lost" | "refused"; since: number };

/** A person's way with one request. `saving`: an answer is on its way. */
type Panel = { answering: Answering; note: Note | undefined; sending: boolean; more: boolean };
export type Note =
  | { problem: Problem }
  | { text: string }
  | { lock: "away" | "unseen" | "moving" | "not-approver" | "late" };

/** An ended request is shown for this long, folded. */
const SHOWN_MS = 8_000;

export type App = {
  host: Host;
  timing: Timing;
  words: Signal<Words>;
  me: Signal<Sender>;
  may: Signal<readonly string[]>;
  connection: Signal<Connection>;
  place: Signal<Place>;
  inbox: Signal<Inbox>;
  /** False until the first snapshot is there. */
  known: Signal<boolean>;
  /** Ticks once a second while something shows a time. */
  clock: Signal<number>;
  open: ReadonlySignal<InboxRequest[]>;
  away: ReadonlySignal<boolean>;
  approver: ReadonlySignal<boolean>;
  drafts: Drafts;
  panel(request: InputRequest): Signal<Panel>;
  /** Folders of the host in which sessions can be opened, and the selected one. */
  folders: Signal<readonly string[]>;
  folder: Signal<string>;
  /** Messages that are written and not sent: the page does not reload while there is one. */
  halfWritten: Set<unknown>;
  /** The request that has the focus: keys act on it and on no other. */
  focus: Signal<string | undefined>;
  did(request: InputRequest, act: Did): void;
  locked(request: InputRequest, lock: NonNullable<Extract<Note, { lock: string }>["lock"]>): void;
  alike(request: InputRequest): InputRequest[];
  hear(event: InboxEvent): void;
  learn(requests: readonly PendingRequest[]): void;
  send<C extends Unsigned>(command: C): Promise<CommandReply<C["type"]>>;
  /** The words for a refusal; undefined when it was carried out. */
  trouble(reply: CommandReply): string | undefined;
  id(): string;
  settings: Settings;
  help: Signal<boolean>;
};

type AppOptions = {
  settings: Settings;
  host: Host;
  words: Words;
  timing: Timing;
  shelf: Shelf;
  place: Place;
  id(): string;
};

export function createApp({ host, words, timing, shelf, place, id, settings }: AppOptions): App {
  const inbox = signal<Inbox>(emptyInbox);
  const connection = signal<Connection>({ state: "connecting", since: timing.now() });
  const may = signal<readonly string[]>(["look", "talk", "approve"]);
  const panels = new Map<string, Signal<Panel>>();
  const away = computed(() => connection.value.state !== "open");

  const app: App = {
    host,
    timing,
    inbox,
    connection,
    may,
    away,
    id,
    settings,
    help: signal(false),
    words: signal(words),
    me: signal<Sender>({ by: "", surface: "web" }),
    place: signal(place),
    known: signal(false),
    clock: signal(timing.now()),
    focus: signal(undefined),
    folders: signal<readonly string[]>([]),
    folder: signal("."),
    halfWritten: new Set(),
    open: computed(() => openIn(inbox.value)),
    approver: computed(() => may.value.includes("approve")),
    drafts: createDrafts({
      save: (requestId, draft) => void app.send({ type: "saveDraft", requestId, draft }).catch(() => {}),
      away: () => away.peek(),
      shelf,
      timing,
    }),
    panel(request) {
      let panel = panels.get(request.id);
      if (!panel) {
        const draft = app.drafts.kept(request.id) ?? inbox.peek().requests.get(request.id)?.draft;
        panel = signal<Panel>({ answering: begin(request, draft), note: undefined, sending: false, more: false });
        panels.set(request.id, panel);
      }
      return panel;
    },
    did: (request, act) => did(app, request, act),
    locked(request, lock) {
      const panel = app.panel(request);
      panel.value = { ...panel.value, note: { lock } };
    },
    alike: (request) =>
      alikeTo(
        request,
        openIn(inbox.value).map((entry) => entry.request),
      ),
    hear(event) {
      const gone = event.type === "inbox" ? vanished(inbox.value, event) : [];
      batch(() => {
        inbox.value = foldInbox(inbox.value, event);
        app.known.value = true;
        if (event.type === "fact" && event.fact.type === "draft.saved")
          drafted(app, event.fact.data.requestId, event.fact.data.draft);
      });
      if (event.type === "fact" && event.fact.type === "input.resolved") over(app, event.fact.data);
      if (event.type === "inbox") app.drafts.back(new Set(event.requests.map(({ request }) => request.id)));
      for (const { request } of gone) void ask(app, request.id);
    },
    learn(requests) {
      const fresh = requests.filter(({ request }) => !inbox.value.requests.has(request.id));
      if (fresh.length === 0) return;
      const all = [...inbox.value.requests.values(), ...fresh.map((entry) => ({ inquiries: [], ...entry }))];
      const byAge = all.toSorted((a, b) => a.request.at - b.request.at);
      inbox.value = { ...inbox.value, requests: new Map(byAge.map((entry) => [entry.request.id, entry])) };
    },
    send: (command) => host.send(signed(command, app.me.value)) as never,
    trouble(reply) {
      if (reply.ok) return undefined;
      const { t } = app.words.value;
      if (reply.resolution) return headline(reply.resolution, t, app.me.value);
      return reply.reason ? t.because(reply.reason) : reply.message;
    },
  };
  return app;
}

function did(app: App, request: InputRequest, act: Did): void {
  const panel = app.panel(request);
  if (panel.value.sending) return;
  const alike = app.alike(request);
  const { state, send, problem } = step(request, panel.value.answering, act, { alike, id: app.id });
  panel.value = { ...panel.value, answering: state, note: problem && { problem } };
  if (act.type === "write" || act.type === "pick" || act.type === "other")
    app.drafts.changed(request.id, draftOf(request, state));
  if (send) void carryOut(app, request, send);
}

/** Sends commands one after the other and reports failures. A recorded answer shows up as its fact. */
async function carryOut(app: App, request: InputRequest, commands: readonly Unsigned[]): Promise<void> {
  const panel = app.panel(request);
  const say = (note: Note | undefined) => {
    const { answering } = panel.value;
    const { armed: _, ...rest } = answering;
    const back: Answering = answering.stage === "confirm" ? { ...rest, stage: "choices" } : answering;
    panel.value = { ...panel.value, sending: false, note, answering: note ? back : answering };
  };
  panel.value = { ...panel.value, sending: true, note: undefined };
  try {
    for (const command of commands) {
      const reply = (await signedReply(app, request, command)) ?? (await app.send(command));
      if (reply.ok) {
        if ("resolution" in reply && reply.resolution) over(app, reply.resolution);
        if ("results" in reply)
          for (const result of reply.results)
            if ("resolution" in result && result.resolution) over(app, result.resolution);
        continue;
      }
      if (reply.resolution) over(app, reply.resolution);
      return say({ text: app.trouble(reply) ?? "" });
    }
    say(undefined);
  } catch {
    say({ lock: "late" });
  }
}

/** Answers with a passkey where the request takes a signed yes and the person has one. */
async function signedReply(app: App, request: InputRequest, command: Unsigned) {
  if (command.type !== "respond" || command.response.type !== "granted" || !takesSignature(request)) return undefined;
  return (await app.settings.devices.sign(command.response)) as CommandReply | undefined;
}

/** A request ended: it folds at once, stays for a while, and goes. */
function over(app: App, resolution: Resolution): void {
  const { requestId } = resolution;
  app.drafts.forget(requestId);
  app.inbox.value = ended(app.inbox.value, requestId, resolution);
  app.timing.later(SHOWN_MS, () => (app.inbox.value = forget(app.inbox.value, requestId)));
}

/** Asks how a request ended that was open before a gap. */
async function ask(app: App, id: string): Promise<void> {
  const reply = await app.send({ type: "request", id }).catch(() => undefined);
  if (reply?.ok && "resolution" in reply && reply.resolution) over(app, reply.resolution);
  else if (reply && !reply.ok) app.inbox.value = forget(app.inbox.value, id);
}

/** A draft from elsewhere is taken over where nothing was written here; else it is offered. */
function drafted(app: App, id: string, draft: Draft): void {
  const request = app.inbox.value.requests.get(id)?.request;
  if (!request || app.drafts.isOwn(id, draft)) return;
  const panel = app.panel(request);
  if (!panel.value.answering.touched)
    panel.value = { ...panel.value, answering: { ...begin(request, draft), stage: panel.value.answering.stage } };
}
