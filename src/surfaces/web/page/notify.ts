import { effect, signal } from "@preact/signals";
import { oneLine } from "../../../base/visible.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { titleOf } from "../../../view/items/summary.ts";
import { originBrief } from "../../../view/request/origin.ts";
import { fragmentFor } from "./state/place.ts";
import type { App } from "./state/state.ts";

export const notifications = signal<"ask" | "on" | "off">(permissionState());

/** Title and badge show how many wait. Only one tab shows a notification, and only while no tab is visible. */
export function keepTold(app: App): void {
  let told: ReadonlySet<string> | undefined;
  let chosen = false;
  void navigator.locks?.request("sage.notify", () => {
    chosen = true;
    return new Promise(() => {}); // until the tab is closed
  });
  effect(() => {
    const open = app.open.value;
    document.title = open.length > 0 ? `(${open.length}) Sage` : "Sage";
    const badged = open.length > 0 ? navigator.setAppBadge?.(open.length) : navigator.clearAppBadge?.();
    badged?.catch(() => {});
    if (!app.known.value) return;
    const fresh = told ? open.filter(({ request }) => !told?.has(request.id)) : [];
    told = new Set(open.map(({ request }) => request.id));
    if (!chosen || notifications.value !== "on" || document.visibilityState === "visible") return;
    for (const { request } of fresh) show(app, request);
  });
}

/** Its kind, the session's title and the folder, never what would run: it is seen on a locked screen. */
function show(app: App, request: InputRequest): void {
  const { t, web } = app.words.value;
  const { title = "", cwd } = app.inbox.value.sessions.get(request.session) ?? {};
  const body = [oneLine(titleOf({ title })), originBrief(request, t, { cwd })].filter(Boolean).join("\n");
  try {
    const shown = new Notification(web.notice[request.kind], { body, tag: request.id });
    shown.addEventListener("click", () => {
      focus();
      location.hash = fragmentFor({ page: "request", id: request.id });
    });
  } catch {
    // A phone shows notifications of a service worker only.
  }
}

function permissionState(): "ask" | "on" | "off" {
  if (typeof Notification === "undefined") return "off";
  return Notification.permission === "granted" ? "on" : Notification.permission === "default" ? "ask" : "off";
}
