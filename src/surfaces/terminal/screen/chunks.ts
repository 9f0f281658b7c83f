/**
 * Up to where running Markdown can change no more: the beginning of its last block. What is before it may be drawn once
 * and left to the terminal's scrollback.
 */
export function finishedUpTo(markdown: string): number {
  let finished = 0;
  let at = 0;
  let fence: string | undefined;
  let inList = false;
  let blank = false;
  for (const line of markdown.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const whole = at + line.length < markdown.length; // the last line may still grow into anything
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark && whole) {
        fence = undefined;
        if (!inList) finished = at + line.length + 1;
      }
    } else if (line.trim() === "") blank = true;
    else {
      const item = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line);
      const goesOn = /^\s/.test(line) || (inList && (item || !whole));
      if (blank && !goesOn) {
        finished = at;
        inList = false;
      }
      if (item) inList = true;
      if (mark !== undefined) fence = mark;
      blank = false;
    }
    at += line.length + 1;
  }
  return Math.min(finished, markdown.length);
}
