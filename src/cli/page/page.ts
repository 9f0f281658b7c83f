import { hash } from "node:crypto";
import {
  callEndOf,
  callsOf,
  harmless,
  visible,
  type Call,
  type Fact,
  type Resolution,
  type ToolInput,
} from "../../protocol/index.ts";
import { headline } from "../../texts/resolution.ts";
import type { Lang } from "../../texts/language.ts";
import { pageTexts, type PageTexts } from "../../texts/page.ts";
import { texts } from "../../texts/texts.ts";
import { markup, verbatim, type Markup } from "./markup.ts";
import { style } from "./page-style.ts";

const LONGEST = 20_000;
const SHORT_LINES = 12;

export type Page = {
  title: string;
  session: string;
  cwd: string;
  facts: readonly Fact[];
  version: string;
  /** How many secrets the facts have lost. */
  removed: number;
  lang: Lang;
};

/**
 * A session as one page that needs nothing else. Whatever a model, a tool or a person wrote stands in text nodes alone, escaped, with
 * characters that hide or steer made visible; the policy allows this one style sheet and no script, so nothing that slipped through could run.
 */
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
  const index = indexOf(facts);
  const words = texts(lang);
  const asked = (key: string): Markup[] =>
    (index.asked.get(key) ?? []).map(({ data }) => {
      const end = index.ends.get(data.id);
      const how = end ? headline(end, words) : t.open;
      return markup`<p class="asked">${t.asked}: ${harmless(words.because(data.why))} — <b>${harmless(how)}</b></p>`;
    });
  const shown = new Set<string>();
  const call = (key: string, { tool, input }: Call): Markup => {
    shown.add(key);
    const end = index.results.get(key);
    const failed =
      end?.type === "call.finished" && !end.data.ok
        ? markup` <span class="failed">${callEndOf(end.data) === "refused-by-person" ? t.refused : t.failed}</span>`
        : "";
    const unknown = end?.type === "call.unknown" ? markup`<p class="failed">${t.unknown}</p>` : "";
    const result = end?.type === "call.finished" ? folded(t.result, end.data.text, t) : "";
    return markup`<section class="call"><h3>${visible(tool)}${failed}</h3>
<pre>${cut(visible(inputText(input)), t)}</pre>
${asked(key)}${unknown}${result}</section>`;
  };
  let turns = 0;
  let within = false;
  // A turn begins, for a reader, with what was said for it.
  const begins = (): Markup[] => {
    if (within) return [];
    within = true;
    return [markup`<h2>${t.turn(++turns)}</h2>`];
  };
  return facts.flatMap((fact): Markup[] => {
    switch (fact.type) {
      case "turn.begun":
        return begins();
      case "user.said":
        return [
          ...begins(),
          markup`<section class="said">${heading(t.person, fact.data.by, fact.at)}${prose(fact.data.text, t)}</section>`,
        ];
      case "model.replied": {
        const step = fact.key.replace(/\/?model$/, "");
        const { parts, model } = fact.data;
        const said = parts.map((part) =>
          part.type === "reasoning"
            ? folded(t.thinking, part.text, t, { closed: true })
            : part.type === "text"
              ? prose(part.text, t)
              : markup``,
        );
        const calls = callsOf(fact.data).map((one, n) => call(`${step}/${n}`, one));
        const place = fact.key.includes("/sub/") ? "reply sub" : "reply";
        return [markup`<section class="${place}">${heading(t.agent, model, fact.at)}${said}${calls}</section>`];
      }
      case "input.requested": // those of a call stand with it
        return shown.has(callOf(fact.key)) ? [] : asked(callOf(fact.key));
      case "rule.added": {
        const { rule, destination, by, problem } = fact.data;
        // One that could not be saved holds in its session all the same.
        if (problem !== undefined) return [note(words.ruleNotSaved(visible(rule), harmless(problem)))];
        return [note(`${t.rule}: ${visible(rule)} (${words.destination[destination]}, ${harmless(by)})`)];
      }
      case "context.compacted":
        return [note(t.compacted(fact.data.tokens.before, fact.data.tokens.after))];
      case "turn.interrupted":
        return [note(t.interrupted(harmless(fact.data.by)))];
      case "turn.ended": {
        within = false;
        const { status, stats, usage } = fact.data;
        const tokens = usage.inputTokens + usage.outputTokens;
        return [note(`${t.ended[status]} · ${t.stats(stats.steps, stats.toolCalls, tokens)}`)];
      }
      default:
        return [];
    }
  });
}

type Index = {
  asked: Map<string, Fact<"input.requested">[]>;
  ends: Map<string, Resolution>;
  results: Map<string, Fact<"call.finished" | "call.unknown">>;
};

/** What belongs to a call, by its key. */
function indexOf(facts: readonly Fact[]): Index {
  const index: Index = { asked: new Map(), ends: new Map(), results: new Map() };
  for (const fact of facts) {
    const key = callOf(fact.key);
    if (fact.type === "input.requested") index.asked.set(key, [...(index.asked.get(key) ?? []), fact]);
    else if (fact.type === "input.resolved") index.ends.set(fact.data.requestId, fact.data);
    else if (fact.type === "call.finished" || fact.type === "call.unknown") index.results.set(key, fact);
  }
  return index;
}

/** `t0/3/1/permit0`, `t0/3/1/run0.finished` → `t0/3/1`. */
function callOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf("/")));
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

function note(text: string): Markup {
  return markup`<p class="note">${text}</p>`;
}

function prose(text: string, t: PageTexts): Markup {
  return markup`<div class="prose">${cut(harmless(text), t)}</div>`;
}

function folded(title: string, text: string, t: PageTexts, { closed = false } = {}): Markup {
  const open = !closed && text.split("\n", SHORT_LINES + 1).length <= SHORT_LINES && text.length < 2_000;
  return markup`<details${open ? " open" : ""}><summary>${title}</summary><pre>${cut(harmless(text), t)}</pre></details>`;
}

function cut(text: string, t: PageTexts): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}\n${t.more(text.length - LONGEST)}`;
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}
