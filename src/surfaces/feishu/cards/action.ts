import type { FeishuTexts } from "../../../texts/feishu.ts";
import type { Texts } from "../../../texts/texts.ts";
import { markdown, note, panel, type Element } from "./card.ts";
import { code, words as escaped } from "./escape.ts";
import type { Block, Description } from "../../../view/describe.ts";

export type CardTexts = { t: FeishuTexts; words: Texts };

const LONGEST_ROW = 96;

/** Shortens lines in their middle and remembers that it had to: what is left out is never left out silently. */
export type Clip = { cut: boolean; (lines: readonly string[]): string[] };

export function clipTo(longest: number, t: FeishuTexts): Clip {
  const clip = (lines: readonly string[]): string[] => {
    const rows = lines.flatMap(broken);
    const total = rows.reduce((sum, one) => sum + one.length + 1, 0);
    if (total <= longest) return rows;
    clipped.cut = true;
    const [head, tail] = [taken(rows, longest * 0.65), taken(rows.toReversed(), longest * 0.35).toReversed()];
    const shown = [...head, ...tail].reduce((sum, one) => sum + one.length + 1, 0);
    return [...head, t.leftOut(rows.length - head.length - tail.length, total - shown), ...tail];
  };
  const clipped: Clip = Object.assign(clip, { cut: false });
  return clipped;
}

function taken(rows: readonly string[], room: number): string[] {
  const found: string[] = [];
  for (const one of rows) {
    room -= one.length + 1;
    if (room < 0) break;
    found.push(one);
  }
  return found;
}

/** A long row would be scrolled out of sight. The sign of a break cannot be spelled by the text. */
function broken(text: string): string[] {
  const characters = [...text.replaceAll("↪", "‹U+21AA›")];
  if (characters.length <= LONGEST_ROW) return [characters.join("")];
  const rows: string[] = [];
  for (let at = 0; at < characters.length; at += LONGEST_ROW)
    rows.push(`${at === 0 ? "" : "↪ "}${characters.slice(at, at + LONGEST_ROW).join("")}`);
  return rows;
}

/** What is to run, in the order in which it should be read. */
export function actionElements(asked: Description, clip: Clip, { words }: CardTexts): Element[] {
  const fields = asked.action.flatMap((block) => (block.type === "field" ? fieldLines(block) : []));
  return [
    markdown(`**${escaped(words.tools[asked.tool] ?? words.otherTool(asked.tool))}**`),
    ...asked.action.flatMap((block) => blockElements(block, clip, words)),
    ...(fields.length > 0 ? [markdown(code(clip(fields), "json"))] : []),
  ];
}

function blockElements(block: Block, clip: Clip, words: Texts): Element[] {
  switch (block.type) {
    case "command":
      return [markdown(code(clip(block.lines), "bash"))];
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

/** Why a person is asked, and what else they should know. */
export function reasonElements(asked: Description, clip: Clip, { words }: CardTexts): Element[] {
  const shown = asked.action.flatMap((block) => (block.type === "path" ? [block.given, block.real] : []));
  const targets = asked.writes.filter(({ path, outside }) => outside === true || !shown.includes(path));
  const said = (title: string, lines: readonly string[]) => markdown(`${escaped(title)}\n${code(clip(lines))}`);
  return [
    ...(asked.parts.length > 1
      ? [panel(words.parts, [markdown(code(clip(partLines(asked, words))))], { expanded: asked.parts.length <= 8 })]
      : []),
    ...(targets.length > 0
      ? [
          said(
            words.writes,
            targets.map((one) => targetLine(one, words)),
          ),
        ]
      : []),
    ...(asked.why === ""
      ? []
      : [markdown(`${escaped(words.why)} ${escaped(clip(words.because(asked.why).split("\n")).join("\n"))}`)]),
    ...(asked.hard ? [note(escaped(words.hard))] : []),
    ...(asked.agent.length > 0 ? [note(escaped(words.agent(asked.agent)))] : []),
    ...(asked.words
      ? [
          note(
            `${escaped(words.ownWords)} ${escaped(asked.words.text)}${asked.words.cut > 0 ? `<br>${escaped(words.cut(asked.words.cut))}` : ""}`,
          ),
        ]
      : []),
    ...(asked.characters > 400 ? [note(escaped(words.size(asked.characters, asked.lines)))] : []),
  ];
}

const targetLine = ({ path, outside }: Description["writes"][number], words: Texts) =>
  outside ? `${path}  (${words.leaves})` : path;

const colon = (text: string): string => (text === "" ? "" : `: ${text}`);

function partLines({ parts }: Description, words: Texts): string[] {
  return parts.flatMap(({ text, behavior, reason, asks }) => [
    ...text.split("\n"),
    `  ${asks ? "▸" : "✓"} ${words.behavior[behavior]}${colon(words.because(reason))}`,
  ]);
}

/** All of it as a file: the same blocks, with nothing left out. */
export function actionText(asked: Description, { words }: CardTexts): string {
  const blocks = asked.action.flatMap((block): string[] => {
    switch (block.type) {
      case "command":
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
  return [
    words.tools[asked.tool] ?? words.otherTool(asked.tool),
    "",
    ...blocks,
    "",
    ...(asked.parts.length > 1 ? [words.parts, ...partLines(asked, words), ""] : []),
    ...(asked.writes.length > 0 ? [words.writes, ...asked.writes.map((one) => targetLine(one, words)), ""] : []),
    ...(asked.why === "" ? [] : [words.why, words.because(asked.why)]),
    ...(asked.hard ? [words.hard] : []),
    words.size(asked.characters, asked.lines),
    "",
  ].join("\n");
}
