import { namePattern } from "../base/name.ts";
import { misfits } from "../protocol/reasons/misfit.ts";
import { reason } from "../protocol/reasons/reason.ts";
import * as z from "../base/z.ts";
import { unfit, type ContentFile } from "./content.ts";

/** The lines between two `---` at the top, checked, and the text below them. */
export function frontMatter<T>({ text }: ContentFile, schema: z.Schema<T>): { fields: T; body: string } {
  const block = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!block) throw unfit(reason("front-matter-missing", {}));
  const fields = checked(schema, fieldsOf(block[1]?.split(/\r?\n/) ?? []));
  return { fields, body: text.slice(block[0].length).trim() };
}

/** A file's name as the name of its skill or subagent. */
export function nameFrom(fileName: string): string {
  return checked(nameField, fileName);
}

function checked<T>(schema: z.Schema<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unfit(misfits(parsed.error, value));
}

export const nameField = z.string().regex(namePattern, "file-name");

/** Tools as a list or as "Read, Grep". What stands in parentheses is a matter of permission rules, not of names. */
export const toolsField = z
  .union([z.string(), z.array(z.string())])
  .transform((tools) =>
    (typeof tools === "string" ? tools.split(/,|\s+(?![^(]*\))/) : tools)
      .map((tool) => tool.replace(/\(.*/, "").trim())
      .filter((tool) => tool !== ""),
  );

/** As much YAML as front matter uses; anything else is an error, not a guess. `when-to-use` and `when_to_use` both occur in the wild. */
function fieldsOf(lines: readonly string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (let n = 0; n < lines.length;) {
    const line = lines[n++] ?? "";
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const [, key, value = ""] = /^([A-Za-z][\w-]*):(?:\s+(.*))?$/.exec(line) ?? [];
    if (key === undefined) throw unfit(reason("front-matter-line", { line }));
    const below: string[] = [];
    while (n < lines.length && /^(?:\s|- |$)/.test(lines[n] ?? "")) below.push((lines[n++] ?? "").trim());
    fields[key.replaceAll("-", "_")] = valueOf(value.trim(), below);
  }
  return fields;
}

function valueOf(value: string, below: readonly string[]): unknown {
  const more = below.filter((line) => line !== "");
  if (/^\|[+-]?$/.test(value)) return below.join("\n").trim();
  if (/^>[+-]?$/.test(value)) return more.join(" ");
  if (value === "" && more.length > 0 && more.every((line) => line.startsWith("- ")))
    return more.map((line) => scalar(line.slice(2).trim()));
  const whole = [value, ...more].join(" ");
  const list = /^\[(.*)\]$/.exec(whole);
  if (!list) return scalar(whole);
  return (list[1] ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map(scalar);
}

function scalar(text: string): unknown {
  if (/^"(?:[^"\\]|\\.)*"$/.test(text)) return JSON.parse(text);
  if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (/^["'&*!{}[\]|>%@`]/.test(text)) throw unfit(reason("front-matter-value", { value: text }));
  const plain = text.replace(/\s+#.*$/, "");
  if (/^(?:true|false)$/i.test(plain)) return plain.toLowerCase() === "true";
  return /^-?\d+(?:\.\d+)?$/.test(plain) ? Number(plain) : plain;
}
