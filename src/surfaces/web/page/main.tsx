import { signal } from "@preact/signals";
import { render } from "preact";
import type { Lang } from "../../../texts/language.ts";
import type { LinkState } from "../../../remote/lasting.ts";
import { draw } from "./app.tsx";
import { drawPairing, connect } from "./pairing.tsx";
import { keepTold, notifications } from "./notify.ts";
import { deviceDesk, deviceName, invitationIn, pairWith } from "./state/pair.ts";
import { passkeyDesk } from "./state/passkey.ts";
import { readPlace } from "./state/place.ts";
import { colours, type Colours, type Settings, storage } from "./state/settings.ts";
import { createApp, type App } from "./state/state.ts";
import { wordsIn, type Words } from "./words/words.ts";

declare const SAGE_VERSION: string;

const root = document.getElementById("app");
if (root) void start(root);

async function start(root: HTMLElement): Promise<void> {
  const lang = language();
  const loading = wordsIn(lang, (more) => shown.app && (shown.app.words.value = more));
  const shown: { app?: App } = {};
  const settings = createSettings(shown);
  const invitation = invitationIn(location.hash);
  // Gone from the address before anything else happens: it must not be in a picture of the screen, or in the history.
  if (invitation !== undefined) history.replaceState(null, "", "/#/");
  const words = await loading;
  document.documentElement.lang = words.lang;
  if (invitation !== undefined) {
    // Most links are exchanged at once. Others need confirmation, and the page says so.
    const waiting = setTimeout(() => drawPairing(root, words, "busy"), 600);
    const paired = await pairWith({ key: invitation, name: deviceName() });
    clearTimeout(waiting);
    if (!paired) return drawPairing(root, words, "failed");
    render(null, root);
  }
  const key = storage.get("sage.key");
  const unpair = () => drawPairing(root, words, "idle");
  const host = connect(key, { lang, changed: (state) => shown.app && linked(shown.app, state, unpair) });
  // A person without a key may still be identified, by a proxy in front of the host.
  if (
    key === undefined &&
    !(await host.welcome.then(
      () => true,
      () => false,
    ))
  )
    return unpair();
  const app = createApp({
    host,
    words,
    settings,
    shelf: storage,
    place: readPlace(location.hash),
    timing: {
      now: () => Date.now(),
      later(ms, act) {
        const timer = setTimeout(act, ms);
        return () => clearTimeout(timer);
      },
    },
    id: () => crypto.randomUUID(),
  });
  shown.app = app;
  linked(app, host.state(), unpair);
  draw(app, root);
  keepTold(app);
  const never = new AbortController().signal;
  for await (const event of host.inbox({ signal: never })) app.hear(event);
}

/** The connection has changed. A host that no longer knows this device asks to be paired again. */
function linked(app: App, state: LinkState, unpair: () => void): void {
  const since = Date.now();
  switch (state.name) {
    case "open": {
      const { me, may, version } = state.welcome;
      app.me.value = me;
      app.may.value = may;
      app.connection.value = { state: "open", since };
      if (version !== SAGE_VERSION) reloadOnce(app, version);
      void app.send({ type: "about" }).then((reply) => {
        if (!reply.ok) return;
        app.folders.value = reply.folders.map(({ name }) => name);
        if (!app.folders.value.includes(app.folder.value)) app.folder.value = app.folders.value[0] ?? ".";
      });
      return;
    }
    case "refused":
      app.connection.value = { state: "refused", since };
      storage.put("sage.key", undefined);
      return unpair();
    case "lost":
      if (app.connection.value.state !== "lost") app.connection.value = { state: "lost", since: state.since };
      return;
    case "connecting":
      if (app.connection.value.state === "open") app.connection.value = { state: "lost", since };
      return;
    case "left":
      app.connection.value = { state: "lost", since };
      return;
    default:
      return state satisfies never;
  }
}

/** Another version serves another page. It is fetched as soon as nothing is half written, and once: a cache in between may keep the old one. */
function reloadOnce(app: App, version: string): void {
  if (sessionStorage.getItem("sage.reloaded") === version) return;
  const halfWritten =
    app.halfWritten.size > 0 || app.drafts.unsaved() || document.activeElement?.matches("textarea, input");
  if (halfWritten) return void setTimeout(() => reloadOnce(app, version), 1_000);
  sessionStorage.setItem("sage.reloaded", version);
  location.reload();
}

function language(): Lang {
  const chosen = storage.get("sage.lang");
  if (chosen === "en" || chosen === "zh") return chosen;
  return /^zh/i.test(navigator.language) ? "zh" : "en";
}

function deviceKey(): string {
  return storage.get("sage.key") ?? "";
}

function createSettings(shown: { app?: App }): Settings {
  const kept = storage.get("sage.colours");
  const colour = signal<Colours>(colours.find((known) => known === kept) ?? "system");
  const paint = (wanted: Colours) => {
    colour.value = wanted;
    document.documentElement.dataset["colours"] = wanted;
    storage.put("sage.colours", wanted === "system" ? undefined : wanted);
  };
  paint(colour.value);
  return {
    colour,
    paint,
    notifications,
    switchLanguage() {
      const { app } = shown;
      if (!app) return;
      const next: Lang = app.words.value.lang === "en" ? "zh" : "en";
      storage.put("sage.lang", next);
      const use = (words: Words) => (app.words.value = words);
      void wordsIn(next, use).then(use);
    },
    notify() {
      void Notification.requestPermission().then((leave) => (notifications.value = leave === "granted" ? "on" : "off"));
    },
    devices: { ...deviceDesk(deviceKey), ...passkeyDesk(deviceKey) },
    leave() {
      const key = storage.get("sage.key");
      storage.put("sage.key", undefined);
      const again = () => location.reload();
      fetch("/v1/device", { method: "DELETE", headers: { authorization: `Bearer ${key}` } }).then(again, again);
    },
  };
}
