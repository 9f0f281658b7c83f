import type { LanguageModelV4 } from "@ai-sdk/provider";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";
import type { Model } from "../model.ts";
import { agentFor, proxyFor, type Env } from "../proxy.ts";
import type { WireOptions } from "../wire/post.ts";
import { fromLanguageModel } from "./language-model.ts";

type Given = WireOptions & { name: string; env: Env; options: Record<string, unknown> };

/** A provider package installed beside the person's settings; never from a project, which could hold a malicious namesake. */
export async function packageModel(name: string, given: Given): Promise<Model> {
  const { modelId, name: provider, env, baseURL, apiKey, headers, images, files, options } = given;
  const folder = env["SAGE_HOME"] || join(env["HOME"] || homedir(), ".sage");
  const create = creatorIn(await load(name, folder), name);
  const made = create({
    ...(baseURL !== undefined && { baseURL }),
    ...(apiKey !== undefined && { apiKey }),
    ...(headers && { headers }),
    name: provider,
    fetch: throughProxy(env),
    ...options,
  });
  if (typeof made?.languageModel !== "function")
    throw new SageError("config-invalid", reason("provider-package-unfit", { package: name }));
  const model = made.languageModel(modelId);
  if (model.specificationVersion !== "v4")
    throw new SageError(
      "config-invalid",
      reason("provider-package-unfit", { package: name, version: String(model.specificationVersion) }),
    );
  return fromLanguageModel(model, {
    id: `${provider}/${modelId}`,
    ...(images !== undefined && { images }),
    ...(files !== undefined && { files }),
  });
}

async function load(name: string, folder: string): Promise<Record<string, unknown>> {
  // Node would also search parent folders, which may belong to somebody else.
  if (!existsSync(join(folder, "node_modules", name, "package.json")))
    throw new SageError("config-invalid", reason("provider-package-missing", { package: name, folder }));
  try {
    const path = createRequire(join(folder, "package.json")).resolve(name);
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    throw new SageError(
      "config-invalid",
      reason("provider-package-broken", { package: name, problem: messageOf(error) }),
    );
  }
}

type Provider = { languageModel(modelId: string): LanguageModelV4 };

/** Packages export a function that creates their provider, such as `createGroq`, and sometimes helpers with similar names. */
function creatorIn(exported: Record<string, unknown>, name: string): (options: object) => Provider {
  const creators = Object.entries(exported).filter(
    (entry): entry is [string, (options: object) => Provider] =>
      /^create[A-Z]/.test(entry[0]) && typeof entry[1] === "function",
  );
  const wanted = name.replace(/^.*\/|[^a-z0-9]/gi, "").toLowerCase();
  const rank = ([called]: [string, unknown]) => (called.toLowerCase() === `create${wanted}` ? 0 : 1);
  const [best] = creators.toSorted((creator, other) => rank(creator) - rank(other));
  if (!best) throw new SageError("config-invalid", reason("provider-package-unfit", { package: name }));
  return best[1];
}

/** Packages use the global `fetch`, which knows no proxy. */
function throughProxy(env: Env): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (proxyFor(url, env) === undefined) return fetch(request);
    const body = Buffer.from(await request.arrayBuffer());
    const { request: open } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
    const { Readable } = process.getBuiltinModule("node:stream");
    return new Promise<Response>((resolve, reject) => {
      const outgoing = open(url, {
        agent: agentFor(url, env),
        method: request.method,
        headers: { ...Object.fromEntries(request.headers), "content-length": body.length },
        signal: request.signal,
      });
      outgoing.on("error", reject);
      outgoing.on("response", (incoming) => {
        const headers = Object.entries(incoming.headersDistinct).flatMap(([field, values = []]) =>
          values.map((value): [string, string] => [field, value]),
        );
        const stream = Readable.toWeb(incoming) as ReadableStream;
        resolve(new Response(stream, { status: incoming.statusCode ?? 502, headers }));
      });
      outgoing.end(body);
    });
  };
}
