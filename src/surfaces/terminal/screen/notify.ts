import { oneLine } from "../../../base/visible.ts";

type Env = Readonly<Record<string, string | undefined>>;

const MAX_TEXT_LENGTH = 120;

/** Escape sequences that call a person back: a bell, and a notification if the terminal supports it. */
export function notification(text: string, env: Env): string {
  const words = clean(text);
  const term = env["TERM"] ?? "";
  // Two ways are in use, and a terminal that knows both would show two.
  const second = env["VTE_VERSION"] !== undefined || /^(rxvt|foot)/.test(term);
  const sequence = second ? `\x1b]777;notify;Sage;${words.replaceAll(";", ",")}\x07` : `\x1b]9;${words}\x07`;
  return `\x07${passed(sequence, env)}`;
}

export function title(text: string): string {
  return `\x1b]0;${clean(text)}\x07`;
}

/** The title that was there before comes back at the end, where the terminal keeps a stack of them. */
export const titleStack = { push: "\x1b[22;0t", pop: "\x1b[23;0t" };

/** Sequences that undo what a killed Sage may have left switched on: reporting of keys, and of pastes. */
export const leftovers = "\x1b[=0;1u\x1b[>4;0m\x1b[?2004l\x1b[?25h";

function clean(text: string): string {
  const line = [...oneLine(text)];
  return line.length > MAX_TEXT_LENGTH ? `${line.slice(0, MAX_TEXT_LENGTH).join("")}…` : line.join("");
}

/** tmux passes on only what is wrapped; screen likewise. */
function passed(sequence: string, env: Env): string {
  if (env["TMUX"] !== undefined) return `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
  return sequence;
}
