import { effect, useSignal } from "@preact/signals";
import { render, type ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { timeOf } from "../../../texts/shared/resolution.ts";
import { AppContext, useApp } from "./state/context.ts";
import { InboxPage } from "./request/inbox.tsx";
import { listenToKeys } from "./keyboard.ts";
import { fragmentFor, readPlace, type Place } from "./state/place.ts";
import { RequestPage } from "./request/request-page.tsx";
import type { App } from "./state/state.ts";
import { Header, Help } from "./header.tsx";

/** Draws the page and follows the address, the clock and the keys. */
export function draw(app: App, root: HTMLElement): void {
  addEventListener("hashchange", () => (app.place.value = readPlace(location.hash)));
  setInterval(() => {
    if (document.visibilityState === "visible") app.clock.value = Date.now();
  }, 1_000);
  listenToKeys(app);
  effect(() => {
    document.documentElement.lang = app.words.value.lang;
  });
  effect(() => {
    document.documentElement.classList.toggle("away", app.connection.value.state === "lost");
  });
  render(
    <AppContext.Provider value={app}>
      <Shell />
    </AppContext.Provider>,
    root,
  );
}

function Shell() {
  const app = useApp();
  const { web } = app.words.value;
  const { state, since } = app.connection.value;
  const place = app.place.value;
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (first.current) return void (first.current = false);
    // A page may have given the focus to what it shows.
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
    if (place.page !== "session") scrollTo(0, 0);
  }, [fragmentFor(place)]);
  return (
    <>
      <Header skip={() => main.current?.focus()} />
      {state === "lost" && (
        <p class="banner" role="alert">
          {web.awaySince(timeOf(since))}
        </p>
      )}
      <main ref={main} tabIndex={-1} id="main">
        <Page place={place} />
      </main>
      <Help />
    </>
  );
}

function Page({ place }: { place: Place }) {
  switch (place.page) {
    case "inbox":
      return <InboxPage />;
    case "request":
      return <RequestPage key={place.id} id={place.id} />;
    case "session":
      return <Later key={place.id} load={sessionPage} props={{ id: place.id }} />;
    default:
      return <Later key={place.page} load={pages[place.page]} props={{}} />;
  }
}

const sessionPage = async () => (await import("./session/session.tsx")).SessionPage;
const pages = {
  sessions: async () => (await import("./pages/pages.tsx")).SessionsPage,
  receipts: async () => (await import("./pages/pages.tsx")).ReceiptsPage,
  rules: async () => (await import("./pages/pages.tsx")).RulesPage,
  devices: async () => (await import("./pages/pages.tsx")).DevicesPage,
  stats: async () => (await import("./pages/pages.tsx")).StatsPage,
};

/** A page whose program is fetched when somebody goes there. */
function Later<P extends object>({ load, props }: { load(): Promise<ComponentType<P>>; props: P }) {
  const { web } = useApp().words.value;
  const found = useSignal<{ Found: ComponentType<P> } | undefined>(undefined);
  useEffect(() => void load().then((Found) => (found.value = { Found })), []);
  if (!found.value) return <p class="empty">{web.loading}</p>;
  const { Found } = found.value;
  return <Found {...props} />;
}
