// Preload for a program that imports "sage-agent" while nothing is built.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { bundled } from "./bundled.ts";

const url = pathToFileURL(bundled("sdk", "src/sdk/index.ts")).href;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === "sage-agent" ? { url, shortCircuit: true } : nextResolve(specifier, context),
});
