import { oneLine } from "../../base/visible.ts";
import type { Host } from "../../protocol/host/host.ts";
import { errorText } from "../../texts/shared/error.ts";
import { createKeys } from "./keys.ts";
import type { Terminal, TerminalOptions } from "./screen/options.ts";
import { createParts, follow } from "./session.ts";

export { pickAlone } from "./screen/picker.ts";
export type { Picked, Picking, TerminalActs, TerminalEnd, TerminalOptions } from "./screen/options.ts";

/** A session on a terminal: past events scroll by like any program's output; requests and the editor stay at the bottom. */
export function attachTerminal(host: Host, options: TerminalOptions): Terminal {
  const parts = createParts(host, options);
  const keys = createKeys(parts);
  return {
    done: follow(parts, keys),
    interrupt() {
      if (!parts.lifetime.mine()) return; // another program has the terminal and its keys
      keys.stopWith("interrupt");
      parts.redraw();
    },
    failed(error) {
      const { scroll, t } = parts;
      scroll.note("danger", t.turnFailed(oneLine(errorText(error, t))));
      parts.finish({ why: "failed", last: { status: "error", error } });
    },
  };
}
