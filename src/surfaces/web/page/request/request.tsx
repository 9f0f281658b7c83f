import { useEffect, useRef } from "preact/hooks";
import { harmless, oneLine } from "../../../../base/visible.ts";
import type { InputRequest } from "../../../../protocol/facts/request.ts";
import type { Reason } from "../../../../protocol/reasons/reason.ts";
import { headline } from "../../../../texts/shared/resolution.ts";
import { carriedLines, whyOf } from "../../../../view/request/answering.ts";
import { consentLines } from "../../../../view/request/consent.ts";
import { describeRequest, isLong, type Description } from "../../../../view/request/describe.ts";
import type { InboxRequest } from "../../../../view/request/inbox.ts";
import { originLines } from "../../../../view/request/origin.ts";
import { silenceLines } from "../../../../view/request/silence.ts";
import { nameOf, titleOf } from "../../../../view/items/summary.ts";
import { useAttention } from "./attention.ts";
import { ActionBlock, Sentence } from "../components/blocks.tsx";
import { Choices, type Act } from "./choices.tsx";
import { useApp } from "../state/context.ts";
import { Inquiries } from "./inquiries.tsx";
import { type Did, letsRun } from "../state/input.ts";
import { fragmentFor } from "../state/place.ts";
import { Questions, TextAnswer } from "./questions.tsx";
import { CONFIRM_MS, lockOf } from "./seen.ts";
import type { App } from "../state/state.ts";
import { Ago } from "../components/loading.tsx";

/** A request, to be read and answered; once it has ended, one line. */
export function Request({ entry, level = 2, linked = true }: { entry: InboxRequest; level?: 1 | 2; linked?: boolean }) {
  return entry.resolution ? <Ended entry={entry} /> : <Open entry={entry} level={level} linked={linked} />;
}

/** How it ended, and who did it. Words that the person had written stay, to be copied. */
export function Ended({ entry: { request, resolution } }: { entry: InboxRequest }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const { reason, comment, text, remark } = app.panel(request).value.answering;
  const written = [reason, comment, text, remark].filter((text) => text.trim() !== "").join("\n");
  // Answers repeat their questions.
  const namesItself = resolution && "response" in resolution && resolution.response?.type === "answers";
  const isMine = resolution && resolution.by === app.me.value.by && resolution.surface === app.me.value.surface;
  return (
    <article class="ended" data-request={request.id}>
      <p role="status">
        {!namesItself && <b>{oneLine(nameIn(request, app))}</b>}{" "}
        {resolution && headline(resolution, t, app.me.value, request)}
      </p>
      {written !== "" && !isMine && (
        <details>
          <summary>{web.yourWords}</summary>
          <pre tabIndex={0}>{harmless(written)}</pre>
        </details>
      )}
    </article>
  );
}

function nameIn(request: InputRequest, app: App): string {
  const [first = ""] = nameOf(request, app.words.value.t).split("\n");
  return first.length > 70 ? `${first.slice(0, 70)}…` : first;
}

function Open({ entry, level, linked }: { entry: InboxRequest; level: 1 | 2; linked: boolean }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const { request } = entry;
  const article = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const choices = useRef<HTMLDivElement>(null);
  const armedAt = useRef(0);
  // On its own page a request has the focus at once, so that its keys act.
  useEffect(() => {
    if (level === 1) article.current?.focus({ preventScroll: true });
  }, []);
  const { stage, armed, list } = app.panel(request).value.answering;
  const together = stage === "together" || armed === "allowAll" || armed === "refuseAll";
  const subject = together ? list.map(({ id }) => id).join("\n") : request.id;
  const { attention, refresh } = useAttention(article, end, choices, subject);
  const session = app.inbox.value.sessions.get(request.session);
  const description = request.kind === "permission" ? describeRequest(request, { cwd: session?.cwd }) : undefined;
  const dangerous = description !== undefined && description.dangers.length > 0;
  const Heading = level === 1 ? "h1" : "h2";
  const approver = app.approver.value || (request.kind !== "permission" && request.source !== "recovery");

  const act: Act = (did, event) => {
    const { answering } = app.panel(request).peek();
    const now = performance.now();
    if (isAnswer(did)) {
      const allows = letsRun(did, answering);
      const asks = did.type === "confirm" && answering.stage === "inquire";
      const lock = lockOf(refresh(), { allows, away: app.away.value, approver: approver || asks, now });
      if (lock) return app.locked(request, lock);
      // A second tap on the same place is the first one's echo. A key has no place.
      if (did.type === "confirm" && event && event.detail > 0 && now - armedAt.current < CONFIRM_MS) return;
    }
    if (did.type === "choose" || did.type === "all") armedAt.current = now;
    app.did(request, did);
  };

  return (
    <article
      ref={article}
      class={`request ${request.kind}${dangerous ? " danger" : ""}`}
      data-request={request.id}
      tabIndex={-1}
      aria-labelledby={`title-${request.id}`}
      onFocusIn={() => (app.focus.value = request.id)}
    >
      <header>
        <span class="kind">{web.kind[request.kind]}</span>
        {linked && (
          <a class="of" href={fragmentFor({ page: "session", id: request.session })} title={web.toSession}>
            {oneLine(titleOf({ title: session?.title ?? "" })) || web.untitled}
          </a>
        )}
        <Ago at={request.at} />
      </header>
      <Heading class="title" id={`title-${request.id}`}>
        {titleFor(request, app, description)}
      </Heading>
      {originLines(request, t).map((line) => (
        <p class="origin">{line}</p>
      ))}
      {description && isLong(description) && <p class="dim">{t.size(description.characters, description.lines)}</p>}
      {description && <Permission description={description} />}
      {request.masked !== undefined && <p class="consent">{web.masked(request.masked)}</p>}
      <div class="end" ref={end} aria-hidden="true" />
      {description ? <Circumstances description={description} /> : <Why request={request} />}
      {[...carriedLines(entry, t), ...consentLines(request, entry.approvals, t, app.me.value)].map((line) => (
        <p class="consent">{line}</p>
      ))}
      <div class="acts" ref={choices}>
        {request.kind === "permission" && (
          <Choices request={request} act={act} attention={attention} approver={approver} />
        )}
        {request.kind === "question" && <Questions request={request} act={act} approver={approver} />}
        {request.kind === "text" && <TextAnswer request={request} act={act} approver={approver} />}
      </div>
      <DraftElsewhere entry={entry} act={act} />
      <Inquiries entry={entry} act={act} />
      <footer>
        {silenceLines(request, t, app.clock.value).map((line) => (
          <p>{line}</p>
        ))}
      </footer>
    </article>
  );
}

/** Acts that end something or let it run. Writing and looking around are always possible. */
function isAnswer(did: Did): boolean {
  switch (did.type) {
    case "confirm":
    case "submit":
    case "decline":
    case "all":
      return true;
    case "choose":
      return did.choice !== "reason" && did.choice !== "inquire" && did.choice !== "together";
    default:
      return false;
  }
}

function titleFor(request: InputRequest, app: App, description: Description | undefined): string {
  const { t, web } = app.words.value;
  if (description) return t.tools[description.tool] ?? t.otherTool(description.tool);
  if (request.kind === "question") {
    const [first] = request.questions;
    return request.questions.length === 1 && first
      ? harmless(t.question(first).question)
      : web.questionsCount(request.questions.length);
  }
  return request.kind === "text" ? harmless(request.prompt) : t.title[request.kind];
}

/** Everything that will run, whole and in order. Its end is the end that has to be seen. */
function Permission({ description }: { description: Description }) {
  return (
    <div class="what">
      {description.action
        .filter((block) => !(block.type === "field" && block.minor))
        .map((block) => (
          <ActionBlock block={block} />
        ))}
    </div>
  );
}

function Circumstances({ description }: { description: Description }) {
  const { t } = useApp().words.value;
  const away = description.writes.filter(({ outside }) => outside);
  const dangers = description.dangers.map((danger) => t.danger[danger]);
  return (
    <>
      {away.map(({ path }) => (
        <p class="careful path">→ {path}</p>
      ))}
      {dangers.length > 0 && <p class="careful">{t.careful(dangers)}</p>}
      {description.words && (
        <div class="words">
          <span class="name">{t.ownWords}</span>
          <blockquote>
            {description.words.text}
            {description.words.cut > 0 && <small> {t.cut(description.words.cut)}</small>}
          </blockquote>
        </div>
      )}
      <Because why={description.why} />
      {description.runs && <Because why={description.runs} />}
      {description.agent.length > 0 && <p class="why">{t.agent(description.agent)}</p>}
      <Details description={description} />
    </>
  );
}

function Because({ why }: { why: Reason }) {
  const { t } = useApp().words.value;
  const text = t.because(why);
  if (text === "") return null;
  return why.code === "said" ? (
    <div class="words">
      <span class="name">{t.why}</span>
      <blockquote>{harmless(text)}</blockquote>
    </div>
  ) : (
    <Sentence text={text} kind="why" />
  );
}

function Details({ description: { parts, writes, action, characters, lines } }: { description: Description }) {
  const { t, web } = useApp().words.value;
  const inside = writes.filter(({ outside }) => !outside);
  const minor = action.filter((block) => block.type === "field" && block.minor);
  return (
    <details class="details">
      <summary>{web.details}</summary>
      {parts.length > 1 && (
        <ol class="parts">
          {parts.map(({ text, behavior, reason, asks }) => (
            <li class={asks ? "asks" : undefined}>
              <code>{text}</code>
              <span>
                {t.behavior[behavior]}
                {t.because(reason) === "" ? "" : `${t.colon}${oneLine(t.because(reason))}`}
              </span>
            </li>
          ))}
        </ol>
      )}
      {inside.length > 0 && (
        <p>
          {t.writes} {inside.map(({ path }) => path).join(t.comma)}
        </p>
      )}
      {minor.map((block) => (
        <ActionBlock block={block} />
      ))}
      <p>{t.size(characters, lines)}</p>
    </details>
  );
}

function Why({ request }: { request: InputRequest }) {
  const { t } = useApp().words.value;
  const why = whyOf(request);
  const source = t.source[request.source];
  return (
    <>
      {request.kind === "text" && request.lastResponse !== undefined && (
        <blockquote class="last">{harmless(request.lastResponse)}</blockquote>
      )}
      {source !== "" && <p class="why">{source}</p>}
      {why && <Because why={why} />}
      {request.agent.length > 0 && <p class="why">{t.agent(request.agent.map(oneLine))}</p>}
    </>
  );
}

/** Another's newer draft is offered, not forced. */
function DraftElsewhere({ entry: { request, draft, draftBy }, act }: { entry: InboxRequest; act: Act }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const { touched } = app.panel(request).value.answering;
  if (!draft || !draftBy || !touched || app.drafts.isOwn(request.id, draft)) return null;
  const who = t.byWhom(oneLine(draftBy.by), t.surfaces[draftBy.surface] ?? t.otherSurface(oneLine(draftBy.surface)));
  return (
    <p class="draft" role="status">
      ✎ {web.draftNewer(who, web.ago(t.age(app.clock.value - draftBy.at)))}{" "}
      <button type="button" class="quiet" onClick={() => act({ type: "take", draft })}>
        {web.draftTake}
      </button>
    </p>
  );
}
