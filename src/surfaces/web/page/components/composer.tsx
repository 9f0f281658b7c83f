import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Completion } from "../../../../view/slash/read.ts";
import { useApp } from "../state/context.ts";
import { Form } from "./form.tsx";

type Props = {
  label: string;
  here: string;
  /** False if it was refused; a text to put into the box instead. */
  send(text: string): Promise<boolean | string>;
  complete?(text: string): readonly Completion[];
  children?: ComponentChildren;
  sticky?: boolean;
};

/** A message to write. Enter sends it; it stays until it was taken. */
export function Composer({ label, here, send, complete = () => [], children, sticky = false }: Props) {
  const app = useApp();
  const { web } = app.words.value;
  const text = useSignal("");
  const sending = useSignal(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const go = async () => {
    const said = text.value.trim();
    if (said === "" || sending.value || app.away.value) return;
    sending.value = true;
    app.halfWritten.delete(text);
    const taken = await send(said).catch(() => false);
    sending.value = false;
    if (taken !== false) text.value = taken === true ? "" : taken;
    box.current?.focus();
  };
  const completions = complete(text.value);
  const take = (completion: Completion) => {
    text.value = completion.text;
    box.current?.focus();
  };
  return (
    <Form class={`composer${sticky ? " sticky" : ""}`} submit={() => void go()}>
      {completions.length > 0 && (
        <ul class="completions">
          {completions.map((completion) => (
            <li>
              <button type="button" onClick={() => take(completion)}>
                <b>{completion.label}</b> <small>{completion.hint}</small>
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        class="message"
        aria-label={label}
        placeholder={here}
        rows={1}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          if (text.value.trim() === "") app.halfWritten.delete(text);
          else app.halfWritten.add(text);
        }}
        onKeyDown={(event) => {
          const [first] = completions;
          if (event.key === "Tab" && !event.shiftKey && first) {
            event.preventDefault();
            return take(first);
          }
          // Enter also chooses a Chinese word.
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void go();
        }}
      />
      <div class="side">
        {children}
        <button
          type="submit"
          class="send"
          aria-label={web.send}
          aria-disabled={text.value.trim() === "" || app.away.value}
        >
          ↑
        </button>
      </div>
    </Form>
  );
}
