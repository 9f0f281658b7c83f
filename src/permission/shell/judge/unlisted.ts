import { isAbsolute, resolve } from "node:path";
import { reason } from "../../../protocol/index.ts";
import type { Reason } from "../../../protocol/index.ts";
import type { Reach } from "../../rules/access.ts";
import type { CommandView } from "./command.ts";
import type { JudgedPart } from "./shell.ts";
import { judgeTarget } from "./target-view.ts";
import { gluedTo, namesIn, operandTargets } from "./targets.ts";
import type { Target, Where } from "./targets.ts";
import type { Word } from "../read/word.ts";

/**
 * Parts that ask although a rule allows the program, because what it does with its words is not in our tables: it works in
 * another folder than this one, or is given a protected path. Words that stand in the rule were meant.
 */
export function unlistedParts(
  { program, allowed, rule, words, meant }: CommandView,
  where: Where,
  reach: Reach,
): JudgedPart[] {
  if (!allowed || rule === undefined || program.kind !== "other") return [];
  const given = words.slice(1).filter(({ text }) => text === undefined || !meant.has(text));
  const folders = operandTargets({ readOnly: false, reads: foldersIn(given), writes: [], deep: false }, where);
  const parts = folders.flatMap((target) => judgeTarget(target, reach));
  if (words[0]?.text === "git")
    return [...parts, ...outside(given, where, reach).flatMap((target) => judgeTarget(target, reach))];
  for (const word of given) {
    const spelled = namesIn(word, where);
    // One that a pattern stands for may be called `--eval=…`.
    if (word.glob !== undefined && !word.lead.startsWith("-") && spelled.some((name) => name.startsWith("-"))) {
      const why = reason("file-like-option", {});
      parts.push({ text: where.source(word), behavior: "ask", reason: why, need: { kind: "nothing" } });
    }
    const names = spelled.flatMap(piecesOf);
    const guarded = names.flatMap((name) => where.bases.map((base) => touched(name, base, where, reach))).find(Boolean);
    if (guarded === undefined) continue;
    parts.push({ text: where.source(word), behavior: "ask", reason: guarded, need: { kind: "nothing" } });
    break;
  }
  return parts;
}

/** Git reads and writes files anywhere. A protected one it may be given: it writes those without being given any, too. */
function outside(words: readonly Word[], where: Where, reach: Reach): Target[] {
  const isSaid = (i: number) => /^(-[a-z]*m|--message|--author|--date)$/.test(words[i - 1]?.text ?? "");
  const paths = words.flatMap((word, i): Word[] => {
    if (word.text === undefined || isSaid(i) || isAddress.test(word.text)) return [];
    const names = piecesOf(word.text).filter((name) => !name.startsWith("-"));
    return [...names.map((text) => ({ ...word, text, lead: text })), ...gluedTo(word)];
  });
  const targets = operandTargets({ readOnly: false, reads: paths, writes: [], deep: false }, where);
  return targets.filter(({ paths: led }) => led.some((path) => !reach.inside(path)));
}

const isAddress = /^(?!file:)[a-z][a-z0-9+.-]*:\/\/|^[\w.-]+@[\w.-]+:/i;

/** Why nothing should be written to the path that this may be. */
function touched(name: string, base: string, { disk }: Where, reach: Reach): Reason | undefined {
  const lexical = resolve(base, name);
  let real = lexical;
  try {
    real = disk.follow(isAbsolute(name) ? name : `${base}/${name}`);
  } catch {
    // No path at all, or one that leads nowhere: judged by its name.
  }
  return reach.guarded({ lexical, real });
}

const folderOptions = "--directory --cwd --chdir --prefix --work-tree --git-dir --manifest-path".split(" ");

function foldersIn(words: readonly Word[]): Word[] {
  return words.flatMap((word, i): Word[] => {
    const { text = "" } = word;
    // Abbreviated, or after other letters: `--dir x`, `-kC x`.
    const [, long, given] = /^(--[a-z-]{2,})(?:=([^]*))?$/.exec(text) ?? [];
    const isLong = long !== undefined && folderOptions.some((option) => option.startsWith(long));
    const short = /^-[A-Za-z]{0,3}?C=?([^]*)$/.exec(text)?.[1];
    if (!isLong && short === undefined) return [];
    const value = given ?? short ?? "";
    if (value !== "") return [{ ...word, text: value, lead: value }];
    const next = words[i + 1];
    return next === undefined ? [] : [next];
  });
}

/** A path may be the value of an option or come after a sign. */
function piecesOf(word: string): string[] {
  return [word, ...word.split(/[=@:,]/).slice(1)].filter((piece) => piece !== "" && !piece.includes("\0"));
}
