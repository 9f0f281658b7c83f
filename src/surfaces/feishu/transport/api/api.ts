import { thrownText } from "../../../../texts/shared/error.ts";
import type { FeishuApp, Log, Timings } from "./config.ts";
import { FeishuFailure, toFailure } from "../../channel/failure.ts";

export type Request = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/open-apis/`. */
  path: string;
  query?: Record<string, string>;
  data?: Record<string, unknown>;
  /** Sends the data as a form. */
  upload?: boolean;
  /** Most bytes that the response may have; it is returned as bytes. */
  bytes?: number;
  signal?: AbortSignal;
};

export type Answer = Record<string, unknown>;

/** Calls the platform: our own token, a time limit, every response checked, and a retry where one may help. */
export type Api = {
  call(request: Request, options?: CallOptions): Promise<Answer>;
  download(request: Request & { bytes: number }): Promise<Buffer>;
  /** The client library, loaded on first use, with the HTTP client it sends requests with. */
  library(): Promise<Library & { http: HttpInstance }>;
  /** Attempts so far, and failed ones among them. */
  counts(): { calls: number; failures: number };
};

export type CallOptions = {
  /** Checked before each attempt. True: the call is no longer needed and ends as if it had succeeded. */
  moot?: () => boolean;
  /** Makes a single attempt, for courtesies and for calls that somebody waits for. */
  once?: boolean;
};

export type Library = typeof import("@larksuiteoapi/node-sdk");
type HttpInstance = NonNullable<ConstructorParameters<Library["Client"]>[0]["httpInstance"]>;

type Http = {
  request(config: Record<string, unknown>): Promise<unknown>;
  create(config: Record<string, unknown>): Http;
  interceptors: { response: { use(done: (response: { data: unknown }) => unknown): void } };
};

const TRIES = 5;
/** Tokens are renewed this long before they expire. */
const EARLY_MS = 3 * 60_000;

export function createApi(app: FeishuApp, timings: Timings, log: Log, sleep: (ms: number) => Promise<void>): Api {
  const redact = redactorOf(app);
  let loaded:
    | Promise<{
        library: Library & { http: HttpInstance };
        send: (config: Record<string, unknown>) => Promise<unknown>;
      }>
    | undefined;
  const load = () => (loaded ??= loadLibrary(app, timings, libraryLogger(log, redact, "debug"))); // its errors reach us, and we log them

  const send = async (request: Request, headers: Record<string, string>): Promise<Answer> => {
    const { send: raw } = await load();
    let answer: unknown;
    try {
      answer = await raw({
        method: request.method,
        url: `/open-apis/${request.path}`,
        headers: { ...headers, ...(request.upload && { "Content-Type": "multipart/form-data" }) },
        ...(request.query && { params: request.query }),
        ...(request.data && { data: request.data }),
        timeout: request.upload || request.bytes !== undefined ? timings.transferMs : timings.callMs,
        ...(request.bytes !== undefined && { responseType: "arraybuffer", maxContentLength: request.bytes }),
        ...(request.signal && { signal: request.signal }),
      });
    } catch (error) {
      request.signal?.throwIfAborted();
      throw read(error, redact);
    }
    if (Buffer.isBuffer(answer)) return { bytes: answer };
    if (typeof answer !== "object" || answer === null) throw new FeishuFailure("transient", "Feishu answered no JSON");
    const { code, msg } = answer as { code?: unknown; msg?: unknown };
    // The platform also refuses with status 200.
    if (code !== 0) throw toFailure({ status: 200, code: Number(code ?? 0), msg: redact(String(msg)) });
    return answer as Answer;
  };

  const tokens = createTokens(async () => {
    const path = "auth/v3/tenant_access_token/internal";
    return send({ method: "POST", path, data: { app_id: app.appId, app_secret: app.appSecret } }, {});
  });

  const attempt = async (request: Request): Promise<Answer> => {
    const used = await tokens.bearer();
    try {
      return await send(request, { Authorization: `Bearer ${used}` });
    } catch (error) {
      if (!(error instanceof FeishuFailure) || error.kind !== "token") throw error;
      tokens.drop(used);
      return send(request, { Authorization: `Bearer ${await tokens.bearer()}` });
    }
  };

  const counted = { calls: 0, failures: 0 };
  /** Tells the operator once about each missing permission; the platform names it. */
  const told = new Set<string>();
  const tellOperator = (error: unknown): void => {
    if (!(error instanceof FeishuFailure) || error.kind !== "permission" || told.has(error.message)) return;
    if (told.size < 100) told.add(error.message);
    log("error", error.message);
  };

  const call = async (request: Request, { moot, once }: CallOptions = {}): Promise<Answer> => {
    for (let tries = 1; ; tries++) {
      if (moot?.()) return {};
      counted.calls++;
      try {
        return await attempt(request);
      } catch (error) {
        counted.failures++;
        tellOperator(error);
        const waitMs = once ? undefined : waitFor(error, tries, timings.retryMs);
        if (waitMs === undefined) throw error;
        log("debug", `${request.method} ${request.path}: ${thrownText(error)}; again in ${Math.round(waitMs)} ms`);
        await sleep(waitMs);
      }
    }
  };

  return {
    call,
    counts: () => counted,
    library: async () => (await load()).library,
    async download(request) {
      const { bytes } = await call(request);
      if (!Buffer.isBuffer(bytes)) throw new FeishuFailure("unknown", "Feishu answered no bytes");
      return bytes;
    },
  };
}

/** The token of the app. Concurrent callers share one fetch: a cold start with ten cards requests one token. */
function createTokens(fetch: () => Promise<Answer>): { bearer(): Promise<string>; drop(used: string): void } {
  let token: { value: string; until: number } | undefined;
  let fetching: Promise<string> | undefined;
  const fetched = async (): Promise<string> => {
    const answer = await fetch();
    const [value, expire] = [answer["tenant_access_token"], answer["expire"]];
    if (typeof value !== "string" || typeof expire !== "number")
      throw new FeishuFailure("unknown", "Feishu gave no token");
    token = { value, until: Date.now() + expire * 1_000 - EARLY_MS };
    return value;
  };
  return {
    async bearer() {
      if (token && token.until > Date.now()) return token.value;
      fetching ??= fetched().finally(() => (fetching = undefined));
      return fetching;
    },
    /** Revoked or expired early: the first caller to notice drops it. */
    drop(used) {
      if (token?.value === used) token = undefined;
    },
  };
}

/** How long to wait before another try; undefined when none would help. */
function waitFor(error: unknown, tries: number, firstMs: number): number | undefined {
  if (!(error instanceof FeishuFailure)) return undefined;
  const doubled = firstMs * 2 ** (tries - 1);
  switch (error.kind) {
    case "rate":
      return tries < TRIES ? (error.waitMs ?? doubled) + Math.random() * firstMs : undefined;
    case "transient":
      return tries < TRIES ? doubled + Math.random() * firstMs : undefined;
    case "busy":
      return tries < 4 ? doubled : undefined;
    default:
      return undefined;
  }
}

/** The failure in our own words. The library's error holds the request with its token, so it is not passed on. */
function read(error: unknown, redact: (text: string) => string): FeishuFailure {
  const { response, code } = error as {
    response?: { status: number; data: unknown; headers?: Record<string, unknown> };
    code?: string;
  };
  const words = redact(thrownText(error));
  if (/maxContentLength/.test(words)) return new FeishuFailure("content", "it is larger than what is taken here");
  if (!response) return new FeishuFailure("transient", `Feishu cannot be reached (${code ?? words})`);
  const reset = Number(response.headers?.["x-ogw-ratelimit-reset"]);
  return toFailure({
    status: response.status,
    ...refusal(response.data, redact),
    ...(reset > 0 && { waitMs: Math.min(reset, 60) * 1_000 }),
  });
}

function refusal(data: unknown, redact: (text: string) => string): { code: number; msg: string } {
  try {
    const body = (Buffer.isBuffer(data) ? JSON.parse(data.toString("utf8")) : data) as Record<string, unknown>;
    const { code, msg } = body;
    return {
      code: typeof code === "number" ? code : 0,
      msg: typeof msg === "string" ? redact(msg).slice(0, 500) : "",
    };
  } catch {
    return { code: 0, msg: "" };
  }
}

async function loadLibrary(app: FeishuApp, { callMs }: Timings, logger: ReturnType<typeof libraryLogger>) {
  const library = await import("@larksuiteoapi/node-sdk");
  // Our own instance: the library's is shared by the whole process and has no timeout.
  const http = (library.defaultHttpInstance as unknown as Http).create({
    timeout: callMs,
    maxRedirects: 0,
    // Otherwise the library reads proxies from the environment by rules of its own.
    ...(app.agent ? { httpAgent: app.agent, httpsAgent: app.agent } : { proxy: false }),
  });
  http.interceptors.response.use(({ data }) => data);
  const httpInstance = http as unknown as HttpInstance;
  const client = new library.Client({
    appId: app.appId,
    appSecret: app.appSecret,
    domain: app.domain,
    httpInstance,
    logger,
    // The library's cache is shared by all clients with this app id, and keeps refused tokens.
    disableTokenCache: true,
  });
  return {
    library: { ...library, http: httpInstance },
    send: (config: Record<string, unknown>) => client.request<unknown>(config),
  };
}

/** An id as part of a URL. */
export const segment = (id: string): string => encodeURIComponent(id);

/** Removes from text every secret that would let somebody act as the bot. */
export function redactorOf({ appSecret, encryptKey, verificationToken }: FeishuApp): (text: string) => string {
  const secrets = [appSecret, encryptKey, verificationToken].filter(
    (secret) => secret !== undefined && secret.length >= 4,
  );
  return (text) =>
    secrets
      .reduce<string>((clean, secret) => clean.replaceAll(secret ?? "", "[secret]"), text)
      .replace(/\b([tuac]-[\w.-]{12,})/g, (token) => `${token.slice(0, 2)}[token]`)
      .replace(/\b(ticket|access_key|token)=[^&\s"']+/g, "$1=[token]");
}

/** The library's log: errors arrive there with the whole request, so only their words are kept. */
export function libraryLogger(log: Log, redact: (text: string) => string, worst: "warn" | "debug" = "warn") {
  const at = (level: Parameters<Log>[0]) => (messages: unknown[]) =>
    log(level, redact(flatten(messages).slice(0, 500)));
  // The library's info lines do not help an operator.
  return { error: at(worst), warn: at("debug"), info: at("debug"), debug: () => {}, trace: () => {} };
}

function flatten(messages: unknown): string {
  if (Array.isArray(messages)) return messages.map(flatten).join(" ");
  if (messages instanceof Error) return messages.message;
  return typeof messages === "string" ? messages : "(no words)";
}
