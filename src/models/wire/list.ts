import type { Env } from "../proxy.ts";
import { request, textOf } from "./request.ts";

const PATIENCE_MS = 5_000;

/** Names of the models that a server of OpenAI's kind has. */
export async function listModels(baseURL: string, key: string, env: Env): Promise<string[]> {
  return list(`${baseURL}/models`, key === "" ? {} : { authorization: `Bearer ${key}` }, env);
}

/** The same of Anthropic, or of a server that speaks as it does. */
export async function listAnthropic(baseURL: string, key: string, env: Env): Promise<string[]> {
  const url = `${baseURL.replace(/(\/v1)?\/*$/, "/v1")}/models?limit=1000`;
  return list(url, { "anthropic-version": "2023-06-01", "x-api-key": key }, env);
}

async function list(url: string, headers: Record<string, string>, env: Env): Promise<string[]> {
  const incoming = await request(new URL(url), {
    method: "GET",
    headers,
    idleTimeoutMs: PATIENCE_MS,
    env,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const { data = [] } = JSON.parse(await textOf(incoming)) as { data?: { id?: unknown }[] };
  return data.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}
