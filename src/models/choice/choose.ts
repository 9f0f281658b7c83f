import { reason, type Reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Limits } from "../limiter.ts";
import type { Model } from "../model.ts";
import type { Env } from "../proxy.ts";
import type { WireOptions } from "../wire/post.ts";

export type ModelSettings = {
  /** provider/name, or a bare name. */
  model?: string;
  /** Addresses and limits by provider. A name that Sage does not know is a server that speaks OpenAI's Chat Completions. */
  providers?: Record<string, ProviderSettings>;
  /** Goes on with a turn for which the first one cannot be had. */
  fallbackModel?: string;
};

/** Formats that servers speak: Chat Completions, Responses, Anthropic's Messages, Google's Gemini API. */
type WireFormat = "chat" | "responses" | "messages" | "google";

type ProviderSettings = {
  baseURL?: string;
  apiKeyEnv?: string;
  format?: WireFormat;
  /** A provider package of the AI SDK, in place of a format of ours. */
  package?: string;
  /** Given to that package. */
  options?: Record<string, unknown>;
  headers?: Record<string, string>;
  images?: boolean;
  files?: boolean;
} & Limits;

export type ModelChoice = { provider: string; modelId: string; load(): Promise<Model> };

type Loadable = Omit<ModelChoice, "load"> & { load(options: { standby: boolean }): Promise<Model> };

/** Providers in the order in which they are preferred when nobody names one. */
export const defaultModels = {
  anthropic: "claude-sonnet-5-5",
  openai: "gpt-6.1-sol",
  google: "gemini-pro-latest",
};

type Known = keyof typeof defaultModels;

const builtin: Record<Known, { keyEnv: string; baseEnv: string; host: string }> = {
  anthropic: { keyEnv: "ANTHROPIC_API_KEY", baseEnv: "ANTHROPIC_BASE_URL", host: "api.anthropic.com" },
  openai: { keyEnv: "OPENAI_API_KEY", baseEnv: "OPENAI_BASE_URL", host: "api.openai.com" },
  google: {
    keyEnv: "GEMINI_API_KEY",
    baseEnv: "GOOGLE_GEMINI_BASE_URL",
    host: "generativelanguage.googleapis.com",
  },
};

/** The variable that holds each provider's key. */
export const keyVariables: Record<Known, string> = {
  anthropic: builtin.anthropic.keyEnv,
  openai: builtin.openai.keyEnv,
  google: builtin.google.keyEnv,
};

/** Undefined when nobody named a model and nothing points to one. Nothing heavy is loaded before `load`. */
export function chooseModel(options: {
  spec?: string | undefined;
  fallback?: string | undefined;
  env: Env;
  settings?: ModelSettings | undefined;
}): ModelChoice | undefined {
  const { env, settings = {} } = options;
  const primary = find(options.spec ?? settings.model, env, settings);
  const second = options.fallback ?? settings.fallbackModel;
  const fallback = second === undefined ? undefined : find(second, env, settings);
  if (!primary) return undefined;
  const { provider, modelId } = primary;
  if (!fallback) return { provider, modelId, load: () => primary.load({ standby: false }) };
  const id = `${fallback.provider}/${fallback.modelId}`;
  if (id === `${provider}/${modelId}`) throw invalid(reason("fallback-is-first", { model: id }));
  return {
    provider,
    modelId,
    async load() {
      const { withFallback } = await import("./fallback.ts");
      const standby = { id, load: () => fallback.load({ standby: false }) };
      return withFallback(await primary.load({ standby: true }), standby);
    },
  };
}

function find(spec: string | undefined, env: Env, settings: ModelSettings): Loadable | undefined {
  const configured = (Object.keys(defaultModels) as Known[]).filter((provider) => {
    const { baseURL, apiKey } = providerAddress(provider, env, settings);
    return baseURL ?? apiKey;
  });
  if (spec === undefined) {
    const [first] = configured;
    return first && choose(first, defaultModels[first], env, settings);
  }
  const slash = spec.indexOf("/");
  if (slash >= 0) return choose(spec.slice(0, slash), spec.slice(slash + 1), env, settings);
  const [provider] = configured.length > 1 ? [makerOf(spec, configured)] : configured;
  if (provider === undefined)
    throw invalid(
      reason("provider-missing", {
        model: spec,
        expected: expected(settings),
        variables: Object.values(builtin).map(({ keyEnv }) => keyEnv),
      }),
    );
  return choose(provider, spec, env, settings);
}

/** The maker of a model that is named without one, among those that are set up. */
function makerOf(modelId: string, configured: readonly Known[]): Known | undefined {
  const maker = modelId.startsWith("claude") ? "anthropic" : modelId.startsWith("gemini") ? "google" : "openai";
  return configured.includes(maker) ? maker : configured[0];
}

function choose(provider: string, modelId: string, env: Env, settings: ModelSettings): Loadable {
  if (modelId === "") throw invalid(reason("model-nameless", { provider, expected: expected(settings) }));
  if (provider === "scripted") return { provider, modelId, load: () => loadScripted(modelId) };
  const { baseURL, apiKey, keyEnv, host, limits, setting = {} } = providerAddress(provider, env, settings);
  const { images, files, headers, format, package: name, options } = setting;
  if (baseURL === undefined && host === undefined && name === undefined)
    throw invalid(reason("provider-unknown", { provider, expected: expected(settings) }));
  if (baseURL !== undefined && !/^https?:$/.test(URL.parse(baseURL)?.protocol ?? ""))
    throw invalid(reason("address-unfit", { provider, address: baseURL }));
  if (
    name === undefined &&
    apiKey === undefined &&
    host !== undefined &&
    URL.parse(baseURL ?? `https://${host}`)?.hostname === host
  ) {
    throw invalid(reason("key-missing", { model: `${provider}/${modelId}`, variable: keyEnv ?? "" }));
  }
  return {
    provider,
    modelId,
    async load({ standby }) {
      const address = {
        name: provider,
        modelId,
        env,
        images,
        files,
        headers,
        ...(baseURL !== undefined && { baseURL }),
        ...(apiKey !== undefined && { apiKey }),
      };
      const model = name === undefined ? await connect(address, format) : await connectPackage(name, address, options);
      const { throughEndpoint } = await import("./endpoint.ts");
      return throughEndpoint(model, { provider, baseURL, limits, secret: apiKey, standby });
    },
  };
}

type Address = WireOptions & { name: string; env: Env };

async function connect(address: Address, given: WireFormat | undefined): Promise<Model> {
  const format = given ?? formatOf(address.name, address.baseURL);
  switch (format) {
    case "messages":
      return (await import("../wire/anthropic.ts")).anthropic(address);
    case "responses":
      return (await import("../wire/responses.ts")).responses(address);
    case "google":
      return (await import("../wire/google.ts")).google(address);
    case "chat": {
      const { baseURL = "https://api.openai.com/v1" } = address;
      return (await import("../wire/chat.ts")).openai({ ...address, baseURL });
    }
    default:
      return format satisfies never;
  }
}

async function connectPackage(name: string, address: Address, options: Record<string, unknown> = {}): Promise<Model> {
  return (await import("../ai-sdk/package.ts")).packageModel(name, { ...address, options });
}

/** Wire format of a provider whose settings do not name one. */
export function formatOf(provider: string, baseURL: string | undefined): WireFormat {
  if (provider === "anthropic") return "messages";
  if (provider === "google") return "google";
  return baseURL === undefined || isOpenAI(provider, baseURL) ? "responses" : "chat";
}

/** OpenAI itself, and not one of the many servers that speak its older format. */
export function isOpenAI(provider: string, baseURL: string | undefined): boolean {
  return provider === "openai" && (baseURL === undefined || URL.parse(baseURL)?.hostname === builtin.openai.host);
}

async function loadScripted(path: string): Promise<Model> {
  const { loadScript, scripted } = await import("../scripted.ts");
  return scripted(await loadScript(path));
}

export function providerAddress(provider: string, env: Env, { providers = {} }: ModelSettings) {
  const own = Object.hasOwn(builtin, provider) ? builtin[provider as Known] : undefined;
  const setting = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  const keyEnv = setting?.apiKeyEnv ?? own?.keyEnv;
  // Shells set a variable to nothing when they mean to unset it.
  const read = (name: string | undefined) => (name && env[name]) || undefined;
  const { requestsPerMinute, tokensPerMinute } = setting ?? {};
  const limits: Limits = {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
  };
  return {
    baseURL: read(own?.baseEnv) ?? setting?.baseURL,
    apiKey: read(keyEnv),
    keyEnv,
    host: own?.host,
    limits,
    setting,
  };
}

function expected({ providers = {} }: ModelSettings): string[] {
  const names = new Set([...Object.keys(builtin), ...Object.keys(providers)]);
  return [...[...names].map((provider) => `${provider}/<name>`), "scripted/<file>"];
}

function invalid(why: Reason): SageError {
  return new SageError("config-invalid", why);
}
