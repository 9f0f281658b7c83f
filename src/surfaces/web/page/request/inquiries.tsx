import { useEffect, useRef } from "preact/hooks";
import { harmless, oneLine } from "../../../../base/visible.ts";
import type { Inquired } from "../../../../protocol/facts/inquiry.ts";
import { whoOf } from "../../../../texts/shared/resolution.ts";
import type { InboxRequest } from "../../../../view/request/inbox.ts";
import { dollars } from "../../../../view/items/summary.ts";
import type { Act } from "./choices.tsx";
import { useApp } from "../state/context.ts";
import { Form } from "../components/form.tsx";

/** Questions about the request, with their replies and costs. The request stays as it is. */
export function Inquiries({ entry: { request, inquiries }, act }: { entry: InboxRequest; act: Act }) {
  const app = useApp();
  const { web } = app.words.value;
  const { answering } = app.panel(request).value;
  const box = useRef<HTMLTextAreaElement>(null);
  const asking = answering.stage === "inquire";
  useEffect(() => {
    if (asking) box.current?.focus();
  }, [asking]);
  return (
    <div class="inquiries">
      {inquiries.length > 0 && (
        <ol>
          {inquiries.map((inquired) => (
            <Inquiry inquired={inquired} />
          ))}
        </ol>
      )}
      {asking ? (
        <Form class="writing" submit={() => act({ type: "confirm" })}>
          <label>
            <span>{web.ask}</span>
            <textarea
              ref={box}
              rows={2}
              value={answering.inquiry}
              placeholder={web.askHere}
              onInput={(event) => act({ type: "write", field: "inquiry", text: event.currentTarget.value })}
            />
            <small>{web.askMore}</small>
          </label>
          <div class="row">
            <button type="submit">{web.askSend}</button>
            <button type="button" class="quiet" onClick={() => act({ type: "back" })}>
              {web.back}
            </button>
          </div>
        </Form>
      ) : (
        <button
          type="button"
          class="quiet"
          data-choice="inquire"
          onClick={() => act({ type: "choose", choice: "inquire" })}
        >
          {web.ask}
        </button>
      )}
    </div>
  );
}

function Inquiry({ inquired: { made, reply, over } }: { inquired: Inquired }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const details = reply
    ? [
        ...(reply.looks.length > 0 ? [web.looked(reply.looks.length)] : []),
        ...(reply.cost ? [dollars(reply.cost)] : []),
      ]
    : [];
  return (
    <li>
      <p class="made">
        <small>{oneLine(whoOf(made, t, app.me.value))}</small>
        {harmless(made.text)}
      </p>
      {reply?.problem && <p class="warn">{t.inquiryFailed(oneLine(t.because(reply.problem)))}</p>}
      {reply && reply.text !== "" && (
        <div class="reply">
          {harmless(reply.text)}
          {details.length > 0 && <small>{details.join(" · ")}</small>}
        </div>
      )}
      {!reply && (
        <p class="dim" role="status">
          {over ? t.inquiryOver : web.thinking}
        </p>
      )}
    </li>
  );
}
