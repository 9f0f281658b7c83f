import { homedir } from "node:os";
import { keptFor } from "../config/output-folder.ts";
import { checkOwnConversation } from "../journal/session/existing-session.ts";
import { openSession } from "../journal/session/session.ts";
import type { SessionRow, Store } from "../journal/store/store.ts";
import { canonicalPath, isInside } from "../permission/paths/canonical.ts";
import { protectedKind } from "../permission/paths/protected.ts";
import type { Fact, FactData } from "../protocol/facts/fact.ts";
import type { Restoring, RewindWhat } from "../protocol/facts/rewind.ts";
import type { FileChange, PlannedFile, RewindPlan } from "../protocol/facts/rewound.ts";
import { fileChanges, isSinceTurn, placeOfTurn, rewindPoints, unfinishedRewind } from "../protocol/facts/rewound.ts";
import { endedKey, rewindKey } from "../protocol/key.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import type { Sender } from "../protocol/sender.ts";
import { hashOf, readState } from "../tools/files/file-state.ts";
import { readKept, restoreAll } from "../tools/files/kept-content.ts";
import { summaryOf } from "../view/items/summary.ts";
import { transcriptOf } from "../view/transcript/transcript.ts";

type RewindOptions = {
  /** Back to before this turn. */
  turn: number;
  what: RewindWhat;
  /** The folder of long output, in which replaced files are kept too. */
  output: string;
  sageHome: string | undefined;
};

/** Plans a rewind without changing anything. An interrupted rewind to the same turn is shown as it was decided. */
export async function planRewind(store: Store, session: SessionRow, options: RewindOptions): Promise<RewindPlan> {
  checkOwnConversation(store, session.id);
  const facts = store.load(session.id);
  const unfinished = unfinishedRewind(facts);
  if (unfinished?.data.turn !== options.turn) return planOf(facts, session, options);
  const files = unfinished.data.files.map((file): PlannedFile => ({
    path: file.path,
    will: file.to === "" ? "remove" : "restore",
    file,
  }));
  return { turn: options.turn, what: unfinished.data.what, message: "", files, commands: [] };
}

/** Rewinds in two facts: after a crash between them the next turn or rewind finishes. `overwrite`: modified files to restore anyway. */
export async function rewindSession(
  store: Store,
  session: SessionRow,
  { overwrite = {}, sender, ...options }: RewindOptions & { overwrite?: Record<string, string>; sender: Sender },
): Promise<FactData["rewind.ended"]> {
  checkOwnConversation(store, session.id);
  checkIdle(store.session(session.id));
  const log = openSession(store, session.id);
  try {
    // Looked at with the lease in hand: nobody begins a turn any more, and a message still may come.
    checkIdle(store.session(session.id), { held: true });
    const keepDir = keptFor(options.output, session.id);
    const place = { cwd: session.cwd, home: homedir() };
    const finish = async (key: string, files: readonly Restoring[]) => {
      const ended = await restoreAll(files, keepDir, place);
      log.branch("").decide(endedKey(key), "rewind.ended", () => ended);
      await log.flush();
      return ended;
    };
    const unfinished = unfinishedRewind(store.load(session.id));
    const finished = unfinished && (await finish(unfinished.key, unfinished.data.files));
    if (finished && unfinished.data.turn === options.turn) return finished;
    const facts = store.load(session.id);
    const { turn, what, files } = await planOf(facts, session, options);
    const chosen = files.flatMap((file) => {
      if (file.will !== "restore" && file.will !== "remove") return [];
      return file.asks === undefined || overwrite[file.path] === file.file.from ? [file.file] : [];
    });
    const key = rewindKey(facts.filter(({ type }) => type === "session.rewound").length);
    const { by, surface } = sender;
    const data = { turn, ...placeOfTurn(facts, turn), upTo: facts.at(-1)?.seq ?? 0, what, files: chosen, by, surface };
    log.branch("").decide(key, "session.rewound", () => data);
    await log.flush(); // on disk before a file is touched
    return await finish(key, chosen);
  } finally {
    await log.release();
  }
}

/** A turn that is open, or a message that waits for one, would change what is taken back. */
export function checkIdle(row: SessionRow | undefined, { held = false } = {}): void {
  if ((row?.owned && !held) || row?.open || row?.unheard)
    throw new SageError("input-invalid", reason("rewind-turn-open", {}));
}

async function planOf(facts: readonly Fact[], session: SessionRow, options: RewindOptions): Promise<RewindPlan> {
  const { turn, what } = options;
  const point = rewindPoints(facts).find((candidate) => candidate.turn === turn);
  if (!point) throw new SageError("input-invalid", reason("rewind-no-turn", { turn: `t${turn}` }));
  const changes = what === "conversation" ? [] : [...fileChanges(facts)];
  const files: PlannedFile[] = [];
  for (const [path, all] of changes) {
    const undone = all.filter((change) => change.turn >= turn);
    if (undone.length > 0) files.push({ path, ...(await planFile(path, undone, session, options)) });
  }
  return {
    turn,
    what,
    message: point.text,
    files,
    commands: what === "conversation" ? [] : commandsSince(facts, turn),
  };
}

type Planned = PlannedFile extends infer One ? (One extends { path: string } ? Omit<One, "path"> : never) : never;

async function planFile(
  path: string,
  changes: readonly FileChange[],
  { id, cwd }: SessionRow,
  { output, sageHome }: RewindOptions,
): Promise<Planned> {
  const [first, last] = [changes[0] as FileChange, changes.at(-1) as FileChange];
  const to = first.before;
  try {
    const place = { cwd, home: homedir() };
    if (canonicalPath(path, place).real !== path) return { will: "leave", why: "moved" };
    const from = hashOf(await readState(path));
    if (from === undefined) return { will: "leave", why: "not-a-file" };
    if (from === to) return { will: "nothing" };
    if (to !== "" && (await readKept(keptFor(output, id), to)) === undefined) return { will: "leave", why: "lost" };
    // Between two calls, or after the last one.
    const foreign =
      from !== last.after || changes.some((change, n) => n > 0 && change.before !== changes[n - 1]?.after);
    const asks = foreign
      ? "changed"
      : protectedKind(path, sageHome) !== undefined
        ? "protected"
        : isInside(canonicalPath(cwd, place).real, path)
          ? undefined
          : "outside";
    const file = { path, from, to, ...(first.mode !== undefined && { mode: first.mode }) };
    return { will: to === "" ? "remove" : "restore", file, ...(asks && { asks }) };
  } catch {
    return { will: "leave", why: "failed" };
  }
}

/** Calls that may have changed something and left no copy. */
function commandsSince(facts: readonly Fact[], turn: number): string[] {
  return transcriptOf(facts)
    .flatMap((item) => (item.type === "call" ? [item, ...item.inner] : []))
    .filter(({ key, verdict, runs }) => isSinceTurn(key, turn) && verdict?.effect === "writes" && runs.length > 0)
    .filter(({ verdict, result }) => verdict?.operand === undefined || (result?.ok === true && !result.replaced))
    .map(({ call, input }) => `${call.tool} ${summaryOf(input)}`);
}
