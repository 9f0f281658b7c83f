import type { HLJSApi, LanguageFn } from "highlight.js";
import type { Theme } from "./theme.ts";

const MAX_CODE_LENGTH = 20_000;

let library: HLJSApi | undefined;
let loading: Promise<void> | undefined;

/** Lines of code in colours. The library comes with the first code there is; until then the lines are plain. */
export function highlight(code: string, lang: string | undefined, theme: Theme, loaded: () => void): string[] {
  const runs = runsIn(code, lang, theme, loaded);
  return runs
    ? runs.map((line) => line.map(({ text, colour }) => (colour ? theme[colour](text) : text)).join(""))
    : code.split("\n");
}

/** A piece of a line of code in one colour. */
export type Run = { text: string; colour: Colour | undefined };

/** Lines of code as runs of one colour; undefined where they have none, or not yet. */
export function runsIn(code: string, lang: string | undefined, theme: Theme, loaded: () => void): Run[][] | undefined {
  if (theme.color === "none" || lang === undefined || lang === "" || code.length > MAX_CODE_LENGTH) return undefined;
  if (!library) {
    loading ??= load();
    void loading.then(loaded);
    return undefined;
  }
  const language = lang.toLowerCase();
  if (!library.getLanguage(language)) return undefined;
  const lines = readRuns(library.highlight(code, { language, ignoreIllegals: true }).value);
  return lines.length === code.split("\n").length ? lines : undefined;
}

async function load(): Promise<void> {
  const [core, ...languages] = await Promise.all([
    import("highlight.js/lib/core"),
    import("highlight.js/lib/languages/bash"),
    import("highlight.js/lib/languages/c"),
    import("highlight.js/lib/languages/cpp"),
    import("highlight.js/lib/languages/css"),
    import("highlight.js/lib/languages/diff"),
    import("highlight.js/lib/languages/dockerfile"),
    import("highlight.js/lib/languages/go"),
    import("highlight.js/lib/languages/ini"),
    import("highlight.js/lib/languages/java"),
    import("highlight.js/lib/languages/javascript"),
    import("highlight.js/lib/languages/json"),
    import("highlight.js/lib/languages/python"),
    import("highlight.js/lib/languages/ruby"),
    import("highlight.js/lib/languages/rust"),
    import("highlight.js/lib/languages/sql"),
    import("highlight.js/lib/languages/typescript"),
    import("highlight.js/lib/languages/xml"),
    import("highlight.js/lib/languages/yaml"),
  ]);
  const names = "bash c cpp css diff dockerfile go ini java javascript json python ruby rust sql typescript xml yaml";
  const fresh = core.default.newInstance();
  for (const [n, name] of names.split(" ").entries()) fresh.registerLanguage(name, languages[n]?.default as LanguageFn);
  library = fresh;
}

export type Colour = "accent" | "code" | "dim" | "good" | "heading" | "link" | "warn" | "added" | "removed";

const colours: Record<string, Colour> = {
  keyword: "heading",
  built_in: "accent",
  type: "accent",
  literal: "warn",
  number: "warn",
  string: "good",
  regexp: "good",
  comment: "dim",
  doctag: "dim",
  meta: "dim",
  title: "link",
  attr: "code",
  attribute: "code",
  property: "code",
  name: "link",
  tag: "dim",
  section: "heading",
  symbol: "warn",
  addition: "added",
  deletion: "removed",
};

/** The library speaks HTML. Each line is closed by itself: rows are drawn one by one. */
export function readRuns(html: string): Run[][] {
  const open: (Colour | undefined)[] = [];
  const lines: Run[][] = [[]];
  const put = (text: string) => {
    const colour = open.findLast((entry) => entry !== undefined);
    for (const [n, piece] of unescaped(text).split("\n").entries()) {
      if (n > 0) lines.push([]);
      if (piece !== "") lines.at(-1)?.push({ text: piece, colour });
    }
  };
  let at = 0;
  for (const tag of html.matchAll(/<span class="([^"]*)">|<\/span>/g)) {
    put(html.slice(at, tag.index));
    at = tag.index + tag[0].length;
    if (tag[1] === undefined) open.pop();
    else open.push(colours[/hljs-([a-z_]+)/.exec(tag[1])?.[1] ?? ""]);
  }
  put(html.slice(at));
  return lines;
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => entities[name] ?? "");
}
