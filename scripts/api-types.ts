// Finds types that the declarations of the library mention and nobody can import.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";

/** A declaration: its file, and its name there. */
type Place = { file: string; name: string };
type Module = {
  /** Names that each declaration mentions. */
  declared: Map<string, Set<string>>;
  /** Names of other files: imported, or exported from there. */
  elsewhere: Map<string, Place>;
  /** Files whose names are exported from here, all of them. */
  stars: string[];
};
type Program = ReturnType<typeof parseSync>["program"];
type Statement = Program["body"][number];

/** Arguments of a reason are named by its code: `ReasonArgs["stopped-by"]`. */
const named = /\/protocol\/(reasons\/[a-z]+|confine)\.d\.ts$/;

/** Types that can be reached from the exports of files of emitted declarations, and are not among them, with one that mentions them. */
export function hiddenTypes(entrances: readonly string[]): string[] {
  const read = createReader();
  const exported = entrances
    .flatMap((entrance) => [...read(entrance).elsewhere.values()])
    .flatMap((place) => read.find(place) ?? []);
  const seen = new Set(exported.map(idOf));
  const hidden: string[] = [];
  for (const queue = [...exported]; queue.length > 0;) {
    const at = queue.shift() as Place;
    for (const name of read(at.file).declared.get(at.name) ?? []) {
      const place = read.find({ file: at.file, name });
      if (!place || seen.has(idOf(place)) || isArgument(place)) continue;
      seen.add(idOf(place));
      hidden.push(`${place.name} (in ${at.name})`);
      queue.push(place);
    }
  }
  return hidden;
}

function idOf({ file, name }: Place): string {
  return `${file} ${name}`;
}

function isArgument({ file, name }: Place): boolean {
  return named.test(file) && (name.endsWith("ReasonArgs") || !file.endsWith("confine.d.ts"));
}

function createReader() {
  const modules = new Map<string, Module>();
  const read = (file: string): Module => {
    let module = modules.get(file);
    if (!module) modules.set(file, (module = moduleOf(file)));
    return module;
  };
  /** Undefined for what no file of ours declares. */
  const find = ({ file, name }: Place): Place | undefined => {
    const { declared, elsewhere, stars } = read(file);
    if (declared.has(name)) return { file, name };
    const there = elsewhere.get(name);
    if (there) return find(there);
    return stars.map((star) => find({ file: star, name })).find((place) => place !== undefined);
  };
  return Object.assign(read, { find });
}

function moduleOf(file: string): Module {
  const module: Module = { declared: new Map(), elsewhere: new Map(), stars: [] };
  for (const statement of parseSync(file, readFileSync(file, "utf8")).program.body) add(module, file, statement);
  return module;
}

function add(module: Module, file: string, statement: Statement): void {
  const fileOf = (from: string) =>
    from.startsWith(".") ? resolve(dirname(file), from.replace(/ts$/, "d.ts")) : undefined;
  switch (statement.type) {
    case "ImportDeclaration": {
      const from = fileOf(statement.source.value);
      if (from === undefined) return;
      for (const one of statement.specifiers)
        if (one.type === "ImportSpecifier")
          module.elsewhere.set(one.local.name, { file: from, name: nameOf(one.imported) });
      return;
    }
    case "ExportAllDeclaration":
      module.stars.push(fileOf(statement.source.value) ?? "");
      return;
    case "ExportNamedDeclaration": {
      if (statement.declaration) return declare(module, statement.declaration);
      const from = statement.source ? fileOf(statement.source.value) : file;
      for (const { local, exported } of statement.specifiers)
        if (from !== undefined && (from !== file || nameOf(local) !== nameOf(exported)))
          module.elsewhere.set(nameOf(exported), { file: from, name: nameOf(local) });
      return;
    }
    default:
      if (statement.type.endsWith("Declaration")) declare(module, statement);
  }
}

function nameOf(name: { name: string } | { value: string }): string {
  return "name" in name ? name.name : name.value;
}

/** An interface and a constant of one name are declared twice, and are one. */
function declare({ declared }: Module, node: object): void {
  const own = node as { id?: { name: string }; declarations?: { id: { name: string } }[] };
  const names = own.id ? [own.id.name] : (own.declarations ?? []).map(({ id }) => id.name);
  const mentioned = mentions(node);
  for (const name of names) declared.set(name, new Set([...(declared.get(name) ?? []), ...mentioned]));
}

/** Names of the types that a declaration mentions, without its own parameters. */
function mentions(node: object): Set<string> {
  const found = new Set<string>();
  const parameters = new Set<string>();
  const note = (name: object | null): void => {
    if (name && "left" in name) note(name.left as object);
    else if (name && "name" in name) found.add(name.name as string);
  };
  new Visitor({
    TSTypeReference: ({ typeName }) => note(typeName),
    TSInterfaceHeritage: ({ expression }) => note(expression),
    TSClassImplements: ({ expression }) => note(expression),
    ClassDeclaration: ({ superClass }) => note(superClass),
    TSTypeParameter: ({ name }) => void parameters.add(name.name),
    TSMappedType: ({ key }) => void parameters.add(key.name),
  }).visit({ type: "Program", body: [node], sourceType: "module", start: 0, end: 0 } as unknown as Program);
  return new Set([...found].filter((name) => !parameters.has(name)));
}
