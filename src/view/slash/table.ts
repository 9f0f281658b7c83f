import { modeWords } from "../../protocol/mode.ts";
import type { SlashTexts } from "../../texts/surfaces/slash.ts";

/** Surfaces on which commands are typed. A terminal before a host that is elsewhere is a terminal. */
export const slashPlaces = ["terminal", "lines", "page", "acp", "feishu"] as const;
export type SlashPlace = (typeof slashPlaces)[number];

/** A command has a text in every language, and a text belongs to a command: either one alone does not compile. */
export type SlashName = keyof SlashTexts["commands"];

export type SlashRight = "look" | "talk" | "approve" | "administer";

/**
 * How a surface comes to what a command does. `host`: `run.ts` does it, the same everywhere. `own`: the surface does it. `picks`: the
 * surface shows a list to choose from, and words after the name are for `run.ts`. `answer`: it is read together with the open request
 * that it answers.
 */
type SlashWay = "host" | "own" | "picks" | "answer";

type SlashEntry = {
  /** Names that other agents have for it. */
  aliases?: readonly string[];
  /** A person needs one of these. The host checks the commands that it gets by itself. */
  right: SlashRight | ((args: string, place: SlashPlace) => SlashRight | readonly SlashRight[]);
  on: Readonly<Partial<Record<SlashPlace, SlashWay>>>;
};

/** `words`: what an argument may be, for completion. */
type Takes = { takes: "optional" | "required"; words?: readonly string[] };
type Table = {
  [K in SlashName]: SlashEntry & (SlashTexts["commands"][K] extends { takes: string } ? Takes : { takes?: never });
};

const everywhere = { terminal: "host", lines: "host", page: "host", acp: "host", feishu: "host" } as const;
const feishu = { feishu: "own" } as const;
const modes = Object.keys(modeWords);

/** Each thing that a person can type, once. In this order help lists it. */
const table = {
  help: { right: "look", on: { ...everywhere, feishu: "own" } },
  inbox: { right: "look", on: { terminal: "host", lines: "host", page: "own", acp: "host" } },
  status: { right: "look", on: { ...everywhere, feishu: "own" } },
  sessions: { right: "look", on: { terminal: "own", lines: "host", page: "own", acp: "host", feishu: "own" } },
  new: {
    aliases: ["clear", "reset"],
    right: "talk",
    takes: "optional",
    on: { terminal: "own", page: "own", feishu: "own" },
  },
  resume: {
    right: (args) => (args === "" ? "talk" : "look"),
    takes: "optional",
    on: { ...everywhere, terminal: "own", feishu: "own" },
  },
  fork: { right: "talk", takes: "optional", on: everywhere },
  rename: { right: "talk", takes: "required", on: everywhere },
  model: {
    // In a chat it begins a session with one of the models that the settings allow.
    right: (args, place) => (place === "feishu" ? "talk" : args === "" ? "look" : "approve"),
    takes: "optional",
    on: { ...everywhere, terminal: "picks", feishu: "own" },
  },
  mode: {
    aliases: ["approvals"],
    right: (args) => (modeNamed(args) === undefined ? "look" : modeNamed(args) === "plan" ? "talk" : "approve"),
    takes: "optional",
    words: modes,
    on: everywhere,
  },
  plan: { right: "talk", takes: "optional", on: everywhere },
  compact: { right: "talk", on: everywhere },
  rewind: {
    aliases: ["undo"],
    right: (args) => (/\byes\b/.test(args) ? "approve" : "look"),
    takes: "optional",
    on: { ...everywhere, terminal: "own" },
  },
  now: { right: "talk", takes: "optional", on: everywhere },
  withdraw: { right: "talk", takes: "optional", on: everywhere },
  revoke: { right: "approve", on: everywhere },
  stop: { aliases: ["interrupt"], right: "talk", on: { ...everywhere, feishu: "own" } },
  // Offered where the commands are processes of this machine.
  tasks: {
    aliases: ["bashes", "ps"],
    right: (args) => (/^(stop|keep)\b/.test(args) ? "talk" : "look"),
    takes: "optional",
    words: ["output", "stop", "keep"],
    on: { terminal: "own", lines: "own" },
  },
  permissions: {
    aliases: ["allowed-tools", "rules"],
    // A chat would show the rules of a person's machine to everybody in it.
    right: (args, place) => (removedRule(args) === undefined && place !== "feishu" ? "look" : "approve"),
    takes: "optional",
    words: ["remove"],
    on: { ...everywhere, terminal: "picks" },
  },
  agents: { right: "look", on: everywhere },
  skills: { right: "look", on: everywhere },
  cost: { aliases: ["usage"], right: "look", on: everywhere },
  export: { right: "look", takes: "optional", on: { terminal: "own", lines: "own" } },
  quit: { aliases: ["exit"], right: "look", on: { terminal: "own", lines: "own" } },

  allow: { right: "approve", takes: "optional", on: { feishu: "answer" } },
  deny: { right: "approve", takes: "optional", on: { feishu: "answer" } },
  answer: { right: "talk", takes: "required", on: { feishu: "answer" } },
  ask: { right: "talk", takes: "required", on: { feishu: "answer" } },
  decline: { right: "talk", on: { acp: "answer" } },

  cd: { right: "talk", takes: "optional", on: feishu },
  agent: { right: (args) => (args === "" ? "talk" : "approve"), takes: "optional", on: feishu },
  timeout: {
    right: (args) => (args === "" ? "talk" : ["approve", "administer"]),
    takes: "optional",
    words: ["off"],
    on: feishu,
  },
  bind: { right: (args) => (args === "" ? "talk" : "administer"), takes: "optional", on: feishu },
  lang: {
    right: (args) => (/^(en|zh)$/.test(args) ? "administer" : "talk"),
    takes: "required",
    words: ["en", "zh"],
    on: feishu,
  },
  invite: { right: "administer", takes: "required", on: feishu },
  approver: { right: "administer", takes: "required", on: feishu },
  doctor: { right: "administer", on: feishu },
} as const satisfies Table;

export const slashNames = Object.keys(table) as SlashName[];

/** Commands that a surface comes to in these ways: it handles each of them, or does not compile. */
type NamesOn<P extends SlashPlace, W extends SlashWay> = {
  [K in SlashName]: (typeof table)[K]["on"] extends { readonly [at in P]: infer Found }
    ? Found extends W
      ? K
      : never
    : never;
}[SlashName];
export type OwnSlash<P extends SlashPlace> = NamesOn<P, "own" | "picks">;
export type AnswerSlash<P extends SlashPlace> = NamesOn<P, "answer">;
export type HostSlash = { [P in SlashPlace]: NamesOn<P, "host" | "picks"> }[SlashPlace];

export function entryOf(name: SlashName): SlashEntry & Partial<Takes> {
  return table[name];
}

export function modeNamed(args: string) {
  const word = args.toLowerCase();
  return Object.hasOwn(modeWords, word) ? modeWords[word] : undefined;
}

/** The rule that `/permissions remove …` names. */
export function removedRule(args: string): string | undefined {
  return /^remove\s+(.+)$/s.exec(args)?.[1];
}
