/** Calls of code that writes or runs something. */
export const acts =
  /open|write|append|put_contents|touch|\bfs\b|unlink|rename|remove|rmtree|symlink|chmod|copy|mkdir|exec|spawn|system|popen|subprocess|eval|child_process|shutil|pathlib|\bFile\b|\bIO\b|Deno|Bun|ctypes|qx|`/;

/** Code that looks for files by itself, and may open whichever it finds. */
export function listsFiles(code: string): boolean {
  return /\bi?r?glob|listdir|scandir|iterdir|\bwalk|readdir|opendir|opendirsync|\bDir\b|\bfind\b|<\s*[^<>\s]*\*[^<>]*>|list\.files|fs\.(dir|list)/i.test(
    code,
  );
}

/**
 * Names that code may put together from the texts in it: texts that follow one another, any two of them, with and without a
 * slash between, one that is set into another, and one in which a piece is replaced. Code that can do no more than compute has
 * none.
 */
export function builtInCode(code: string): string[] {
  if (!acts.test(code)) return [];
  const texts = textsIn(code).slice(0, mostTexts);
  const built = new Set<string>([...filled(texts), ...(replaces.test(code) ? replaced(texts) : [])]);
  for (const [from, first] of texts.entries()) {
    let [glued, joined] = [first, first];
    for (const next of texts.slice(from + 1, from + 1 + longestRun)) {
      [glued, joined] = [glued + next, `${joined}/${next}`];
      built.add(glued).add(joined);
    }
    for (const other of texts) built.add(first + other).add(`${first}/${other}`);
  }
  // Perl opens a file to write it by a sign in front of its name.
  return [...built].map((name) => name.replace(/^\s*\+?[<>]+\s*/, "")).filter((name) => /[./~]/.test(name));
}

/** Texts in quotes, and those in quotes within them. */
function textsIn(code: string): string[] {
  const outer = [...code.matchAll(/"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`/gs)]
    .map(([, double, single, tick]) => double ?? single ?? tick ?? "")
    .filter((text) => text.length < 200);
  const inner = outer.flatMap((text) => [...text.matchAll(/["'`]([^"'`]*)["'`]/g)].map(([, quoted = ""]) => quoted));
  return [...outer, ...inner];
}

/** `%s`, `{}`, `${x}`, `#{x}` and `$x` in a text stand for another one, or for a name that is made elsewhere. */
function filled(texts: readonly string[]): string[] {
  const hole = /%\(?\w*\)?[-\d.]*[sdrv]|[$#]?\{[^{}]*\}|\$\w+/g;
  const wholes = texts.filter((text) => text.search(hole) >= 0);
  return wholes.flatMap((whole) => {
    const once = [...texts, ...oftenMeant].map((text) => whole.replace(hole, () => text));
    let next = 0;
    const inTurn = texts.map((_, from) => ((next = from), whole.replace(hole, () => texts[++next] ?? "")));
    return [...once, ...inTurn];
  });
}

const oftenMeant = ["git", "ssh", "bash"];

/** Each text with each pair of neighbours replaced in it. */
function replaced(texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    texts.flatMap((from, n) => (from === "" || texts[n + 1] === undefined ? [] : text.replaceAll(from, texts[n + 1]!))),
  );
}

const replaces = /replace|\bg?sub\b|translate|\btr\b|\bs\/|removeprefix|removesuffix|strip/;

const mostTexts = 40;
const longestRun = 8;

/** Pieces of code that may be the name of a file. */
export function namesInCode(code: string): string[] {
  const quoted = code.split(/["'`]/).filter((_, n) => n % 2 === 1);
  const bare = code.split(/[^\w./~$+@%-]+/).filter((word) => /[./]/.test(word));
  return [...new Set([...quoted, ...bare])].filter((word) => word !== "" && word.length < 1_000).slice(0, 500);
}
