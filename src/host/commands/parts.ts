import type { Silence } from "../../input/ask.ts";
import type { Executor } from "../../agent/turn/execution.ts";
import type { Awaitable, SessionRow, Store } from "../../journal/store.ts";
import type { Command, CommandReply, Sender } from "../../protocol/index.ts";
import type { Runner } from "../run/runner.ts";

export type CommandParts = {
  store: Store;
  version: string;
  /** Text that the model reads in place of a message, if it is another. */
  expand(session: SessionRow, text: string): Awaitable<string | undefined>;
  /** Folder of the session's kept files. */
  keepDir(session: SessionRow): string | undefined;
  runner: Runner;
  executor(session: SessionRow): Promise<Executor>;
  /** See `PersonOf` of the guard. */
  personOf: ((sender: Sender) => string | null | undefined) | undefined;
  /** What the settings say of requests from outside that nobody answers. */
  silence: Silence | undefined;
  /** Is a surface of this process attached to the session? */
  watched(session: string): boolean;
  /** Does this or another process run it? */
  isRunning(session: string): boolean;
  /** Aborted when the host lets go of everything. */
  leaving: AbortSignal;
};

type Reply<C extends Command["type"]> = Exclude<CommandReply<C>, { ok: false }>;

/** Handlers of some commands. A refusal is thrown. */
export type Handlers<T extends Command["type"]> = {
  [C in T]: (command: Extract<Command, { type: C }>) => Reply<C> | Promise<Reply<C>>;
};
