import { isUtf8 } from "node:buffer";
import { mkdir, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { basename, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { imageKindOf, MAX_IMAGE_BYTES as MAX_SENT_IMAGE_BYTES, type GivenImage } from "../../../protocol/image.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import type { Redaction } from "../cards/escape.ts";
import type { Phrase } from "../cards/speech.ts";
import type { FeishuChannel, Incoming } from "../channel/channel.ts";
import { FeishuFailure } from "../channel/failure.ts";

const MAX_FILES = 9;
const KEEP_MS = 30 * 24 * 60 * 60_000;
const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;
const MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024;
const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
const MAX_SENT_FILES = 5;

type ReceiveParts = {
  channel: FeishuChannel;
  folder: string;
  log(line: string): void;
  signal: AbortSignal;
};

/** Saves files of a person where the session may read them. Returns text for the model, and problems for the person. */
export async function receiveFiles(
  message: Pick<Incoming, "messageId" | "attachments">,
  { channel, folder, log, signal }: ReceiveParts,
): Promise<{ told: string[]; images: GivenImage[]; problems: Phrase[] }> {
  const told: string[] = [];
  const images: GivenImage[] = [];
  const problems: Phrase[] = [];
  const { attachments, messageId } = message;
  if (attachments.length > MAX_FILES) problems.push(({ t }) => t.tooManyFiles(MAX_FILES));
  for (const [n, { kind, key, name }] of attachments.slice(0, MAX_FILES).entries()) {
    const called = name === undefined ? `${kind}-${n + 1}` : name;
    try {
      const content = await channel.download(messageId, key, kind, { limit: MAX_UPLOAD_BYTES, signal });
      const path = join(folder, messageId, fileName(called, n, kind === "image" ? imageKindOf(content) : undefined));
      await mkdir(join(folder, messageId), { recursive: true, mode: 0o700 });
      await writeFile(path, content, { mode: 0o600 });
      // A larger one is only named: the model may look at it with a command that makes it smaller.
      if (imageKindOf(content) && content.length <= MAX_SENT_IMAGE_BYTES)
        images.push({ name: basename(path), data: content.toString("base64") });
      told.push(`[The person sent ${kind === "image" ? "an image" : "a file"}. It is saved at ${path}]`);
    } catch (error) {
      signal.throwIfAborted();
      log(`a file could not be fetched: ${thrownText(error)}`);
      const large = error instanceof FeishuFailure && error.kind === "content";
      const limit = `${MAX_UPLOAD_BYTES / 1024 / 1024} MB`;
      problems.push(({ t }) => (large ? t.fileTooLarge(called, limit) : t.fileFailed(called)));
    }
  }
  return { told, images, problems };
}

export async function forgetOldFiles(folder: string, now: number): Promise<void> {
  for (const session of await readdir(folder).catch(() => []))
    for (const message of await readdir(join(folder, session)).catch(() => [])) {
      const path = join(folder, session, message);
      const { mtimeMs } = await stat(path);
      if (now - mtimeMs > KEEP_MS) await rm(path, { recursive: true, force: true });
    }
}

/** A name that stays in its folder, whatever the person's machine called it. */
function fileName(name: string, n: number, type: string | undefined): string {
  const plain = basename(name.replaceAll("\\", "/"))
    .replace(/[^\p{L}\p{N}._ -]/gu, "_")
    .replace(/^[.\s]+/, "")
    .slice(-80);
  const safe = plain === "" ? `file-${n + 1}` : plain;
  return type === undefined || extname(safe) !== "" ? safe : `${safe}.${type}`;
}

type Sending = { redaction: Redaction; mayRead(path: string, cwd: string): Promise<boolean> };

type OutFile = { name: string; content: Buffer; image: boolean };

/** Linked files of the session's folder, none hidden, by a link from elsewhere, or forbidden to the agent: a chat has many readers. */
export async function filesIn(text: string, cwd: string, sending: Sending): Promise<OutFile[]> {
  const links = [...text.matchAll(/!?\[[^\]\n]*\]\(<?([^)>\s]+)>?\)/g)].map(([, target = ""]) => target);
  const found: OutFile[] = [];
  for (const target of new Set(links)) {
    if (found.length >= MAX_SENT_FILES) break;
    if (/^[a-z][\w+.-]*:|^#/i.test(target)) continue;
    const file = await ownFile(target, cwd, sending).catch(() => undefined);
    if (file) found.push(file);
  }
  return found;
}

async function ownFile(target: string, cwd: string, { redaction, mayRead }: Sending): Promise<OutFile | undefined> {
  const root = await realpath(cwd);
  const path = await realpath(resolve(root, decodeURIComponent(target)));
  const inside = relative(root, path);
  if (inside === "" || inside.startsWith("..") || isAbsolute(inside)) return undefined;
  if (inside.split(sep).some((part) => part.startsWith("."))) return undefined;
  if (!(await mayRead(path, cwd))) return undefined;
  const { size } = await stat(path);
  if (size === 0 || size > MAX_DOWNLOAD_BYTES) return undefined;
  const content = await readFile(path);
  const image = imageKindOf(content) !== undefined && content.length <= MAX_IMAGE_BYTES;
  const isText = isUtf8(content) && !content.includes(0);
  return {
    name: basename(path),
    content: isText ? Buffer.from(redaction.text(content.toString("utf8"))) : content,
    image,
  };
}
