import { imageLabel, type ImagePart } from "../protocol/index.ts";

/** Gives a kept picture as base64; undefined when its file is gone. */
export type LoadImage = (image: ImagePart) => string | undefined;

/** A picture as a request carries it, or the words in its place. */
export type ShownImage = { type: "image"; mime: string; data: string; name: string } | { type: "text"; text: string };

/** Pictures for a model that takes them; every other model is told that there are some. */
export function showImages(
  images: readonly ImagePart[] | undefined,
  { takes, load }: { takes: boolean; load: LoadImage | undefined },
): ShownImage[] {
  return (images ?? []).map((image) => {
    if (!takes) return words(image, "this model takes no pictures");
    const data = load?.(image);
    return data === undefined
      ? words(image, "its file is gone")
      : { type: "image", mime: image.mime, data, name: image.name };
  });
}

function words(image: ImagePart, why: string): ShownImage {
  return { type: "text", text: `[image ${imageLabel(image)}: ${why}]` };
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

export function takesImages(modelId: string): boolean {
  const name = modelId.toLowerCase();
  return seeing.some((pattern) => pattern.test(name));
}
