import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Coloured } from "./code.tsx";

const languages = { bash, css, diff, go, javascript, json, python, rust, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

/** The library's tree, not its markup: no string ever becomes HTML. */
export function coloured(code: string, language: string): Coloured | undefined {
  const name = language.toLowerCase();
  if (!hljs.getLanguage(name)) return undefined;
  const found = hljs.highlight(code, { language: name, ignoreIllegals: true }) as unknown as {
    _emitter: { rootNode: Coloured };
  };
  return found._emitter.rootNode;
}
