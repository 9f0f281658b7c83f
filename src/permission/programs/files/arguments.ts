import { opaqueWord, optionOf, type Word } from "../../shell/read/word.ts";

/** Options that a program may be given here. The list is closed: with any other, its words are not understood. */
export type Options = {
  /** Letters that stand alone, and letters that take a value. */
  flags?: string;
  values?: string;
  /** Long names; `name=` takes a value, `name?` may. */
  long?: string;
  /** Options, as written, whose value is a file that is read. */
  files?: string;
  /** Values of its long options do not matter, those of `files` aside. */
  anyValue?: boolean;
  /** `-5` is a number of something. */
  digits?: boolean;
};

export type Arguments = {
  operands: Word[];
  /** Options given, as `-x` and `--name`, with their values. */
  options: { name: string; value: string | undefined }[];
  /** Values of `files` options. */
  files: Word[];
};

/** Options and operands of a command in any order, or undefined when there is an option that is not listed. */
export function argumentsOf(words: readonly Word[], options: Options): Arguments | undefined {
  const { flags, values, long, files } = prepared(options);
  const found: Arguments = { operands: [], options: [], files: [] };
  const add = (name: string, value?: Word, text = value?.text) => {
    if (value !== undefined && text === undefined) return false;
    found.options.push({ name, value: text });
    if (files.has(name) && value !== undefined) found.files.push({ ...value, text, lead: text ?? "" });
    return true;
  };
  for (let i = 1; i < words.length; i++) {
    const word = words[i]!;
    const { text } = word;
    const option = options.anyValue === true ? optionOf(word)?.slice(0, -1) : undefined;
    if (option !== undefined) {
      if (files.has(option) || (long.get(option.slice(2)) ?? "flag") === "flag") return undefined;
      found.options.push({ name: option, value: undefined });
    } else if (text === undefined) {
      // A word that may begin with anything may be an option; callers that can look at files decide.
      if (word.lead.startsWith("-") || word.choices?.some((choice) => choice.startsWith("-")) === true)
        return undefined;
      found.operands.push(word);
    } else if (text === "--") {
      found.operands.push(...words.slice(i + 1));
      break;
    } else if (text === "-" || !text.startsWith("-")) found.operands.push(word);
    else if (text.startsWith("--")) {
      const equals = text.indexOf("=");
      const name = equals < 0 ? text : text.slice(0, equals);
      const kind = long.get(name.slice(2));
      if (kind === undefined || (kind === "flag" && equals >= 0)) return undefined;
      if (equals >= 0) add(name, word, text.slice(equals + 1));
      else if (kind !== "value") add(name);
      else if (!add(name, words[++i] ?? opaqueWord)) return undefined;
    } else if (options.digits === true && /^-\d+$/.test(text)) add(text);
    else {
      for (let at = 1; at < text.length; at++) {
        const letter = text[at]!;
        if (flags.has(letter)) add(`-${letter}`);
        else if (!values.has(letter)) return undefined;
        else if (at + 1 < text.length) {
          add(`-${letter}`, word, text.slice(at + 1));
          break;
        } else if (!add(`-${letter}`, words[++i] ?? opaqueWord)) return undefined;
      }
    }
  }
  return found;
}

type Prepared = {
  flags: Set<string>;
  values: Set<string>;
  long: Map<string, "flag" | "value" | "either">;
  files: Set<string>;
};
const cache = new WeakMap<Options, Prepared>();

function prepared(options: Options): Prepared {
  let known = cache.get(options);
  if (known === undefined) {
    const { flags = "", values = "", long = "", files = "" } = options;
    known = {
      flags: new Set(flags),
      values: new Set(values),
      long: new Map(
        split(long).map((name): [string, "flag" | "value" | "either"] => {
          if (name.endsWith("=")) return [name.slice(0, -1), "value"];
          return name.endsWith("?") ? [name.slice(0, -1), "either"] : [name, "flag"];
        }),
      ),
      files: new Set(split(files)),
    };
    cache.set(options, known);
  }
  return known;
}

function split(list: string): string[] {
  return list.split(" ").filter((name) => name !== "");
}
