// Several test files in one process: loading Sage anew takes longer than most of them. Whoever reads of them reads their own names.
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Writes the nth group of test files, as a file that imports them all. */
export function writeGroup(dir: string, n: number, files: readonly string[]): string {
  const file = join(dir, `together-${n}.test.mjs`);
  writeFileSync(file, files.map((source) => `import ${JSON.stringify(pathToFileURL(source).href)};\n`).join(""));
  return file;
}

export function isGroup(file: string): boolean {
  return /together-\d+\.test\.mjs$/.test(file);
}

/** How the tests of one file went, as far as its process has told. */
type Source = { tests: number; failed: number; ms: number; open: number };
type Group = {
  sources: Map<string, Source>;
  /** The file whose test was heard of last. */
  last: string;
  /** Told when its process is gone, perhaps long before what its tests did: that waits until it is the group's turn. */
  gone: Complete | undefined;
  /** All of its tests have come to their end. */
  ended: boolean;
};
type Named = { file?: string; entryFile?: string; nesting?: number };
type Complete = Extract<TestEvent, { type: "test:complete" }>["data"];
type Failure = Extract<TestEvent, { type: "test:fail" }>["data"];
type Summary = Extract<TestEvent, { type: "test:summary" }>["data"];

/** The events of a run as if each file of a group had run alone. Of a process that broke off, the files fail that had not ended. */
export async function* bySource(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  const groups = new Map<string, Group>();
  const groupAt = (file: string) => {
    const group = groups.get(file) ?? { sources: sourcesOf(file), last: "", gone: undefined, ended: false };
    groups.set(file, group);
    return group;
  };
  for await (const event of events) {
    const data = (event.data ?? {}) as Named;
    const { file = "", entryFile = "", nesting } = data;
    if (event.type === "test:plan" && file === "" && nesting === 0) yield* brokenOffOf(groups.values()); // totals follow
    if (!isGroup(file)) {
      if (isGroup(entryFile)) note(event, groupAt(entryFile), data);
      yield event;
      continue;
    }
    const group = groupAt(file);
    if (event.type === "test:summary") {
      group.ended = true;
      for (const [source, result] of group.sources) yield summaryOf(source, result, event.data);
    } else if (event.type === "test:complete") group.gone = event.data;
    else if (/^test:(stdout|stderr|diagnostic)$/.test(event.type)) yield event;
  }
}

function* brokenOffOf(groups: Iterable<Group>): Generator<TestEvent> {
  for (const { sources, gone, ended } of groups) if (gone && !ended) yield* brokenOff(sources, gone);
}

function* brokenOff(sources: Group["sources"], complete: Complete): Generator<TestEvent> {
  const isOver = ({ tests, open }: Source) => tests > 0 && open === 0;
  for (const [source, result] of sources) if (isOver(result)) yield summaryOf(source, result);
  const rest = [...sources].flatMap(([source, result]) => (isOver(result) ? [] : [source]));
  const blamed = rest.length > 0 ? rest : [...sources.keys()];
  const { file: _, line: __, column: ___, ...unplaced } = complete;
  const names = blamed.map((source) => relative(process.cwd(), source)).join(", ");
  const { signal, exitCode } = (complete.details.error ?? {}) as { signal?: string | null; exitCode?: number | null };
  const how = signal ? `was ended by ${signal}` : `ended with code ${exitCode ?? 0}`;
  const error = new Error(`the process ${how} before its tests were over`) as Failure["details"]["error"];
  delete error.stack; // it would tell of this file
  const { duration_ms } = complete.details;
  const data: Failure = { ...unplaced, name: names, details: { duration_ms, error } };
  yield { type: "test:fail", data };
}

function note(event: TestEvent, group: Group, { file = "", nesting = 0 }: Named): void {
  if (group.sources.has(file)) group.last = file; // a test may be made by a function of another file
  const source = group.sources.get(group.last);
  if (!source) return;
  if (event.type === "test:enqueue" && nesting === 0) source.open++;
  if (event.type !== "test:pass" && event.type !== "test:fail") return;
  const { details } = event.data;
  if (details.type !== "suite") source.tests++;
  if (event.type === "test:fail") source.failed++;
  if (nesting > 0) return;
  source.open--;
  source.ms += details.duration_ms;
}

function summaryOf(file: string, { tests, failed, ms }: Source, of?: Summary): TestEvent {
  const counts = { cancelled: 0, passed: tests - failed, skipped: 0, suites: 0, tests, todo: 0, topLevel: tests };
  const data = { ...of, counts, duration_ms: ms, file, success: failed === 0 };
  return { type: "test:summary", data };
}

function sourcesOf(group: string): Map<string, Source> {
  const imports = readFileSync(group, "utf8").matchAll(/^import (".+");$/gm);
  const files = [...imports].map(([, url = ""]) => fileURLToPath(JSON.parse(url) as string));
  return new Map(files.map((file) => [file, { tests: 0, failed: 0, ms: 0, open: 0 }]));
}
