import { resolve } from "node:path";
import type { Installation } from "../../config/home/home.ts";
import type { Store } from "../../journal/store/store.ts";
import { chooseModel, type ModelChoice, type ModelSettings } from "../../models/choice/choose.ts";
import type { Model } from "../../models/model.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";

type Chooser = Pick<Installation, "settings" | "env">;

/** The model that a spec names, or else the settings or the environment; undefined where none of them does. */
export function modelOf({ settings, env }: Chooser, spec?: string, fallback?: string): ModelChoice | undefined {
  const { fallbackModel, ...others } = settings as ModelSettings;
  // A model that is its own fallback has none behind it.
  const second = fallback ?? (fallbackModel === spec ? undefined : fallbackModel);
  return chooseModel({ spec, fallback: second, env, settings: others });
}

/** Writes summaries and titles, where the person named one. */
export function smallModelOf({ settings, env }: Chooser): ModelChoice | undefined {
  const { smallModel: spec, providers } = settings;
  return spec === undefined ? undefined : chooseModel({ spec, env, settings: { providers } as ModelSettings });
}

export function modelOfSession(store: Store, session: string): string | undefined {
  const named = store.load(session).findLast(({ type }) => type === "model.chosen" || type === "session.opened");
  return named?.type === "model.chosen" || named?.type === "session.opened" ? named.data.model : undefined;
}

/** Loads each model once: its users share limits and breakers. A model that could not be loaded is tried again the next time. */
export function createModels(): (choice: ModelChoice) => Promise<Model> {
  const loaded = new Map<string, Promise<Model>>();
  return (choice) => {
    const name = modelName(choice);
    const model = loaded.get(name) ?? choice.load();
    loaded.set(name, model);
    model.catch(() => loaded.delete(name));
    return model;
  };
}

export function modelName({ provider, modelId }: ModelChoice): string {
  return provider === "" ? modelId : `${provider}/${modelId}`;
}

/** Stands where a model is named, in a session that another agent runs: that agent has a model of its own. */
export function guestChoice(agent: string): ModelChoice {
  const load = () => Promise.reject(new SageError("input-invalid", reason("guest-own-conversation", { agent })));
  return { provider: "", modelId: agent, load };
}

/** A provider that does not say which models it has may have any. */
export async function checkKnown({ provider, modelId }: ModelChoice, { settings, env }: Chooser): Promise<void> {
  if (provider === "scripted") return;
  const { modelsOf } = await import("../../models/choice/offered.ts");
  const models = await modelsOf(provider, { env, settings: settings as ModelSettings }).catch((): string[] => []);
  if (models.length > 0 && !models.includes(modelId))
    throw new SageError("config-invalid", reason("model-unknown", { model: modelId, provider }));
}

/** The model as a session remembers it: a script is found again from any folder. */
export function absoluteModelSpec(spec: string | undefined): string | undefined {
  const file = spec?.startsWith("scripted/") ? spec.slice("scripted/".length) : undefined;
  return file === undefined || file === "" ? spec : `scripted/${resolve(file)}`;
}
