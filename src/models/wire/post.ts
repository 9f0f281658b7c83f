import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Env } from "../proxy.ts";
import { mayWorkAgain, request, type Body } from "./request.ts";

/** The way to a model's server, whatever it speaks. */
export type WireOptions = {
  modelId: string;
  baseURL?: string;
  apiKey?: string;
  /** The provider's name in the model's id. */
  name?: string;
  /** Sent with every request, in addition to headers of the wire format. */
  headers?: Record<string, string> | undefined;
  /** Does the model take pictures? By default its name tells. */
  images?: boolean | undefined;
  /** Does it take PDF files? By default its name tells. */
  files?: boolean | undefined;
  idleTimeoutMs?: number;
  /** Environment in which a proxy is named; this process's by default. */
  env?: Env;
};

/** OpenAI's own servers alone take it: others refuse fields that they do not know. */
export function withCacheKey(baseURL: string, key: string | undefined): { prompt_cache_key?: string } {
  const isOpenAI = /(^|\.)api\.openai\.com$/.test(URL.parse(baseURL)?.hostname ?? "");
  return isOpenAI && key !== undefined ? { prompt_cache_key: hash("sha256", key, "base64url").slice(0, 32) } : {};
}

/** Without any bytes for this long, the server counts as hung. */
const IDLE_TIMEOUT_MS = 5 * 60_000;

type PostOptions = {
  url: string;
  headers: Record<string, string>;
  idleTimeoutMs?: number | undefined;
  /** Environment in which a proxy is named; this process's by default. */
  env?: Env | undefined;
};

/** Sends a body, and hands the data of each server-sent event of the reply to `read`. Resolves at the end of the stream. */
type Post = (body: Body, read: (data: unknown) => void, signal: AbortSignal) => Promise<void>;

export function createPost(options: PostOptions): Post {
  const { idleTimeoutMs = IDLE_TIMEOUT_MS, env = process.env } = options;
  const url = new URL(options.url);
  const headers = { "content-type": "application/json", "user-agent": "sage-agent", ...options.headers };
  return async (body, read, signal) => {
    const incoming = await request(url, { method: "POST", headers, body, idleTimeoutMs, env, signal });
    try {
      await readEvents(incoming, read);
    } catch (error) {
      incoming.destroy();
      throw mayWorkAgain(error);
    }
  };
}

/** An event is its lines that begin with `data:`, up to an empty line. Other lines are no business of ours. */
function readEvents(incoming: IncomingMessage, read: (data: unknown) => void): Promise<void> {
  let rest = "";
  let data = "";
  let isFirst = true;
  const takeLine = (line: string) => {
    if (isFirst && line.trimStart().startsWith("<")) throw webPage(incoming);
    isFirst &&= line.trim() === "";
    if (line.startsWith("data:")) data += (data === "" ? "" : "\n") + line.slice(line[5] === " " ? 6 : 5);
    if (line !== "" || data === "") return;
    const event = data;
    data = "";
    if (event !== "[DONE]") read(JSON.parse(event));
  };
  return new Promise((resolve, reject) => {
    const attempt = (work: () => void) => {
      try {
        work();
      } catch (error) {
        reject(error);
      }
    };
    incoming.on("data", (chunk: string) =>
      attempt(() => {
        rest += chunk;
        let from = 0;
        for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", from)) {
          takeLine(rest.slice(from, rest[end - 1] === "\r" ? end - 1 : end));
          from = end + 1;
        }
        rest = rest.slice(from);
      }),
    );
    incoming.on("error", reject);
    incoming.on("end", () =>
      attempt(() => {
        takeLine(rest);
        takeLine(""); // some servers leave out the last empty line
        resolve();
      }),
    );
  });
}

/** Another server answers there: a page to sign in, or the site of which the address is only a part. */
function webPage({ statusCode, headers }: IncomingMessage): Error {
  return Object.assign(new Error(headers["content-type"] ?? ""), { statusCode, isRetryable: false });
}
