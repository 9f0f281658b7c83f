import { encodeQR } from "qr";
import { agentFor, proxyFor, type Env } from "../../../models/proxy.ts";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import type { Library } from "../../../surfaces/feishu/transport/api/api.ts";
import { neededScopes } from "./check-app.ts";

const CALL_MS = 15_000;

/** An app that the platform has just created for the person who scanned the code. */
type Registered = {
  appId: string;
  appSecret: string;
  /** The person who scanned it. */
  openId?: string;
  /** Their organisation is on Lark, whatever was asked for. */
  lark: boolean;
};

/** Everything an app needs for Sage, asked for at once. */
export const addons = {
  scopes: { tenant: [...neededScopes.map(({ scopes }) => scopes[0]), "application:application:self_manage"] },
  events: { items: { tenant: ["im.message.receive_v1", "im.message.recalled_v1"] } },
  callbacks: { items: ["card.action.trigger"] },
};

/** Lets the platform create an app: `show` gets a code to scan; the person who confirms it on a phone is identified. */
export async function register(
  domain: string,
  { env, show, signal }: { env: Env; show(code: { url: string; picture: string }): void; signal: AbortSignal },
): Promise<Registered> {
  const library = await import("@larksuiteoapi/node-sdk");
  const host = accountsOf(domain);
  prepare(library, host, env);
  try {
    const { client_id, client_secret, user_info } = await library.registerApp({
      domain: host,
      source: "sage",
      appPreset: { name: "Sage" },
      addons,
      signal,
      onQRCodeReady: ({ url }) => show({ url, picture: encodeQR(url, "ascii", { ecc: "low" }) }),
    });
    const openId = user_info?.open_id;
    return {
      appId: client_id,
      appSecret: client_secret,
      ...(openId !== undefined && { openId }),
      lark: user_info?.tenant_brand === "lark",
    };
  } catch (error) {
    const { code, description } = (error ?? {}) as { code?: string; description?: string };
    throw new SageError("config-invalid", said(description ?? code ?? thrownText(error)), { cause: error });
  }
}

/** The accounts host is a sibling of the API host: `open.feishu.cn` and `accounts.feishu.cn`. */
export function accountsOf(domain: string): string {
  return new URL(domain).host.replace(/^open\./, "accounts.");
}

/** The library registers by a client of its own that knows no limit of time and no proxy of ours. */
function prepare(library: Library, host: string, env: Env): void {
  const url = new URL(`https://${host}`);
  const { defaults } = library.defaultHttpInstance as unknown as { defaults: Record<string, unknown> };
  Object.assign(defaults, { timeout: CALL_MS, maxRedirects: 0 });
  const way = proxyFor(url, env) === undefined ? { proxy: false } : { httpsAgent: agentFor(url, env) };
  Object.assign(defaults, way);
}
