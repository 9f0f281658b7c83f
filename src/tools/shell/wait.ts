import { closeSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StringDecoder } from "node:string_decoder";
import * as z from "../../base/z.ts";
import type { BackgroundTask, TaskEnd } from "../../protocol/facts/call.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { describe } from "../definition/describe.ts";
import { failed } from "../definition/result.ts";
import type { Tool } from "../definition/tool.ts";

const POLL_MS = 200;
const MAX_SECONDS = 600;
const MAX_HEAD_BYTES = 4_000;
const MAX_TAIL_BYTES = 16_000;
const CHUNK_BYTES = 64 * 1024;

const inputSchema = z.strictObject({
  id: z.string().min(1).describe("From the result of the call"),
  until: z.string().min(1).optional().describe("Words of its output"),
  seconds: z.number().min(0).max(MAX_SECONDS).default(60),
});

type Input = z.infer<typeof inputSchema>;

/** Reads files of this session's own commands only, so it needs no permission. */
export const wait: Tool<Input> = {
  name: "Wait",
  description: describe("shell/wait"),
  inputSchema,
  effect: "reads",
  specifier: ({ id }) => id,
  checkPermissions: () => ({ behavior: "allow", reason: "looks at a command that this session started" }),
  async execute({ id, until, seconds }, { tasks, signal }) {
    const deadline = performance.now() + seconds * 1_000;
    let hasPrinted: (() => boolean) | undefined;
    for (;;) {
      const found = tasks?.find(id);
      if (!found) return failed(`There is no command ${id} in the background.`);
      const from = looked.get(found.task.file) ?? 0;
      hasPrinted ??= until === undefined ? () => false : createSearch(found.task.file, from, until);
      const isThere = hasPrinted();
      if (found.end || isThere || signal.aborted || performance.now() >= deadline)
        return report(found, from, until !== undefined && !isThere && !found.end ? until : undefined);
      await sleep(Math.min(POLL_MS, Math.max(1, deadline - performance.now())), undefined, { signal }).catch(() => {});
    }
  },
};

/** Bytes of each output file that the model has read. After a restart it reads from the beginning again. */
const looked = new Map<string, number>();

function report(
  { task, end }: { task: BackgroundTask; end: TaskEnd | undefined },
  from: number,
  missed: string | undefined,
): ToolResult {
  const { size } = statSync(task.file);
  looked.set(task.file, size);
  const seconds = Math.max(0, Math.round((endedAt(task, end) - task.at) / 1_000));
  const state = !end
    ? `${task.id} is still running, ${seconds} s so far.`
    : end.code === undefined
      ? `${task.id} ended after about ${seconds} s; its exit code is not known.`
      : `${task.id} ended with exit code ${end.code} after ${seconds} s.`;
  const miss = missed === undefined ? [] : [`It has not printed ${JSON.stringify(missed)} yet.`];
  const printed = textIn(task.file, from, size);
  const output = printed === "" ? ["It printed nothing since the last look."] : ["New output:", printed.trimEnd()];
  const how = end?.code === undefined ? {} : { code: end.code };
  const note = end
    ? reason("task-ended", { id: task.id, command: task.command, ...how })
    : reason("task-runs", { id: task.id, seconds });
  return { ok: true, text: [state, ...miss, ...output].join("\n"), shown: { characters: 0, notes: [note] } };
}

/** Looks for words in everything from a place on: a report leaves out the middle of what is long. Each byte is read once. */
function createSearch(file: string, from: number, words: string): () => boolean {
  const sought = Buffer.from(words);
  let [at, rest] = [from, Buffer.alloc(0)];
  return () => {
    const end = statSync(file).size;
    while (at < end) {
      const read = readBytes(file, at, Math.min(CHUNK_BYTES, end - at));
      if (read.length === 0) return false;
      const seen = Buffer.concat([rest, read]);
      if (seen.includes(sought)) return true;
      at += read.length;
      rest = seen.subarray(Math.max(0, seen.length - sought.length + 1));
    }
    return false;
  };
}

function endedAt({ file }: BackgroundTask, end: TaskEnd | undefined): number {
  return (end && statSync(`${file}.end`, { throwIfNoEntry: false })?.mtimeMs) || Date.now();
}

/** Beginning and end of what lies between two places of a file. */
function textIn(file: string, from: number, to = statSync(file).size): string {
  const length = to - from;
  if (length <= 0) return "";
  if (length <= MAX_HEAD_BYTES + MAX_TAIL_BYTES) return decoded(file, from, length);
  const rest = length - MAX_HEAD_BYTES - MAX_TAIL_BYTES;
  return `${decoded(file, from, MAX_HEAD_BYTES)}\n[… ${rest} bytes left out; all of it is in ${file} …]\n${decoded(file, to - MAX_TAIL_BYTES, MAX_TAIL_BYTES)}`;
}

function decoded(file: string, at: number, length: number): string {
  return new StringDecoder("utf8").write(readBytes(file, at, length));
}

function readBytes(file: string, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const descriptor = openSync(file, "r");
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, at));
  } finally {
    closeSync(descriptor);
  }
}
