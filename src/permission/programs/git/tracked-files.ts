import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../../paths/canonical.ts";
import { gitDirOf, repositoryOf } from "./repository.ts";

/** Files whose content git would show, at or below `places`; undefined without a readable index. Removed files are left out. */
export function trackedFiles(from: string, places: readonly string[]): string[] | undefined {
  try {
    const found = repositoryOf(from);
    if (found === undefined) return [];
    if (found.bare) return undefined;
    const { gitDir, common } = gitDirOf(found.root);
    if (readdirSync(gitDir).some((name) => name.startsWith("sharedindex."))) return undefined;
    const path = join(gitDir, "index");
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    if (stat.size > largest) return undefined;
    const config = readFileSync(join(common, "config"), "utf8");
    const names = namesIn(readFileSync(path), /objectformat\s*=\s*sha256/i.test(config) ? 32 : 20);
    const all = names?.map((name) => join(found.root, name));
    return places.length === 0 ? all : all?.filter((file) => places.some((place) => isInside(place, file)));
  } catch {
    return undefined;
  }
}

const largest = 32 * 1024 * 1024;

/** The names in an index: its second and third version spell them out, the fourth says how much of the last one stays. */
function namesIn(index: Buffer, hashLength: number): string[] | undefined {
  if (index.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  const names: string[] = [];
  let at = 12;
  let last = "";
  for (let i = 0; i < count; i++) {
    const flags = at + 40 + hashLength;
    let start = flags + (version >= 3 && (index.readUInt16BE(flags) & 0x4000) !== 0 ? 4 : 2);
    let kept = "";
    if (version === 4) {
      let byte = index.readUInt8(start++);
      let dropped = byte & 0x7f;
      while ((byte & 0x80) !== 0) {
        byte = index.readUInt8(start++);
        dropped = ((dropped + 1) << 7) | (byte & 0x7f);
      }
      kept = last.slice(0, last.length - dropped);
    }
    const end = index.indexOf(0, start);
    if (end < 0) return undefined;
    // Bytes for now: how much of a name stays is counted in them.
    last = kept + index.toString("latin1", start, end);
    names.push(Buffer.from(last, "latin1").toString("utf8"));
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return names;
}
