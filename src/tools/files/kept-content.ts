import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { canonicalPath } from "../../permission/paths/canonical.ts";
import type { FactData } from "../../protocol/facts/fact.ts";
import type { Replaced, Restoring } from "../../protocol/facts/rewind.ts";
import { hashOf, readState, removeFile, replaceFile, sha256, showSize, type FileState } from "./file-state.ts";
import type { ToolPlace } from "../definition/tool.ts";

/** Content beyond this is not kept, and its result says so. */
const MAX_KEPT_BYTES = 10 * 1024 * 1024;

/** Keeps what a call is about to replace, under its hash. `note`: a word for the result when it is too large. */
export async function keepContent(keepDir: string, state: FileState): Promise<{ note: string }> {
  if (state.kind !== "file") return { note: "" };
  if (state.bytes.length > MAX_KEPT_BYTES)
    return {
      note: ` A rewind cannot bring back what was there: ${showSize(state.bytes.length)} are too much to keep.`,
    };
  const place = keptPlace(keepDir);
  if ((await readKept(keepDir, state.hash)) !== undefined) return { note: "" };
  await mkdir(place, { recursive: true, mode: 0o700 });
  const temporary = join(place, `${randomUUID()}.tmp`);
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(state.bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(place, state.hash)).catch(async (error: unknown) => {
    await rm(temporary, { force: true });
    throw error;
  });
  return { note: "" };
}

/** The change as a result names it. */
export function replacedBy(real: string, before: FileState, after: string): Replaced {
  return { path: real, before: hashOf(before) ?? "", after, ...(before.kind === "file" && { mode: before.mode }) };
}

/** Kept content with this hash; undefined when it is not there or is not what it was. */
export async function readKept(keepDir: string, hash: string): Promise<Buffer | undefined> {
  try {
    const bytes = await readFile(join(keptPlace(keepDir), hash));
    return sha256(bytes) === hash ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Puts a file back, repeatably. One that is neither as found nor as it shall be is left alone, and so is one behind a new link. */
async function restore({ path, from, to, mode }: Restoring, keepDir: string, place: ToolPlace) {
  try {
    if (canonicalPath(path, place).real !== path) return "moved";
    const now = await readState(path);
    const hash = hashOf(now);
    if (hash === undefined) return "not-a-file";
    if (hash === to) return undefined;
    if (hash !== from) return "changed";
    if (to === "") await removeFile(path, now);
    else {
      const bytes = await readKept(keepDir, to);
      if (bytes === undefined) return "lost";
      await replaceFile(path, bytes, now, mode);
    }
    return undefined;
  } catch {
    return "failed";
  }
}

/** Puts all of them back that can be; the fact that ends a rewind. */
export async function restoreAll(
  files: readonly Restoring[],
  keepDir: string,
  place: ToolPlace,
): Promise<FactData["rewind.ended"]> {
  const restored: string[] = [];
  const problems: FactData["rewind.ended"]["problems"] = [];
  for (const file of files) {
    const problem = await restore(file, keepDir, place);
    if (problem === undefined) restored.push(file.path);
    else problems.push({ path: file.path, problem });
  }
  return { restored, problems };
}

function keptPlace(keepDir: string): string {
  return join(keepDir, "replaced");
}
