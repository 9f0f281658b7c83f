import { closest, readSlash } from "../../base/name.ts";
import { oneLine } from "../../base/visible.ts";
import type { Named, SessionAbout } from "../../protocol/host/about.ts";
import type { CommandReply } from "../../protocol/host/host.ts";
import type { SlashTexts } from "../../texts/surfaces/slash.ts";
import { entryOf, slashNames, type SlashName, type SlashPlace, type SlashRight } from "./table.ts";

/** Everything that can be typed at one surface now. */
export type Offer<P extends SlashPlace = SlashPlace> = {
  place: P;
  /** False for a command that the surface cannot do at present, such as one that needs the session's machine. */
  has?(name: SlashName): boolean;
  /** Own commands, skills and prompts of servers. The host knows them, and reads them. */
  own?(): readonly Named[];
};

/** A command as it was typed. */
export type TypedSlash = { name: SlashName; args: string };

/** The names that work there, in their order. */
export function offeredAt({ place, has = () => true }: Offer): SlashName[] {
  return slashNames.filter((name) => {
    const way = entryOf(name).on[place];
    return way !== undefined && (way !== "own" || has(name));
  });
}

/** A text without the wide slash that a Chinese keyboard writes. */
export function withSlash(text: string): string {
  return text.replace(/^\s*／/, "/");
}

/** Parses a command; undefined for a message or a custom command. Built-in names come first, then custom ones, then aliases. */
export function readTypedSlash(text: string, offer: Offer): TypedSlash | undefined {
  const typed = readSlash(withSlash(text));
  if (!typed) return undefined;
  const word = typed.name.toLowerCase();
  const names = offeredAt(offer);
  const named = names.find((name) => name === word);
  if (named) return { name: named, args: typed.args };
  if (offer.own?.().some(({ name }) => name === typed.name)) return undefined;
  const meant = names.find((name) => entryOf(name).aliases?.includes(word));
  return meant && { name: meant, args: typed.args };
}

/** It was typed under another name than its own. */
export function isAlias({ name }: TypedSlash, text: string): boolean {
  return readSlash(withSlash(text))?.name.toLowerCase() !== name;
}

/** Why a message that looked like a command was not taken; undefined where that is not the reason. */
export function unknownSlash(reply: CommandReply, text: string, offer: Offer, w: SlashTexts): string | undefined {
  const name = readSlash(withSlash(text))?.name;
  if (reply.ok || name === undefined || reply.reason?.code !== "command-unknown") return undefined;
  const names = [...offeredAt(offer), ...(offer.own?.() ?? []).map((own) => own.name)];
  return w.unknown(oneLine(name), closest(name.toLowerCase(), names));
}

/** Custom names reported by the host: commands, skills and prompts of servers. */
export function ownNames({ commands, skills, prompts = [] }: Partial<SessionAbout> = {}): Named[] {
  return [...(commands ?? []), ...(skills ?? []).filter(({ invocable }) => invocable), ...prompts];
}

/** The right that this person lacks for it, if they do. */
export function lackedRight(
  { name, args }: TypedSlash,
  place: SlashPlace,
  may: (right: SlashRight) => boolean,
): Exclude<SlashRight, "look"> | undefined {
  const { right } = entryOf(name);
  const needed = typeof right === "function" ? right(args, place) : right;
  const any = typeof needed === "string" ? [needed] : needed;
  const last = any.at(-1);
  return last === undefined || last === "look" || any.some(may) ? undefined : last;
}

type SlashLine = { name: string; takes?: string; does: string; own: boolean };

/** Commands in the order of a list: built-in ones, then the person's own. */
export function slashLines(offer: Offer, w: SlashTexts): SlashLine[] {
  const names = offeredAt(offer);
  const own = (offer.own?.() ?? []).filter(({ name }) => !names.includes(name as SlashName));
  return [
    ...names.map((name) => {
      const { does, takes }: { does: string; takes?: string } = w.commands[name];
      const needed = entryOf(name).takes === "required";
      return { name, does, own: false, ...(takes !== undefined && { takes: needed ? `<${takes}>` : `[${takes}]` }) };
    }),
    ...own.map(({ name, description }) => ({ name: oneLine(name), does: oneLine(description), own: true })),
  ];
}

/** Everything that can be typed, as lines of text. */
export function helpLines(offer: Offer, w: SlashTexts): string[] {
  const lines = slashLines(offer, w).map(({ name, takes, does }) => {
    const typed = [`/${name}`, ...(takes === undefined ? [] : [takes])].join(" ");
    return `${typed.padEnd(18)} ${does}`;
  });
  return [...lines, ...(offer.own ? [] : [w.ownCommands])];
}

/** `text` stands in place of everything that was typed. */
export type Completion = { text: string; label: string; hint: string };

const MAX_COMPLETIONS = 20;

/** Completes a name, or the word after one. */
export function completeSlash(typed: string, offer: Offer, w: SlashTexts): Completion[] {
  const found = /^\s*[/／]([\p{L}\p{N}_:-]*)(?:[ \t]+([^\s@]*))?$/u.exec(typed);
  if (!found) return [];
  const [, name = "", after] = found;
  if (after !== undefined) {
    const command = readTypedSlash(`/${name}`, offer);
    if (!command) return [];
    const { words = [] } = entryOf(command.name);
    const hint = w.commands[command.name].does;
    return words
      .filter((word) => word.startsWith(after) && word !== after)
      .map((word) => ({ text: `/${name} ${word} `, label: word, hint }));
  }
  const query = name.toLowerCase();
  return slashLines(offer, w)
    .map((line) => ({ line, rank: rankOf(line.name, query) }))
    .filter(({ rank }) => rank < 3)
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_COMPLETIONS)
    .map(({ line }) => ({ text: `/${line.name} `, label: `/${line.name}`, hint: line.does }));
}

/** Sorting is stable, so that custom commands follow built-in ones of the same rank. */
function rankOf(name: string, query: string): number {
  const word = name.toLowerCase();
  if (word.startsWith(query)) return 0;
  if (
    slashNames.includes(name as SlashName) &&
    entryOf(name as SlashName).aliases?.some((alias) => alias.startsWith(query))
  )
    return 1;
  let at = 0;
  for (const letter of word) if (letter === query[at]) at++;
  return at === query.length ? 2 : 3;
}
