import { parseSync, Visitor } from "rolldown/utils";

type Node = { type: string; start: number; end: number };
type Callable = Node & { params: Node[]; body: Node | null };

/** The same source, in which every function first says that it was entered, and with what. */
export function instrument(source: string, path: string, file: number): string {
  const { program } = parseSync(path, source);
  const inserts: { at: number; text: string }[] = [];
  const names = new Map<number, string>();
  const name = (node: Node | null | undefined, id: Node) => {
    if (node) names.set(node.start, (id as Node & { name?: string }).name ?? "");
  };
  const enter = (node: Callable) => {
    if (!node.body) return; // an overload or a declaration
    const given = node.params.flatMap(bound).join(",");
    const call = `__entered(${file},${JSON.stringify(names.get(node.start) ?? "")},[${given}])`;
    if (node.body.type === "BlockStatement" || node.body.type === "FunctionBody")
      inserts.push({ at: node.body.start + 1, text: `${call};` });
    else inserts.push({ at: node.body.start, text: `(${call},` }, { at: node.body.end, text: ")" });
  };
  new Visitor({
    VariableDeclarator: ({ init, id }) => name(init, id),
    Property: ({ value, key }) => name(value, key),
    MethodDefinition: ({ value, key }) => name(value, key),
    FunctionDeclaration(node) {
      if (node.id) names.set(node.start, node.id.name);
      enter(node);
    },
    FunctionExpression: (node) => enter(node),
    ArrowFunctionExpression: (node) => enter(node),
  }).visit(program);
  let text = source;
  for (const insert of inserts.toSorted((a, b) => b.at - a.at))
    text = text.slice(0, insert.at) + insert.text + text.slice(insert.at);
  return text;
}

/** Names that a parameter binds. */
function bound(node: Node): string[] {
  const inner = node as Node & {
    name: string;
    left: Node;
    argument: Node;
    properties: (Node & { value: Node })[];
    elements: (Node | null)[];
  };
  switch (node.type) {
    case "Identifier":
      return inner.name === "this" ? [] : [inner.name];
    case "AssignmentPattern":
      return bound(inner.left);
    case "RestElement":
      return bound(inner.argument);
    case "ObjectPattern":
      return inner.properties.flatMap((property) => bound(property.type === "Property" ? property.value : property));
    case "ArrayPattern":
      return inner.elements.flatMap((element) => (element ? bound(element) : []));
    default:
      return [];
  }
}
