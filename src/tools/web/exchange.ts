import { isUtf8 } from "node:buffer";
import type { Agent, IncomingMessage, RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";

/** The way to a server: straight to addresses that were judged, or through the person's proxy, which looks the name up itself. */
export type Way = { addresses: readonly string[] } | { proxy: Agent };

export type Limits = {
  /** From the first byte sent to the last one received. */
  totalMs: number;
  /** Bytes of the body, after it was unpacked. */
  bytes: number;
};

/** `whole`: false when the body was longer than the limit and is cut there. */
export type Answer = {
  status: number;
  headers: IncomingMessage["headers"];
  body: Buffer;
  whole: boolean;
};

/** Redirects that name the next address. */
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The address that an answer sends on to. */
export function locationOf({ status, headers }: Answer): string | undefined {
  if (!redirects.has(status) || headers.location === undefined) return undefined;
  // Headers are read as Latin-1, and servers write names of other scripts into them as they are.
  const bytes = Buffer.from(headers.location, "latin1");
  return isUtf8(bytes) ? bytes.toString() : headers.location;
}

/** A GET, without cookies, credentials or redirects. The body stays compressed on the wire and bounded in memory. */
export async function exchange(url: URL, way: Way, limits: Limits, signal: AbortSignal): Promise<Answer> {
  const late = AbortSignal.timeout(limits.totalMs);
  try {
    const incoming = await send(url, way, AbortSignal.any([signal, late]));
    const { statusCode: status = 0, headers } = incoming;
    // The body of a redirect or of an error is nobody's concern.
    if (status < 200 || status >= 300) {
      incoming.destroy();
      return { status, headers, body: Buffer.alloc(0), whole: true };
    }
    return { status, headers, ...(await take(incoming, limits.bytes)) };
  } catch (error) {
    if (late.aborted && !signal.aborted)
      throw new Error(`no complete answer within ${limits.totalMs / 1000} seconds`, { cause: error });
    throw error;
  }
}

function send(url: URL, way: Way, signal: AbortSignal): Promise<IncomingMessage> {
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  const options: RequestOptions = {
    method: "GET",
    headers: {
      "user-agent": "sage-agent",
      accept: "text/markdown, text/html, application/xhtml+xml, application/pdf, text/*, application/json, */*;q=0.5",
      "accept-encoding": "gzip, br",
    },
    // A connection that somebody else opened may lead elsewhere: each request has its own.
    ...("proxy" in way ? { agent: way.proxy } : { agent: false, lookup: pinnedTo(way.addresses) }),
    signal,
  };
  return new Promise((resolve, reject) => {
    request(url, options).on("response", resolve).on("error", reject).end();
  });
}

/** Answers every question about a name with the addresses that were judged. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const { isIP } = process.getBuiltinModule("node:net");
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, { all, family }, done) => {
    const fit = known.filter((address) => !family || address.family === family);
    const [first] = fit;
    if (!first) done(Object.assign(new Error("no address of this kind was judged"), { code: "ENOTFOUND" }), "");
    else if (all === true) done(null, fit);
    else done(null, first.address, first.family);
  };
}

/** Unpacks as it reads, so that a small body which unpacks to a large one takes no more room than it may. */
async function take(incoming: IncomingMessage, most: number): Promise<Pick<Answer, "body" | "whole">> {
  const unpacked = unpack(incoming);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, most - size));
      size += chunk.length;
      if (size > most) return { body: Buffer.concat(chunks), whole: false };
    }
    return { body: Buffer.concat(chunks), whole: true };
  } finally {
    unpacked.destroy();
    incoming.destroy();
  }
}

function unpack(incoming: IncomingMessage): Readable {
  const encoding = incoming.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const { createUnzip, createBrotliDecompress } = process.getBuiltinModule("node:zlib");
  if (encoding === "identity" || encoding === "") return incoming;
  const unpacker =
    encoding === "br" ? createBrotliDecompress() : /^(x-)?gzip$|^deflate$/.test(encoding) ? createUnzip() : undefined;
  if (!unpacker) {
    incoming.destroy();
    throw new Error("the server packed its answer in a way that was not offered");
  }
  return incoming.on("error", (error) => unpacker.destroy(error)).pipe(unpacker);
}
