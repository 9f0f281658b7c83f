import type { OutcomeStatus, TurnError } from "../../../protocol/facts/outcome.ts";
import type { Named } from "../../../protocol/host/about.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import type { Lang } from "../../../texts/language.ts";
import type { OwnSlash } from "../../../view/slash/table.ts";
import type { ThemeSetting } from "../draw/theme.ts";
import type { Terminal as Device } from "../draw/tui.ts";
import type { PickerEntry } from "./picker.ts";

/** A choice came to a text to show, another session, a text for the editor (a draft only if that is empty), or the next list. */
export type Picked =
  | { text: string }
  | { session: string }
  | { write: string }
  | { draft: string }
  | { pick: Picking }
  | void;

/** A list to choose from; without `load`, a text to type. Whatever `choose` and `typed` throw is shown in the picker, which stays. */
export type Picking = {
  title: string;
  placeholder?: string;
  /** Stands in the field at first. */
  query?: string;
  /** Shows the list, once or as it grows. */
  load?(
    show: (list: { entries: readonly PickerEntry[]; loading?: boolean; note?: string }) => void,
    signal: AbortSignal,
  ): void | Promise<void>;
  choose?(entry: PickerEntry): Promise<Picked>;
  typed?(text: string): Promise<Picked>;
};

/** Commands that need more than a surface knows; undefined where impossible, as with processes on another machine. */
export type TerminalActs = {
  [K in Exclude<OwnSlash<"terminal">, "quit">]: ((args: string) => Promise<Picked>) | undefined;
};

type Place = { folder: string; branch?: string };

/** Data for the foot. */
export type StatusInfo = Partial<Place> & {
  session: string;
  model: string;
  mode: SessionMode;
  title: string;
  /** Tokens of the last prompt and its reply, and how many fit. */
  contextTokens: number;
  contextWindow: number | undefined;
  usd: number;
  unpriced: boolean;
  /** How commands are confined; absent where they are not. */
  sandbox?: "contain" | "autoAllow";
};

export type TerminalOptions = {
  session: string;
  lang: Lang;
  /** The person's name. */
  by: string;
  /** The surface that the host records for them, where it is the host that says so. */
  surface?: string;
  /** Stands at the top. */
  header: string;
  /** Stands at the bottom, until another one is chosen. */
  model: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Folder in which the library logs its own errors. */
  logDirectory: string;
  theme?: ThemeSetting;
  /** Keys of the editor. */
  editor?: "default" | "vim";
  /** Folder and branch, as the foot names them. */
  place?(): Place;
  /** Tokens that fit into a prompt of this model. */
  window?(model: string): number;
  /** The person's own foot; undefined until there is one. `changed` is called whenever it has become another. */
  /** How commands are confined, where they are. */
  sandbox?: "contain" | "autoAllow";
  statusLine?(info: StatusInfo, changed: () => void): string | undefined;
  /** The terminal of this process, unless another one is given. */
  device?: Device;
  /** The first message. Without one, a turn that was left open continues. */
  task?: string | undefined;
  /** Ends with the turn instead of asking what is next. */
  once?: boolean;
  acts?: TerminalActs;
  /** Called before the person goes on to another session. */
  ready?(session: string): Promise<unknown>;
  /** Own commands, skills and prompts of servers. */
  own?(): readonly Named[];
  /** Messages sent in this project, oldest first, and where new ones are kept. */
  history?: { load(): readonly string[]; add(text: string): void };
  files?(query: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Runs a command in the person's own name. `told` is what others may read of what it printed. */
  shell?(
    command: string,
    options: { output(text: string): void; signal: AbortSignal },
  ): Promise<{ code: number; told: string }>;
  /** Opens the person's editor on a text and hands it the terminal. */
  edit?(text: string): Promise<string>;
  /** The picture in the clipboard, as a file to name in a message. */
  clipboard?(): Promise<{ path: string } | { problem: "no-image" | "no-program" }>;
  /** The person's own notification command. */
  notify?(text: string): Promise<void>;
  /** Suspends the process until the person resumes it. */
  sleep?(): Promise<void>;
  signal: AbortSignal;
};

export type TerminalEnd = {
  /** Why it ended: /quit, Ctrl-C, the end of the turn or the terminal, no turn can begin, or another session. */
  why: "left" | "interrupted" | "ended" | "failed" | "switched";
  waiting: number;
  last: OutcomeStatus | undefined;
  /** The session to continue. */
  session?: string;
};

export type Terminal = {
  done: Promise<TerminalEnd>;
  /** Interrupts as Ctrl-C does. */
  interrupt(): void;
  /** No turn can begin: report that and end. */
  failed(error: TurnError): void;
};
