import { randomUUID } from "node:crypto";
import { existingSession } from "../journal/session/existing-session.ts";
import { isRetryable, untilWritten } from "../journal/store/retry.ts";
import type { Command, CommandReply, Host } from "../protocol/host/host.ts";
import { refusalOf } from "../protocol/host/refusal.ts";
import type { SageError } from "../protocol/reasons/error.ts";
import { surroundingsCommands } from "./commands/surroundings.ts";
import type { CommandParts, Handlers } from "./commands/parts.ts";
import { checkTaken, outsideCommands } from "./commands/requests/outside.ts";
import { pastCommands } from "./commands/past.ts";
import { requestCommands } from "./commands/requests/request.ts";
import { rewindCommands } from "./commands/rewind.ts";
import { ruleCommands, trialCommands } from "./commands/requests/rule.ts";
import { sayCommands } from "./commands/say.ts";
import { sessionCommands } from "./commands/session.ts";
import { turnCommands } from "./commands/turn.ts";

/** Time for which a command is tried on a journal that another process keeps busy. */
const BUSY_MS = 30_000;

type Given = Omit<CommandParts, "isRunning"> & {
  /** Throws when the sender may not do this. */
  check: ((command: Command) => void) | undefined;
};

/** Handlers, by command of a surface. */
export function createCommands({ check, ...given }: Given): Host["send"] {
  const { store, runner, leaving } = given;
  const parts: CommandParts = {
    ...given,
    isRunning: (session) => runner.of(session) !== undefined || existingSession(store, session).owned,
  };
  const turns = turnCommands(parts);
  const handlers: Handlers<Command["type"]> = {
    ...sessionCommands(parts),
    ...sayCommands(parts),
    ...requestCommands(parts),
    ...turns,
    ...rewindCommands(parts, turns.interrupt),
    ...ruleCommands(parts),
    ...surroundingsCommands(parts),
    ...outsideCommands(parts),
    ...pastCommands(parts),
    ...trialCommands(parts),
  };

  return async (command) => {
    try {
      check?.(command);
      checkTaken(command);
      const handle = handlers[command.type] as unknown as (
        c: typeof command,
      ) => Promise<CommandReply<(typeof command)["type"]>>;
      const giveUp = performance.now() + BUSY_MS;
      // Said under one name however often it is tried: a database elsewhere may have written it and lost the reply.
      const once = command.type === "say" ? { id: randomUUID(), ...command } : command;
      // Nothing of it was recorded: on a busy journal it is simply tried again. A full disk is for a person to know about.
      const failed = ({ code }: SageError) => code === "journal-locked" && performance.now() < giveUp;
      try {
        return await handle(once);
      } catch (error) {
        if (!isRetryable(error) || !failed(error)) throw error;
        return await untilWritten(async () => handle(once), { signal: leaving, failed });
      }
    } catch (error) {
      return refusalOf(error);
    }
  };
}
