/** Splits a text into lines as a change shows them: "a\n" is one line, and "a" is one that is still open. */
export function splitLines(text: string): { text: string; open?: true }[] {
  if (text === "") return [];
  const lines: { text: string; open?: true }[] = text.split("\n").map((line) => ({ text: line }));
  const last = lines.at(-1);
  if (last?.text === "") lines.pop();
  else if (last) last.open = true;
  return lines;
}
