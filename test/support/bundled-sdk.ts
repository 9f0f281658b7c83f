// Preload for a program that imports "sage-agent", or another entry of it, while nothing is built.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { bundleName, packageEntries } from "../../scripts/entries.ts";
import { bundledAs } from "./bundled.ts";

const urls = new Map(
  packageEntries().map((entry) => [
    entry.name === "." ? "sage-agent" : `sage-agent/${entry.name}`,
    pathToFileURL(bundledAs(`${bundleName(entry)}.cjs`, entry.source)).href,
  ]),
);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const url = urls.get(specifier);
    return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true };
  },
});
