import { prose, tokens } from "../../../base/visible.ts";
import { highlight } from "./highlight.ts";
import { onlyColours } from "./rows.ts";
import type { Theme } from "./theme.ts";
import { Markdown, type MarkdownTheme } from "./tui.ts";

const INDENT = 2;
/** Stands where the library draws a fence; no text can contain it. */
const FENCE = "\x01";

/** A model's text, two columns in: the first two are Sage's own, so no text can draw what Sage draws there. */
export function markdownRows(text: string, width: number, theme: Theme, loaded: () => void): string[] {
  const drawn = new Markdown(prose(text).trim(), INDENT, 0, markdownTheme(theme, loaded), undefined, {
    preserveOrderedListMarkers: true,
    preserveBackslashEscapes: true,
    renderLatex: false,
  }).render(Math.max(8, width));
  return drawn.filter((row) => !row.includes(FENCE)).map((row) => onlyColours(row).trimEnd());
}

type Look = { width: number; theme: Theme; loaded: () => void };

/** The same behind a margin, with what stands in the place of hidden characters seen to be that. */
export function marginedMarkdown(text: string, { width, theme, loaded }: Look, indent = ""): string[] {
  return markdownRows(text, width - indent.length, theme, loaded).map((row) => {
    const shown = row.slice(INDENT).replace(tokens, (token) => theme.token(token));
    return `${indent}${theme.border("│")} ${shown}`.trimEnd();
  });
}

function markdownTheme(theme: Theme, loaded: () => void): MarkdownTheme {
  return {
    heading: (text) => theme.bold(theme.heading(text)),
    link: theme.link,
    linkUrl: theme.dim,
    code: theme.code,
    codeBlock: (text) => text,
    codeBlockBorder: () => FENCE, // code is set in and coloured
    quote: theme.quote,
    quoteBorder: theme.border,
    hr: theme.border,
    listBullet: theme.accent,
    bold: theme.bold,
    italic: theme.italic,
    strikethrough: theme.strike,
    underline: theme.underline,
    codeBlockIndent: "  ",
    highlightCode: (code, lang) => highlight(code, lang, theme, loaded),
  };
}
