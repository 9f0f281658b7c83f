import { fragmentFor } from "./state/place.ts";
import type { App } from "./state/state.ts";

/** Keys of the whole page. Those for a request click its own buttons, so that they pass the same locks. */
export function listenToKeys(app: App): void {
  addEventListener("keydown", (event) => {
    const { target } = event;
    const on = target instanceof HTMLElement ? target : undefined;
    const button = on?.closest("button, a, summary, select, input[type=checkbox], input[type=radio]");
    // A key that is held down presses a button again and again.
    if (event.repeat && button && (event.key === "Enter" || event.key === " ")) return event.preventDefault();
    if (event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const meant = readKey({
      key: event.key,
      repeat: event.repeat,
      modified: event.ctrlKey || event.metaKey || event.altKey,
      writing: on?.matches("textarea, input:not([type=checkbox]):not([type=radio]), select") ?? false,
    });
    if (!meant || (meant.type === "open" && button)) return;
    if (act(app, meant, on)) event.preventDefault();
  });
}

function act(app: App, meant: Meant, on: HTMLElement | undefined): boolean {
  switch (meant.type) {
    case "go":
      return go(app, meant.to, on);
    case "open":
      return press(focused(app)?.querySelector("a.body"));
    case "choose":
      return choose(app, meant.choice);
    default:
      return meant satisfies never;
  }
}

function go(app: App, to: (Meant & { type: "go" })["to"], on: HTMLElement | undefined): boolean {
  switch (to) {
    case "next":
    case "previous": {
      const all = [...document.querySelectorAll<HTMLElement>("article.card, article.request")];
      const at = all.findIndex((element) => element.dataset["request"] === app.focus.value);
      const found = all[to === "next" ? Math.min(all.length - 1, at + 1) : Math.max(0, at - 1)];
      found?.focus();
      found?.scrollIntoView({ block: "nearest" });
      return found !== undefined;
    }
    case "inbox":
      location.hash = fragmentFor({ page: "inbox" });
      return true;
    case "message": {
      const box = document.querySelector<HTMLElement>("textarea.message");
      box?.focus();
      return box !== null;
    }
    case "help":
      app.help.value = true;
      return true;
    case "back":
      return back(app, on);
    default:
      return to satisfies never;
  }
}

/** Out of a text, then out of a half-made choice, then to the inbox. */
function back(app: App, on: HTMLElement | undefined): boolean {
  const entry = app.inbox.value.requests.get(app.focus.value ?? "");
  if (entry && !entry.resolution && app.panel(entry.request).value.answering.stage !== "choices") {
    app.did(entry.request, { type: "back" });
    document.querySelector<HTMLElement>(`[data-request="${CSS.escape(entry.request.id)}"]`)?.focus();
    return true;
  }
  if (on?.matches("textarea, input, select")) {
    on.blur();
    return true;
  }
  if (app.place.value.page === "inbox") return false;
  location.hash = fragmentFor({ page: "inbox" });
  return true;
}

/** Only the request that has the focus, never "the only one". */
function focused(app: App): Element | undefined {
  const at = document.activeElement?.closest("[data-request]");
  return at instanceof HTMLElement && at.dataset["request"] === app.focus.value ? at : undefined;
}

function choose(app: App, choice: string): boolean {
  const article = focused(app);
  const wanted = article?.querySelector(`[data-choice="${choice}"]`);
  if (wanted) return press(wanted);
  // A choice that is behind "more" is made all the same.
  const more = article?.querySelector('button.more[aria-expanded="false"]');
  if (!more || !press(more)) return false;
  setTimeout(() => press(article?.querySelector(`[data-choice="${choice}"]`)));
  return true;
}

function press(element: Element | null | undefined): boolean {
  if (!(element instanceof HTMLElement)) return false;
  element.click();
  return true;
}

/** A key as the browser tells it. `writing`: a text has the focus. */
type Pressed = { key: string; repeat: boolean; modified: boolean; writing: boolean };

/** The meaning of a key, wherever it is pressed. Keys of a request act on the one that has the focus. */
type Meant =
  | { type: "go"; to: "next" | "previous" | "inbox" | "back" | "message" | "help" }
  | { type: "open" }
  | { type: "choose"; choice: "once" | "no" | "always" | "edit" | "reason" | "comment" | "stop" | "inquire" };

const choices = new Map(
  Object.entries({
    y: "once",
    n: "no",
    a: "always",
    e: "edit",
    r: "reason",
    c: "comment",
    s: "stop",
    q: "inquire",
  } as const),
);
const places = new Map(Object.entries({ j: "next", k: "previous", i: "inbox", "/": "message", "?": "help" } as const));

/** Repeated or modified keys, and keys in a text, mean nothing, except Escape. Enter on a focused button is the browser's doing. */
export function readKey({ key, repeat, modified, writing }: Pressed): Meant | undefined {
  if (repeat || modified) return undefined;
  if (key === "Escape") return { type: "go", to: "back" };
  if (writing) return undefined;
  if (key === "Enter") return { type: "open" };
  const [choice, to] = [choices.get(key), places.get(key)];
  return choice ? { type: "choose", choice } : to && { type: "go", to };
}
