import { sentence } from "../../../texts/shared/sentence.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { originLines } from "../../../view/request/origin.ts";
import type { Block, Description } from "../../../view/request/describe.ts";
import { fits, markdown, note, type Card, type Element } from "./card.ts";
import { code, words as escaped } from "./escape.ts";
import { inEachLanguage, type Speech, type Speeches } from "./speech.ts";

const MAX_ROW_LENGTH = 96;

/** Shortens lines in their middle and remembers that it had to: what is left out is never left out silently. */
export type Clip = { cut: boolean; (lines: readonly string[]): string[] };

/** Shorter and shorter, until it fits. */
export const rooms = [Infinity, 9_000, 5_000, 2_500, 1_000, 300, 60] as const;

/** The card with as much on it as fits in all languages. `cut`: not all of it did. */
export function fitting(
  speeches: Speeches,
  sizes: readonly number[],
  make: (speech: Speech, clip: Clip) => Card,
): { card: Card; cut: boolean } | undefined {
  for (const room of sizes) {
    const lay = (known: boolean): { card: Card; cut: boolean } => {
      let cut = known;
      const card = inEachLanguage(speeches, (speech) => {
        const clip = clipTo(room, speech, known);
        const made = make(speech, clip);
        cut ||= clip.cut;
        return made;
      });
      return { card, cut };
    };
    const first = lay(false);
    // A text that is cut in one language is laid out as cut in all of them.
    const made = first.cut ? lay(true) : first;
    if (fits(made.card)) return made;
  }
  return undefined;
}

export function paragraph(text: string, clip: Clip): string {
  return escaped(clip(text.split("\n")).join("\n"));
}

function clipTo(longest: number, { t }: Speech, cut = false): Clip {
  const clip = (lines: readonly string[]): string[] => {
    const rows = lines.flatMap(broken);
    const total = rows.reduce((sum, row) => sum + row.length + 1, 0);
    if (total <= longest) return rows;
    clipped.cut = true;
    const [head, tail] = [taken(rows, longest * 0.65), taken(rows.toReversed(), longest * 0.35).toReversed()];
    const shown = [...head, ...tail].reduce((sum, row) => sum + row.length + 1, 0);
    return [...head, t.leftOut(rows.length - head.length - tail.length, total - shown), ...tail];
  };
  const clipped: Clip = Object.assign(clip, { cut });
  return clipped;
}

function taken(rows: readonly string[], room: number): string[] {
  const found: string[] = [];
  for (const row of rows) {
    room -= row.length + 1;
    if (room < 0) break;
    found.push(row);
  }
  return found;
}

/** A long row would be scrolled out of sight. The sign of a break cannot be spelled by the text. */
function broken(text: string): string[] {
  const characters = [...text.replaceAll("↪", "‹U+21AA›")];
  if (characters.length <= MAX_ROW_LENGTH) return [characters.join("")];
  const rows: string[] = [];
  for (let at = 0; at < characters.length; at += MAX_ROW_LENGTH)
    rows.push(`${at === 0 ? "" : "↪ "}${characters.slice(at, at + MAX_ROW_LENGTH).join("")}`);
  return rows;
}

/** The action to run. Options of a command or an edit are among the details; of any other tool they are all there is. */
export function actionElements(asked: Description, clip: Clip, { words }: Speech): Element[] {
  const fields = isPlain(asked) ? fieldsOf(asked) : [];
  return [
    markdown(`**${escaped(words.tools[asked.tool] ?? words.otherTool(asked.tool))}**`),
    ...asked.action.flatMap((block) => blockElements(block, clip, words)),
    ...(fields.length > 0 ? [markdown(code(clip(fields), "json"))] : []),
  ];
}

const isPlain = ({ action }: Description) => action.every(({ type }) => type === "field");

const fieldsOf = ({ action }: Description) =>
  action.flatMap((block) => (block.type === "field" ? fieldLines(block) : []));

function blockElements(block: Block, clip: Clip, words: Texts): Element[] {
  switch (block.type) {
    case "command":
      return [markdown(code(clip(block.lines), "bash"))];
    case "plan":
      return [markdown(escaped(clip(block.lines).join("\n")))];
    case "path":
      return [markdown(code(clip(pathLines(block))))];
    case "change":
      return [markdown(code(clip(changeLines(block, words)), "diff"))];
    case "omitted":
      return [note(escaped(words.omitted[block.why]))];
    case "field":
      return [];
    default:
      return block satisfies never;
  }
}

const pathLines = ({ given, real }: Block & { type: "path" }) => [given, ...(real === undefined ? [] : [`→ ${real}`])];

const changeLines = ({ hunks }: Block & { type: "change" }, words: Texts) =>
  hunks.flatMap(({ from, lines }) => [
    ...(from === undefined || from === 1 ? [] : [`@@ ${words.fromLine(from)}`]),
    ...lines.map(({ mark, text }) => `${mark} ${text}`),
  ]);

function fieldLines({ name, lines }: Block & { type: "field" }): string[] {
  const [first = "", ...more] = lines;
  return [`${name}: ${first}`, ...more];
}

/** Why a person is asked, and what nobody should overlook. */
export function reasonElements(asked: Description, clip: Clip, { words, lang, t }: Speech): Element[] {
  const outside = asked.writes.filter((target) => target.outside);
  const why = sentence(asked.why, lang);
  const dangers = asked.dangers.map((danger) => words.danger[danger]);
  return [
    ...(dangers.length > 0 ? [markdown(`**${escaped(words.careful(dangers))}**`)] : []),
    ...(outside.length > 0
      ? [markdown(`**${escaped(words.writes)}**\n${code(clip(outside.map((target) => targetLine(target, words))))}`)]
      : []),
    ...(why === "" ? [] : [markdown(escaped(t.labelled(words.why, clip(why.split("\n")).join("\n"))))]),
    ...(asked.runs ? [note(escaped(clip([sentence(asked.runs, lang)]).join("\n")))] : []),
    ...(asked.agent.length > 0 ? [note(escaped(words.agent(asked.agent)))] : []),
  ];
}

/** The rest of it, which most people need not read: options, parts, further files, the agent's own words. */
export function detailElements(asked: Description, clip: Clip, speech: Speech): Element[] {
  const { words } = speech;
  const fields = isPlain(asked) ? [] : fieldsOf(asked);
  const shown = asked.action.flatMap((block) => (block.type === "path" ? [block.given, block.real] : []));
  const targets = asked.writes.filter(({ path, outside }) => !outside && !shown.includes(path));
  const titled = (title: string, lines: readonly string[]) => markdown(`${escaped(title)}\n${code(clip(lines))}`);
  return [
    ...(asked.parts.length > 1 ? [titled(words.parts, partLines(asked, speech))] : []),
    ...(targets.length > 0
      ? [
          titled(
            words.writes,
            targets.map((target) => targetLine(target, words)),
          ),
        ]
      : []),
    ...(fields.length > 0 ? [markdown(code(clip(fields), "json"))] : []),
    ...(asked.words
      ? [
          note(
            `${escaped(speech.t.labelled(words.ownWords, asked.words.text))}${asked.words.cut > 0 ? `<br>${escaped(words.cut(asked.words.cut))}` : ""}`,
          ),
        ]
      : []),
    ...(asked.hard ? [note(escaped(words.hard))] : []),
    ...(asked.characters > 400 ? [note(escaped(words.size(asked.characters, asked.lines)))] : []),
  ];
}

const targetLine = ({ path, outside }: Description["writes"][number], words: Texts) =>
  outside ? `${path}  (${words.leaves})` : path;

function partLines({ parts }: Description, { words, lang, t }: Speech): string[] {
  return parts.flatMap(({ text, behavior, reason, asks }) => {
    const why = sentence(reason, lang);
    const verdict = words.behavior[behavior];
    return [...text.split("\n"), `  ${asks ? "▸" : "✓"} ${why === "" ? verdict : t.pair(verdict, why)}`];
  });
}

/** Where it was opened, and for which task. */
export function originElements(request: Pick<InputRequest, "origin">, { words }: Speech): Element[] {
  return originLines(request, words).map((line) => note(escaped(line)));
}

/** All of it as a file: the same blocks, with nothing left out. */
export function actionText(asked: Description, speech: Speech): string {
  const { words, lang } = speech;
  const blocks = asked.action.flatMap((block): string[] => {
    switch (block.type) {
      case "command":
      case "plan":
        return block.lines;
      case "path":
        return pathLines(block);
      case "change":
        return changeLines(block, words);
      case "omitted":
        return [words.omitted[block.why]];
      case "field":
        return fieldLines(block);
      default:
        return block satisfies never;
    }
  });
  const why = sentence(asked.why, lang);
  return [
    words.tools[asked.tool] ?? words.otherTool(asked.tool),
    "",
    ...blocks,
    "",
    ...(asked.parts.length > 1 ? [words.parts, ...partLines(asked, speech), ""] : []),
    ...(asked.writes.length > 0 ? [words.writes, ...asked.writes.map((target) => targetLine(target, words)), ""] : []),
    ...(why === "" ? [] : [words.why, why]),
    ...(asked.hard ? [words.hard] : []),
    words.size(asked.characters, asked.lines),
    "",
  ].join("\n");
}
