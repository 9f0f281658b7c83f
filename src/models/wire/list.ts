import type { Env } from "../proxy.ts";
import { request, textOf } from "./request.ts";

const PATIENCE_MS = 5_000;

/** Names of the models that a server of OpenAI's kind has. */
export async function listModels(baseURL: string, key: string, env: Env): Promise<string[]> {
  const incoming = await request(new URL(`${baseURL}/models`), {
    method: "GET",
    headers: key === "" ? {} : { authorization: `Bearer ${key}` },
    idleTimeoutMs: PATIENCE_MS,
    env,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const { data = [] } = JSON.parse(await textOf(incoming)) as { data?: { id?: unknown }[] };
  return data.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}
