import type { Agent } from "node:http";
import type { Reason } from "../../protocol/reasons/reason.ts";
import { isPrivateAddress } from "../../permission/web.ts";
import type { Cache } from "./cache.ts";
import { exchange, locationOf, type Answer, type Limits, type Way } from "./exchange.ts";
import { addressesOf, type Lookup } from "./lookup.ts";
import { toText, type PageText } from "./page-text.ts";

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

export type Means = {
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
    if (!("problem" in kept) && mayKeep(answer, addresses)) means.cache.set(url.href, kept, sizeOf(kept));
    return kept;
  } catch (error) {
    signal.throwIfAborted();
    return { problem: messageIn(error) };
  }
}

async function read(url: URL, answer: Answer, signal: AbortSignal): Promise<Kept | { problem: string }> {
  const to = locationOf(answer);
  if (to !== undefined) return { to };
  if (answer.status < 200 || answer.status >= 300) return { problem: `the server answers ${nameOf(answer.status)}` };
  const text = await toText({ url: url.href, type: answer.headers["content-type"] ?? "", ...answer }, signal);
  return "problem" in text ? text : { page: { ...text, at: Date.now() } };
}

/** A server on this machine is usually one that somebody works on: its pages are read anew each time. */
function mayKeep({ headers }: Answer, addresses: readonly string[] | undefined): boolean {
  return !/no-store|no-cache|max-age=0/i.test(headers["cache-control"] ?? "") && !addresses?.some(isPrivateAddress);
}

function sizeOf(kept: Kept): number {
  if ("to" in kept) return kept.to.length;
  return "text" in kept.page ? kept.page.text.length : kept.page.image.length;
}

/** A status by its usual name. The server's own words for it would stand where the model takes them for ours. */
function nameOf(status: number): string {
  return `${status} ${process.getBuiltinModule("node:http").STATUS_CODES[status] ?? ""}`.trim();
}

/** Several addresses that all failed are one error with many inside. Errors of TLS quote the other side's certificate. */
function messageIn(error: unknown): string {
  const { message = "", code = "", errors } = Object(error) as { message?: string; code?: string; errors?: Error[] };
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_|UNABLE_)/.test(code)) return `its certificate is not good (${code})`;
  return (message || errors?.[0]?.message || code || String(error)).replace(/\s+/g, " ").slice(0, 200);
}
