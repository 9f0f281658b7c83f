import { useEffect, useRef } from "preact/hooks";
import { oneLine } from "../../../base/visible.ts";
import { useApp } from "./state/context.ts";
import { fragmentFor, type Place } from "./state/place.ts";
import { colours } from "./state/settings.ts";

const pages = ["inbox", "sessions", "receipts", "rules", "devices", "stats"] as const;

export function Header({ skip }: { skip(): void }) {
  const app = useApp();
  const { web } = app.words.value;
  const { state } = app.connection.value;
  const place = app.place.value;
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => menu.current?.removeAttribute("open");
  useEffect(close, [fragmentFor(place)]);
  useEffect(() => {
    const outside = ({ target }: Event) => {
      if (target instanceof Node && !menu.current?.contains(target)) close();
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, []);
  const waiting = app.open.value.length;
  return (
    <header class="top">
      <a class="skip" href={fragmentFor(place)} onClick={skip}>
        {web.skip}
      </a>
      <div class="bar">
        {place.page === "request" || place.page === "session" ? (
          <>
            <a class="back" href="#/">
              <span aria-hidden="true">‹</span> {web.pages.inbox}
              {waiting > 0 && <span class="count">{waiting}</span>}
            </a>
            <a class="mark spare" href="#/">
              Sage
            </a>
          </>
        ) : (
          <a class="mark" href="#/">
            Sage
          </a>
        )}
        <nav class="wide" aria-label={web.pagesLabel}>
          <Links place={place} />
        </nav>
        <span class={`link ${state}`} role="status" title={web.connection[state]}>
          <span class="dot" aria-hidden="true" />
          <span class={state === "open" ? "hidden" : undefined}>{web.connection[state]}</span>
          {state === "open" && <span class="me">{oneLine(app.me.value.by)}</span>}
        </span>
        <details class="menu" ref={menu}>
          <summary aria-label={web.menu}>
            <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
              <path
                d="M4 7h16M4 12h16M4 17h16"
                fill="none"
                stroke="currentColor"
                stroke-width="1.8"
                stroke-linecap="round"
              />
            </svg>
          </summary>
          <div class="sheet">
            <nav class="narrow" aria-label={web.menu}>
              <Links place={place} />
            </nav>
            <Settings />
          </div>
        </details>
      </div>
    </header>
  );
}

function Links({ place }: { place: Place }) {
  const app = useApp();
  const { web } = app.words.value;
  const waiting = app.open.value.length;
  return (
    <>
      {pages.map((page) => (
        <a href={fragmentFor({ page })} aria-current={place.page === page ? "page" : undefined}>
          {web.pages[page]}
          {page === "inbox" && waiting > 0 && <span class="count">{waiting}</span>}
        </a>
      ))}
    </>
  );
}

function Settings() {
  const app = useApp();
  const { web } = app.words.value;
  const { settings } = app;
  return (
    <div class="settings">
      <button type="button" onClick={() => settings.switchLanguage()}>
        {web.otherLanguage}
      </button>
      <label>
        <span>{web.colours}</span>
        <select
          value={settings.colour.value}
          onChange={(event) => settings.paint(event.currentTarget.value as (typeof colours)[number])}
        >
          {colours.map((colour) => (
            <option value={colour}>{web.colour[colour]}</option>
          ))}
        </select>
      </label>
      {settings.notifications.value === "ask" && (
        <button type="button" onClick={() => settings.notify()}>
          {web.notify}
        </button>
      )}
      <button type="button" onClick={() => (app.help.value = true)}>
        {web.keys}
      </button>
      <button type="button" class="no" onClick={() => settings.leave()}>
        {web.forget}
      </button>
    </div>
  );
}

export function Help() {
  const app = useApp();
  const { web } = app.words.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (app.help.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [app.help.value]);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => (app.help.value = false)}>
      <h2 id="keys">{web.keys}</h2>
      <dl>
        {web.keyList.map(([key, meaning]) => (
          <div>
            <dt>
              {key.split("  ").map((row) => (
                <kbd>{row}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => (app.help.value = false)}>
        {web.close}
      </button>
    </dialog>
  );
}
