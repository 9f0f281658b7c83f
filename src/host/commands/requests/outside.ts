import { homedir } from "node:os";
import { whereabouts } from "../../../context/environment.ts";
import type { Command } from "../../../protocol/host/host.ts";
import { agentOfOutside, isOutsideSession } from "../../../protocol/host/outside.ts";
import { splitRequestId } from "../../../protocol/key.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import type { CommandParts, Handlers } from "../parts.ts";
import { alreadyResolved } from "./request.ts";

/** Commands of programs that ask a person through Sage and run in none of its sessions. */
export function outsideCommands({ store, version, silence, leaving }: CommandParts): Handlers<"ask" | "unask"> {
  return {
    async ask(asked) {
      const { askFromOutside } = await import("../../../input/outside.ts");
      const origin = whereabouts(asked.cwd, homedir())(); // nobody asks from elsewhere: the asker is on this machine
      const parts = { store, version, signal: leaving, origin, ...(silence && { silence }) };
      return { ok: true, ...(await askFromOutside(parts, asked)) };
    },
    async unask(ended) {
      const { endFromOutside } = await import("../../../input/outside.ts");
      const { won, resolution } = await endFromOutside(store, ended);
      if (!won) throw alreadyResolved(resolution);
      return { ok: true, resolution };
    },
  };
}

/** Sessions of askers outside take answers and nothing else: there is no loop in them that could do something. */
export function checkTaken(command: Command): void {
  switch (command.type) {
    case "say":
    case "compact":
    case "chooseMode":
    case "choose":
    case "fork":
    case "addRule":
    case "removeRule":
    case "undo":
    case "rewind":
      if (isOutsideSession(command.session))
        throw new SageError("input-invalid", reason("outside-session", { session: command.session }));
      return;
    case "inquire": {
      const { session } = splitRequestId(command.requestId);
      if (isOutsideSession(session))
        throw new SageError("input-invalid", reason("outside-no-reply", { agent: agentOfOutside(session) }));
      return;
    }
    default:
  }
}
