// A file to which every process of a round writes what it saw, line by line: a killed one has written all that it saw.
import { openSync, readFileSync, writeSync } from "node:fs";
import type { Event, Observation } from "../history.ts";

/** A watcher was told of a fact, for the comparison with the journal at the end. */
export type Told = { type: "told"; watcher: string; session: string; seq: number; key: string; data: string };
/** How a run of a session ended in a process: for people who look for a reason. */
export type Ran = { type: "ran"; session: string; how: string };
export type Seen = Omit<Event, "n" | keyof Observation> & (Observation | Told | Ran);

const wallNow = Date.now.bind(Date); // the clock of the machine, whatever Sage is told

/** The monotonic clock is the machine's: all processes have the same. */
export function observer(path: string, process: string): (what: Observation | Told | Ran) => void {
  const file = openSync(path, "a");
  return (what) => void writeSync(file, `${JSON.stringify({ ...clocks(), process, ...what })}\n`);
}

export function clocks(): { mono: number; wall: number } {
  return { mono: Number(process.hrtime.bigint()) / 1e6, wall: wallNow() };
}

/** Everything that was seen, in order. */
export function readSeen(path: string): Seen[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Seen).sort((a, b) => a.mono - b.mono);
}
