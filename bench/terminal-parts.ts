import type { Terminal } from "../src/surfaces/terminal/draw/tui.ts";

/** A terminal of 100×30 that only counts what it is given. */
export function countingTerminal(): { terminal: Terminal; bytes(): number } {
  let bytes = 0;
  const write = (data: string) => void (bytes += Buffer.byteLength(data));
  const terminal: Terminal = {
    start() {},
    stop() {},
    async drainInput() {},
    write,
    columns: 100,
    rows: 30,
    kittyProtocolActive: false,
    moveBy() {},
    hideCursor() {},
    showCursor() {},
    clearLine() {},
    clearFromCursor() {},
    clearScreen() {},
    setTitle() {},
    setProgress() {},
  };
  return { terminal, bytes: () => bytes };
}

/** Some 12,000 characters: paragraphs in two scripts, lists, tables and code. */
export function mixedAnswer(): string {
  const part = (n: number) => `## Part ${n} 第${n}部分

Here is what I found, with **bold**, \`code\` and a link to [the docs](https://example.com/${n}). 这一段中英文混排，用来测量换行和宽度的计算。

- the first thing, which is longer than the others and goes on for a while
- 第二件事
- the third

\`\`\`ts
export function part${n}(input: string): number {
  // 注释
  return input.length * ${n};
}
\`\`\`

| name | value |
|---|---|
| a${n} | ${n} |
| 名称 | 值 |
`;
  return Array.from({ length: 25 }, (_, n) => part(n + 1)).join("\n");
}

export function pieces(text: string): string[] {
  return text.match(/[^]{1,40}/gu) ?? [];
}
