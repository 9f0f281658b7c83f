import { StreamableHTTPClientTransport, type OAuthClientProvider, type Transport } from "@modelcontextprotocol/client";
import { reason } from "../protocol/reasons/reason.ts";
import { type HttpServer, type ServerDefinition, ServerFailure } from "./server.ts";
import { MAX_MESSAGE_BYTES } from "./stdio.ts";

/** The way to a server at an address. Without a login it is tried without one; a server that wants one says so. */
export function httpTransport({ transport }: ServerDefinition, provider?: OAuthClientProvider): Transport {
  if (transport.type !== "http") throw new Error("not a server at an address");
  const url = secureAddress(transport);
  return new StreamableHTTPClientTransport(url, {
    fetch: guardedFetch(url),
    requestInit: { headers: { ...transport.headers } },
    ...(provider && { authProvider: provider }),
  });
}

/** https, or this machine: tokens and answers cross the network. */
export function secureAddress({ url: text }: Pick<HttpServer, "url">): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === "https:" || (url.protocol === "http:" && isThisMachine(url)))) return url;
  throw new ServerFailure(reason("address-insecure", { url: text }));
}

/** Requests for a server, its logins included. It never leads us to this machine or its network, and no answer exceeds the limit. */
export function guardedFetch(server: URL): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (address, init) => {
    const url = secureAddress({ url: String(address) });
    if (!isPrivate(server) && isPrivate(url)) throw new ServerFailure(reason("address-insecure", { url: url.href }));
    const response = await fetch(url, init);
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    return new Response(body.pipeThrough(counted()), { status, statusText, headers });
  };
}

function counted(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      const limitMb = MAX_MESSAGE_BYTES / 1024 / 1024;
      if (bytes > MAX_MESSAGE_BYTES)
        controller.error(new ServerFailure(reason("server-flooded", { limitMb }), { sent: true }));
      else controller.enqueue(chunk);
    },
  });
}

function isThisMachine({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Only literal addresses; names are checked when they are resolved. */
function isPrivate(url: URL): boolean {
  const hostname = url.hostname.replace(/\.$/, "");
  // Only the global range is public, without the parts that embed an IPv4 address.
  if (hostname.startsWith("[")) return !/^\[(?!2002:|2001:0?:)[23]/.test(hostname);
  if (!hostname.includes(".") || /\.(localhost|internal|local|lan|home|corp|intranet)$/.test(hostname)) return true;
  return /^(0|10|127|169\.254|192\.168|192\.0\.0|198\.1[89]|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(\.\d+)+$/.test(
    hostname,
  );
}
