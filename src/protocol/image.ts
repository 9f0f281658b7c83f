/** Kinds of pictures that every provider with eyes takes. */
const imageKinds = { png: "image/png", jpg: "image/jpeg", gif: "image/gif", webp: "image/webp" } as const;

/** Kinds of files that may be in a message: pictures, and PDF for models that read it. */
export const attachedKinds = { ...imageKinds, pdf: "application/pdf" } as const;

/** Kinds of pictures and documents that a message may carry. */
export type AttachedKind = keyof typeof attachedKinds;

/** Largest picture that every provider takes: some allow 5 MB, counted in base64, which is a third longer. */
export const MAX_IMAGE_BYTES = 3_700_000;
/** Most pictures in one message. */
export const MAX_IMAGES = 20;

/** A picture or a PDF in a message or a result. Facts hold only this; the bytes are a file beside the journal, named by their hash. */
export type ImagePart = {
  type: "image";
  mime: (typeof attachedKinds)[AttachedKind];
  sha256: string;
  /** Size of the file. */
  bytes: number;
  /** Name that people know: a file's own, safe to draw. */
  name: string;
};

/** A picture on its way in, before it is kept. */
export type GivenImage = { name: string; /** base64. */ data: string };

/** Kind of a picture by its first bytes: a name proves nothing. */
export function imageKindOf(content: Uint8Array): keyof typeof imageKinds | undefined {
  const head = String.fromCharCode(...content.subarray(0, 12));
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (head.startsWith("\xff\xd8\xff")) return "jpg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "gif";
  return head.startsWith("RIFF") && head.slice(8) === "WEBP" ? "webp" : undefined;
}

/** The same with PDF. */
export function attachedKindOf(content: Uint8Array): AttachedKind | undefined {
  return imageKindOf(content) ?? (isPdf(content) ? "pdf" : undefined);
}

export function isPdf(content: Uint8Array): boolean {
  return String.fromCharCode(...content.subarray(0, 5)) === "%PDF-";
}

/** Name of the file that holds a picture. */
export function imageFile({ sha256, mime }: Pick<ImagePart, "sha256" | "mime">): string {
  const kind =
    (Object.keys(attachedKinds) as AttachedKind[]).find((attached) => attachedKinds[attached] === mime) ?? "png";
  return `${sha256}.${kind}`;
}

/** `shot.png, 120 kB` */
export function imageLabel({ name, bytes }: Pick<ImagePart, "name" | "bytes">): string {
  return `${name}, ${sizeLabel(bytes)}`;
}

export function sizeLabel(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1_000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
