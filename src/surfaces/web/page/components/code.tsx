import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { harmless, tokens } from "../../../../base/visible.ts";

/** The library's tree of a highlighted text. */
export type Coloured = string | { scope?: string; children: Coloured[] };
const MAX_CODE_LENGTH = 20_000;
let library: { coloured(code: string, lang: string): Coloured | undefined } | undefined;
let loading: Promise<unknown> | undefined;

/** Code in colours. They come with the first code there is; until then it is plain. */
export function Code({ text, lang }: { text: string; lang?: string | undefined }) {
  const loaded = useSignal(library !== undefined);
  const wanted = lang !== undefined && lang !== "" && text.length < MAX_CODE_LENGTH;
  useEffect(() => {
    if (!wanted || library) return;
    loading ??= import("./highlight.ts").then((found) => (library = found));
    void loading.then(() => (loaded.value = true));
  }, [wanted]);
  const code = harmless(text);
  const tree = wanted && loaded.value ? library?.coloured(code, lang) : undefined;
  return (
    <pre tabIndex={0}>
      <code>{tree ? drawn(tree) : <Safe text={code} />}</code>
    </pre>
  );
}

function drawn(node: Coloured): ComponentChildren {
  if (typeof node === "string") return <Safe text={node} />;
  const inner = node.children.map(drawn);
  return node.scope === undefined ? inner : <span class={`h-${node.scope.split(".")[0]}`}>{inner}</span>;
}

/** Text that is safe to show already, with what stands in the place of hidden characters seen to be that. */
export function Safe({ text }: { text: string }) {
  if (!/[‹⇥␠]/.test(text)) return <>{text}</>;
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const found of text.matchAll(tokens)) {
    parts.push(text.slice(at, found.index), <span class="token">{found[0]}</span>);
    at = found.index + found[0].length;
  }
  return <>{[...parts, text.slice(at)]}</>;
}
