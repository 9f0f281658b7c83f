import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reason, messageOf, SageError } from "../protocol/reasons/reason.ts";
import { endGroup } from "./group.ts";
import { groupLife, identify, lifeOf, type Identity, type Life } from "./identity.ts";

/**
 * Every process that Sage started, or that waits for an answer, by what ends it when it is left behind:
 *
 *   command   of a call, or in the background    nobody: it is reported, and a person decides
 *   asker     a hook in a person's own agent     nobody: its request ends
 *   guest     another agent                      another process runs its session
 *   keeper    beside a command that is kept      its command is over, and whoever started it is gone
 *   hook      a person's own command             whoever started it is gone
 *   server    an MCP server                      whoever started it is gone
 *   probe     a sandbox that is tried, or opened whoever started it is gone
 */
export type Kind = "command" | "asker" | "guest" | "keeper" | "hook" | "server" | "probe";

/** The part of the work that a process belongs to. */
type Of = { session?: string; key?: string; /** The command beside a keeper. */ command?: Identity };

export type Entry = Of & Identity & { kind: Kind; by: Identity };

const FOLDER = ".processes";
const PATTERN = /^(?:command|asker|guest|keeper|hook|server|probe)\.\d+\.[0-9a-f]{12}$/;
/** A process may have been killed while it wrote its entry; then nothing had begun. */
const UNREADABLE_MS = 60_000;
/** A keeper still has to write how its command ended. */
const LAST_WORDS_MS = 10_000;
const GRACE_MS = 2_000;

/** Notes a process before it may begin; returns how to take it off the list. `folder`: where the journal lies. */
export function noteProcess(folder: string, kind: Kind, pid: number, of: Of = {}): () => void {
  const entry: Entry = { kind, ...identify(pid), by: identify(process.pid), ...of };
  const path = join(folder, FOLDER, `${kind}.${pid}.${randomBytes(6).toString("hex")}`);
  try {
    writeEntry(path, JSON.stringify(entry));
  } catch (error) {
    rmSync(path, { force: true });
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOSPC", "EDQUOT", "EIO"].includes(code)) throw error;
    const why = reason("disk-full", { path, problem: messageOf(error) });
    throw new SageError("disk-full", why, { retryable: true, cause: error });
  }
  return () => rmSync(path, { force: true });
}

/** Notes a helper that this process started, in case it is killed. A helper works without its entry, so a full disk stops nobody. */
export function noteHelper(folder: string | undefined, kind: Kind, pid: number | undefined): () => void {
  if (folder === undefined || pid === undefined) return () => {};
  try {
    return noteProcess(folder, kind, pid);
  } catch {
    return () => {};
  }
}

/** The list, newest knowledge of who lives included. */
export function listProcesses(folder: string, kind?: Kind): (Entry & { life: Life })[] {
  return entryNames(folder).flatMap((name) => {
    const entry = kind === undefined || name.startsWith(`${kind}.`) ? readEntry(join(folder, FOLDER, name)) : undefined;
    return entry ? [{ ...entry, life: lifeOfEntry(entry) }] : [];
  });
}

/** A command is over when its whole group is; of anything else the process itself counts. */
function lifeOfEntry(entry: Entry): Life {
  return entry.kind === "command" ? groupLife(entry) : lifeOf(entry);
}

/** Decides about an entry. `starter`, `command`: the lives of those beside it. `taken`: this process runs its session, and did not start it. */
export function fateOf(
  kind: Kind,
  life: Life,
  { starter, command, taken }: { starter: Life; command: Life; taken: boolean },
): "stays" | "forgotten" | "ended" {
  if (life === "unknown") return "stays";
  // A keeper that was killed alone says by its entry which command it left.
  if (life === "dead") return kind === "keeper" && command === "alive" ? "stays" : "forgotten";
  switch (kind) {
    case "command":
    case "asker":
      return "stays";
    case "guest":
      return taken ? "ended" : "stays";
    case "keeper":
      return command === "dead" && starter === "dead" ? "ended" : "stays";
    case "hook":
    case "server":
    case "probe":
      return starter === "dead" ? "ended" : "stays";
    default:
      return kind satisfies never;
  }
}

type ReaperParts = {
  runsHere(session: string): boolean;
  /** An asker is gone; its entry is forgotten once this has returned. */
  askerGone(entry: Entry): Promise<void>;
};

/** Looks at the whole list: forgets the dead, and ends helpers that were left behind. Made once for a process, and called again and again. */
export function createReaper(folder: string, { runsHere, askerGone }: ReaperParts): () => Promise<void> {
  const overSince = new Map<string, number>();
  const look = async (name: string): Promise<void> => {
    const path = join(folder, FOLDER, name);
    const entry = readEntry(path);
    if (!entry) return removeTorn(path);
    const command = entry.command ? groupLife(entry.command) : "unknown";
    const isOwn = entry.by.pid === process.pid && entry.by.started === identify(process.pid).started;
    const taken = !isOwn && entry.session !== undefined && runsHere(entry.session);
    const fate = fateOf(entry.kind, lifeOfEntry(entry), { starter: lifeOf(entry.by), command, taken });
    const isSure = process.platform === "linux"; // elsewhere the number may be another process's by now
    if (fate === "stays" || (fate === "ended" && !isSure)) return void overSince.delete(name);
    if (entry.kind === "keeper" && fate === "ended") {
      if (!overSince.has(name)) overSince.set(name, performance.now());
      if (performance.now() - overSince.get(name)! < LAST_WORDS_MS) return;
    }
    if (fate === "ended") await endGroup(entry.pid, GRACE_MS);
    else if (entry.kind === "asker") await askerGone(entry);
    overSince.delete(name);
    rmSync(path, { force: true });
  };
  return async () => {
    // An entry that cannot be dealt with must not keep the others from it.
    await Promise.allSettled(entryNames(folder).map(look));
  };
}

function removeTorn(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && Date.now() - found.mtimeMs > UNREADABLE_MS) rmSync(path, { force: true });
}

function writeEntry(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  }
}

function readEntry(path: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Entry;
  } catch {
    return undefined;
  }
}

function entryNames(folder: string): string[] {
  try {
    return readdirSync(join(folder, FOLDER)).filter((name) => PATTERN.test(name));
  } catch {
    return []; // nothing was ever started from here
  }
}
