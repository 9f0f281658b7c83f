import { takesFiles, takesImages } from "../images.ts";
import { priceOf, type Price, type Prices } from "../prices.ts";
import { knownWindow } from "../window.ts";
import type { ModelSettings } from "./choose.ts";

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
