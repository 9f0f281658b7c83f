import { oneLine } from "../../../base/visible.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { whyOf } from "../../../view/request/answering.ts";
import { silenceLines } from "../../../view/request/silence.ts";
import { visibleWidth } from "../draw/tui.ts";
import { framed, own, type Draw } from "../widgets/draw.ts";
import type { Queue } from "./panel.ts";

type Head = {
  queue: Queue;
  now: number;
  draw: Draw;
  dangerous: boolean;
  size: { characters: number; lines: number } | undefined;
};

/** Head of a panel: kind of request, its number among the open ones, age and deadline. */
export function headLines(request: InputRequest, { queue, now, draw, dangerous, size }: Head): string[] {
  const { theme, t, wording, width } = draw;
  const age = now - request.at;
  const title = [
    queue.total > 1 ? t.aside(t.title[request.kind], t.place(queue.position, queue.total)) : t.title[request.kind],
    ...(size ? [t.size(size.characters, size.lines)] : []),
    ...(age >= 60_000 ? [wording.asked(t.age(age))] : []),
  ].join(" · ");
  const line = "─".repeat(Math.max(0, Math.min(width, 72) - visibleWidth(title) - 4));
  const urgent = request.deadline !== undefined && request.deadline.at - now < 60_000;
  return [
    ...own(`── ${title}${line === "" ? "" : ` ${line}`}`, draw, {
      paint: (text) => theme.bold(dangerous ? theme.danger(text) : theme.warn(text)),
    }),
    ...silenceLines(request, t, now).flatMap((line) => own(line, draw, { paint: urgent ? theme.danger : theme.dim })),
  ];
}

/** Why, from where and by whom it is asked. */
export function aboutLines(request: InputRequest, draw: Draw): string[] {
  const { theme, t } = draw;
  const { source } = request;
  const why = whyOf(request);
  return [
    ...(why === undefined ? [] : framed(t.because(why), draw)),
    ...(t.source[source] === "" ? [] : own(t.source[source], draw, { paint: theme.dim })),
    ...agentLines(request, draw),
  ];
}

export function agentLines({ agent }: Pick<InputRequest, "agent">, draw: Draw): string[] {
  return agent.length > 0 ? own(oneLine(draw.t.agent(agent)), draw, { paint: draw.theme.warn }) : [];
}

/** Lines of a note. */
export function noteLines(note: string, draw: Draw, paint: (text: string) => string): string[] {
  return note === "" ? [] : own(oneLine(note), draw, { paint });
}

/** A key and what it does stay on one line. */
export function keyLines(keys: readonly string[], draw: Draw): string[] {
  const lines: string[] = [];
  for (const key of keys) {
    const joined = lines.length === 0 ? key : `${lines.at(-1)} · ${key}`;
    if (lines.length > 0 && visibleWidth(joined) <= draw.width) lines[lines.length - 1] = joined;
    else lines.push(key);
  }
  return lines.flatMap((line) => own(line, draw, { paint: draw.theme.dim }));
}
