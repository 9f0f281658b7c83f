import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Host } from "../../protocol/host/host.ts";
import { refusalOf } from "../../protocol/host/refusal.ts";
import { attachedKindOf, MAX_IMAGE_BYTES, type GivenImage } from "../../protocol/image.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";

/** Adds the pictures and PDF files that a message names: a person's own words are their consent to send them. */
export function withImages(send: Host["send"], cwd: string): Host["send"] {
  return async (command) => {
    if (command.type !== "say" || command.images) return send(command);
    try {
      const images = imagesIn(command.text, cwd);
      return await send(images.length > 0 ? { ...command, images } : command);
    } catch (error) {
      return refusalOf(error);
    }
  };
}

/** `@shot.png`, or a path as terminals paste it when a file is dropped: quoted, with escaped spaces, or a file: address. */
const named =
  /@"([^"\n]+)"|@((?:\\.|[^\s"\\])+)|(?<![\w.~@/\\-])(?:'([^'\n]+)'|"([^"\n]+)"|((?:file:\/)?~?\/(?:\\.|[^\s'"\\])+))/gu;

/** The first bytes of a file tell that it is a picture or a PDF. Files that are none stay words. */
export function imagesIn(text: string, cwd: string): GivenImage[] {
  const found = new Map<string, GivenImage>();
  for (const [, quotedMention, mention, single, double, bare] of text.matchAll(named)) {
    const [isMention, words] = [quotedMention ?? mention, quotedMention ?? single ?? double];
    const given = words ?? (mention ?? bare ?? "").replace(/\\(.)/gu, "$1");
    if (isMention === undefined && !/^(~?\/|file:\/\/)/.test(given)) continue;
    const path = candidates(given)
      .map((word) => typedPath(word, cwd))
      .find((path) => path !== undefined && isPicture(path));
    if (path !== undefined && !found.has(path)) found.set(path, load(path));
  }
  return [...found.values()];
}

/** Punctuation, and Chinese without a space, may follow the name. */
function candidates(given: string): string[] {
  const named = /^.*?\.(?:png|jpe?g|gif|webp|pdf)/iu.exec(given)?.[0];
  return [given, given.replace(/[\p{P}]+$/u, ""), ...(named === undefined ? [] : [named])];
}

function typedPath(given: string, cwd: string): string | undefined {
  try {
    if (given.startsWith("file:")) return fileURLToPath(given);
    return resolve(cwd, given.replace(/^~(?=\/)/, homedir()));
  } catch {
    return undefined;
  }
}

function isPicture(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) return false;
  try {
    const file = openSync(path, "r");
    try {
      const head = Buffer.alloc(12);
      readSync(file, head);
      const kind = attachedKindOf(head);
      // The agent can Read a longer one: it stays a name.
      return kind === "pdf" ? found.size <= MAX_IMAGE_BYTES : kind !== undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

function load(path: string): GivenImage {
  const { size } = statSync(path);
  const name = basename(path);
  if (size > MAX_IMAGE_BYTES)
    throw new SageError("input-invalid", reason("image-too-large", { name, bytes: size, limit: MAX_IMAGE_BYTES }));
  return { name, data: readFileSync(path).toString("base64") };
}
