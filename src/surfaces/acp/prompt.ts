import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { GivenImage } from "../../protocol/image.ts";

/** A prompt of the editor as a message: what was attached follows the words, marked by where it came from. */
export function readPrompt(blocks: readonly ContentBlock[]): { text: string; images: GivenImage[] } {
  const texts: string[] = [];
  const attached: string[] = [];
  const images: GivenImage[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        texts.push(block.text);
        break;
      case "image":
        images.push({ name: nameIn(block.uri ?? "") || `image-${images.length + 1}`, data: block.data });
        break;
      case "resource_link":
        texts.push(pathFrom(block.uri));
        break;
      case "resource":
        if ("text" in block.resource) attached.push(fenced(pathFrom(block.resource.uri), block.resource.text));
        else attached.push(pathFrom(block.resource.uri));
        break;
      case "audio":
        break; // no model of ours hears
      default:
        block satisfies never;
    }
  }
  return { text: [texts.join(""), ...attached].filter((part) => part !== "").join("\n\n"), images };
}

/** A file by its path, anything else by its address. */
function pathFrom(uri: string): string {
  try {
    const { protocol, pathname } = new URL(uri);
    return protocol === "file:" ? decodeURIComponent(pathname) : uri;
  } catch {
    return uri;
  }
}

function nameIn(uri: string): string {
  return pathFrom(uri).split("/").at(-1) ?? "";
}

/** The fence is longer than any in the text. */
function fenced(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${name}\n${text.replace(/\n$/, "")}\n${fence}`;
}
