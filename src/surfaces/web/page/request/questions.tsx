import { harmless } from "../../../../base/visible.ts";
import { takesOwnWords, type InputRequest, type Question } from "../../../../protocol/facts/request.ts";
import { NoteLine, Sending, type Act } from "./choices.tsx";
import { useApp } from "../state/context.ts";
import { Form } from "../components/form.tsx";

type Props<K extends InputRequest["kind"]> = { request: InputRequest & { kind: K }; act: Act; approver: boolean };

/** All questions of a request at once. Some of them may be left open. */
export function Questions({ request, act, approver }: Props<"question">) {
  const app = useApp();
  const { web, panel: wording } = app.words.value;
  const { answering, note, sending } = app.panel(request).value;
  const given = Object.keys(answering.answers).length;
  const needed = request.questions.length;
  if (sending) return <Sending />;
  const lock = app.away.value ? web.lock.away : approver ? "" : web.lock["not-approver"];
  return (
    <Form class="questions" submit={() => act({ type: "submit" })} onBlurCapture={() => app.drafts.left(request.id)}>
      {request.questions.map((question, n) => (
        <Field request={request} question={question} n={n} act={act} />
      ))}
      {takesOwnWords(request) && (
        <label class="remark">
          <span>{wording.remark}</span>
          <textarea
            rows={1}
            value={answering.remark}
            onInput={(event) => act({ type: "write", field: "remark", text: event.currentTarget.value })}
          />
        </label>
      )}
      <div class="row">
        <button type="submit" class="yes" aria-disabled={given === 0 || lock !== ""}>
          {given === 0 || given === needed ? wording.submit : wording.submitPart(given, needed)}
        </button>
        <button type="button" onClick={() => act({ type: "decline" })}>
          {wording.decline}
        </button>
      </div>
      <NoteLine note={note} fallback={lock} />
    </Form>
  );
}

function Field({
  request,
  question,
  n,
  act,
}: {
  request: InputRequest & { kind: "question" };
  question: Question;
  n: number;
  act: Act;
}) {
  const app = useApp();
  const { t, panel: wording } = app.words.value;
  const shown = t.question(question);
  const alone = request.questions.length === 1;
  const { selected = [], other = "" } = app.panel(request).value.answering.answers[question.question] ?? {};
  const name = `${request.id}-${n}`;
  return (
    <fieldset>
      <legend class={alone ? "hidden" : undefined}>
        {!alone && <small>{t.questionPlace(n + 1, request.questions.length)}</small>}
        {harmless(shown.question)}
      </legend>
      {question.multiSelect && question.options.length > 0 && <small class="several">{t.severalMay}</small>}
      {shown.options.map(({ id, label, description }) => (
        <label class="option">
          <input
            type={question.multiSelect ? "checkbox" : "radio"}
            name={name}
            checked={selected.includes(id)}
            onChange={() => act({ type: "pick", question: question.question, label: id })}
          />
          <span>
            {harmless(label)}
            {description.trim() !== "" && <small>{harmless(description)}</small>}
          </span>
        </label>
      ))}
      {takesOwnWords(request) && (
        <label class="other">
          {question.options.length > 0 && <span>{question.multiSelect ? wording.otherToo : wording.other}</span>}
          <input
            value={other}
            aria-label={wording.otherHere}
            placeholder={wording.otherHere}
            onInput={(event) => act({ type: "other", question: question.question, text: event.currentTarget.value })}
          />
        </label>
      )}
    </fieldset>
  );
}

export function TextAnswer({ request, act, approver }: Props<"text">) {
  const app = useApp();
  const { web, panel: wording } = app.words.value;
  const { answering, note, sending } = app.panel(request).value;
  const lock = app.away.value ? web.lock.away : approver ? "" : web.lock["not-approver"];
  if (sending) return <Sending />;
  return (
    <Form class="writing" submit={() => act({ type: "submit" })}>
      <label>
        <span>{wording.answer}</span>
        <textarea
          rows={3}
          value={answering.text}
          placeholder={wording.answerHere}
          onInput={(event) => act({ type: "write", field: "text", text: event.currentTarget.value })}
          onBlur={() => app.drafts.left(request.id)}
        />
      </label>
      <div class="row">
        <button type="submit" class="yes" aria-disabled={answering.text.trim() === "" || lock !== ""}>
          {wording.send}
        </button>
        <button type="button" onClick={() => act({ type: "decline" })}>
          {wording.decline}
        </button>
      </div>
      <NoteLine note={note} fallback={lock} />
    </Form>
  );
}
