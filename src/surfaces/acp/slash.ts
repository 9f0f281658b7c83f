import { readSlash } from "../../base/slash.ts";
import { oneLine } from "../../base/visible.ts";
import type { Host } from "../../protocol/host/host.ts";
import { modeWords } from "../../protocol/mode.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { Words } from "./input.ts";
import { send } from "./send.ts";

type Slash = { host: Host; session: string; words: Words; me: Sender; say(text: string): void };

/** Runs a command of the surface itself. False for everything else that begins with a slash: the host knows it, or says that it does not. */
export async function runSlash(text: string, { host, session, words, me, say }: Slash): Promise<boolean> {
  const { name, args = "" } = readSlash(text) ?? {};
  const { w } = words;
  switch (name) {
    case "compact":
      await send(host, words, { type: "compact", session });
      say(w.compacted);
      return true;
    case "rename":
      if (args === "") say(w.needs(name));
      else {
        await send(host, words, { type: "rename", session, title: args, ...me });
        say(w.renamed(oneLine(args)));
      }
      return true;
    case "model":
      if (args === "") say(w.needs(name));
      else await send(host, words, { type: "choose", session, model: args, checked: true, ...me });
      return true;
    case "mode": {
      const mode = modeWords[args];
      if (mode === undefined) say(w.unknownMode(oneLine(args)));
      else await send(host, words, { type: "chooseMode", session, mode, ...me });
      return true;
    }
    default:
      return false;
  }
}
