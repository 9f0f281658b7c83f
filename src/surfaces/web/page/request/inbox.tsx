import { useSignal } from "@preact/signals";
import { harmless, oneLine } from "../../../../base/visible.ts";
import type { SessionSummary } from "../../../../protocol/host/host.ts";
import type { WebTexts } from "../../../../texts/surfaces/web.ts";
import { groupsOf } from "../../../../view/request/alike.ts";
import { describeRequest, type Block } from "../../../../view/request/describe.ts";
import { folderNames, originLines } from "../../../../view/request/origin.ts";
import type { InboxRequest } from "../../../../view/request/inbox.ts";
import { titleOf } from "../../../../view/items/summary.ts";
import { Safe } from "../components/code.tsx";
import { Composer } from "../components/composer.tsx";
import { useApp } from "../state/context.ts";
import { fragmentFor } from "../state/place.ts";
import { Ended } from "./request.tsx";
import { QUIET_MS } from "./seen.ts";
import type { App } from "../state/state.ts";
import { Ago, Since } from "../components/loading.tsx";
import { Trouble } from "../components/form.tsx";

/** Everything that waits for a person, over all sessions, oldest first. */
export function InboxPage() {
  const app = useApp();
  const { web } = app.words.value;
  const { requests, sessions, more } = app.inbox.value;
  const count = app.open.value.length + more;
  const all = [...sessions.values()].toSorted((a, b) => b.lastAt - a.lastAt);
  const busy = all.filter(({ state }) => state === "running");
  const rest = all.filter(({ state }) => state === "idle" || state === "stopped").slice(0, 6);
  return (
    <>
      <h1>
        {web.waiting} {count > 0 && <span class="count">{count}</span>}
      </h1>
      {!app.known.value && <p class="empty">{web.loading}</p>}
      {app.known.value && requests.size === 0 && (
        <div class="empty">
          <p>{web.nothing}</p>
          <small>{web.nothingMore}</small>
        </div>
      )}
      <ul class="cards">
        {groupsOf([...requests.values()]).flatMap((group) =>
          group.map((entry) => (
            <li key={entry.request.id}>
              {entry.resolution ? (
                <Ended entry={entry} />
              ) : (
                <Card entry={entry} alike={group.filter(({ resolution }) => !resolution).length} />
              )}
            </li>
          )),
        )}
      </ul>
      {more > 0 && <p class="dim">{web.more(more)}</p>}
      {busy.length > 0 && <SessionList title={web.working} sessions={busy} />}
      {rest.length > 0 && <SessionList title={web.recent} sessions={rest} more />}
      <NewTask />
    </>
  );
}

/** A request in short. It can be refused here; to allow it, it has to be looked at. */
function Card({ entry, alike }: { entry: InboxRequest; alike: number }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const { request, draft, draftBy } = entry;
  const session = app.inbox.value.sessions.get(request.session);
  const shown = useSignal(performance.now());
  const { title, lines, dangerous } = inboxLine(entry, app);
  const { sending, note } = app.panel(request).value;
  const refuse = () => {
    if (app.away.value || performance.now() - shown.value < QUIET_MS) return;
    app.did(request, { type: "choose", choice: "no" });
  };
  const mayRefuse = request.kind === "permission" && app.approver.value && !app.away.value;
  return (
    <article
      class={`card ${request.kind}${dangerous ? " danger" : ""}`}
      data-request={request.id}
      tabIndex={-1}
      onFocusIn={() => (app.focus.value = request.id)}
      aria-labelledby={`title-${request.id}`}
    >
      <header>
        <span class="kind">{web.kind[request.kind]}</span>
        <span class="of">{oneLine(titleOf({ title: session?.title ?? "" })) || web.untitled}</span>
        {alike > 1 && <span class="chip">{web.alike(alike)}</span>}
        <Ago at={request.at} />
      </header>
      {originLines(request, t).map((line) => (
        <p class="origin">{line}</p>
      ))}
      <a class="body" href={fragmentFor({ page: "request", id: request.id })}>
        <h2 id={`title-${request.id}`}>{title}</h2>
        {lines.length > 0 && (
          <pre>
            {lines.map((line) => (
              <div class="line">
                <Safe text={line} />
              </div>
            ))}
          </pre>
        )}
      </a>
      {draft && draftBy && (
        <p class="draft">
          ✎{" "}
          {web.halfFilled(
            t.byWhom(oneLine(draftBy.by), t.surfaces[draftBy.surface] ?? t.otherSurface(draftBy.surface)),
          )}
        </p>
      )}
      {request.deadline && <Deadline at={request.deadline.at} />}
      <div class="row">
        <a class="button" href={fragmentFor({ page: "request", id: request.id })}>
          {request.kind === "permission" ? web.look : web.answerIt}
        </a>
        {mayRefuse && (
          <button type="button" class="no" data-choice="no" onClick={refuse} disabled={sending}>
            {t.no}
          </button>
        )}
      </div>
      {note && "text" in note && <Trouble text={note.text} />}
    </article>
  );
}

function Deadline({ at }: { at: number }) {
  const app = useApp();
  const { t } = app.words.value;
  const left = at - app.clock.value;
  return (
    <p class={left < 300_000 ? "deadline soon" : "deadline"}>{left <= 0 ? t.overdue : t.inTime(t.duration(left))}</p>
  );
}

/** A title, and the first lines of what would run. */
function inboxLine({ request }: InboxRequest, app: App): { title: string; lines: string[]; dangerous: boolean } {
  const { t } = app.words.value;
  if (request.kind === "text") return { title: harmless(request.prompt), lines: [], dangerous: false };
  if (request.kind === "question") {
    const [first, ...others] = request.questions;
    const title = first ? harmless(t.question(first).question) : t.title.question;
    return {
      title: others.length === 0 ? title : t.aside(title, t.place(1, others.length + 1)),
      lines: [],
      dangerous: false,
    };
  }
  const cwd = app.inbox.value.sessions.get(request.session)?.cwd;
  const { tool, action, dangers } = describeRequest(request, { cwd });
  const lines = action.flatMap(blockLines);
  return {
    title: t.tools[tool] ?? t.otherTool(tool),
    lines: lines.length > 3 ? [...lines.slice(0, 3), "…"] : lines,
    dangerous: dangers.length > 0,
  };
}

function blockLines(block: Block): string[] {
  switch (block.type) {
    case "command":
    case "plan":
      return block.lines;
    case "path":
      return [block.real ?? block.given];
    case "change":
      return block.hunks.flatMap(({ lines }) =>
        lines.filter(({ mark }) => mark !== " ").map(({ mark, text }) => `${mark} ${text}`),
      );
    case "omitted":
      return [];
    case "field":
      return block.minor ? [] : [`${block.name}: ${block.lines[0] ?? ""}`];
    default:
      return block satisfies never;
  }
}

export function SessionList({
  title,
  sessions,
  more = false,
}: {
  title?: string;
  sessions: readonly SessionSummary[];
  more?: boolean;
}) {
  const { web } = useApp().words.value;
  const named = folderNames(sessions.map(({ cwd }) => cwd));
  return (
    <section>
      {title !== undefined && <h2 class="part">{title}</h2>}
      <ul class="sessions">
        {sessions.map((session) => (
          <li key={session.id}>
            <a href={fragmentFor({ page: "session", id: session.id })}>
              <span class={`dot ${session.state}`} aria-hidden="true" />
              <span class="name">{oneLine(titleOf(session)) || web.untitled}</span>
              <small class="in" title={oneLine(session.cwd)}>
                {named(session.cwd)}
              </small>
              <small>
                {session.state === "running" ? <Since at={session.lastAt} /> : `${stateText(session, web)} · `}
                {session.state !== "running" && <Ago at={session.lastAt} />}
              </small>
            </a>
          </li>
        ))}
      </ul>
      {more && (
        <a class="all" href={fragmentFor({ page: "sessions" })}>
          {web.allSessions}
        </a>
      )}
    </section>
  );
}

/** The state of a session in words. One of a shared journal that nothing runs is taken up by a worker. */
export function stateText({ state, place }: Pick<SessionSummary, "state" | "place">, web: WebTexts): string {
  return place && state === "stopped" ? web.forWorker : web.state[state];
}

/** A new session in a folder of the host, begun with its first message. */
function NewTask() {
  const app = useApp();
  const { web } = app.words.value;
  const trouble = useSignal("");
  if (!app.may.value.includes("talk")) return null;
  const begin = async (text: string): Promise<boolean> => {
    const opened = await app.send({ type: "open", cwd: app.folder.value });
    if (!opened.ok) {
      trouble.value = app.trouble(opened) ?? "";
      return false;
    }
    const said = await app.send({ type: "say", session: opened.session, text, id: app.id() });
    trouble.value = app.trouble(said) ?? "";
    if (said.ok) location.hash = fragmentFor({ page: "session", id: opened.session });
    return said.ok;
  };
  return (
    <section class="new">
      <h2 class="part">{web.newTask}</h2>
      <Composer label={web.newTask} here={web.newTaskHere} send={begin}>
        {app.folders.value.length > 1 && (
          <label class="folder">
            <span class="hidden">{web.folder}</span>
            <select value={app.folder.value} onChange={(event) => (app.folder.value = event.currentTarget.value)}>
              {app.folders.value.map((folder) => (
                <option value={folder}>{oneLine(folder)}</option>
              ))}
            </select>
          </label>
        )}
      </Composer>
      <Trouble text={trouble.value} />
    </section>
  );
}
