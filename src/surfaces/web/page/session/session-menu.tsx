import { useSignal, type Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { oneLine } from "../../../../base/visible.ts";
import type { CommandReply } from "../../../../protocol/host/host.ts";
import { sessionModes } from "../../../../protocol/mode.ts";
import { useApp } from "../state/context.ts";
import type { Unsigned } from "../state/input.ts";
import { useReply } from "../components/loading.tsx";
import { addressOf } from "../state/place.ts";
import type { Followed } from "./session-state.ts";
import { Form, Trouble } from "../components/form.tsx";

/** Everything that can be done with a session besides talking: stop, continue, and what the menu has. */
export function SessionMenu({ id, followed }: { id: string; followed: Followed }) {
  const app = useApp();
  const { web } = app.words.value;
  const trouble = useSignal("");
  const working = followed.run.value === "running";
  const { open } = followed.progress.value;
  const waits = app.inbox.value.sessions.get(id)?.state === "waiting";
  const menu = useRef<HTMLDetailsElement>(null);
  const opened = useSignal(false);
  const send = async <C extends Unsigned>(command: C): Promise<CommandReply<C["type"]>> => {
    const reply = await app.send(command);
    trouble.value = app.trouble(reply) ?? "";
    return reply;
  };
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
        {opened.value && <Sheet id={id} followed={followed} send={send} off={off} trouble={trouble} />}
      </details>
      <Trouble text={trouble.value} />
    </div>
  );
}

type SheetProps = {
  id: string;
  followed: Followed;
  send<C extends Unsigned>(command: C): Promise<CommandReply<C["type"]>>;
  off: boolean;
  trouble: Signal<string>;
};

function Sheet({ id, followed, send, off, trouble }: SheetProps) {
  const app = useApp();
  const { t, web } = app.words.value;
  const { open, mode, title } = followed.progress.value;
  const about = useReply({ type: "about", session: id });
  const naming = useSignal<string | undefined>(undefined);
  const model = about.value.reply?.session?.model ?? "";
  const choosing = useSignal<string | undefined>(undefined);
  const fork = async () => {
    const reply = await send({ type: "fork", session: id });
    if (reply.ok) location.hash = addressOf({ page: "session", id: reply.session });
  };
  const choose = async (name: string) => {
    const reply = await send({ type: "choose", session: id, model: name, checked: true });
    if (reply.ok) choosing.value = undefined;
  };
  const rename = async (name: string) => {
    const reply = await send({ type: "rename", session: id, title: name });
    if (reply.ok) naming.value = undefined;
  };
  return (
    <div class="sheet">
      <label>
        <span>{web.mode}</span>
        <select
          value={mode}
          disabled={off}
          onChange={(event) =>
            void send({ type: "chooseMode", session: id, mode: event.currentTarget.value as typeof mode })
          }
        >
          {sessionModes.map((one) => (
            <option value={one}>{t.modes[one]}</option>
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
      <button type="button" disabled={off} onClick={() => void fork()}>
        {web.fork}
      </button>
      <button type="button" disabled={off || open} onClick={() => void send({ type: "compact", session: id })}>
        {web.compact}
      </button>
      {trouble.value !== "" && <p class="note bad">{trouble.value}</p>}
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
