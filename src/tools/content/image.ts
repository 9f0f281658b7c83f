import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { oneLine } from "../../base/visible.ts";
import { attachedKindOf, attachedKinds, imageFile, MAX_IMAGE_BYTES, type ImagePart } from "../../protocol/image.ts";
import { reason, type Reason, messageOf } from "../../protocol/reasons/reason.ts";

const MAX_NAME_LENGTH = 100;

/** Puts a picture or a PDF among the session's kept files, on disk before any fact names it. The same picture is kept once. */
export function keepImage(
  folder: string,
  { name: path, content }: { name: string; content: Uint8Array },
): { image: ImagePart } | { problem: Reason } {
  const name = oneLine(basename(path)).slice(0, MAX_NAME_LENGTH).toWellFormed() || "image";
  const kind = attachedKindOf(content);
  if (kind === undefined) return { problem: reason("image-kind-unknown", { name }) };
  const bytes = content.length;
  if (bytes > MAX_IMAGE_BYTES) return { problem: reason("image-too-large", { name, bytes, limit: MAX_IMAGE_BYTES }) };
  const sha256 = createHash("sha256").update(content).digest("hex");
  const image: ImagePart = { type: "image", mime: attachedKinds[kind], sha256, bytes, name };
  try {
    write(folder, imageFile(image), content);
    return { image };
  } catch (error) {
    return { problem: reason("image-not-kept", { name, problem: messageOf(error) }) };
  }
}

/** A kept picture as base64; undefined when its file is gone or is not what was kept. */
export function loadImage(folder: string, image: ImagePart): string | undefined {
  try {
    const content = readFileSync(join(folder, imageFile(image)));
    return createHash("sha256").update(content).digest("hex") === image.sha256 ? content.toString("base64") : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all: a kill in between leaves a file that no fact names. */
function write(folder: string, name: string, content: Uint8Array): void {
  const path = join(folder, name);
  if (statSync(path, { throwIfNoEntry: false })?.size === content.length) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `unfinished-${randomUUID()}`);
  try {
    writeFileSync(draft, content, { mode: 0o600, flag: "wx", flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
