import { hash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Home } from "../../../config/home/home.ts";

const MAX_ENTRIES = 500;

/** Messages that a person sent in a project, for the ↑ key; readable by them alone. Losing it must never stop anything. */
export function createHistory(home: Home, cwd: string): { load(): readonly string[]; add(text: string): void } {
  const file = join(home.dir, "history", `${hash("sha256", cwd).slice(0, 16)}.jsonl`);
  const read = (): string[] => {
    try {
      return readFileSync(file, "utf8").split("\n").filter(Boolean).flatMap(parse);
    } catch {
      return [];
    }
  };
  return {
    load() {
      const all = read();
      if (all.length > 2 * MAX_ENTRIES)
        attempt(() => writeFileSync(file, all.slice(-MAX_ENTRIES).map(line).join(""), { mode: 0o600 }));
      return all.slice(-MAX_ENTRIES);
    },
    add: (text) =>
      attempt(() => {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, line(text), { mode: 0o600 });
      }),
  };
}

function line(text: string): string {
  return `${JSON.stringify(text)}\n`;
}

/** A line that was torn by a full disk is left out. */
function parse(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // A full disk is told by the journal, which needs it more.
  }
}
