import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Lines of a text or a file, by their number. Only the part that is asked for is in memory. */
export type Source = {
  /** How many lines there are. A very long line counts as several. */
  count(): number;
  lines(from: number, count: number): string[];
  close(): void;
};

/** A line is cut into pieces this long: one without an end must not fill the memory. */
const MAX_LINE_LENGTH = 4_096;
const BLOCK = 64 * 1024;
/** The place of every so many lines of a file is remembered. */
const EVERY = 256;

export function textSource(text: string): Source {
  const lines = text.split("\n").flatMap((line) => {
    if (line.length <= MAX_LINE_LENGTH) return [line];
    return Array.from({ length: Math.ceil(line.length / MAX_LINE_LENGTH) }, (_, n) =>
      line.slice(n * MAX_LINE_LENGTH, (n + 1) * MAX_LINE_LENGTH).toWellFormed(),
    );
  });
  return { count: () => lines.length, lines: (from, count) => lines.slice(from, from + count), close() {} };
}

/** A page of a text that lies elsewhere, or a sentence that says why it cannot be had. */
type FetchPage = (page: number) => Promise<{ text: string; pages: number } | { trouble: string }>;

/** A text that lies on another machine, fetched as it is read. Until its first page is there, and without it, `instead` is shown. */
export function fetchedSource(instead: string, fetch: FetchPage, changed: () => void): Source {
  let lines: string[] | undefined;
  let [shown, rest] = [textSource(instead), ""];
  let [next, pages] = [0, 1];
  let busy = false;
  const load = async () => {
    if (busy || next >= pages) return;
    busy = true;
    const page = await fetch(next);
    busy = false;
    if ("trouble" in page) {
      pages = next;
      if (!lines) shown = textSource(`${page.trouble}\n\n${instead}`);
      else lines.push(page.trouble);
    } else {
      [next, pages] = [next + 1, page.pages];
      const all = textSource(rest + page.text);
      const fresh = all.lines(0, all.count());
      rest = next < pages ? (fresh.pop() ?? "") : "";
      (lines ??= []).push(...fresh);
    }
    changed();
  };
  void load();
  return {
    count: () => lines?.length ?? shown.count(),
    lines(from, count) {
      if (!lines) return shown.lines(from, count);
      if (from + count >= lines.length) void load();
      return lines.slice(from, from + count);
    },
    close: () => void (pages = 0),
  };
}

/** Undefined for a file that cannot be read: its session may have run elsewhere. */
export function fileSource(path: string): Source | undefined {
  try {
    const file = openSync(path, "r");
    return pagedSource(file, fstatSync(file).size);
  } catch {
    return undefined;
  }
}

function pagedSource(file: number, size: number): Source {
  /** Offsets of lines 0, EVERY, 2 × EVERY, … */
  const places = [0];
  let count = 0;
  const block = Buffer.alloc(BLOCK + MAX_LINE_LENGTH);

  /** Calls `each` with every line from an offset on until it says stop; gives the offset after the last. */
  const walk = (offset: number, each: (start: number, end: number) => boolean): void => {
    for (let at = offset; at < size;) {
      const read = readSync(file, block, 0, block.length, at);
      if (read === 0) return;
      const last = at + read >= size;
      let from = 0;
      while (from < read) {
        const feed = block.subarray(from, Math.min(read, from + MAX_LINE_LENGTH)).indexOf(10);
        if (feed < 0 && read - from < MAX_LINE_LENGTH && !last && from > 0) break; // the line continues in the next block
        const piece = feed >= 0 ? feed : pieceOf(block, from, read);
        const next = from + piece + (feed >= 0 ? 1 : 0);
        if (!each(from, from + piece)) return;
        from = next;
        atLine(at + from);
      }
      at += from;
    }
  };
  let atLine: (offset: number) => void = () => {};

  // Every line is passed once, and only one place in so many is kept.
  atLine = (offset) => {
    count++;
    if (count % EVERY === 0 && offset < size) places.push(offset);
  };
  walk(0, () => true);
  atLine = () => {};

  return {
    count: () => count,
    lines(from, wanted) {
      const found: string[] = [];
      let skip = from % EVERY;
      walk(places[Math.floor(from / EVERY)] ?? size, (start, end) => {
        if (skip-- > 0) return true;
        if (found.length >= wanted) return false;
        found.push(block.toString("utf8", start, end));
        return found.length < wanted;
      });
      return found;
    },
    close: () => closeSync(file),
  };
}

/** The length of a piece of a line that is too long: it ends between two characters. */
function pieceOf(block: Buffer, from: number, read: number): number {
  let end = Math.min(read, from + MAX_LINE_LENGTH);
  if (end === read) return end - from;
  while (end > from + 1 && ((block[end] ?? 0) & 0xc0) === 0x80) end--;
  return end - from;
}
