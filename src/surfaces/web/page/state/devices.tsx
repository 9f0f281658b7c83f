import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { oneLine } from "../../../../base/visible.ts";
import { timeOf } from "../../../../texts/shared/resolution.ts";
import { useApp } from "./context.ts";
import type { ListedDevice } from "./settings.ts";

/** Browsers, phones and terminals that hold a key, with the way to take it from them. */
export function DevicesPage() {
  const app = useApp();
  const { t, web } = app.words.value;
  const { devices } = app.settings;
  const all = useSignal<readonly ListedDevice[] | "none" | undefined>(undefined);
  const sure = useSignal("");
  const link = useSignal("");
  const trouble = useSignal("");
  const look = () => void devices.list().then((found) => (all.value = found ?? "none"));
  useEffect(look, []);
  const remove = (id: string) => {
    if (sure.value !== id) return void (sure.value = id);
    sure.value = "";
    void devices.remove(id).then(look);
  };
  const addPasskey = async () => {
    trouble.value = "";
    try {
      const reply = await devices.addPasskey();
      if (!reply.ok) trouble.value = app.trouble(reply) ?? "";
    } catch {
      trouble.value = web.cannot;
    }
    look();
  };
  return (
    <>
      <h1>{web.pages.devices}</h1>
      {all.value === undefined && <p class="empty">{web.loading}</p>}
      {all.value === "none" && <p class="empty">{web.cannot}</p>}
      {Array.isArray(all.value) && (
        <ul class="devices">
          {(all.value as readonly ListedDevice[]).map(({ id, name, owner, at, seen, own, passkeys }) => (
            <li key={id}>
              <div>
                <b>{oneLine(name)}</b> {own && <span class="chip">{web.thisDevice}</span>}{" "}
                {passkeys !== undefined && <span class="chip">{t.passkey}</span>}
                <small>
                  {oneLine(owner)} · {web.since(timeOf(at))} · {web.lastSeen(timeOf(seen))}
                </small>
              </div>
              <button
                type="button"
                class={sure.value === id ? "no firm" : "no"}
                disabled={app.away.value}
                onClick={() => remove(id)}
              >
                {sure.value === id ? web.removeSure : web.remove}
              </button>
            </li>
          ))}
        </ul>
      )}
      {app.approver.value && Array.isArray(all.value) && (
        <section class="invite">
          <button
            type="button"
            disabled={app.away.value}
            onClick={() => void devices.invite().then((found) => (link.value = found ?? ""))}
          >
            {web.addDevice}
          </button>
          <button type="button" class="quiet" data-passkey disabled={app.away.value} onClick={() => void addPasskey()}>
            {t.addPasskey}
          </button>
          {trouble.value !== "" && <p role="alert">{trouble.value}</p>}
          {link.value !== "" && (
            <label>
              <span>{web.addDeviceHow}</span>
              <input class="mono" readOnly value={link.value} onFocus={(event) => event.currentTarget.select()} />
            </label>
          )}
        </section>
      )}
    </>
  );
}
