import { oneLine } from "../../base/visible.ts";
import { nameOf } from "../../view/items/summary.ts";
import { clipped } from "./draw/rows.ts";
import { visibleWidth } from "./draw/tui.ts";
import type { StatusInfo } from "./screen/options.ts";
import type { Parts } from "./parts.ts";
import { boardRows } from "./view.ts";
import { footRow, statusRow, type Doing, type Look } from "./screen/status.ts";

/** Rows below the transcript: a panel, or else status, hint, editor and foot. */
export function bottomRows(parts: Parts, width: number): string[] {
  const { desk, lifetime, session, theme, tt, writing } = parts;
  const { progress, requests } = session;
  if (!lifetime.mine()) return [];
  const { hint } = parts.state();
  const hints = hint === "none" ? [] : [theme.warn(clipped(tt.hints[hint], width))];
  const pager = parts.pagers.open();
  if (pager) return pager.render(width);
  const panel = desk.panel();
  if (panel) return ["", ...panel.render(width), ...hints];
  const look = lookOf(parts, width);
  const picker = parts.pickers.open();
  return [
    "",
    ...(progress.open ? boardRows(parts.scroll.board(), { ...look, cwd: progress.cwd }) : []),
    ...(requests.length > 0 ? [asideRow(parts, width)] : statusRow(doingOf(parts), look)),
    ...unreadRow(parts, width),
    ...hints,
    ...(picker ?? writing).render(width),
    ...(!picker && writing.mode() === "normal" ? [theme.dim("-- NORMAL --")] : []),
    ...footRows(parts, look),
  ];
}

/** The person's own line, or ours. A mode that lets more or less happen is told in both. */
function footRows(parts: Parts, look: Look): string[] {
  const info = statusOf(parts);
  const own = parts.options.statusLine?.(info, parts.redraw);
  if (own === undefined) return [footRow(info, look)];
  const { theme, tt, width } = look;
  if (info.mode === "ask") return own === "" ? [] : [clipped(own, width)];
  const mode = clipped(tt.inMode[info.mode], width);
  const room = width - visibleWidth(mode) - 3;
  return [theme.dim(mode) + (own === "" || room < 4 ? "" : ` · ${clipped(own, room)}`)];
}

function statusOf({ options, session: { progress } }: Parts): StatusInfo {
  const { mode, title, contextTokens, usd, unpriced } = progress;
  const model = oneLine(progress.model ?? options.model);
  const { folder, branch } = options.place?.() ?? {};
  return {
    ...{ session: options.session, model, mode, title, contextTokens, usd, unpriced },
    contextWindow: options.window?.(model),
    ...(options.sandbox && { sandbox: options.sandbox }),
    ...(folder !== undefined && { folder: oneLine(folder) }),
    ...(branch !== undefined && { branch: oneLine(branch) }),
  };
}

export function doingOf({ activity, session, state, talk }: Parts): Doing {
  return activity.doing({
    waitingSince: session.requests[0]?.request.at,
    shellSince: talk.shell()?.since,
    attached: session.phase !== "joining" && state().phase === "here",
  });
}

export function lookOf({ theme, t, tt, now }: Parts, width: number): Look {
  return { theme, t, tt, width, now: now() };
}

/** Messages that were sent while the agent works, until it has read them. */
function unreadRow({ session, theme, tt }: Parts, width: number): string[] {
  const waiting = session.progress.open ? session.queue : [];
  const [first] = waiting;
  return first ? [theme.dim(clipped(`⋯ ${tt.unread(waiting.length, oneLine(first.text))}`, width))] : [];
}

/** Names the first open request while no panel shows it. */
function asideRow({ session, t, theme, tt, now }: Parts, width: number): string {
  const open = session.requests;
  const [first] = open;
  if (!first) return "";
  const age = t.age(now() - first.request.at);
  return theme.warn(clipped(`◆ ${tt.collapsed(open.length, nameOf(first.request, t), age)}`, width));
}
