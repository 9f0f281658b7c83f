import { endLine } from "../../../view/request/delivery.ts";
import { hash } from "node:crypto";
import { harmless, visible } from "../../../base/visible.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Fact } from "../../../protocol/facts/fact.ts";
import type { Asked } from "../../../protocol/host/receipt.ts";
import { changeLine } from "../../../texts/shared/resolution.ts";
import type { Lang } from "../../../texts/language.ts";
import { type PageTexts, pageTexts } from "../../../texts/commands/export-page.ts";
import { type Texts, texts } from "../../../texts/shared/texts.ts";
import { changeOf, detailed } from "../../../view/items/change.ts";
import type { CallItem, Item, TextItem, ThoughtItem } from "../../../view/transcript/item.ts";
import { noteOf } from "../../../view/note.ts";
import { resultText } from "../../../view/items/result.ts";
import { saidText } from "../../../view/items/said.ts";
import { summaryOf } from "../../../view/items/summary.ts";
import { transcriptOf } from "../../../view/transcript/transcript.ts";

const MAX_TEXT_LENGTH = 20_000;
const SHORT_LINES = 12;

type Page = {
  title: string;
  session: string;
  cwd: string;
  facts: readonly Fact[];
  version: string;
  /** Number of secrets that were removed from the facts. */
  removed: number;
  lang: Lang;
};

/** A session as one page. Foreign text stands in text nodes alone, made visible; the policy allows this style sheet and no script. */
export function page({ title, session, cwd, facts, version, removed, lang }: Page): string {
  const t = pageTexts(lang);
  const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; form-action 'none'`;
  const begun = facts[0] ? ` · ${time(facts[0].at)}` : "";
  return markup`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${harmless(title)}</title>
<style>${verbatim(style)}</style>
</head>
<body>
<header>
<h1>${harmless(title)}</h1>
<p>${harmless(`${session} · ${cwd}${begun}`)}</p>
</header>
<main>
${body(facts, t, lang)}
</main>
<footer>
<p>${removed > 0 ? t.redacted(removed) : ""} ${t.made(version, time(Date.now()))}</p>
</footer>
</body>
</html>
`.markup;
}

function body(facts: readonly Fact[], t: PageTexts, lang: Lang): Markup[] {
  const draw = createSections(t, texts(lang));
  let turns = 0;
  let within = false;
  // A turn begins, for a reader, with what was said for it.
  const begins = (): Markup[] => {
    if (within) return [];
    within = true;
    return [markup`<h2>${t.turn(++turns)}</h2>`];
  };
  return groupItems(transcriptOf(facts)).flatMap((group): Markup[] => {
    const [first] = group;
    if (first?.type === "said") return [...begins(), draw(group)];
    if (first?.type === "end") within = false;
    return [...(first && isOfReply(first) ? begins() : []), draw(group)];
  });
}

function isOfReply(item: Item): item is TextItem | ThoughtItem | CallItem {
  return item.type === "text" || item.type === "thought" || item.type === "call";
}

/** Items of one reply stand together, every other one by itself. */
function groupItems(items: readonly Item[]): Item[][] {
  const groups: Item[][] = [];
  const replyOf = (item: Item | undefined) => (item && isOfReply(item) ? item.reply?.key : undefined);
  for (const item of items) {
    const last = groups.at(-1);
    if (last && replyOf(item) !== undefined && replyOf(last[0]) === replyOf(item)) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

function createSections(t: PageTexts, words: Texts): (group: readonly Item[]) => Markup {
  const asked = (each: Asked): Markup => {
    const how = endLine(each, words) ?? t.open;
    return markup`<p class="asked">${t.asked}: ${harmless(words.because(each.request.why))} — <b>${harmless(how)}</b></p>`;
  };
  const call = (item: CallItem): Markup => {
    const { call: made, input, changed, standing, result } = item;
    const stands = standing === "done" ? "" : markup` <span class="${standing}">${words.standing[standing]}</span>`;
    const edited = changed ? markup`<p class="asked">${changeLine(changed, words)}</p>` : "";
    return markup`<section class="call"><h3>${visible(made.tool)}${stands}</h3>
<pre>${cut(changeText(item) ?? visible(made.malformed ?? inputText(input)), t)}</pre>
${edited}${item.asked.map(asked)}${result ? folded(t.result, resultText(item, words), t) : ""}</section>`;
  };
  const part = (item: Item): Markup => {
    switch (item.type) {
      case "said":
        return markup`<section class="said">${heading(t.person, item.sender.by, item.at)}${prose(saidText(item, words), t)}</section>`;
      case "text":
        return prose(item.text, t);
      case "thought":
        return folded(t.thinking, item.text, t, { closed: true });
      case "call":
        return call(item);
      case "asked":
        return asked(item);
      default: {
        const told = noteOf(item, words);
        return told
          ? markup`<p class="note">${told.line}</p>${told.foreign ? folded(t.result, told.foreign, t) : ""}`
          : markup``;
      }
    }
  };
  return (group) => {
    const [first] = group;
    const parts = group.map(part);
    if (!first || !isOfReply(first)) return markup`${parts}`;
    const { reply, within } = first;
    const head = reply ? heading(t.agent, reply.model, reply.at) : "";
    return markup`<section class="${within.length > 0 ? "reply sub" : "reply"}">${head}${parts}</section>`;
  };
}

/** The change that a call made, as lines; the file first. */
function changeText(item: CallItem): string | undefined {
  const hunks = item.standing === "done" ? changeOf(item) : [];
  if (hunks.length === 0) return undefined;
  const lines = hunks
    .map(detailed)
    .flatMap((hunk, n) => [
      ...(n === 0 ? [] : ["⋮"]),
      ...hunk.map(({ mark, text, number }) => `${number === undefined ? "" : `${number} `}${mark} ${text}`),
    ]);
  return [visible(summaryOf(item.input)), ...lines].join("\n");
}

function inputText(input: ToolInput): string {
  const fields = Object.entries(input);
  const [only] = fields;
  if (only && fields.length === 1 && typeof only[1] === "string") return only[1];
  const spelled = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
  return fields.map(([name, value]) => `${name}: ${spelled(value)}`).join("\n");
}

function heading(who: string, name: string, at: number): Markup {
  return markup`<h3>${who} <small>${harmless(name)} · ${time(at)}</small></h3>`;
}

function prose(text: string, t: PageTexts): Markup {
  return markup`<div class="prose">${cut(harmless(text), t)}</div>`;
}

function folded(title: string, text: string, t: PageTexts, { closed = false } = {}): Markup {
  const open = !closed && text.split("\n", SHORT_LINES + 1).length <= SHORT_LINES && text.length < 2_000;
  return markup`<details${open ? " open" : ""}><summary>${title}</summary><pre>${cut(harmless(text), t)}</pre></details>`;
}

function cut(text: string, t: PageTexts): string {
  return text.length <= MAX_TEXT_LENGTH
    ? text
    : `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}\n${t.more(text.length - MAX_TEXT_LENGTH)}`;
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}

/** Markup, as opposed to text: only `markup` makes it, and it escapes every text it is given. */
type Markup = { readonly markup: string };

type Value = string | Markup | readonly Markup[];

/** A template for a page. Text becomes text; markup, or a list of it, goes in as it is. */
function markup(parts: TemplateStringsArray, ...values: Value[]): Markup {
  return { markup: parts.reduce((text, part, n) => `${text}${spelled(values[n - 1] ?? "")}${part}`) };
}

/** For a constant of our own that is no text, such as a style sheet. */
function verbatim(text: string): Markup {
  return { markup: text };
}

function spelled(value: Value): string {
  if (typeof value === "string") return value.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
  return "markup" in value ? value.markup : value.map((child) => child.markup).join("\n");
}

/** The page's whole style sheet; its hash stands in the page's policy. */
const style = `
:root { --ink: #1d2327; --dim: #5d6a73; --paper: #fdfdfc; --line: #dcdfe1; --box: #f3f4f4; --good: #14653a; --bad: #a3231f; --mark: #1d5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe3e6; --dim: #98a3ab; --paper: #16191b; --line: #343a3f; --box: #1f2427; --good: #6fcf97; --bad: #ff8a80; --mark: #7db7f5; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: .95rem; margin: 1.2rem 0 .3rem; }
small, header p, footer, .note, .asked { color: var(--dim); font-size: .85rem; font-weight: normal; }
.said { border-left: 3px solid var(--mark); padding-left: .8rem; }
.sub { margin-left: 1.5rem; }
.call { border: 1px solid var(--line); border-radius: 6px; padding: 0 .8rem .6rem; margin: .6rem 0; }
.call h3 { font-family: ui-monospace, monospace; margin-top: .6rem; }
.prose { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: var(--box); border-radius: 4px; margin: .3rem 0; padding: .5rem .7rem; font: .85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40rem; overflow-y: auto; }
summary { cursor: pointer; color: var(--dim); font-size: .85rem; }
.asked b { color: var(--good); }
h3 span { color: var(--dim); font-size: .85rem; }
.failed, .refused-by-rule, .refused-by-person, .invalid, .unknown { color: var(--bad); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); }
`;
