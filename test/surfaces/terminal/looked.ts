import type { Entry } from "../../../src/surfaces/terminal/scroll.ts";

export const entry = (item: Entry["item"]): Entry => ({ item, gap: false, from: 0, frozen: 0, restarts: 0 });

export const text = (whole: string): Entry =>
  entry({ type: "text", key: "k", within: [], text: whole, done: true, restarts: 0 });
