import type { Host } from "../../protocol/host/host.ts";
import { ask } from "../../protocol/host/ask.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { RewindTexts } from "../../texts/commands/rewind.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { SlashTexts } from "../../texts/surfaces/slash.ts";
import type { Offer } from "./read.ts";
import type { OwnSlash, SlashPlace, SlashRight } from "./table.ts";

/** Texts of one language. A surface whose readers have several asks for each. */
export type SlashWords = {
  t: Texts;
  slash: SlashTexts;
  rewind: RewindTexts;
  /** Stands above the commands in `/help`. */
  intro?: readonly string[];
};

/** A person at a surface, with a session before them. */
export type Typist<P extends SlashPlace = SlashPlace> = {
  host: Host;
  session: string;
  sender: Sender;
  offer: Offer<P>;
  mode(): SessionMode;
  /** Where the surface knows what a person may do. The host checks it in any case. */
  may?(right: SlashRight): boolean;
};

export type Told = (words: SlashWords) => readonly string[];

export type Outcome<P extends SlashPlace = SlashPlace> =
  /** The surface does it. */
  | { type: "own"; name: OwnSlash<P>; args: string }
  /** It is about an open request, and none asks for an answer. */
  | { type: "told"; tone: "dim" | "danger"; told: Told }
  /** A fact tells it, where facts are shown; `told` is for surfaces that show none. */
  | { type: "done"; told: Told }
  /** Words of the person that come back to them, to be written anew. */
  | { type: "back"; words: string; told: Told }
  /** A message to the agent follows. */
  | { type: "say"; text: string; told: Told }
  /** The person continues in this session. */
  | { type: "go"; session: string };

/** An outcome that the host's part of a command comes to. */
export type HostOutcome = Exclude<Outcome, { type: "own" }>;
export type Run = (args: string, typist: Typist) => Promise<HostOutcome>;

export function told(lines: Told, tone: "dim" | "danger" = "dim"): Outcome & { type: "told" } {
  return { type: "told", tone, told: lines };
}

/** Opens a session like this one: in its folder, with the model that was chosen for it. */
export async function openLike({ host, session }: Pick<Typist, "host" | "session">, { byName }: { byName: boolean }) {
  const { session: old, folders } = await ask(host, { type: "about", session });
  const cwd = old?.cwd ?? "";
  // From elsewhere a folder is called by its name.
  const folder = byName ? (folders.find((one) => one.cwd === cwd)?.name ?? cwd) : cwd;
  const model = old?.chosen === undefined ? {} : { model: old.chosen };
  return (await ask(host, { type: "open", cwd: folder, ...model })).session;
}
