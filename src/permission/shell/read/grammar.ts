import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Parser, TreeCursor } from "web-tree-sitter";

/** Result of the grammar for a piece of text: plain data, so no caller has to free a tree. */
export type ShellNode = {
  type: string;
  named: boolean;
  start: number;
  end: number;
  children: ShellNode[];
};

export type ShellGrammar = {
  /** Not `sound` with an error in it, a missing piece, or too deep to look into. */
  parse(text: string): { root: ShellNode; sound: boolean } | undefined;
};

let loading: Promise<ShellGrammar | undefined> | undefined;
let loaded: ShellGrammar | undefined;

/** Loads the shell grammar once, when the first command is judged. Without it every command is asked about. */
export function loadGrammar(): Promise<ShellGrammar | undefined> {
  return (loading ??= load(wasmFile).then(
    (grammar) => (loaded = grammar),
    () => undefined,
  ));
}

/** For those who cannot wait: what `loadGrammar` has brought so far. */
export function loadedGrammar(): ShellGrammar | undefined {
  return loaded;
}

/** Like `loadGrammar`, from files of one's own choice. */
export async function load(read: (name: WasmName) => Promise<Uint8Array<ArrayBuffer>>): Promise<ShellGrammar> {
  const [runtime, bash] = await Promise.all([genuine("web-tree-sitter.wasm"), genuine("tree-sitter-bash.wasm")]);
  const { Parser, Language } = await import("web-tree-sitter");
  const parser = await (async () => {
    using _ = unoptimised();
    await Parser.init({ wasmBinary: runtime });
    const made = new Parser();
    made.setLanguage(await Language.load(bash));
    for (const { buffer } of [runtime, bash]) buffer.transfer(0); // V8 has its own copy, and the next collection may be far
    return made;
  })();
  return {
    parse(text) {
      using _ = unoptimised(); // functions are compiled when they are first called
      return parse(parser, text);
    },
  };

  async function genuine(name: WasmName): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await read(name);
    if (hash("sha256", bytes, "hex") !== hashes[name]) throw new Error(`${name} is not the file that was reviewed`);
    return bytes;
  }
}

/**
 * The optimising compiler takes half a gigabyte and half a second for the grammar's one huge function, and every command that
 * is started meanwhile pays for it too. The first compiler's code reads a command in a fraction of a millisecond: never optimise.
 * A budget only delays it: a loop in that function uses up any budget within some hundred commands.
 * Not for longer than the grammar works: compiled code that is kept, Node's own or Sage's, counts only under the flags that it has.
 */
function unoptimised(): Disposable {
  setFlagsFromString("--no-wasm-tier-up");
  setFlagsFromString("--no-wasm-dynamic-tiering");
  return {
    [Symbol.dispose]() {
      setFlagsFromString("--wasm-tier-up");
      setFlagsFromString("--wasm-dynamic-tiering");
    },
  };
}

type WasmName = keyof typeof hashes;

// A program that could swap these files could make every command look harmless.
const hashes = {
  "web-tree-sitter.wasm": "beca80e44cccbf2299ed4d1e3fa6462a9a6fe818aeebf847547a392227ce4acc",
  "tree-sitter-bash.wasm": "8292919c88a0f7d3fb31d0cd0253ca5a9531bc1ede82b0537f2c63dd8abe6a7a",
};

/** Reads a file beside the bundle, or in the package it came from. Read in pieces, it would lie in memory twice. */
export async function wasmFile(name: WasmName): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return readFileSync(join(import.meta.dirname, name));
  } catch {
    const folder = name.slice(0, -".wasm".length);
    return readFileSync(createRequire(import.meta.url).resolve(`${folder}/${name}`));
  }
}

const deepest = 300;

function parse(parser: Parser, text: string): { root: ShellNode; sound: boolean } | undefined {
  const tree = parser.parse(text);
  if (tree === null) {
    parser.reset();
    return undefined;
  }
  const cursor = tree.walk();
  try {
    return { ...copy(cursor), ...(tree.rootNode.hasError && { sound: false }) };
  } finally {
    cursor.delete();
    tree.delete();
  }
}

/** Without recursion: how deep a tree is, is up to whoever wrote the command. */
function copy(cursor: TreeCursor): { root: ShellNode; sound: boolean } {
  let sound = true;
  const look = (): ShellNode => {
    if (cursor.nodeIsMissing) sound = false;
    const { nodeType: type, nodeIsNamed: named, startIndex: start, endIndex: end } = cursor;
    return { type, named, start, end, children: [] };
  };
  const root = look();
  const above: ShellNode[] = [];
  let node = root;
  for (;;) {
    if (above.length >= deepest) sound = false;
    if (above.length < deepest && cursor.gotoFirstChild()) above.push(node);
    else {
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return { root, sound };
        above.pop();
      }
    }
    node = look();
    above.at(-1)?.children.push(node);
  }
}
