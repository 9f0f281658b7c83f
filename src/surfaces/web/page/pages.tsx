import { useSignal } from "@preact/signals";
import { useApp } from "./context.ts";
import { SessionList } from "./inbox.tsx";

/** All sessions, newest first. */
export function SessionsPage() {
  const app = useApp();
  const { web } = app.words.value;
  const wanted = useSignal("");
  const all = [...app.inbox.value.sessions.values()].toSorted((a, b) => b.lastAt - a.lastAt);
  const word = wanted.value.trim().toLowerCase();
  const found = all.filter(({ title, id, cwd }) => `${title} ${id} ${cwd}`.toLowerCase().includes(word));
  return (
    <>
      <h1>{web.pages.sessions}</h1>
      <input
        type="search"
        aria-label={web.search}
        placeholder={web.search}
        value={wanted.value}
        onInput={(event) => (wanted.value = event.currentTarget.value)}
      />
      {found.length === 0 ? (
        <p class="empty">{word === "" ? web.none : web.noneFound}</p>
      ) : (
        <SessionList sessions={found} />
      )}
    </>
  );
}

export function ReceiptsPage() {
  return <Nothing page="receipts" />;
}
export function RulesPage() {
  return <Nothing page="rules" />;
}
export function DevicesPage() {
  return <Nothing page="devices" />;
}
export function StatsPage() {
  return <Nothing page="stats" />;
}

function Nothing({ page }: { page: "receipts" | "rules" | "devices" | "stats" }) {
  const { web } = useApp().words.value;
  return (
    <>
      <h1>{web.pages[page]}</h1>
      <p class="empty">{web.none}</p>
    </>
  );
}
