import { endLine } from "../../../../view/request/delivery.ts";
import { useSignal } from "@preact/signals";
import { harmless, oneLine } from "../../../../base/visible.ts";
import { changeLine, whoOf } from "../../../../texts/shared/resolution.ts";
import { changeOf } from "../../../../view/items/change.ts";
import type { CallItem, Item, SaidItem, TextItem, ThoughtItem } from "../../../../view/transcript/item.ts";
import { isQueued } from "../../../../view/transcript/item.ts";
import { noteOf } from "../../../../view/note.ts";
import { resultOf } from "../../../../view/items/result.ts";
import { saidText } from "../../../../view/items/said.ts";
import { isOpen } from "../../../../view/transcript/standing.ts";
import { briefOf, isAsking, todosOf } from "../../../../view/items/summary.ts";
import { Change } from "../components/blocks.tsx";
import { useApp } from "../state/context.ts";
import type { Unsigned } from "../state/input.ts";
import { Markdown } from "../components/markdown.tsx";
import { Since } from "../components/loading.tsx";
import { Trouble } from "../components/form.tsx";
import type { Words } from "../words/words.ts";

const MAX_TEXT_LENGTH = 20_000;

/** An item of a session. It is drawn again when it has changed, and only then. */
export function ItemView({ item, session, cwd }: { item: Item; session: string; cwd: string | undefined }) {
  switch (item.type) {
    case "said":
      return <Said item={item} session={session} />;
    case "text":
      return <Text item={item} />;
    case "thought":
      return <Thought item={item} />;
    case "call":
      return isAsking(item) ? <Asking item={item} /> : <Call item={item} session={session} cwd={cwd} />;
    default:
      return <NoteView item={item} />;
  }
}

function Said({ item, session }: { item: SaidItem; session: string }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const isMine = item.sender.by === app.me.value.by;
  const waits = isQueued(item);
  return (
    <div class={`said${item.withdrawn ? " gone" : ""}`}>
      <small>
        {isMine ? t.youSaid.replace(/[:：]$/, "") : oneLine(item.sender.by)}
        {waits && ` · ${web.notRead}`}
      </small>
      <div class="bubble">{harmless(saidText(item, t))}</div>
      {waits && app.may.value.includes("talk") && <Queued session={session} message={item.key} isMine={isMine} />}
    </div>
  );
}

/** Has a message read at once that waits, or withdraws it. Both disappear once that is confirmed. */
function Queued({ session, message, isMine }: { session: string; message: string; isMine: boolean }) {
  const app = useApp();
  const { web } = app.words.value;
  const trouble = useSignal("");
  const send = async (command: Unsigned) => void (trouble.value = app.trouble(await app.send(command)) ?? "");
  return (
    <>
      <button
        type="button"
        class="quiet"
        disabled={app.away.value}
        onClick={() => void send({ type: "interrupt", session, to: "now", id: app.id() })}
      >
        {web.readNow}
      </button>
      {isMine && (
        <button
          type="button"
          class="quiet"
          disabled={app.away.value}
          onClick={() => void send({ type: "withdraw", session, message })}
        >
          {web.takeBack}
        </button>
      )}
      <Trouble small text={trouble.value} />
    </>
  );
}

function Text({ item }: { item: TextItem }) {
  return item.text.trim() === "" ? null : <Markdown text={item.text} />;
}

function Thought({ item: { text, done, since, until } }: { item: ThoughtItem }) {
  const { t, web } = useApp().words.value;
  if (text.trim() === "") return null;
  const took = since !== undefined && until !== undefined ? web.thoughtFor(t.duration(until - since)) : web.thought;
  return (
    <details class="thought">
      <summary>{done ? took : web.thinkingNow}</summary>
      <div class="pre">{harmless(text)}</div>
    </details>
  );
}

function NoteView({ item }: { item: Item }) {
  const app = useApp();
  const note = noteOf(item, app.words.value.t, app.me.value);
  if (!note) return null;
  return (
    <div class={`told ${note.tone}`}>
      <p>{note.line}</p>
      {note.foreign !== undefined && <div class="pre">{harmless(note.foreign)}</div>}
    </div>
  );
}

/** A question of the agent: its answer says what the call says. */
function Asking({ item }: { item: CallItem }) {
  const app = useApp();
  const { t } = app.words.value;
  return (
    <>
      {item.asked.map((asked) => (
        <div class="told dim">
          {asked.request.kind === "question" &&
            asked.request.questions.map((question) => <p class="asked">{harmless(t.question(question).question)}</p>)}
          <p>{endLine(asked, t, app.me.value) ?? t.standing.waiting}</p>
        </div>
      ))}
    </>
  );
}

/** The standing of a call, and who let it run. Of one that went wrong it is said that they allowed it: they did not make it fail. */
function endText({ standing, runs }: CallItem, by: string, { t, web }: Words): string {
  if (by === "") return standing === "done" ? "" : t.standing[standing];
  if (standing === "done") return by;
  if (standing === "refused-by-person") return web.verdict(web.receipt.refused, by);
  const allowed = runs.length > 0 && standing !== "running" ? web.verdict(web.receipt.allowed, by) : by;
  return `${t.standing[standing]} · ${allowed}`;
}

function Call({ item, session, cwd }: { item: CallItem; session: string; cwd: string | undefined }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const { call, standing, runs, since, changed, asked, verdict, inner } = item;
  const open = useSignal<boolean | undefined>(undefined);
  const change = changeOf(item);
  const running = standing === "running";
  const shown = open.value ?? (running || (change.length > 0 && standing === "done"));
  const who = asked.findLast(({ resolution }) => resolution)?.resolution;
  const by = who ? whoOf(who, t, app.me.value) : verdict?.rule !== undefined ? web.byRule : "";
  const how = endText(item, by, app.words.value);
  const bad =
    standing === "failed" || standing.startsWith("refused") || standing === "invalid" || standing === "unknown";
  return (
    <details
      class={`call ${standing}${bad ? " bad" : ""}`}
      open={shown}
      onToggle={(event) => (open.value = event.currentTarget.open === shown ? open.value : event.currentTarget.open)}
    >
      <summary>
        <span class={`dot ${isOpen(standing) ? standing : bad ? "failed" : "done"}`} aria-hidden="true" />
        <b>{oneLine(call.tool)}</b>
        <code>{short(oneLine(briefOf(item, cwd)))}</code>
        <small>
          {how}
          {running && since !== undefined && runs.length > 0 && (
            <>
              {" "}
              <Since at={since} />
            </>
          )}
        </small>
      </summary>
      {shown && (
        <div class="inside">
          {changed && <p class="dim">{changeLine(changed, t, app.me.value)}</p>}
          {change.length > 0 ? <Change hunks={change} /> : <Input item={item} />}
          {inner.length > 0 && <Inner items={[...inner]} cwd={cwd} />}
          <Result item={item} />
          {item.result?.output?.file !== undefined && <Whole session={session} call={item.key} />}
        </div>
      )}
    </details>
  );
}

function Input({ item }: { item: CallItem }) {
  const { input, call } = item;
  const todos = todosOf(item);
  if (todos) return <Todos todos={todos} />;
  const text = typeof input["command"] === "string" ? input["command"] : (call.malformed ?? "");
  return text.includes("\n") || text.length > 100 ? (
    <pre class="command" tabIndex={0}>
      {harmless(text).slice(0, MAX_TEXT_LENGTH)}
    </pre>
  ) : null;
}

export function Todos({ todos }: { todos: readonly { content: string; status: string }[] }) {
  return (
    <ul class="todos">
      {todos.map(({ content, status }) => (
        <li class={status}>{oneLine(content)}</li>
      ))}
    </ul>
  );
}

/** Calls of the subagents below a call. */
function Inner({ items, cwd }: { items: readonly CallItem[]; cwd: string | undefined }) {
  const { t } = useApp().words.value;
  return (
    <ul class="inner">
      {items.map((item) => (
        <li>
          <b>{oneLine(item.call.tool)}</b> <code>{short(oneLine(briefOf(item, cwd)))}</code>{" "}
          {item.standing !== "done" && <small>{t.standing[item.standing]}</small>}
        </li>
      ))}
    </ul>
  );
}

function Result({ item }: { item: CallItem }) {
  const { t } = useApp().words.value;
  const all = useSignal(false);
  const { text, notes } = item.result ? resultOf(item, t) : { text: item.output, notes: [] };
  const lines = text.trimEnd().split("\n");
  const many = lines.length > 14;
  const shown = many && !all.value ? (item.result ? lines.slice(0, 12) : lines.slice(-12)) : lines;
  return (
    <>
      {text.trim() !== "" && (
        <pre class="output" tabIndex={0}>
          {harmless(shown.join("\n")).slice(0, MAX_TEXT_LENGTH)}
        </pre>
      )}
      {many && !all.value && (
        <button type="button" class="quiet" onClick={() => (all.value = true)}>
          {t.more(lines.length - 12)}
        </button>
      )}
      {notes.map((line) => (
        <p class="dim">{oneLine(line)}</p>
      ))}
    </>
  );
}

/** The whole output of a command, from where it is kept, a page at a time. */
function Whole({ session, call }: { session: string; call: string }) {
  const app = useApp();
  const { web } = app.words.value;
  const shown = useSignal({ text: "", page: 0, pages: 1 });
  const trouble = useSignal("");
  const busy = useSignal(false);
  const { text, page, pages } = shown.value;
  const turn = async (to: number) => {
    busy.value = true;
    const reply = await app.send({ type: "output", session, call, page: to });
    busy.value = false;
    trouble.value = app.trouble(reply) ?? "";
    if (reply.ok) shown.value = { text: reply.text, page: to + 1, pages: reply.pages };
  };
  return (
    <>
      {page > 0 && (
        <pre class="output" tabIndex={0}>
          {harmless(text)}
        </pre>
      )}
      {page < pages && (
        <button type="button" class="quiet" disabled={app.away.value || busy.value} onClick={() => void turn(page)}>
          {page === 0 ? web.wholeOutput : web.outputPage(page + 1, pages)}
        </button>
      )}
      {page > 1 && (
        <button type="button" class="quiet" disabled={app.away.value || busy.value} onClick={() => void turn(0)}>
          {web.outputPage(1, pages)}
        </button>
      )}
      <Trouble small text={trouble.value} />
    </>
  );
}

function short(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
