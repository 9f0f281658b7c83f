import { imageLabel, type ImagePart } from "../protocol/image.ts";

/** Returns a stored picture as base64; undefined if its file is gone. */
export type LoadImage = (image: ImagePart) => string | undefined;

/** A picture as a request carries it, or the words in its place. */
export type ShownImage =
  | { type: "image" | "file"; mime: string; data: string; name: string }
  | { type: "text"; text: string };

/** Pictures and PDF files for a model that takes them; other models get a note in their place. */
export function showImages(
  images: readonly ImagePart[] | undefined,
  { takes, files = false, load }: { takes: boolean; files?: boolean; load: LoadImage | undefined },
): ShownImage[] {
  return (images ?? []).map((image) => {
    const { mime, name } = image;
    const isFile = mime === "application/pdf";
    if (isFile ? !files : !takes)
      return words(image, isFile ? "this model takes no PDF files" : "this model takes no pictures");
    const data = load?.(image);
    return data === undefined
      ? words(image, "its file is gone")
      : { type: isFile ? "file" : "image", mime, data, name };
  });
}

function words(image: ImagePart, why: string): ShownImage {
  const what = image.mime === "application/pdf" ? "file" : "image";
  return { type: "text", text: `[${what} ${imageLabel(image)}: ${why}]` };
}

/** Names of models that take pictures, also through servers of other makers. The settings may say otherwise of a provider. */
const seeing: readonly RegExp[] = [
  /claude-(3|(sonnet|opus|haiku|fable)-\d)/,
  /\bgpt-(4o|4\.1|4-turbo|[5-9])/,
  /\bo[134]\b(?!-mini\b)|\bo4-mini\b/,
  /\bgemini-/,
  /\bgemma-?[34]/,
  /\bllama-?4|llama.?3\.2.*vision/,
  /\bllava|\bpixtral|\bmistral-(small-3|medium-3)|\bminicpm-?v/,
  /\bqwen.*-?vl|\bqvq|\bqwen.*-omni/,
  /\bglm-4\.?\d*v|\bkimi-k2\.5|\bkimi-.*vl|\bmoonshot.*vision|\bdoubao.*vision|\bdoubao-seed/,
  /\bgrok-(4|.*vision)/,
];

/** Names of models that read PDF files, text and pictures in them. */
const reading: readonly RegExp[] = [
  /claude-(3-[57]|(sonnet|opus|haiku|fable)-\d)/,
  /\bgpt-(4o|4\.1|[5-9])|\bo[134]\b(?!-mini\b)|\bo4-mini\b/,
  /\bgemini-/,
];

export function takesFiles(modelId: string): boolean {
  const name = modelId.toLowerCase();
  return reading.some((pattern) => pattern.test(name));
}

export function takesImages(modelId: string): boolean {
  const name = modelId.toLowerCase();
  return seeing.some((pattern) => pattern.test(name));
}
