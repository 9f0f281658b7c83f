import type { Env } from "../proxy.ts";
import { request, readBody } from "./request.ts";

const TIMEOUT_MS = 5_000;

type Asking = { key: string; headers?: Record<string, string>; env: Env };

/** Names of the models that a server of OpenAI's kind has. */
export async function listModels(
  baseURL: string,
  key: string,
  env: Env,
  headers: Record<string, string> = {},
): Promise<string[]> {
  const { data } = await ask(
    `${baseURL}/models`,
    { ...(key !== "" && { authorization: `Bearer ${key}` }), ...headers },
    env,
  );
  return names(data, "id");
}

/** The same of Anthropic, or of a server that speaks as it does. */
export async function listAnthropic(baseURL: string, { key, headers, env }: Asking): Promise<string[]> {
  const url = `${baseURL.replace(/(\/v1)?\/*$/, "/v1")}/models?limit=1000`;
  const { data } = await ask(url, { "anthropic-version": "2023-06-01", "x-api-key": key, ...headers }, env);
  return names(data, "id");
}

/** The same of Google: those that write text. */
export async function listGoogle(baseURL: string, { key, headers, env }: Asking): Promise<string[]> {
  const { models } = await ask(`${baseURL}/models?pageSize=1000`, { "x-goog-api-key": key, ...headers }, env);
  const all = Array.isArray(models) ? (models as { supportedGenerationMethods?: unknown }[]) : [];
  const writing = all.filter(
    ({ supportedGenerationMethods: can }) => !Array.isArray(can) || can.includes("generateContent"),
  );
  return names(writing, "name").map((name) => name.replace(/^models\//, ""));
}

async function ask(url: string, headers: Record<string, string>, env: Env): Promise<Record<string, unknown>> {
  const incoming = await request(new URL(url), {
    method: "GET",
    headers,
    idleTimeoutMs: TIMEOUT_MS,
    env,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return JSON.parse(await readBody(incoming)) as Record<string, unknown>;
}

function names(list: unknown, field: string): string[] {
  if (!Array.isArray(list)) return [];
  return (list as Record<string, unknown>[]).flatMap((entry) =>
    typeof entry?.[field] === "string" ? [entry[field]] : [],
  );
}
