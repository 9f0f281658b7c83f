import { useSignal } from "@preact/signals";
import { sessionModes } from "../../../protocol/index.ts";
import { useApp } from "./context.ts";
import type { Unsigned } from "./input.ts";
import type { Followed } from "./session-state.ts";

/** What can be done with a session besides talking: stop, mode, compact. */
export function SessionMenu({ id, followed }: { id: string; followed: Followed }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const trouble = useSignal("");
  const { working, open, mode } = followed.progress.value;
  const send = async (command: Unsigned) => {
    const reply = await app.send(command).catch(() => undefined);
    trouble.value = reply ? (app.trouble(reply) ?? "") : web.lock.late;
  };
  if (!app.may.value.includes("talk")) return null;
  const off = app.away.value;
  return (
    <div class="tools">
      {working && (
        <button
          type="button"
          disabled={off}
          onClick={() => void send({ type: "interrupt", session: id, cancel: false })}
        >
          {web.interrupt}
        </button>
      )}
      {open && !working && (
        <>
          <button type="button" disabled={off} onClick={() => void send({ type: "resume", session: id })}>
            {web.resume}
          </button>
          <button
            type="button"
            disabled={off}
            onClick={() => void send({ type: "interrupt", session: id, cancel: true })}
          >
            {web.interruptAgain}
          </button>
        </>
      )}
      <details class="menu">
        <summary aria-label={web.actions}>⋯</summary>
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
          <button type="button" disabled={off || open} onClick={() => void send({ type: "compact", session: id })}>
            {web.compact}
          </button>
        </div>
      </details>
      {trouble.value !== "" && (
        <p class="note bad" role="alert">
          {trouble.value}
        </p>
      )}
    </div>
  );
}
