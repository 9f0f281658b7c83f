import type { Agent } from "node:http";
import * as z from "../../base/z.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import { imageLabel } from "../../protocol/image.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { describe } from "../definition/describe.ts";
import { createExcerpt } from "../content/excerpt.ts";
import { keepImage } from "../content/image.ts";
import { failed, asData } from "../definition/result.ts";
import type { Tool, ToolScope } from "../definition/tool.ts";
import { type Kept, type Page, type Visit, createCache, sessionCache } from "./visit.ts";
import type { Lookup } from "./lookup.ts";

export type WebFetchOptions = {
  /** Connections to this address by way of the person's proxy, if there is one for it. */
  proxy?(url: URL): Promise<Agent | undefined>;
  /** Looks a name up; the operating system does by default. */
  lookup?: Lookup;
  /** For one request, with everything that it waits for. */
  totalMs?: number;
  /** Most of a body that is read, unpacked. */
  bytes?: number;
};

type Input = { url: string };

/** Characters of all pages that are kept for all sessions of this process. */
const ROOM = 20_000_000;

/** Reads pages on the web. Rules judge the call, and every redirect on its way. */
export function createWebFetch(options: WebFetchOptions = {}): Tool<Input> {
  const { proxy = async () => undefined, lookup, totalMs = 30_000, bytes = 10 * 1024 * 1024 } = options;
  const cache = createCache<Kept>({ room: ROOM });
  return {
    name: "WebFetch",
    description: describe("web/web-fetch"),
    inputSchema: z.strictObject({ url: z.string().max(8_000).describe("With http:// or https://") }),
    adapt(sent: ToolInput) {
      const { prompt: _, ...rest } = sent;
      return rest;
    },
    effect: "reads",
    specifier: ({ url }) => url,
    preflight: async ({ url }) =>
      /^https?:$/.test(URL.parse(url)?.protocol ?? "")
        ? undefined
        : `${url.slice(0, 200)} is no address of a page: it has to begin with http:// or https://.`,
    async addresses({ url: address }, signal) {
      const url = URL.parse(address);
      if (!url || (await proxy(url))) return undefined;
      return (await import("./lookup.ts")).addressesOf(url, signal, lookup);
    },
    async execute({ url }, scope) {
      const { web, signal, keepDir } = scope;
      if (!web) throw new Error("no rules are known here");
      const { visit } = await import("./visit.ts");
      const limits = { totalMs, bytes };
      const ended = await visit(url, { ...web, proxy, lookup, cache: sessionCache(cache, keepDir), limits, signal });
      return visitResult(ended, url, scope);
    },
  };
}

async function visitResult(ended: Visit, asked: string, scope: ToolScope): Promise<ToolResult> {
  switch (ended.type) {
    case "failed":
      return failed(`${ended.url} could not be read: ${ended.problem}.`);
    case "elsewhere": {
      const why = sentence(ended.why, "en").replace(/\.$/, "");
      if (ended.from === ended.to) return failed(`${ended.to} was not read. ${why}.`);
      return failed(
        `Not followed: ${ended.from} redirects to ${ended.to}\n${why}. If you need that page, call WebFetch with this address; it is judged then like any other.`,
      );
    }
    case "page":
      return shown(ended, asked, scope);
    default:
      return ended satisfies never;
  }
}

async function shown(
  { url, hops, page }: Visit & { type: "page" },
  asked: string,
  { keepDir }: ToolScope,
): Promise<ToolResult> {
  const way = hops === 0 ? "" : `, by ${hops} ${hops === 1 ? "redirect" : "redirects"} from ${asked}`;
  if ("image" in page) {
    const kept = keepImage(keepDir, { name: new URL(url).pathname, content: page.image });
    if ("problem" in kept) return failed(`${sentence(kept.problem, "en")}.`);
    return { ok: true, text: `(${url}${way} is a picture: ${imageLabel(kept.image)})`, images: [kept.image] };
  }
  const cut = page.whole ? "" : ", cut where it was too long";
  const head = `${url} (${page.type}${way}${cut}${age(page)})`;
  const text = asData(head, page.text.trim() === "" ? "(The page holds no text.)" : page.text);
  const excerpt = createExcerpt(keepDir, { first: 26_000 });
  await excerpt.push(Buffer.from(text), text);
  return { ok: true, ...(await excerpt.end()), shown: { characters: head.length } };
}

function age({ at }: Page): string {
  const minutes = Math.floor((Date.now() - at) / 60_000);
  return minutes < 1 ? "" : `, read ${minutes} ${minutes === 1 ? "minute" : "minutes"} ago`;
}
