import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { InboxRequest } from "../../../../view/request/inbox.ts";
import { useApp } from "../state/context.ts";
import { fragmentFor } from "../state/place.ts";
import { Request } from "./request.tsx";

/** A request, by its id: open, or ended long ago. */
export function RequestPage({ id }: { id: string }) {
  const app = useApp();
  const { web } = app.words.value;
  const known = app.inbox.value.requests.get(id);
  const found = useSignal<InboxRequest | "none" | undefined>(undefined);
  useEffect(() => {
    if (known || !app.known.value || found.value) return;
    void app.send({ type: "request", id }).then(
      (reply) => (found.value = reply.ok ? { inquiries: [], ...reply } : "none"),
      () => {},
    );
  }, [known, app.known.value]);
  // It stays as it was shown, also when the inbox has let go of it.
  useEffect(() => {
    if (known) found.value = known;
  }, [known]);
  const entry = known ?? found.value;
  if (entry === undefined) return <p class="empty">{web.loading}</p>;
  if (entry === "none")
    return (
      <>
        <h1>{web.pages.inbox}</h1>
        <p class="empty">{web.gone}</p>
      </>
    );
  const next = app.open.value.find(({ request }) => request.id !== id);
  return (
    <>
      {entry.resolution && <h1>{web.kind[entry.request.kind]}</h1>}
      <Request entry={entry} level={1} />
      {entry.resolution && (
        <nav class="after" aria-label={web.pagesLabel}>
          <a class="button" href={fragmentFor({ page: "session", id: entry.request.session })}>
            {web.toSession}
          </a>
          {next ? (
            <a class="button" href={fragmentFor({ page: "request", id: next.request.id })}>
              {web.nextRequest}
            </a>
          ) : (
            <a class="button" href={fragmentFor({ page: "inbox" })}>
              {web.pages.inbox}
            </a>
          )}
        </nav>
      )}
    </>
  );
}
