import { unbundled } from "../bundle.ts";

export type Manifest = {
  name: string;
  version: string;
  description: string;
  license: string;
  keywords: string[];
  repository?: { type: string; url: string };
  bin: Record<string, string>;
  exports: Record<string, Record<string, string>>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};

/**
 * The package.json that is published. Libraries that are in the bundle are not named again, and neither is the Node that only this
 * repository's own commands need.
 */
export function publishedManifest(own: Manifest): Record<string, unknown> {
  const { name, version, description, license, keywords, repository, bin, exports } = own;
  const library = Object.entries(exports).map(([path, { "sage-source": _source, ...published }]) => [path, published]);
  const versionOf = (library: string) =>
    own.dependencies[library] ?? own.optionalDependencies[library] ?? fail(`package.json does not name ${library}`);
  const pick = (...libraries: string[]) => Object.fromEntries(libraries.map((one) => [one, versionOf(one)]));
  return {
    name,
    version,
    description,
    license,
    keywords,
    ...(repository && { repository }),
    type: "module",
    bin,
    exports: Object.fromEntries(library) as Manifest["exports"],
    engines: { node: ">=24" },
    publishConfig: { access: "public" },
    dependencies: pick(unbundled.ripgrep, unbundled.ws),
    optionalDependencies: pick(unbundled.keyring),
    // The schema of a tool of one's own; whoever writes none does not need it.
    peerDependencies: { zod: `^${versionOf("zod").split(".")[0]}` },
    peerDependenciesMeta: { zod: { optional: true } },
  };
}

function fail(message: string): never {
  throw new Error(message);
}
