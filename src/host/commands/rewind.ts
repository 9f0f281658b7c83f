import { setTimeout } from "node:timers/promises";
import { existingSession } from "../../journal/session/existing-session.ts";
import { rewindPoints } from "../../protocol/facts/rewound.ts";
import { given, type CommandParts, type Handlers } from "./parts.ts";

/** A cancelled turn that nothing runs ends at once; a rewind that finds it open after this refuses. */
const CANCEL_MS = 5_000;

export function rewindCommands(
  { store, runner, home }: CommandParts,
  interrupt: Handlers<"interrupt">["interrupt"],
): Handlers<"rewindPoints" | "planRewind" | "rewind"> {
  const places = () => {
    const { output, dir } = given(home, "rewind");
    return { output, sageHome: dir };
  };
  /** A turn is open, and no process runs it. */
  const isPaused = (session: string): boolean => {
    const { open, owned } = existingSession(store, session);
    return open && !owned;
  };
  return {
    async rewindPoints({ session }) {
      const row = existingSession(store, session);
      const paused = isPaused(session);
      const { checkIdle } = await import("../../archive/rewind.ts");
      if (!paused) checkIdle(row);
      return { ok: true, points: rewindPoints(store.load(session)), paused };
    },
    async planRewind({ session, turn, what }) {
      const { planRewind } = await import("../../archive/rewind.ts");
      return {
        ok: true,
        plan: await planRewind(store, existingSession(store, session), { turn, what, ...places() }),
      };
    },
    async rewind({ session, turn, what, overwrite = {}, by, surface }) {
      const { planRewind, rewindSession } = await import("../../archive/rewind.ts");
      const row = existingSession(store, session);
      const sender = { by, surface };
      if (what !== "files" && isPaused(session)) {
        await planRewind(store, row, { turn, what, ...places() }); // nothing is cancelled for a rewind that cannot be
        await interrupt({ type: "interrupt", session, cancel: true, ...sender });
        for (let left = CANCEL_MS; left > 0; left -= 50) {
          const { open, owned } = existingSession(store, session);
          if (!open && !owned) break;
          await setTimeout(50);
        }
      }
      try {
        const options = { turn, what, ...places(), overwrite, sender };
        return { ok: true, ...(await rewindSession(store, existingSession(store, session), options)) };
      } finally {
        const { unheard, owned } = existingSession(store, session);
        if (unheard && !owned) runner.wake(session); // sent in the meantime
      }
    },
  };
}
