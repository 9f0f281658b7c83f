import { hash } from "node:crypto";
import { sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isInside } from "../../permission/paths/canonical.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { isCode, type NamedModule } from "./module-files.ts";

type Known = { texts: ReadonlyMap<string, string>; within: string | undefined };

const nodeModule = process.getBuiltinModule("node:module");
const PARAMETER = "sage-module";
const known = new Map<string, Known>();
let isHooked = false;

/**
 * Imports a module from the text that was read, and trusted, before: a file that changes meanwhile is another module. Each content has
 * addresses of its own, so that a process that stays loads what was changed and trusted anew.
 */
export async function importModule({ path, files, within }: NamedModule): Promise<unknown> {
  if (typeof nodeModule.registerHooks !== "function")
    throw new SageError("config-invalid", reason("module-needs-node", { version: "22.15" }));
  const id = contentId({ path, files });
  known.set(id, { texts: new Map(files.map((file) => [file.path, file.text])), within });
  if (!isHooked) hookImports();
  isHooked = true;
  const { default: exported } = (await import(addressOf(path, id))) as { default?: unknown };
  return exported;
}

export function contentId({ path, files }: Pick<NamedModule, "path" | "files">): string {
  return hash("sha256", JSON.stringify([path, files]));
}

function hookImports(): void {
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const id = idOf(context.parentURL);
      const from = id === undefined ? undefined : known.get(id);
      if (id === undefined || !from || !found.url.startsWith("file:")) return found;
      const path = fileURLToPath(found.url);
      if (from.texts.has(path) && (isCode(path) || path.endsWith(".json")))
        return { ...found, url: addressOf(path, id), shortCircuit: true };
      if (from.within === undefined || isOfPackage(specifier, path, from.within)) return found;
      throw new SageError("config-invalid", reason("module-import-untrusted", { path }));
    },
    load(url, context, next) {
      const from = known.get(idOf(url) ?? "");
      const path = from && fileURLToPath(url);
      const source = path === undefined ? undefined : from?.texts.get(path);
      if (path === undefined || source === undefined) return next(url, context);
      return { format: isCode(path) ? "module" : "json", source, shortCircuit: true };
    },
  });
}

/** True for the name of a package, and not for a file of the project under an alias. */
function isOfPackage(specifier: string, path: string, root: string): boolean {
  const below = isInside(root, path) ? path.slice(root.length) : path;
  return !/^(?:[./#]|file:)/.test(specifier) && below.includes(`${sep}node_modules${sep}`);
}

function addressOf(path: string, id: string): string {
  const url = pathToFileURL(path);
  url.searchParams.set(PARAMETER, id);
  return url.href;
}

function idOf(url: string | undefined): string | undefined {
  return url?.startsWith("file:") ? (new URL(url).searchParams.get(PARAMETER) ?? undefined) : undefined;
}
