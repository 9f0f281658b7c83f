import type { OutsideSettings } from "../../input/outside.ts";
import type { Executor } from "../../agent/turn/execution.ts";
import type { Awaitable, SessionRow, Store } from "../../journal/store/store.ts";
import type { Anchors } from "../../config/home/anchors.ts";
import type { Home } from "../../config/home/home.ts";
import type { RuleGrant, RuleRemoval } from "../../protocol/facts/answer.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import type { SessionAbout, WorkFolder } from "../../protocol/host/about.ts";
import type { Command, CommandReply } from "../../protocol/host/host.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { Runner } from "../run/runner.ts";

export type CommandParts = {
  store: Store;
  version: string;
  /** Text that the model reads in place of a message, if it is another. */
  expand(session: SessionRow, text: string): Awaitable<string | undefined>;
  /** Folder of the session's kept files. */
  keepDir(session: SessionRow): string | undefined;
  /** Rules in force where a session works. */
  rulesIn(session: SessionRow): readonly Rule[];
  runner: Runner;
  executor(session: SessionRow): Promise<Executor>;
  /** See `PersonOf` of the guard. */
  personOf: ((sender: Sender) => string | null | undefined) | undefined;
  /** Settings for requests from outside that nobody answers. */
  silence: OutsideSettings | undefined;
  /** Is a surface of this process attached to the session? */
  watched(session: string): boolean;
  /** Has a reply to the request under way begun, as far as this process knows? */
  isReplying(session: string): boolean;
  /** Does this or another process run it? */
  isRunning(session: string): boolean;
  home: HostHome | undefined;
  surroundings: Surroundings | undefined;
  /** Settings files of the folder that a session works in. */
  rulesKept: RulesKept | undefined;
  /** Asks the machines on which output is kept. */
  keptElsewhere: ((command: Extract<Command, { type: "output" }>) => Promise<Reply<"output">>) | undefined;
  leaving: AbortSignal;
};

/** Where a host keeps files next to the journal. */
export type HostHome = Pick<Home, "settings" | "output"> & {
  /** The folder of Sage's own state, where it is not in the usual place. */
  dir: string | undefined;
  /** Records outside of the journal that prove it. */
  anchors(): Anchors;
};

export type RulesKept = {
  /** Writes a rule to a settings file and returns its path. */
  saveRule(session: SessionRow, grant: RuleGrant): string;
  /** Removes a rule from a settings file and returns its path; undefined if it is not there. */
  dropRule(session: SessionRow, removal: RuleRemoval): string | undefined;
};

/** Everything about a session's folder and models that is not in the journal: provided by the host's creator. */
export type Surroundings = RulesKept & {
  /** Folders in which remote people may open sessions. */
  folders?(): WorkFolder[];
  about(session: SessionRow, options: { prompts: boolean }): Awaitable<SessionAbout>;
  /** Loads a model and returns the name that the session stores. `checked`: refused if its provider does not list the model. */
  model(session: SessionRow, spec: string, options: { checked: boolean }): Promise<string>;
  providers(): Promise<string[]>;
  modelsOf(provider: string): Promise<string[]>;
};

/** A part that this host was not given is refused, not made up. */
export function given<T>(part: T | undefined, command: Command["type"]): T {
  if (part === undefined) throw new SageError("input-invalid", reason("not-here", { command }));
  return part;
}

export type Reply<C extends Command["type"]> = Exclude<CommandReply<C>, { ok: false }>;

/** Handlers of some commands. A refusal is thrown. */
export type Handlers<T extends Command["type"]> = {
  [C in T]: (command: Extract<Command, { type: C }>) => Reply<C> | Promise<Reply<C>>;
};
