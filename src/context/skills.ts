import { basename, dirname } from "node:path";
import { readSlash } from "../base/name.ts";
import type { InjectedSkill } from "../protocol/facts/fact.ts";
import type { Message } from "../protocol/facts/message.ts";
import { type Reason, reason, reasonOf } from "../protocol/reasons/reason.ts";
import * as z from "../base/z.ts";
import { type OwnCommand, sayCommand } from "./commands.ts";
import { type ContentFile, unfit } from "./content.ts";
import { frontMatter, nameField, nameFrom, toolsField } from "./front-matter.ts";

/** A way of doing something, written down for agents. */
export type Skill = {
  name: string;
  description: string;
  whenToUse: string;
  /** Tools that may be used while the skill is in use; the list narrows and never grants. */
  allowedTools: "all" | readonly string[];
  /** A person may say `/name`. */
  userInvocable: boolean;
  /** Decides between skills that fit equally well. */
  priority: number;
  /** The folder that it may have other files in. */
  folder: string;
  body: string;
};

const schema = z.object({
  name: nameField.optional(),
  description: z.string().trim().min(1),
  when_to_use: z.string().default(""),
  allowed_tools: toolsField.optional(),
  user_invocable: z.boolean().default(true),
  priority: z.number().min(0).max(100).default(50),
});

/** The first of two with the same name counts. One that cannot be understood is reported and skipped. */
export function readSkills(files: readonly ContentFile[]): { skills: Skill[]; problems: Reason[] } {
  const skills = new Map<string, Skill>();
  const problems: Reason[] = [];
  for (const file of files) {
    try {
      const skill = readSkill(file);
      if (skills.has(skill.name)) throw unfit(reason("name-taken", { kind: "skill", name: skill.name }));
      skills.set(skill.name, skill);
    } catch (error) {
      problems.push(reason("file-left-out", { path: file.path, problem: reasonOf(error) }));
    }
  }
  const order = (a: Skill, b: Skill) => b.priority - a.priority || (a.name < b.name ? -1 : 1);
  return { skills: [...skills.values()].sort(order), problems };
}

function readSkill(file: ContentFile): Skill {
  const { fields, body } = frontMatter(file, schema);
  const folder = dirname(file.path);
  return {
    name: fields.name ?? nameFrom(basename(folder)),
    description: fields.description,
    whenToUse: fields.when_to_use,
    allowedTools: fields.allowed_tools ?? "all",
    userInvocable: fields.user_invocable,
    priority: fields.priority,
    folder,
    body,
  };
}

/** Two words in common are the least that is more than chance. */
const FITS = 2;

/** The skill whose description has most in common with what was said, if any has enough. */
export function findBestMatch(skills: readonly Skill[], text: string): Skill | undefined {
  const said = significantWords(text);
  let best: { skill: Skill; score: number } | undefined;
  for (const skill of skills) {
    const about = significantWords(`${skill.name} ${skill.description} ${skill.whenToUse}`);
    const common = [...about].filter((word) => said.has(word)).length;
    const score = common + skill.priority / 101; // less than one word
    if (common >= FITS && score > (best?.score ?? 0)) best = { skill, score };
  }
  return best?.skill;
}

/** Sage offers the skill that fits, or puts its text into the prompt. */
export type SkillMatching = "offer" | "inject";

/** A skill for what the person said last, or else the agent, not yet in the conversation. Nobody chose it, so it narrows no tools. */
export function skillForStep(
  skills: readonly Skill[],
  { said, doing, messages }: { said: string; doing: string; messages: readonly Message[] },
): InjectedSkill | undefined {
  for (const about of [said, doing]) {
    const fits = findBestMatch(skills, about);
    if (!fits) continue;
    const text = loadedText(fits);
    if (!isIn(messages, fits.name, text)) return { name: fits.name, text };
  }
  return undefined;
}

/** Loaded by the tool, or put there at an earlier step. */
function isIn(messages: readonly Message[], name: string, text: string): boolean {
  return messages.some((message) => {
    if (message.role === "user") return message.text === text;
    if (message.role !== "assistant") return false;
    return message.parts.some((part) => part.type === "call" && part.tool === "Skill" && part.input["skill"] === name);
  });
}

function loadedText({ name, folder, body }: Skill): string {
  const text = body.replaceAll("$ARGUMENTS", "what the person asked for");
  return `(From Sage, not from the person: the skill "${name}" fits, and its text follows. Its folder: ${folder})\n\n${text}`;
}

/** The message by which the model reads it. Live and folded it is the same. */
export function skillMessages(skill: InjectedSkill | undefined): Message[] {
  return skill ? [{ role: "user", text: skill.text }] : [];
}

/** Text that the model reads in place of a message; undefined where the message says it all. Recorded with it, so it stays the same. */
export function expandMessage(
  {
    skills,
    commands,
    matching = "offer",
  }: { skills: readonly Skill[]; commands: readonly OwnCommand[]; matching?: SkillMatching },
  text: string,
): string | undefined {
  const { name, args = "" } = readSlash(text) ?? {};
  const command = commands.find((command) => command.name === name);
  if (command) return sayCommand(command, args);
  const called = skills.find((skill) => skill.name === name && skill.userInvocable);
  if (called)
    return `${text}\n\n(From Sage: the person calls the skill "${called.name}"${args === "" ? "" : " with the arguments that follow its name"}. Load it with the Skill tool${args === "" ? "" : ", passing these arguments on,"} and do what it says.)`;
  const fits = matching === "offer" ? findBestMatch(skills, text) : undefined;
  return (
    fits &&
    `${text}\n\n(From Sage: the skill "${fits.name}" may fit. If it does, load it with the Skill tool before you begin.)`
  );
}

const common = new Set(
  (
    "a about all also an and any are as at be but by can code do does file files for from have how if in into is it its me my not of on or " +
    "please should so some that the them then there these this to up use used using want was we what when where which will with you your"
  ).split(" "),
);

/** Topics of a text, for a rough comparison: words without their endings, and pairs of characters where words have no spaces. */
function significantWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const word of text.toLowerCase().match(/[\p{Script=Latin}\p{N}]{2,}/gu) ?? [])
    if (!common.has(word)) words.add(word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, "") : word);
  for (const run of text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2,}/gu) ?? []) {
    const characters = [...run];
    for (let n = 1; n < characters.length; n++) words.add(`${characters[n - 1]}${characters[n]}`);
  }
  return words;
}
