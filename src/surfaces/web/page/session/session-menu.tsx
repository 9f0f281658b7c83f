import { useSignal, type Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { oneLine } from "../../../../base/visible.ts";
import { modeWords } from "../../../../protocol/mode.ts";
import { useApp } from "../state/context.ts";
import type { Unsigned } from "../state/input.ts";
import { useReply } from "../components/loading.tsx";
import type { SlashName } from "../../../../view/slash/table.ts";
import type { Followed } from "./session-state.ts";
import type { Typing } from "./typing.ts";
import { Form, Trouble } from "../components/form.tsx";

/** Everything that can be done with a session besides talking: stop, continue, and what the menu has. */
export function SessionMenu({ id, followed, typing }: { id: string; followed: Followed; typing: Typing }) {
  const app = useApp();
  const { web } = app.words.value;
  const trouble = useSignal("");
  const working = followed.run.value === "running";
  const { open } = followed.progress.value;
  const waits = app.inbox.value.sessions.get(id)?.state === "waiting";
  const menu = useRef<HTMLDetailsElement>(null);
  const opened = useSignal(false);
  const send = async (command: Unsigned) => void (trouble.value = app.trouble(await app.send(command)) ?? "");
  const stop = (to: "pause" | "cancel") =>
    void send({ type: "interrupt", session: id, cancel: to === "cancel", to, id: app.id() });
  if (!app.may.value.includes("talk")) return null;
  const off = app.away.value;
  return (
    <div class="tools">
      {working && !waits && (
        <button type="button" disabled={off} onClick={() => stop("pause")}>
          {web.interrupt}
        </button>
      )}
      {open && (waits || !working) && (
        <>
          {!waits && (
            <button type="button" disabled={off} onClick={() => void send({ type: "resume", session: id })}>
              {web.resume}
            </button>
          )}
          <button type="button" disabled={off} onClick={() => stop("cancel")}>
            {web.interruptAgain}
          </button>
        </>
      )}
      <details class="menu" ref={menu} onToggle={(event) => (opened.value = event.currentTarget.open)}>
        <summary aria-label={web.actions}>⋯</summary>
        {opened.value && <Sheet id={id} followed={followed} typing={typing} off={off} />}
      </details>
      <Trouble text={trouble.value} />
    </div>
  );
}

type SheetProps = { id: string; followed: Followed; typing: Typing; off: boolean };

/** The same commands as can be typed. */
function Sheet({ id, followed, typing, off }: SheetProps) {
  const { t, web } = useApp().words.value;
  const { open, mode, title } = followed.progress.value;
  const about = useReply({ type: "about", session: id });
  const naming = useSignal<string | undefined>(undefined);
  const model = about.value.reply?.session?.model ?? "";
  const choosing = useSignal<string | undefined>(undefined);
  const run = (name: SlashName, args = "") => typing.run({ name, args });
  const choose = async (name: string) => {
    if (await run("model", name)) choosing.value = undefined;
  };
  const rename = async (name: string) => {
    if (await run("rename", name)) naming.value = undefined;
  };
  return (
    <div class="sheet">
      <label>
        <span>{web.mode}</span>
        <select disabled={off} onChange={(event) => void run("mode", event.currentTarget.value)}>
          {Object.entries(modeWords).map(([word, label]) => (
            <option value={word} selected={label === mode}>
              {t.modes[label]}
            </option>
          ))}
        </select>
      </label>
      {choosing.value === undefined ? (
        <button type="button" disabled={off} onClick={() => (choosing.value = model)}>
          {web.model} {model !== "" && <small>{oneLine(model)}</small>}
        </button>
      ) : (
        <Field label={web.model} text={choosing as Signal<string>} save={choose} />
      )}
      {naming.value === undefined ? (
        <button type="button" disabled={off} onClick={() => (naming.value = title)}>
          {web.rename}
        </button>
      ) : (
        <Field label={web.renameTo} text={naming as Signal<string>} save={rename} />
      )}
      <button type="button" disabled={off} onClick={() => void run("fork")}>
        {web.fork}
      </button>
      <button type="button" disabled={off || open} onClick={() => void run("compact")}>
        {web.compact}
      </button>
    </div>
  );
}

function Field({ label, text, save }: { label: string; text: Signal<string>; save(text: string): Promise<void> }) {
  const { web } = useApp().words.value;
  return (
    <Form
      class="inline"
      submit={() => {
        if (text.value.trim() !== "") void save(text.value.trim());
      }}
    >
      <input aria-label={label} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
      <button type="submit">{web.save}</button>
    </Form>
  );
}
