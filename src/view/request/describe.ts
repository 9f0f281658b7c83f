import { canonicalJson } from "../../base/canonical-json.ts";
import { splitLines, visible } from "../../base/visible.ts";
import type { RuleDestination } from "../../protocol/decision.ts";
import type { Preview } from "../../protocol/facts/call.ts";
import type { CallPart, PermissionSuggestion, WriteTarget } from "../../protocol/facts/permission.ts";
import type { PermissionRequest } from "../../protocol/facts/request.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import { reason, reasonFrom, type Reason } from "../../protocol/reasons/reason.ts";
import { hunksFrom, hunksOf, pieceHunks, type Hunk } from "../items/change.ts";
import { dangersOf, type Danger } from "./danger.ts";
import { near, nearReason } from "../items/near.ts";

/** A permission request in reading order, the same on every surface, made from the input that will run. Its texts are safe to draw. */
export type Description = {
  tool: string;
  action: Block[];
  /** Of what will run (the command, the content; else all of the input) before anything was made visible. */
  characters: number;
  lines: number;
  parts: DescribedPart[];
  writes: WriteTarget[];
  leavesWorkspace: boolean;
  why: Reason;
  /** How it will run, where commands are confined or could be. */
  runs?: Reason;
  dangers: Danger[];
  /** Only a person may allow it. */
  hard: boolean;
  /** Names of the agents from the root's child down to the asker. */
  agent: string[];
  /** The agent's own words about its call, which nobody has checked. */
  words?: { text: string; /** Characters left out at the end. */ cut: number };
};

/** More than fits on a screen: its size is worth a word. */
export function isLong({ characters, lines }: Pick<Description, "characters" | "lines">): boolean {
  return lines > 20 || characters > 2_000;
}

/** A block of a description, in the order to draw them. */
export type Block =
  | { type: "command"; lines: string[] }
  /** A plan to approve, in Markdown. */
  | { type: "plan"; lines: string[] }
  /** `real` only where it is another path than the one given. */
  | { type: "path"; given: string; real?: string }
  | { type: "change"; hunks: Hunk[] }
  | { type: "omitted"; why: NonNullable<Preview["omitted"]> }
  /** The rest of the input, as canonical JSON. */
  | { type: "field"; name: string; lines: string[]; /** It changes nothing about what happens. */ minor?: true };

/** A part of a call. `asks`: this part is why a person is asked. */
export type DescribedPart = { text: string; behavior: CallPart["behavior"]; reason: Reason; asks: boolean };

const MAX_WORDS_LENGTH = 300;

/** Describes what a permission is asked for, safe to draw: no character of it hides or steers the terminal. */
export function describeRequest(request: PermissionRequest, { cwd }: { cwd?: string | undefined } = {}): Description {
  const { tool, why, hard, agent, description } = request;
  const { action, raw } = actionOf(request, cwd);
  const writes = writesOf(request);
  return {
    tool: visibleLine(tool),
    action,
    characters: raw.reduce((sum, text) => sum + [...text].length, 0),
    lines: raw.reduce((sum, text) => sum + splitLines(text).length, 0),
    parts: (request.parts ?? []).map(({ text, behavior, reason }) => ({
      text: visible(text),
      behavior,
      reason: visibleReason(nearReason(reason, cwd)),
      asks: behavior !== "allow",
    })),
    writes: writes.map((target) => ({ ...target, path: visibleLine(near(target.path, cwd)) })),
    leavesWorkspace: writes.some(({ outside }) => outside),
    why: visibleReason(nearReason(why, cwd)),
    ...runsOf(request),
    dangers: dangersOf(request),
    hard: hard && tool !== PLAN_TOOL, // every plan is: no warning
    agent: agent.map((name) => visibleLine(name)),
    ...(description !== undefined && { words: cut(description) }),
  };
}

function runsOf({ confined, spared }: PermissionRequest): { runs?: Reason } {
  if (confined === "outside") return { runs: reason("will-run-outside", {}) };
  if (confined) return { runs: visibleReason(reason("will-run-confined", confined)) };
  return spared ? { runs: reason("could-run-confined", {}) } : {};
}

/** `raw` is what the counts are of. A field that no block is made for is shown as JSON: nothing of the input is left out. */
function actionOf(
  { tool, input, description, preview }: PermissionRequest,
  cwd: string | undefined,
): { action: Block[]; raw: string[] } {
  const rest = { ...input };
  const action: Block[] = [];
  const raw: string[] = [];
  const take = (field: string): string | undefined => {
    const value = rest[field];
    if (typeof value !== "string") return undefined;
    delete rest[field];
    return value;
  };
  if (tool === "Bash") {
    if (rest["description"] === description) delete rest["description"]; // shown as the agent's words
    const command = take("command");
    if (command !== undefined) {
      raw.push(command);
      action.push({ type: "command", lines: visible(command).split("\n") });
    }
  }
  const plan = tool === PLAN_TOOL ? take("plan") : undefined;
  if (plan !== undefined) {
    raw.push(plan);
    action.push({ type: "plan", lines: visible(plan).split("\n") });
  }
  if (tool === "Edit" || tool === "Write") {
    const given = take("file_path");
    if (given !== undefined) {
      const shown = near(given, cwd);
      const real = near(preview?.path ?? given, cwd);
      const same = real === shown || real === shown.replace(/^\.\//, "") || real === given;
      action.push({ type: "path", given: visibleLine(shown), ...(!same && { real: visibleLine(real) }) });
    }
    const [gone, come] = [take("old_string"), take(tool === "Edit" ? "new_string" : "content")];
    raw.push(...[gone, come].filter((text) => text !== undefined));
    action.push(...previewBlocks(preview, gone, come, tool === "Write"));
  }
  if (preview?.of === "tool") action.push({ type: "change", hunks: hunksOf(preview) });
  const main = raw.length > 0;
  for (const [name, value] of Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const json = canonicalJson(value);
    if (!main) raw.push(json);
    const minor = isMinor(tool, name, value) ? { minor: true as const } : {};
    action.push({ type: "field", name: visibleLine(name), lines: visible(json).split("\n"), ...minor });
  }
  return { action, raw };
}

/** Fields of our own tools that say nothing about what the call does. */
function isMinor(tool: string, name: string, value: unknown): boolean {
  if (tool === "Bash") return name === "timeout" || (name === "background" && value === false);
  return tool === "Edit" && name === "replace_all" && value === false;
}

/** Every text among the arguments made visible, so that a sentence written with them is safe to draw. */
function visibleReason(stored: Reason | string): Reason {
  const reason = reasonFrom(stored);
  // Free text has lines of its own; a sentence of ours breaks only where we break it.
  const seen = reason.code === "said" ? visible : visibleLine;
  const shown = (value: unknown): unknown => {
    if (typeof value === "string") return seen(value);
    if (Array.isArray(value)) return value.map(shown);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(inner)]));
  };
  return shown(reason) as Reason;
}

/** For what is one line wherever it is drawn: a line break would leave its margin. */
function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "‹U+000A›");
}

/** The preview; where it has no lines, what the call itself says about the change. */
function previewBlocks(
  preview: Preview | undefined,
  gone: string | undefined,
  come: string | undefined,
  whole: boolean,
): Block[] {
  if (preview && preview.lines.length > 0) return [{ type: "change", hunks: hunksOf(preview) }];
  const omitted: Block[] = preview?.omitted ? [{ type: "omitted", why: preview.omitted }] : [];
  const hunks = whole ? hunksFrom(gone ?? "", come ?? "") : pieceHunks(gone ?? "", come ?? "");
  return preview?.omitted === "same" || hunks.length === 0 ? omitted : [...omitted, { type: "change", hunks }];
}

function writesOf({ parts = [], preview }: PermissionRequest): WriteTarget[] {
  const known = new Map(parts.flatMap(({ writes = [] }) => writes).map((target) => [target.path, target]));
  if (preview && preview.of === undefined && !known.has(preview.path))
    known.set(preview.path, { path: preview.path, ...(preview.outside && { outside: true }) });
  return [...known.values()];
}

function cut(text: string): { text: string; cut: number } {
  const characters = [...text];
  return {
    text: visible(characters.slice(0, MAX_WORDS_LENGTH).join("")),
    cut: Math.max(0, characters.length - MAX_WORDS_LENGTH),
  };
}

/** A rule that may be kept from now on, and where. */
export type Offer = {
  rule: string;
  behavior: PermissionSuggestion["behavior"];
  note?: Reason;
  together?: true;
  places: { destination: RuleDestination; file?: string }[];
};

/** The rules of a request that may be added, each with the places for it. */
export function offersOf({ suggestions }: PermissionRequest): Offer[] {
  const offers: Offer[] = [];
  for (const { type, rule, behavior, note, together, destination, file } of suggestions) {
    if (type !== "addRule") continue;
    let offer = offers.find((candidate) => candidate.rule === rule && candidate.behavior === behavior);
    const more = { ...(note !== undefined && { note: visibleReason(note) }), ...(together && { together }) };
    if (!offer) offers.push((offer = { rule, behavior, ...more, places: [] }));
    offer.places.push({ destination, ...(file !== undefined && { file }) });
  }
  return offers;
}

/** The rules that "always" keeps when nothing else is said: those that are needed together, else the first. */
export function neededOf(offers: readonly Offer[]): Offer[] {
  const together = offers.filter((offer) => offer.together);
  return together.length > 0 ? together : offers.slice(0, 1);
}
