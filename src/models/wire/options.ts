import type { Env } from "../proxy.ts";

/** The way to a model's server, whatever it speaks. */
export type WireOptions = {
  modelId: string;
  baseURL?: string;
  apiKey?: string;
  /** The provider's name in the model's id. */
  name?: string;
  /** Sent with every request, beside those that the format needs. */
  headers?: Record<string, string> | undefined;
  /** Does the model take pictures? By default its name tells. */
  images?: boolean | undefined;
  /** Does it take PDF files? By default its name tells. */
  files?: boolean | undefined;
  idleTimeoutMs?: number;
  /** Environment in which a proxy is named; this process's by default. */
  env?: Env;
};
