import { useSignal } from "@preact/signals";
import { useApp } from "../state/context.ts";
import { SessionList } from "../request/inbox.tsx";
import { useReply } from "../components/loading.tsx";

/** All sessions, newest first. The inbox knows the newest; the host tells the others. */
export function SessionsPage() {
  const app = useApp();
  const { web } = app.words.value;
  const wanted = useSignal("");
  const asked = useReply({ type: "sessions", limit: 1_000 });
  const known = app.inbox.value.sessions;
  const older = (asked.value.reply?.sessions ?? []).filter(({ id }) => !known.has(id));
  const all = [...known.values(), ...older].toSorted((a, b) => b.lastAt - a.lastAt);
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
        <SessionList sessions={found.slice(0, 300)} />
      )}
    </>
  );
}
