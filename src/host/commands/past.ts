import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { existingSession } from "../../journal/session/existing-session.ts";
import { type CommandParts, type Handlers, type Reply, given } from "./parts.ts";
import { keptFor } from "../../config/output-folder.ts";
import type { Command } from "../../protocol/host/host.ts";
import { callOfKey } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";

const FACTS = 500;
const MAX_FACTS = 5_000;
const PAGE = 128 * 1024;
/** Bytes before the nominal end of a page in which it may end. */
const ROOM = 32 * 1024;

/** The past of sessions: their facts, what they printed, receipts, and how often people were asked. */
export function pastCommands(parts: CommandParts): Handlers<"facts" | "receipts" | "stats" | "output"> {
  const { store, runner, home } = parts;
  return {
    async output(command) {
      if (parts.keptElsewhere) return parts.keptElsewhere(command);
      return readOutput(parts, command);
    },
    facts({ session, after = 0, before, limit = FACTS }) {
      existingSession(store, session);
      const most = Math.min(limit, MAX_FACTS);
      if (before === undefined) {
        const found = store.since(session, after, most + 1);
        return { ok: true, facts: found.slice(0, most), more: found.length > most };
      }
      const earlier = store.since(session, after).filter(({ seq }) => seq < before);
      return { ok: true, facts: earlier.slice(-most), more: earlier.length > most };
    },
    async receipts(command) {
      const { findReceipts } = await import("./receipts.ts");
      return { ok: true, ...(await findReceipts({ store, runner, home: given(home, "receipts") }, command)) };
    },
    async stats({ session, folder, since }) {
      const { statsOf } = await import("../../archive/past.ts");
      if (session !== undefined) existingSession(store, session);
      return { ok: true, stats: await statsOf(store, { session, folder, since }) };
    },
  };
}

/** A page of the whole output of a call, from the file that its result names. */
async function readOutput(
  { store, home, keepDir }: Pick<CommandParts, "store" | "home" | "keepDir">,
  { session, call, page = 0 }: Extract<Command, { type: "output" }>,
): Promise<Reply<"output">> {
  const row = existingSession(store, session);
  const file = store
    .load(session)
    .flatMap((fact) => (fact.type === "call.finished" && callOfKey(fact.key) === call ? [fact.data.output?.file] : []))
    .findLast((answer) => answer !== undefined);
  const folder = home ? keptFor(home.output, session) : keepDir(row);
  // Finds the file by its name alone: whatever a result says, nothing outside of the session's own folder is read.
  const path = file === undefined || folder === undefined ? undefined : join(folder, basename(file));
  const found = path === undefined ? undefined : await readPage(path, page).catch(() => undefined);
  if (!found) throw new SageError("input-invalid", reason("output-missing", { call }));
  return found;
}

async function readPage(path: string, page: number): Promise<Reply<"output"> | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return undefined;
    const pages = Math.max(1, Math.ceil(stat.size / PAGE));
    if (page >= pages) return { ok: true, text: "", page, pages, bytes: stat.size };
    const from = await pageStart(file, page, stat.size);
    const bytes = await read(file, from, (await pageStart(file, page + 1, stat.size)) - from);
    return { ok: true, text: bytes.toString("utf8"), page, pages, bytes: stat.size };
  } finally {
    await file.close();
  }
}

/** A page's first byte, from the file alone: a chosen one could split a secret, whose second half looks like nothing. */
async function pageStart(file: FileHandle, page: number, size: number): Promise<number> {
  const end = page * PAGE;
  if (page === 0 || end >= size) return Math.min(end, size);
  const from = end - ROOM;
  return from + cutOf(await read(file, from, ROOM + 1));
}

/** Position to cut at, before the last byte: after a line, before a key of many lines, else between words, else between characters. */
export function cutOf(bytes: Buffer): number {
  const last = bytes.length - 1;
  const line = bytes.lastIndexOf(10, last - 1) + 1;
  const text = bytes.toString("latin1", 0, line);
  const key = text.lastIndexOf("-----BEGIN ");
  if (key >= 0 && !text.includes("-----END ", key)) return key;
  if (line > 0) return line;
  const fits = (at: number) => !isInside(bytes[at] ?? 0);
  for (let at = last; at > 0; at--) if (isFree(bytes[at - 1] ?? 0) && fits(at)) return at;
  let at = last;
  while (at > 0 && !fits(at)) at--;
  return at;
}

/** No secret goes over it: those are printable ASCII. */
const isFree = (byte: number) => byte <= 0x20 || byte >= 0x7f;
const isInside = (byte: number) => (byte & 0xc0) === 0x80;

async function read(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await file.read(bytes, at, length - at, from + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}
