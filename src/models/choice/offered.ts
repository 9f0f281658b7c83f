import type { Env } from "../proxy.ts";
import { GOOGLE_URL } from "../wire/google.ts";
import { listAnthropic, listGoogle, listModels } from "../wire/list.ts";
import { type ModelSettings, providerAddress, defaultModels, formatOf } from "./choose.ts";
import { takesFiles, takesImages } from "../images.ts";
import { type Price, type Prices, priceOf } from "../prices.ts";
import { knownWindow } from "../window.ts";

/** The models of one provider, or why they are not known. */
export type Offer = { provider: string; models: string[] } | { provider: string; problem: unknown };

/** Asks every configured provider in parallel. `heard` is called as each answers. */
export async function offeredModels(
  { env, settings = {} }: { env: Env; settings?: ModelSettings },
  heard: (offer: Offer) => void,
): Promise<void> {
  await Promise.all(
    configured(env, settings).map(async (provider) => {
      try {
        heard({ provider, models: await modelsOf(provider, { env, settings }) });
      } catch (problem) {
        heard({ provider, problem });
      }
    }),
  );
}

export function configured(env: Env, settings: ModelSettings): string[] {
  const names = new Set([...Object.keys(defaultModels), ...Object.keys(settings.providers ?? {})]);
  return [...names].filter((provider) => {
    const { baseURL, apiKey, setting } = providerAddress(provider, env, settings);
    return baseURL !== undefined || apiKey !== undefined || setting?.package !== undefined;
  });
}

export async function modelsOf(
  provider: string,
  { env, settings = {} }: { env: Env; settings?: ModelSettings | undefined },
): Promise<string[]> {
  const { baseURL, apiKey = "", host, setting = {} } = providerAddress(provider, env, settings);
  const { package: name, format = formatOf(provider, baseURL), headers = {} } = setting;
  if (name !== undefined && baseURL === undefined) return []; // no package tells
  if (format === "messages") return listAnthropic(baseURL ?? `https://${host}`, { key: apiKey, headers, env });
  if (format === "google")
    return listGoogle((baseURL ?? GOOGLE_URL).replace(/\/+$/, ""), { key: apiKey, headers, env });
  return listModels((baseURL ?? `https://${host}/v1`).replace(/\/+$/, ""), apiKey, env, headers);
}

/** Everything that is known of a model before it is asked. Undefined: nobody here knows. */
export type AboutModel = { contextTokens?: number; price?: Price; images: boolean; files: boolean };

/** `model` is provider/name. The settings say more than names do. */
export function aboutModel(model: string, settings: ModelSettings & { prices?: Prices } = {}): AboutModel {
  const provider = model.slice(0, model.indexOf("/"));
  const { providers = {}, prices } = settings;
  const own = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  const contextTokens = knownWindow(model);
  const price = priceOf(model, prices);
  return {
    ...(contextTokens !== undefined && { contextTokens }),
    ...(price && { price }),
    images: own?.images ?? takesImages(model),
    files: own?.files ?? takesFiles(model),
  };
}
