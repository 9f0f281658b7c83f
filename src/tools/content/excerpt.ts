import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Output } from "../../protocol/facts/call.ts";
import { messageOf } from "../../protocol/reasons/reason.ts";

const maxCharacters = 30_000;
const maxKept = 100 * 1024 * 1024;

/** `output` only where `text` is not all of it. */
type Excerpt = { text: string; output?: Output };

/** Long output in bounded memory: beginning and end for the model, all in a file. `first`: size of the beginning. */
export function createExcerpt(
  folder: string,
  { first = maxCharacters / 2 } = {},
): {
  push(bytes: Buffer, text: string): Promise<void>;
  end(): Promise<Excerpt>;
  /** Keeps nothing. */
  drop(): Promise<void>;
} {
  const last = maxCharacters - first;
  let head = "";
  let tail = "";
  let length = 0;
  let breaks = 0;
  let unended = false;
  let early: Buffer[] = [];
  let kept = 0;
  let file: FileHandle | undefined;
  let path = "";
  let trouble: string | undefined;
  const content = createHash("sha256");

  const keep = async (bytes: Buffer) => {
    if (trouble !== undefined) return;
    try {
      if (file === undefined) {
        await mkdir(folder, { recursive: true });
        path = join(folder, `unfinished-${randomUUID()}.txt`);
        file = await open(path, "wx", 0o600);
      }
      const part = bytes.subarray(0, maxKept - kept);
      await file.writeFile(part);
      content.update(part);
      kept += part.length;
      if (kept === maxKept) trouble = "only its first 100 MB were kept";
    } catch (error) {
      trouble = `not all of it could be kept: ${messageOf(error)}`;
    }
  };

  /** Named by its content: the same output again takes no room again. */
  const settle = async () => {
    const named = join(folder, `${content.digest("hex").slice(0, 32)}.txt`);
    try {
      await rename(path, named);
      path = named;
    } catch {
      // it stays under the name it has
    }
  };

  return {
    async push(bytes, text) {
      const room = Math.max(0, first - head.length);
      head += text.slice(0, room);
      tail = (tail + text.slice(room)).slice(-last);
      length += text.length;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) breaks++;
      if (text !== "") unended = !text.endsWith("\n");
      if (length <= maxCharacters) {
        early.push(bytes);
        return;
      }
      await keep(Buffer.concat([...early, bytes]));
      early = [];
    },

    async drop() {
      await file?.close();
      if (path !== "") await rm(path, { force: true });
    },

    async end() {
      await file?.close();
      if (kept > 0) await settle();
      if (length <= maxCharacters) return { text: head + tail };
      const cut = length - head.length - tail.length;
      const where = kept === 0 ? "" : `; the whole output is in ${path}`;
      const but = trouble === undefined ? "" : ` (${trouble})`;
      return {
        text: `${head.toWellFormed()}\n[${cut} characters were cut here${where}${but}]\n${tail.toWellFormed()}`,
        output: { lines: breaks + (unended ? 1 : 0), ...(kept > 0 && { file: path }) },
      };
    },
  };
}
