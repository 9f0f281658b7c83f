import type { Json } from "./world.ts";

/** A refusal of the API. */
export class ApiError extends Error {
  readonly code: number;
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(code: number, message: string, status = 400, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

export type Call = { params: string[]; query: URLSearchParams; body: Json; raw: Buffer; contentType: string };
export type Answer = Json | { bytes: Buffer; name: string };
export type Route = [RegExp, (call: Call) => Answer];

export function rateLimit(code: number): ApiError {
  return new ApiError(code, "request trigger frequency limit", 429, {
    "x-ogw-ratelimit-limit": "5",
    "x-ogw-ratelimit-reset": "1",
  });
}
