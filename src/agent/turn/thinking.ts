import { loadShell } from "../../permission/load.ts";
import { loadedGrammar } from "../../permission/shell/read/grammar.ts";
import type { Judging } from "../state/context.ts";

/** A model that takes longer than this leaves the time for what the first command would wait for: the shell grammar, its environment. */
const THINKING_MS = 20;

type Thinking = { since: number; config: Pick<Judging["config"], "env"> };

let followed: Thinking | undefined;
let timer: NodeJS.Timeout | undefined;

/** A model was asked. One timer serves all replies: with one for each, a quick model would pay for setting and clearing it. */
export function beginThinking({ config }: Pick<Judging, "config">): Thinking | undefined {
  if (followed || loadedGrammar()) return undefined;
  followed = { since: performance.now(), config };
  timer ??= setTimeout(look, THINKING_MS).unref();
  return followed;
}

export function endThinking(thinking: Thinking): void {
  if (followed === thinking) followed = undefined;
}

function look(): void {
  timer = undefined;
  if (!followed) return;
  const left = followed.since + THINKING_MS - performance.now();
  if (left > 0) {
    timer = setTimeout(look, left).unref();
    return;
  }
  void loadShell();
  void followed.config.env;
}
