import { opaqueWord, type Word } from "../../shell/read/word.ts";
import type { Write } from "./use.ts";

/** Files that `curl` and `wget` write, as far as their words tell. */
export function downloadsOf(words: readonly Word[]): Write[] {
  const name = words[0]?.text;
  if (name !== "curl" && name !== "wget") return [];
  const options = name === "curl" ? curl : wget;
  const writes: Write[] = [];
  let folder: string | undefined;
  let named = false;
  const addresses: Word[] = [];
  for (let n = 1; n < words.length; n++) {
    const word = words[n]!;
    const text = word.text ?? word.lead;
    if (name === "curl")
      for (const [, file = ""] of text.matchAll(/%output\{(?:>>)?([^}]*)\}?/g))
        writes.push({ target: { ...word, text: file, lead: file } });
    const [, long, glued] = /^(--[\w-]+)(?:=([^]*))?$/.exec(text) ?? [];
    const short = /^-[A-Za-z0-9]*?([oOPacDJ])([^]*)$/.exec(text.startsWith("--") ? "" : text);
    const option = long ?? (short ? `-${short[1]}` : undefined);
    if (option !== undefined && options.folders.has(option)) {
      folder = glued ?? (short?.[2] || words[++n]?.text) ?? "\0";
    } else if (option !== undefined && options.files.has(option)) {
      const value = glued ?? (short?.[2] === "" ? undefined : short?.[2]);
      if (value === undefined) n++;
      const target = value === undefined ? (words[n] ?? opaqueWord) : { ...word, text: value, lead: value };
      if (target.text !== "-") writes.push({ target });
      if (options.names.has(option)) named = true;
    } else if (option !== undefined && options.remote.has(option)) named = false;
    else if (!text.startsWith("-")) addresses.push(word);
  }
  const keepsNames = name === "wget" || words.some(({ text = "" }) => /^-[A-Za-z]*[OJ]|^--remote-/.test(text));
  if (keepsNames && !named && !words.some(({ text }) => text === "--spider"))
    for (const word of addresses) {
      const last =
        word.text === undefined
          ? undefined
          : (URL.parse(word.text)?.pathname.split("/").at(-1) ?? word.text.split("/").at(-1));
      const file = last === undefined || last === "" ? "index.html" : last;
      const text = folder === undefined ? file : `${folder}/${file}`;
      writes.push({ target: word.text === undefined ? opaqueWord : { ...word, text, lead: text } });
    }
  return writes;
}

const set = (text: string) => new Set(text.split(" "));

const curl = {
  files: set(
    "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts --alt-svc --libcurl",
  ),
  names: set("-o --output"),
  folders: set("--output-dir"),
  remote: set("-O -J --remote-name --remote-name-all --remote-header-name"),
};
const wget = {
  files: set("-O --output-document -o --output-file -a --append-output --save-cookies"),
  names: set("-O --output-document"),
  folders: set("-P --directory-prefix"),
  remote: set(""),
};
