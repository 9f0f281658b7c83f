import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  auth,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { attempt } from "../base/attempt.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { type ServerDefinition, ServerFailure } from "./server.ts";
import { secureAddress, guardedFetch } from "./http.ts";

/** Storage of one server's tokens, as text. */
export type TokenStore = { read(): string | undefined; write(text: string): void };

type Kept = { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens; discovery?: OAuthDiscoveryState };

const CALLBACK = "/callback";
const TIMEOUT_MS = 300_000;

/** The tokens of a login that was made before, refreshed when needed. Undefined where there was none. */
export function keptLogin(definition: ServerDefinition, store: TokenStore): OAuthClientProvider | undefined {
  if (readKept(store).tokens === undefined) return undefined;
  return provider(definition, store, {
    redirectUrl: `http://127.0.0.1${CALLBACK}`,
    show: () => {
      throw new ServerFailure(reason("server-login", { server: definition.name }));
    },
  });
}

/** Logs a person in: shows them an address, waits for their browser to come back to this machine, and keeps the tokens. */
export async function login(
  definition: ServerDefinition,
  store: TokenStore,
  show: (address: URL) => void,
  signal: AbortSignal,
): Promise<void> {
  const { transport } = definition;
  if (transport.type !== "http") throw new Error("not a server at an address");
  const serverUrl = secureAddress(transport);
  const state = randomBytes(24).toString("base64url");
  const listener = createServer();
  const back = comesBack(listener, state, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
  back.catch(() => {}); // told below
  try {
    const port = await listening(listener, transport.oauth?.callbackPort ?? 0);
    const redirectUrl = `http://127.0.0.1:${port}${CALLBACK}`;
    const own = provider(definition, store, { redirectUrl, state, show, fresh: true });
    const options = {
      serverUrl,
      fetchFn: guardedFetch(serverUrl),
      ...(transport.oauth?.scope !== undefined && { scope: transport.oauth.scope }),
    };
    if ((await auth(own, options)) === "AUTHORIZED") return;
    const { code, iss } = await back;
    await auth(own, { ...options, authorizationCode: code, ...(iss !== undefined && { iss }) });
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

type Way = {
  redirectUrl: string;
  state?: string;
  show(address: URL): void;
  /** Nothing of an earlier login counts. */ fresh?: boolean;
};

function provider(
  { transport, name }: ServerDefinition,
  store: TokenStore,
  { redirectUrl, state, show, fresh }: Way,
): OAuthClientProvider {
  const given = transport.type === "http" ? transport.oauth?.clientId : undefined;
  let kept: Kept = fresh ? {} : readKept(store);
  let verifier = "";
  const keep = (more: Kept) => {
    kept = { ...kept, ...more };
    if (kept.tokens) store.write(JSON.stringify(kept));
  };
  return {
    redirectUrl,
    clientMetadata: {
      client_name: "Sage",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    ...(state !== undefined && { state: () => state }),
    clientInformation: () => kept.client ?? (given === undefined ? undefined : { client_id: given }),
    saveClientInformation: (client) => keep({ client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => keep({ tokens }),
    saveDiscoveryState: (discovery) => keep({ discovery }),
    discoveryState: () => kept.discovery,
    redirectToAuthorization: show,
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    invalidateCredentials(scope) {
      const { client, tokens, discovery } = kept;
      if (scope === "all") kept = {};
      else if (scope === "client") kept = { ...(tokens && { tokens }), ...(discovery && { discovery }) };
      else if (scope === "tokens") kept = { ...(client && { client }), ...(discovery && { discovery }) };
      else if (scope === "discovery") kept = { ...(client && { client }), ...(tokens && { tokens }) };
      if (!fresh) store.write(JSON.stringify(kept));
      if (!fresh && kept.tokens === undefined) throw new ServerFailure(reason("server-login", { server: name }));
    },
  };
}

/** Only the exact path with the state of this very login counts; everything else is answered and forgotten. */
function comesBack(
  listener: Server,
  state: string,
  signal: AbortSignal,
): Promise<{ code: string; iss: string | undefined }> {
  return new Promise((done, fail) => {
    signal.addEventListener("abort", () => fail(signal.reason as Error), { once: true });
    listener.on("request", (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
      const end = (status: number, text: string) =>
        void response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(text);
      if (request.method !== "GET" || pathname !== CALLBACK || !isSame(searchParams.get("state") ?? "", state))
        return end(404, "Not found\n");
      const code = searchParams.get("code");
      if (code === null) {
        end(200, "The login was refused. You can close this page.\n");
        return fail(
          new ServerFailure(reason("server-unreachable", { problem: searchParams.get("error") ?? "refused" })),
        );
      }
      end(200, "You are logged in. You can close this page and go back to Sage.\n");
      done({ code, iss: searchParams.get("iss") ?? undefined });
    });
  });
}

function listening(listener: Server, port: number): Promise<number> {
  return new Promise((done, fail) => {
    listener.once("error", fail);
    listener.listen(port, "127.0.0.1", () => done((listener.address() as AddressInfo).port));
  });
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function readKept(store: TokenStore): Kept {
  return attempt(() => JSON.parse(store.read() ?? "{}") as Kept) ?? {}; // the person logs in again
}
