import { reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { looksSecret } from "../../permission/text/secret.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { describe } from "../definition/describe.ts";
import { failed } from "../definition/result.ts";
import type { Tool } from "../definition/tool.ts";
import { asData } from "./as-data.ts";
import type { Found, SearchEngine } from "./search-engines.ts";

/** Longer ones are more than words to look for. */
const MAX_QUERY_LENGTH = 256;
const MAX_RESULTS = 10;
const MAX_TEXT_LENGTH = 600;
const MAX_ADDRESS_LENGTH = 2_000;
const MAX_SUMMARY_LENGTH = 15_000;
const TIMEOUT_MS = 60_000;

type Input = { query: string };

export function createWebSearch({ name, search }: SearchEngine): Tool<Input> {
  return {
    name: "WebSearch",
    description: describe("web/web-search"),
    inputSchema: z.strictObject({ query: z.string().min(1).max(2_000).describe("Words to look for") }),
    effect: "reads",
    checkPermissions({ query }) {
      if (query.length > MAX_QUERY_LENGTH)
        return { behavior: "ask", hard: true, reason: reason("search-long", { length: query.length }) };
      if (looksSecret(query)) return { behavior: "ask", hard: true, reason: reason("search-secret", {}) };
      return { behavior: "passthrough", reason: "" };
    },
    async execute({ query }, { signal }) {
      const late = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const { found, summary: words = "" } = await search(query, AbortSignal.any([signal, late]));
        const summary = words.slice(0, MAX_SUMMARY_LENGTH).toWellFormed();
        const list = found.filter(isPage).slice(0, MAX_RESULTS).map(entry);
        if (list.length === 0 && summary === "") return { ok: true, text: `${name} found nothing for "${query}".` };
        const text = [...(summary === "" ? [] : [summary]), ...list].join("\n\n");
        return { ok: true, text: asData(`Results of ${name} for "${query}"`, text) };
      } catch (error) {
        signal.throwIfAborted();
        const why = late.aborted ? `no answer within ${TIMEOUT_MS / 1000} seconds` : thrownText(error);
        return failed(`${name} could not search: ${why}`);
      }
    },
  };
}

function isPage({ url }: Found): boolean {
  return url.length <= MAX_ADDRESS_LENGTH && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

function entry({ title, url, text }: Found, n: number): string {
  const { href } = new URL(url);
  return `${n + 1}. ${line(title) || href}\n${href}\n${line(text)}`.trim();
}

function line(words: string): string {
  const plain = words.slice(0, 4 * MAX_TEXT_LENGTH).replace(/<[^>]{0,40}>/g, "");
  return plain.replace(/\s+/g, " ").trim().slice(0, MAX_TEXT_LENGTH).toWellFormed();
}
