import type { InputRequest } from "../protocol/facts/request.ts";
import type { Command } from "../protocol/host/host.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import type { Sender } from "../protocol/sender.ts";

/** `talk`: give tasks, stop them, answer questions about them. `approve`: let something run. */
export type Act = "talk" | "approve";

/** Right that a command takes. `answer`: of whoever began the session, and of approvers. */
export type Right = "look" | "answer" | Act;

/** Decides what a sender may do. A surface may demand more than the guard, never less. */
export type Guard = (sender: Sender, act: Act) => boolean;

/**
 * The name under which the settings know a sender on every surface; null for somebody whom they do not name, undefined where they name
 * nobody. Nobody can tell whether such a sender is another person than the last one, so their yes does not count where more than one
 * is needed.
 */
export type PersonOf = (sender: Sender) => string | null | undefined;

/** Throws when the sender may not do this: nothing is written then, and an open request stays open. */
export function checkSender(guard: Guard, command: Command, requestOf: (id: string) => InputRequest | undefined): void {
  if (!("by" in command)) return; // rights of remote people are checked at the entrance: see `guarded`
  const right = rightOf(command, requestOf);
  if (right === "look") return;
  // The surface knows who began the session; here, everybody who may talk may answer.
  const act = right === "answer" ? "talk" : right;
  const { by, surface, person } = command;
  if (guard({ by, surface, ...(person !== undefined && { person }) }, act)) return;
  throw new SageError("not-permitted", reason(act === "talk" ? "may-not-talk" : "may-not-approve", { by }));
}

/** The one table of rights: every command, and the right it takes. */
export function rightOf(command: Command, requestOf: (id: string) => InputRequest | undefined): Right {
  switch (command.type) {
    case "say":
    case "withdraw":
    case "interrupt":
    case "saveDraft":
    case "ask":
    case "unask":
    case "inquire": // it reads only what needs no permission, and decides nothing
    case "resume":
    case "compact":
    case "rename":
    case "fork": // it copies the conversation, but no grants
      return "talk";
    case "choose": // as for a session that is opened with one
    case "addRule":
    case "removeRule":
    case "undo":
    case "rewind": // files are put back
      return "approve";
    case "open":
      return command.model === undefined && command.agent === undefined ? "talk" : "approve"; // models cost money and see everything
    case "respond": {
      const request = requestOf(command.response.requestId);
      // A permission, or the repetition of an interrupted command, lets something run.
      return request?.kind === "permission" || request?.source === "recovery" ? "approve" : "answer";
    }
    case "respondAll":
      return "approve";
    case "about": // programs are started for prompts
      return command.prompts ? "talk" : "look";
    case "models": // it queries a provider with the paying account's key
      return command.provider === undefined ? "look" : "talk";
    case "past": // it shows calls of other sessions, and is for approvers
      return "approve";
    case "chooseMode":
      return command.mode === "plan" ? "talk" : "approve";
    case "sessions":
    case "request":
    case "pending":
    case "rewindPoints":
    case "planRewind":
    case "files":
    case "output":
    case "facts":
    case "receipts":
    case "stats":
      return "look";
    default:
      return command satisfies never;
  }
}
