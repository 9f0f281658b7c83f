import type { Agent } from "node:http";
import { attempt } from "../../base/attempt.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import { isPrivateAddress } from "../../permission/web.ts";
import { type Answer, type Limits, type Way, exchange, locationOf } from "./exchange.ts";
import { type Lookup, addressesOf } from "./lookup.ts";
import { imageKindOf, isPdf } from "../../protocol/image.ts";
import { convert } from "../content/convert.ts";

const MAX_HOPS = 10;

/** The end of a visit: the page; a redirect that may not be followed; or why there is no page. */
export type Visit =
  | { type: "page"; url: string; hops: number; page: Page }
  | { type: "elsewhere"; from: string; to: string; why: Reason }
  | { type: "failed"; url: string; problem: string };

/** A page that was read, and when. */
export type Page = PageText & { at: number };

/** A step of a visit as it is kept: a page, or the address that stands in its place. */
export type Kept = { to: string } | { page: Page };

type Means = {
  /** Addresses judged with the call; undefined when nobody looked them up. */
  addresses: readonly string[] | undefined;
  objection(url: string, addresses?: readonly string[]): Reason | undefined;
  /** Connections to this address by way of the person's proxy, if there is one for it. */
  proxy(url: URL): Promise<Agent | undefined>;
  lookup?: Lookup | undefined;
  cache: Cache<Kept>;
  limits: Limits;
  signal: AbortSignal;
};

/** Goes where an address leads, judging every step of the way. */
export async function visit(address: string, means: Means): Promise<Visit> {
  let url = new URL(address);
  for (let hops = 0; hops <= MAX_HOPS; hops++) {
    url.hash = "";
    const step = means.cache.get(url.href) ?? (await take(url, means, hops === 0 ? means.addresses : undefined));
    if ("problem" in step) return { type: "failed", url: url.href, problem: step.problem };
    if ("why" in step) return { type: "elsewhere", from: address, to: url.href, why: step.why };
    if ("page" in step) return { type: "page", url: url.href, hops, page: step.page };
    const next = URL.parse(step.to, url.href);
    if (!next) return { type: "failed", url: url.href, problem: "it redirects to something that is no address" };
    // Before its name is looked up: that alone would tell it to the network.
    const why = means.objection(next.href);
    if (why) return { type: "elsewhere", from: url.href, to: next.href, why };
    url = next;
  }
  return { type: "failed", url: address, problem: `it redirects more than ${MAX_HOPS} times` };
}

async function take(
  url: URL,
  means: Means,
  judged: readonly string[] | undefined,
): Promise<Kept | { problem: string } | { why: Reason }> {
  const { signal } = means;
  try {
    const proxy = await means.proxy(url);
    const addresses = proxy ? undefined : (judged ?? (await addressesOf(url, signal, means.lookup)));
    const why = addresses && addresses !== judged ? means.objection(url.href, addresses) : undefined;
    if (why) return { why };
    const way: Way = addresses ? { addresses } : { proxy: proxy! };
    const answer = await exchange(url, way, means.limits, signal);
    const kept = await read(url, answer, signal);
    if (!("problem" in kept) && mayKeep(answer, addresses)) means.cache.set(url.href, kept, keptSize(kept));
    return kept;
  } catch (error) {
    signal.throwIfAborted();
    return { problem: messageIn(error) };
  }
}

async function read(url: URL, answer: Answer, signal: AbortSignal): Promise<Kept | { problem: string }> {
  const to = locationOf(answer);
  if (to !== undefined) return { to };
  if (answer.status < 200 || answer.status >= 300)
    return { problem: `the server answers ${statusName(answer.status)}` };
  const text = await toText({ url: url.href, type: answer.headers["content-type"] ?? "", ...answer }, signal);
  return "problem" in text ? text : { page: { ...text, at: Date.now() } };
}

/** A server on this machine is usually one that somebody works on: its pages are read anew each time. */
function mayKeep({ headers }: Answer, addresses: readonly string[] | undefined): boolean {
  return !/no-store|no-cache|max-age=0/i.test(headers["cache-control"] ?? "") && !addresses?.some(isPrivateAddress);
}

function keptSize(kept: Kept): number {
  if ("to" in kept) return kept.to.length;
  return "text" in kept.page ? kept.page.text.length : kept.page.image.length;
}

/** A status by its usual name. The server's own words for it would stand where the model takes them for ours. */
function statusName(status: number): string {
  return `${status} ${process.getBuiltinModule("node:http").STATUS_CODES[status] ?? ""}`.trim();
}

/** Several addresses that all failed are one error with many inside. Errors of TLS quote the other side's certificate. */
function messageIn(error: unknown): string {
  const { message = "", code = "", errors } = Object(error) as { message?: string; code?: string; errors?: Error[] };
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_|UNABLE_)/.test(code)) return `its certificate is not good (${code})`;
  return (message || errors?.[0]?.message || code || String(error)).replace(/\s+/g, " ").slice(0, 200);
}

/** A page as text, or a picture as it is. `type`: the kind of content, in the words of its server. */
type PageText = { type: string; whole: boolean } & ({ text: string } | { image: Buffer });

type Raw = { url: string; type: string; body: Buffer; whole: boolean };

/** A body as text for a model: HTML as Markdown, the text of a PDF, anything else that is text as it is. */
async function toText(raw: Raw, signal: AbortSignal): Promise<PageText | { problem: string }> {
  const { body, whole, url } = raw;
  const type = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(;|$)/.exec(raw.type)?.[1]?.toLowerCase() ?? "";
  const named = { type: type || "unknown type", whole };
  if (imageKindOf(body)) return whole ? { ...named, image: body } : { problem: "the picture is too large" };
  if (isPdf(body) || type === "application/pdf") {
    if (!whole) return { problem: `the PDF is larger than ${body.length / 1024 / 1024} MB` };
    return { ...named, type: "application/pdf", text: await convert({ kind: "pdf", body }, signal) };
  }
  if (!isText(type) || (marked(body) === undefined && body.subarray(0, 8_192).includes(0)))
    return { problem: `it is not text (${type || "of no stated type"}, ${body.length} bytes)` };
  const text = decode(body, raw.type);
  if (!isHtml(type, text)) return { ...named, text };
  return { ...named, text: await convert({ kind: "html", text, url }, signal) };
}

function isText(type: string): boolean {
  return type === "" || /^text\/|[/+](json|xml|yaml|toml|javascript|ecmascript|x-ndjson|x-sh|sql|graphql)\b/.test(type);
}

function isHtml(type: string, text: string): boolean {
  if (type === "text/html" || type === "application/xhtml+xml") return true;
  return type === "" && /^\s*<(!doctype html|html)\b/i.test(text);
}

/** In the encoding that a mark at its beginning, its server or the page itself names. */
function decode(body: Buffer, type: string): string {
  const head = body.subarray(0, 2_048).toString("latin1");
  const named =
    marked(body) ??
    /charset\s*=\s*["']?([\w:.-]+)/i.exec(type)?.[1] ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]+)/i.exec(head)?.[1];
  // An encoding that nobody knows.
  return attempt(() => new TextDecoder(named).decode(body)) ?? new TextDecoder().decode(body);
}

function marked(body: Buffer): string | undefined {
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : undefined;
}

/** Things that were fetched a short while ago, within bounds: the oldest go first. */
type Cache<T> = { get(key: string): T | undefined; set(key: string, value: T, size: number): void };

const KEPT_MS = 15 * 60_000;
const MAX_ENTRIES = 200;

/** `room`: what the sizes of all that is kept may add up to. `now` is a clock that is never set back. */
export function createCache<T>({
  room,
  now = () => performance.now(),
}: {
  room: number;
  now?: () => number;
}): Cache<T> {
  const kept = new Map<string, { value: T; size: number; at: number }>();
  let used = 0;
  const drop = (key: string) => {
    used -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const found = kept.get(key);
      return found && now() - found.at < KEPT_MS ? found.value : undefined;
    },
    set(key, value, size) {
      drop(key);
      kept.set(key, { value, size, at: now() });
      used += size;
      for (const [oldest, { at }] of kept)
        if (kept.size > MAX_ENTRIES || used > room || now() - at >= KEPT_MS) drop(oldest);
        else break;
    },
  };
}

/** The part of a cache that belongs to one session. */
export function sessionCache<T>(cache: Cache<T>, session: string): Cache<T> {
  return {
    get: (key) => cache.get(`${session}\n${key}`),
    set: (key, value, size) => cache.set(`${session}\n${key}`, value, size),
  };
}
