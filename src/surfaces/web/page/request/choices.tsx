import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { visible } from "../../../../base/visible.ts";
import type { PermissionRequest } from "../../../../protocol/facts/request.ts";
import { PLAN_TOOL } from "../../../../protocol/mode.ts";
import { ruleInTheWay, rulesFor } from "../../../../view/request/answering.ts";
import { allows, chosenRules, placesFor, textField, type Choice } from "../../../../view/request/choices.ts";
import { describeRequest } from "../../../../view/request/describe.ts";
import { destinationName, originLines } from "../../../../view/request/origin.ts";
import { ActionBlock } from "../components/blocks.tsx";
import { useApp } from "../state/context.ts";
import { useReply } from "../components/loading.tsx";
import { choicesFor, draftOf, type Did, type Problem } from "../state/input.ts";
import { Past } from "./past.tsx";
import type { Attention } from "./seen.ts";
import type { Note } from "../state/state.ts";
import type { Words } from "../words/words.ts";
import { Form } from "../components/form.tsx";

/** `event` tells a tap from a key. */
export type Act = (did: Did, event?: { detail: number }) => void;
type Props = { request: PermissionRequest; act: Act; attention: ReadonlySignal<Attention>; approver: boolean };

/** The answers to a permission. What allows takes two steps, and the end has to have been seen before the first. */
export function Choices({ request, act, attention, approver }: Props) {
  const app = useApp();
  const { web } = app.words.value;
  const { answering, note, sending } = app.panel(request).value;
  const { seen } = attention.value;
  const why = app.away.value ? web.lock.away : !approver ? web.lock["not-approver"] : !seen ? web.lock.unseen : "";
  if (sending) return <Sending />;
  return (
    <>
      <StageOf request={request} act={act} locked={why !== ""} />
      <NoteLine note={note} fallback={answering.stage === "choices" ? why : ""} />
    </>
  );
}

function StageOf({ request, act, locked }: { request: PermissionRequest; act: Act; locked: boolean }) {
  const app = useApp();
  const { t, panel, web } = app.words.value;
  const { answering } = app.panel(request).value;
  const isPlan = request.tool === PLAN_TOOL;
  switch (answering.stage) {
    case "choices":
    case "inquire":
      return <Row request={request} act={act} locked={locked} />;
    case "confirm":
      return answering.armed === "allowAll" || answering.armed === "refuseAll" ? (
        <Together request={request} act={act} locked={locked} />
      ) : (
        <Confirm request={request} act={act} />
      );
    case "reason":
      return (
        <Writing
          request={request}
          act={act}
          field="reason"
          label={isPlan ? panel.planReason : panel.reason}
          here={isPlan ? panel.planReasonHere : panel.reasonHere}
          go={web.run.reason}
        />
      );
    case "comment":
      return (
        <Writing
          request={request}
          act={act}
          field="comment"
          label={panel.comment}
          here={panel.commentHere}
          go={web.run.comment}
          yes
        />
      );
    case "unask": {
      const { rule = "", destination = "session" } = ruleInTheWay(request) ?? {};
      return (
        <>
          <p>{t.unask(visible(rule), destinationName(destination, request, t))}</p>
          <Writing
            request={request}
            act={act}
            field="unask"
            label={t.unaskInstead}
            here={rule}
            go={web.run.comment}
            yes
          />
        </>
      );
    }
    case "edit":
      return (
        <Writing
          request={request}
          act={act}
          field="edit"
          label={panel.edit[textField(request) ?? "input"].replace(/[;；，].*$/, "")}
          here=""
          go={isPlan ? web.run.plan : web.run.edit}
          yes
        />
      );
    case "always":
      return <Always request={request} act={act} />;
    case "together":
      return <Together request={request} act={act} locked={locked} />;
    default:
      return answering.stage satisfies never;
  }
}

function labelOf(choice: Choice, request: PermissionRequest, { panel, web }: Words, alike: number): string {
  if (choice === "together") return panel.together(alike);
  if (request.tool === PLAN_TOOL) return panel.planChoices[choice];
  return choice === "acceptEdits" ? web.acceptEdits : panel.choices[choice];
}

function Row({ request, act, locked }: { request: PermissionRequest; act: Act; locked: boolean }) {
  const app = useApp();
  const words = app.words.value;
  const panel = app.panel(request);
  const { answering, more: open } = panel.value;
  const alike = app.alike(request).length;
  const { main, more } = choicesFor(request, alike);
  const written = draftOf(request, answering);
  const others = more.filter((kind) => open || kind in written);
  const button = (choice: Choice, first = false) => (
    <button
      type="button"
      data-choice={choice}
      class={first ? "yes" : choice === "no" || choice === "stop" ? "no" : undefined}
      aria-disabled={locked && allows(choice)}
      onClick={(event) => act({ type: "choose", choice }, event)}
    >
      {labelOf(choice, request, words, alike)}
      {choice in written && " ✎"}
    </button>
  );
  return (
    <>
      <div class="row">
        {main.map((choice, n) => button(choice, n === 0))}
        <button
          type="button"
          class="more"
          aria-expanded={open}
          aria-label={open ? words.web.fewerChoices : words.web.moreChoices}
          onClick={() => (panel.value = { ...panel.value, more: !open })}
        >
          ⋯
        </button>
      </div>
      {others.length > 0 && (
        <ul class="others">
          {others.map((choice) => (
            <li key={choice}>{button(choice)}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Takes the place of the choice, and the focus: Enter does it, Escape goes back. */
function Confirm({ request, act }: { request: PermissionRequest; act: Act }) {
  const app = useApp();
  const { web } = app.words.value;
  const { armed = "no", list } = app.panel(request).value.answering;
  const button = useRef<HTMLButtonElement>(null);
  // At once, not after the next picture: Enter may follow on the key that chose.
  useLayoutEffect(() => button.current?.focus({ preventScroll: true }), [armed]);
  const label = armed === "allowAll" || armed === "refuseAll" ? web.confirm[armed](list.length) : web.confirm[armed];
  const isNo = armed === "stop" || armed === "refuseAll";
  return (
    <div class="row">
      <button
        ref={button}
        type="button"
        class={isNo ? "no firm" : "yes"}
        onClick={(event) => act({ type: "confirm" }, event)}
      >
        {label}
      </button>
      <Back act={act} />
    </div>
  );
}

type WritingProps = {
  request: PermissionRequest;
  act: Act;
  field: "reason" | "comment" | "edit" | "unask";
  label: string;
  here: string;
  go: string;
  yes?: boolean;
};

function Writing({ request, act, field, label, here, go, yes }: WritingProps) {
  const app = useApp();
  const text = app.panel(request).value.answering[field];
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), [field]);
  return (
    <Form class="writing" submit={() => act({ type: "confirm" })}>
      <label>
        <span>{label}</span>
        <textarea
          ref={box}
          class={field === "edit" ? "mono" : undefined}
          rows={field === "edit" ? Math.min(14, text.split("\n").length + 1) : 2}
          value={text}
          placeholder={here}
          spellcheck={field !== "edit"}
          onInput={(event) => act({ type: "write", field, text: event.currentTarget.value })}
          onBlur={() => app.drafts.left(request.id)}
        />
      </label>
      <div class="row">
        <button type="submit" class={yes ? "yes" : "no firm"}>
          {go}
        </button>
        <Back act={act} />
      </div>
    </Form>
  );
}

/** The exact rules that would be kept, and where. */
function Always({ request, act }: { request: PermissionRequest; act: Act }) {
  const app = useApp();
  const { t, panel, web } = app.words.value;
  const { answering } = app.panel(request).value;
  const places = placesFor(request);
  const file = places.find(({ destination }) => destination === answering.place)?.file;
  const first = useRef<HTMLInputElement>(null);
  const kept = chosenRules(request, answering).map(({ rule }) => rule);
  const own = answering.own.trim();
  // Half of a rule means nothing: the person's own is tried when it is kept.
  const past = useReply({ type: "past", requestId: request.id, rules: kept.filter((rule) => rule !== own) }, [
    answering.ticked,
  ]);
  useEffect(() => first.current?.focus({ preventScroll: true }), []);
  return (
    <Form class="writing always" submit={() => act({ type: "confirm" })}>
      {rulesFor(request).map(({ rule, note }, n) => (
        <label class="option">
          <input
            ref={n === 0 ? first : null}
            type="checkbox"
            checked={answering.ticked[n] === true}
            onChange={() => act({ type: "tick", n })}
          />
          <span>
            <code>{visible(rule)}</code>
            {note && <small>{t.because(note)}</small>}
          </span>
        </label>
      ))}
      <Past preview={past.value.reply} />
      <label>
        <span>{panel.ownRule}</span>
        <input
          class="mono"
          value={answering.own}
          placeholder={panel.ownRuleHere}
          onInput={(event) => act({ type: "write", field: "own", text: event.currentTarget.value })}
        />
      </label>
      {places.length > 1 && (
        <label>
          <span>{web.place}</span>
          <select
            value={answering.place}
            onChange={(event) =>
              act({ type: "place", destination: event.currentTarget.value as typeof answering.place })
            }
          >
            {places.map(({ destination }) => (
              <option value={destination}>{destinationName(destination, request, t)}</option>
            ))}
          </select>
          {file !== undefined && <small>{visible(file)}</small>}
        </label>
      )}
      <div class="row">
        <button type="submit" class="yes">
          {panel.keep(chosenRules(request, answering).length)}
        </button>
        <Back act={act} />
      </div>
    </Form>
  );
}

/** Requests that are alike, each of them whole: one answer is for all. They stay in view until it is given. */
function Together({ request, act, locked }: { request: PermissionRequest; act: Act; locked: boolean }) {
  const app = useApp();
  const { t, panel, web } = app.words.value;
  const { list: alike, stage } = app.panel(request).value.answering;
  const cwd = (session: string) => app.inbox.value.sessions.get(session)?.cwd;
  return (
    <div class="together">
      <p>{web.together(alike.length)}</p>
      <ol>
        {alike.map((request) =>
          request.kind === "permission" ? (
            <li>
              {originLines(request, t)
                .slice(0, 1)
                .map((line) => (
                  <p class="origin">{line}</p>
                ))}
              {describeRequest(request, { cwd: cwd(request.session) }).action.map((block) => (
                <ActionBlock block={block} />
              ))}
            </li>
          ) : null,
        )}
      </ol>
      <div class="end" aria-hidden="true" />
      {stage === "confirm" ? (
        <Confirm request={request} act={act} />
      ) : (
        <div class="row">
          <button
            type="button"
            class="yes"
            aria-disabled={locked}
            onClick={(event) => act({ type: "all", answer: "allowAll" }, event)}
          >
            {panel.allowAll(alike.length)}
          </button>
          <button type="button" class="no" onClick={(event) => act({ type: "all", answer: "refuseAll" }, event)}>
            {panel.refuseAll(alike.length)}
          </button>
          <Back act={act} />
        </div>
      )}
    </div>
  );
}

export function Sending() {
  return (
    <p class="sending" role="status">
      {useApp().words.value.web.sending}
    </p>
  );
}

function Back({ act }: { act: Act }) {
  return (
    <button type="button" onClick={() => act({ type: "back" })}>
      {useApp().words.value.web.back}
    </button>
  );
}

/** Why nothing happened; or what has to happen first. */
export function NoteLine({ note, fallback = "" }: { note: Note | undefined; fallback?: string }) {
  const words = useApp().words.value;
  const text = note ? wordsFor(note, words) : fallback;
  if (text === "") return null;
  return (
    <p class={`note${note && !("lock" in note) ? " bad" : ""}`} role={note ? "alert" : undefined}>
      {text}
    </p>
  );
}

function wordsFor(note: Note, { t, panel, web }: Words): string {
  if ("text" in note) return note.text;
  if ("lock" in note) return web.lock[note.lock];
  const problems: Record<Problem, string> = {
    empty: panel.empty,
    unchanged: panel.unchanged,
    "not-an-object": t.notJson(panel.notAnObject),
    "not-json": t.notJson(panel.notAnObject),
    "no-rule": panel.noRuleChosen.replace(/[;；].*$/, ""),
    "place-gone": panel.placeGone,
    "no-answer": panel.submitNone,
  };
  return problems[note.problem];
}
