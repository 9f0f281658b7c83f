import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, type ESTree } from "rolldown/utils";
import type { Reason } from "../../src/protocol/reasons/reason.ts";

type Type = ESTree.TSType;

/** A reason of every code, with arguments made up from their types: optional ones are left out, of a union it is the first. */
export function everyReason(): Reason[] {
  const types = declaredTypes();
  const table = types.get("ReasonArgs");
  if (!table) throw new Error("protocol/reasons/reason.ts declares no ReasonArgs");
  const codes = [...membersOf(table, types)].filter(([code]) => code !== "said");
  return codes.map(([code, args]) => ({ code, args: valueOf(args, types) }) as Reason);
}

function declaredTypes(): Map<string, Type> {
  const src = join(import.meta.dirname, "../../src");
  const types = new Map<string, Type>();
  for (const path of globSync(["protocol/**/*.ts", "base/**/*.ts"], { cwd: src })) {
    const { program } = parseSync(path, readFileSync(join(src, path), "utf8"));
    for (const statement of program.body) {
      const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
      if (declared?.type === "TSTypeAliasDeclaration") types.set(declared.id.name, declared.typeAnnotation);
    }
  }
  return types;
}

function membersOf(type: Type, types: Map<string, Type>): Map<string, Type> {
  switch (type.type) {
    case "TSIntersectionType":
      return new Map(type.types.flatMap((part) => [...membersOf(part, types)]));
    case "TSTypeLiteral":
      return new Map(
        type.members.flatMap((member) => {
          if (member.type !== "TSPropertySignature" || member.optional || !member.typeAnnotation) return [];
          const { key } = member;
          const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "";
          return [[name, member.typeAnnotation.typeAnnotation] as const];
        }),
      );
    case "TSIndexedAccessType": {
      const { indexType: index } = type;
      const name =
        index.type === "TSLiteralType" && index.literal.type === "Literal" ? String(index.literal.value) : "";
      const member = membersOf(type.objectType, types).get(name);
      return member ? membersOf(member, types) : new Map();
    }
    case "TSUnionType":
      return membersOf(type.types[0] as Type, types);
    case "TSParenthesizedType":
      return membersOf(type.typeAnnotation, types);
    case "TSTypeReference": {
      const target = types.get(nameOfReference(type));
      return target ? membersOf(target, types) : new Map();
    }
    default:
      return new Map();
  }
}

function valueOf(type: Type, types: Map<string, Type>): unknown {
  switch (type.type) {
    case "TSStringKeyword":
      return "x";
    case "TSNumberKeyword":
      return 1;
    case "TSBooleanKeyword":
    case "TSUnknownKeyword":
      return true;
    case "TSLiteralType":
      return type.literal.type === "Literal" ? type.literal.value : "x";
    case "TSUnionType":
      return valueOf(type.types[0] as Type, types);
    case "TSArrayType":
      return [valueOf(type.elementType, types)];
    case "TSTupleType":
      return type.elementTypes.map((element) => valueOf(element as Type, types));
    case "TSNamedTupleMember":
      return valueOf(type.elementType as Type, types);
    case "TSTypeOperator":
    case "TSParenthesizedType":
      return valueOf(type.typeAnnotation, types);
    case "TSTypeReference":
      return referenced(type, types);
    case "TSIndexedAccessType":
    case "TSIntersectionType":
    case "TSTypeLiteral":
      return Object.fromEntries([...membersOf(type, types)].map(([name, member]) => [name, valueOf(member, types)]));
    default:
      throw new Error(`no value is known for a type of the kind ${type.type}`);
  }
}

function referenced(type: ESTree.TSTypeReference, types: Map<string, Type>): unknown {
  const name = nameOfReference(type);
  if (name === "Reason") return { code: "said", args: { text: "why 为何" } };
  if (name === "Record") return {};
  const target = types.get(name);
  if (!target) throw new Error(`no type ${name} is declared in protocol/`);
  return valueOf(target, types);
}

function nameOfReference({ typeName }: ESTree.TSTypeReference): string {
  return typeName.type === "Identifier" ? typeName.name : "";
}
