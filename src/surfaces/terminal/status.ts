import { oneLine } from "../../base/visible.ts";
import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { TerminalTexts } from "../../texts/surfaces/terminal.ts";
import { isOf, queueLines } from "../../view/queue.ts";
import { dollars, nameOf } from "../../view/items/summary.ts";
import type { Session } from "../../view/session.ts";
import { clipped } from "./draw/rows.ts";
import type { Theme } from "./draw/theme.ts";
import { visibleWidth } from "./draw/tui.ts";
import type { StatusInfo } from "./screen/options.ts";
import type { Parts } from "./session.ts";
import { boardRows } from "./view.ts";

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

export type Doing =
  | { type: "idle" }
  | { type: "paused" }
  | { type: "waiting"; since: number }
  | { type: "working"; what: string; since: number; queued?: boolean };

type Look = { theme: Theme; t: Texts; tt: TerminalTexts; width: number; now: number };

/** Activity of the session and its duration; nothing when it is idle. */
function statusRow(doing: Doing, { theme, t, tt, width, now }: Look): string[] {
  switch (doing.type) {
    case "idle":
      return [];
    case "paused":
      return [theme.warn(clipped(`⏸ ${tt.paused}`, width))];
    case "waiting":
      return [theme.warn(clipped(`◆ ${tt.yourTurn} · ${t.duration(Math.max(0, now - doing.since))}`, width))];
    case "working": {
      const frame = frames[Math.floor(now / 120) % frames.length] ?? "";
      const time = t.duration(Math.floor(Math.max(0, now - doing.since) / 1_000) * 1_000);
      const line = `${doing.what}${now - doing.since < 1_000 ? "" : ` · ${time}`} · ${doing.queued ? tt.escReads : tt.escHint}`;
      return [`${theme.accent(frame)} ${theme.dim(clipped(line, width - 2))}`];
    }
    default:
      return doing satisfies never;
  }
}

/** Current activity of the session, and its start. */
export type Activity = {
  fact(fact: Fact): void;
  delta(delta: Delta): void;
  doing(around: { waitingSince: number | undefined; shellSince: number | undefined; attached: boolean }): Doing;
};

const steps: readonly Fact["type"][] = ["turn.begun", "call.started", "call.finished"];

export function createActivity({
  session,
  tt,
  now,
}: {
  session: Pick<Session, "run" | "progress" | "queue">;
  tt: TerminalTexts;
  now(): number;
}): Activity {
  let was = { working: false, since: now(), thinking: false };
  return {
    fact({ type }) {
      if (steps.includes(type)) was = { ...was, since: now() };
    },
    delta({ kind }) {
      if (kind !== "state") was.thinking = kind === "reasoning";
    },
    doing({ waitingSince, shellSince, attached }) {
      const working = session.run === "running";
      if (was.working !== working) was = { ...was, working, since: now() };
      if (waitingSince !== undefined) return { type: "waiting", since: waitingSince };
      if (shellSince !== undefined) return { type: "working", what: tt.shellRuns, since: shellSince };
      if (working) {
        const queued = session.queue.length > 0;
        return { type: "working", what: workOf(session, was.thinking, tt), since: was.since, queued };
      }
      return attached && session.progress.open ? { type: "paused" } : { type: "idle" };
    },
  };
}

function workOf({ progress }: Pick<Session, "progress">, thinking: boolean, tt: TerminalTexts): string {
  const tools = [...progress.running.values()];
  if (tools.length > 1) return tt.several(tools.length);
  const [tool] = tools;
  return tool === undefined ? (thinking ? tt.modelThinks : tt.model) : tt.runs(tool);
}

/** Mode, context and money on the left; folder, model and session on the right, as far as there is room. */
export function footRow(info: StatusInfo, { theme, tt, width }: Look): string {
  const { mode, usd, unpriced, folder, branch, model, session, sandbox } = info;
  const left = [
    ...(mode === "ask" ? [] : [tt.inMode[mode]]),
    ...(sandbox ? [tt.confined[sandbox]] : []),
    ...contextOf(info, tt),
    ...(usd > 0 ? [unpriced ? `> ${dollars({ usd })}` : dollars({ usd })] : []),
  ].join(" · ");
  const at = folder === undefined ? [] : [branch === undefined ? folder : `${folder} (${branch})`];
  const base = folder === undefined ? [] : [folder.slice(folder.lastIndexOf("/") + 1)];
  const room = Math.max(8, width - visibleWidth(left) - 2);
  const forms = [[...at, model, session], [...at, model], [...base, model], [model]].map((parts) => parts.join(" · "));
  const right = forms.find((form) => visibleWidth(form) <= room) ?? clipped(model, room);
  const blank = " ".repeat(Math.max(1, width - visibleWidth(left) - visibleWidth(right)));
  return theme.dim(`${left}${blank}${right}`);
}

function contextOf({ contextTokens, contextWindow }: StatusInfo, tt: TerminalTexts): string[] {
  if (contextTokens <= 0) return [];
  if (contextWindow === undefined) return [tt.tokens(contextTokens)];
  return [tt.contextUsed(Math.min(100, Math.max(1, Math.round((100 * contextTokens) / contextWindow))))];
}

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
    ...queueRows(parts, width),
    ...hints,
    ...(picker ?? writing).render(width),
    ...(!picker && writing.mode() === "normal" ? [theme.dim("-- NORMAL --")] : []),
    ...footRows(parts, look),
  ];
}

/** The person's own line, or ours. A mode that lets more or less happen is told in both. */
function footRows(parts: Parts, look: Look): string[] {
  const info = statusInfo(parts);
  const own = parts.options.statusLine?.(info, parts.redraw);
  if (own === undefined) return [footRow(info, look)];
  const { theme, tt, width } = look;
  if (info.mode === "ask") return own === "" ? [] : [clipped(own, width)];
  const mode = clipped(tt.inMode[info.mode], width);
  const room = width - visibleWidth(mode) - 3;
  return [theme.dim(mode) + (own === "" || room < 4 ? "" : ` · ${clipped(own, room)}`)];
}

function statusInfo({ options, session: { progress } }: Parts): StatusInfo {
  const { mode, title, contextTokens, usd, unpriced } = progress;
  const model = oneLine(progress.model ?? options.model);
  const { folder, branch } = options.place?.() ?? {};
  return {
    session: options.session,
    model,
    mode,
    title,
    contextTokens,
    usd,
    unpriced,
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

/** Messages that wait for the next step. */
function queueRows({ session, sender, theme, t, tt }: Parts, width: number): string[] {
  if (!session.progress.open) return [];
  const rows = queueLines(session.queue, t).map((line) => theme.dim(clipped(`⋯ ${line}`, width)));
  const own = session.queue.filter(isOf(sender)).length;
  return own === 0 ? rows : [...rows, theme.dim(clipped(`  ${tt.takesBack(own)}`, width))];
}

/** Names the first open request while no panel shows it. */
function asideRow({ session, t, theme, tt, now }: Parts, width: number): string {
  const open = session.requests;
  const [first] = open;
  if (!first) return "";
  const age = t.age(now() - first.request.at);
  return theme.warn(clipped(`◆ ${tt.collapsed(open.length, nameOf(first.request, t), age)}`, width));
}
