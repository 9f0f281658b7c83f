// Loaded before a process of a cluster: changes the source of Sage as it is read, for a Sage with one mistake in it.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

type Change = { file: string; from: string; to: string };
const changes = JSON.parse(process.env["SAGE_CHANGES"] ?? "[]") as Change[];

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const own = url.startsWith("file:") ? changes.filter(({ file }) => fileURLToPath(url).endsWith(`/${file}`)) : [];
    if (own.length === 0) return loaded;
    let source = Buffer.from(loaded.source as Uint8Array).toString();
    for (const { file, from, to } of own) {
      const parts = source.split(from);
      if (parts.length !== 2) throw new Error(`${file} should have ${JSON.stringify(from)} once`);
      source = parts.join(to);
    }
    return { ...loaded, source };
  },
});
