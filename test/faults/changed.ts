// Loaded before anything of Sage: changes its source as it is read, for a Sage with one mistake in it.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { Change } from "./mutants.ts";

const changes = JSON.parse(process.env["SAGE_CHANGES"] ?? "[]") as Change[];

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const path = url.startsWith("file:") ? fileURLToPath(url) : "";
    const ofFile = changes.filter(({ file }) => path.endsWith(`/${file}`));
    if (ofFile.length === 0) return loaded;
    return { ...loaded, source: ofFile.reduce(changed, Buffer.from(loaded.source as Uint8Array).toString()) };
  },
});

function changed(source: string, { file, from, to }: Change): string {
  const parts = source.split(from);
  if (parts.length !== 2) throw new Error(`${file} should have ${JSON.stringify(from)} once`);
  return parts.join(to);
}
