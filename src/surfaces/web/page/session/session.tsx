import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { oneLine } from "../../../../base/visible.ts";
import { agentOf, type ToolInput } from "../../../../protocol/facts/call.ts";
import type { Item } from "../../../../view/transcript/item.ts";
import { dollars, titleOf } from "../../../../view/items/summary.ts";
import { Composer } from "../components/composer.tsx";
import { useApp } from "../state/context.ts";
import { stateText } from "../request/inbox.tsx";
import { ItemView, Todos } from "./items.tsx";
import { Request } from "../request/request.tsx";
import { SessionMenu } from "./session-menu.tsx";
import { fragmentFor } from "../state/place.ts";
import { follow, type Followed } from "./session-state.ts";
import { createTyping, type Typing } from "./typing.ts";

/** Items that are drawn at first; earlier ones on demand. */
const DRAWN = 200;

/** A session as it happens, with its open requests above the box to write in. */
export function SessionPage({ id }: { id: string }) {
  const app = useApp();
  const { web } = app.words.value;
  const stop = useMemo(() => new AbortController(), [id]);
  const followed = useMemo(
    () => follow(app, id, { signal: stop.signal, frame: (act) => void requestAnimationFrame(act) }),
    [id],
  );
  useEffect(() => () => stop.abort(), [stop]);
  const session = app.inbox.value.sessions.get(id);
  const open = [...app.inbox.value.requests.values()].filter(({ request }) => request.session === id);
  const typing = useMemo(
    () => createTyping(app, { ...followed, go: (place) => void (location.hash = fragmentFor(place)) }),
    [followed],
  );
  return (
    <div class="session">
      <Head id={id} followed={followed} typing={typing} title={session?.title ?? ""} />
      <Transcript id={id} followed={followed} cwd={session?.cwd} />
      <Board followed={followed} />
      {open.map((entry) => (
        <Request key={entry.request.id} entry={entry} linked={false} />
      ))}
      <Standing id={id} followed={followed} waits={open.length > 0} />
      <div role="status">
        {typing.lines.value.length > 0 && <pre class="told">{typing.lines.value.join("\n")}</pre>}
      </div>
      {app.may.value.includes("talk") && (
        <Composer
          label={web.message}
          here={web.messageHere}
          send={typing.send}
          complete={typing.complete}
          sticky={open.every(({ resolution }) => resolution)}
        />
      )}
    </div>
  );
}

function Head({ id, followed, typing, title }: { id: string; followed: Followed; typing: Typing; title: string }) {
  const app = useApp();
  const { web } = app.words.value;
  const { usd, contextTokens, title: own } = followed.progress.value;
  const session = app.inbox.value.sessions.get(id);
  const state = session?.state ?? "idle";
  const facts = [
    session ? stateText(session, web) : web.state.idle,
    ...(usd > 0 ? [dollars({ usd })] : []),
    ...(contextTokens > 0 ? [web.tokens(contextTokens)] : []),
  ];
  return (
    <header class="head">
      <h1>{oneLine(titleOf({ title: own || title })) || web.untitled}</h1>
      {session && <p class="origin">{oneLine(session.cwd)}</p>}
      <p class="dim">
        <span class={`dot ${state}`} aria-hidden="true" /> {facts.join(" · ")}
      </p>
      <SessionMenu id={id} followed={followed} typing={typing} />
    </header>
  );
}

function nameOfAgent(input: ToolInput): string {
  const name = agentOf(input);
  return typeof name === "string" ? oneLine(name) : "";
}

function Board({ followed }: { followed: Followed }) {
  const { web } = useApp().words.value;
  const todos = followed.todos.value;
  const tasks = followed.tasks.value;
  if (!followed.progress.value.open) return null;
  const done = todos.filter(({ status }) => status === "completed").length;
  return (
    <>
      {todos.length > 0 && done < todos.length && (
        <details class="board">
          <summary>
            {web.todo(done, todos.length)}{" "}
            <small>{oneLine(todos.find(({ status }) => status === "in_progress")?.content ?? "")}</small>
          </summary>
          <Todos todos={todos} />
        </details>
      )}
      {tasks.length > 0 && (
        <p class="board dim">
          {web.subagents(tasks.length)}: {tasks.map(({ input }) => nameOfAgent(input)).join(", ")}
        </p>
      )}
    </>
  );
}

function Transcript({ id, followed, cwd }: { id: string; followed: Followed; cwd: string | undefined }) {
  const { web } = useApp().words.value;
  const drawn = useSignal(DRAWN);
  const items = followed.items.value;
  const first = Math.max(0, items.length - drawn.value);
  const list = useRef<HTMLOListElement>(null);
  useStayAtEnd(followed, list);
  return (
    <>
      {(first > 0 || followed.hasEarlier.value) && followed.ready.value && (
        <button
          type="button"
          class="quiet earlier"
          onClick={() => {
            if (first < DRAWN) void followed.fetchEarlier();
            drawn.value += DRAWN;
          }}
        >
          {first > 0 ? web.earlier(first) : web.earlierOnes}
        </button>
      )}
      <h2 class="hidden">{web.conversation}</h2>
      <ol class="transcript" ref={list}>
        {items.slice(first).map((item) => (
          <Row key={stableKey(item)} item={item} session={id} changes={followed.changes(item)} cwd={cwd} />
        ))}
      </ol>
      {!followed.ready.value && <p class="empty">{web.loading}</p>}
    </>
  );
}

const keys = new WeakMap<Item, number>();
let lastKey = 0;

/** An item keeps its element, whatever comes before or after it. */
function stableKey(item: Item): number {
  const key = keys.get(item) ?? ++lastKey;
  keys.set(item, key);
  return key;
}

/** Reads the item's own number, so that it alone is drawn again when it changes. */
function Row({
  item,
  session,
  changes,
  cwd,
}: {
  item: Item;
  session: string;
  changes: ReadonlySignal<number>;
  cwd: string | undefined;
}) {
  // An item changes in place, and a component is drawn again for another one only: a copy is another one.
  return (
    <li class={`is-${item.type}`} data-changes={changes.value}>
      <ItemView item={{ ...item }} session={session} cwd={cwd} />
    </li>
  );
}

/** Scrolls along while the person is at the end, and stays put if they have scrolled up. */
function useStayAtEnd(followed: Followed, list: { current: HTMLElement | null }): void {
  const root = document.documentElement;
  const near = useRef(true);
  useEffect(() => {
    const note = () => (near.current = root.scrollHeight - scrollY - innerHeight < 120);
    addEventListener("scroll", note, { passive: true });
    const grown = new ResizeObserver(() => {
      if (near.current && document.querySelector("article.request") === null) scrollTo(0, root.scrollHeight);
    });
    if (list.current) grown.observe(list.current);
    return () => {
      removeEventListener("scroll", note);
      grown.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    if (!followed.ready.value) return;
    const first = document.querySelector("article.request");
    if (first) first.scrollIntoView({ block: "start" });
    else scrollTo(0, root.scrollHeight);
  }, [followed.ready.value]);
}

function Standing({ id, followed, waits }: { id: string; followed: Followed; waits: boolean }) {
  const app = useApp();
  const { web } = app.words.value;
  const run = followed.run.value;
  const stopped = run === "stopped" && !waits; // an answer continues it as well
  const text = stopped ? web.gone2 : followed.streams.value ? "" : web.notLive;
  return (
    <div class="standing">
      {text !== "" && <p class="dim">{text}</p>}
      {stopped && (
        <button type="button" onClick={() => void app.send({ type: "resume", session: id })}>
          {web.resume}
        </button>
      )}
      {run === "running" && !waits && (
        <p class="working" role="status">
          <span class="dot running" aria-hidden="true" /> {web.state.running}
        </p>
      )}
    </div>
  );
}
