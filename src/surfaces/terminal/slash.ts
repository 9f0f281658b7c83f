import { oneLine } from "../../base/visible.ts";
import { slashTexts } from "../../texts/surfaces/slash.ts";
import { runSlash, type Hand, type SlashWords } from "../../view/slash/run.ts";
import { offeredAt, type Offer, type TypedSlash } from "../../view/slash/read.ts";
import type { SlashName } from "../../view/slash/table.ts";
import type { Picked, TerminalActs } from "./screen/options.ts";
import type { TalkParts } from "./talk.ts";

/** Commands to Sage: `/name`. */
type Slash = {
  offer: Offer<"terminal">;
  words: SlashWords;
  /** `shown`: it stands in the transcript as it was typed. */
  command(typed: TypedSlash, how: { shown: boolean }): void;
  /** Runs a command as if it had been typed, if it works here. */
  run(name: SlashName): void;
  /** Does what a command or a choice came to. */
  picked(result: Picked): void;
};

type Acts = { speak(text: string): void; resume(): void };

export function createSlash(parts: TalkParts, { speak, resume }: Acts): Slash {
  const { options, session, sender, t, scroll, redraw } = parts;
  const { lang, acts, own: ownNames = () => [] } = options;
  const words: SlashWords = { t, slash: slashTexts(lang), intro: parts.tt.help };
  const offer: Offer<"terminal"> = {
    place: "terminal",
    has: (name) => ["quit", "resume"].includes(name) || acts?.[name as keyof TerminalActs] !== undefined,
    own: ownNames,
  };

  const picked = (result: Picked) => {
    if (!result) return;
    if ("text" in result) scroll.note("dim", ...result.text.split("\n").map(oneLine));
    else if ("draft" in result) {
      if (parts.typed() === "") parts.write(result.draft);
    } else if ("session" in result) parts.switchTo(result.session);
    else if ("write" in result) parts.write(result.write);
    else parts.pick(result.pick);
    redraw();
  };

  const hand: Hand<"terminal", Picked> = {
    own(name, args) {
      switch (name) {
        case "quit":
          return parts.leave();
        case "resume":
          if (!acts?.resume || (args === "" && (session.run === "paused" || session.run === "stopped")))
            return resume();
          return acts.resume(args);
        case "sessions":
        case "new":
        case "model":
        case "rewind":
        case "tasks":
        case "permissions":
        case "export":
          return acts?.[name]?.(args);
        default:
          return name satisfies never;
      }
    },
    say: (reply, tone) => scroll.note(tone, ...reply(words).map(oneLine)),
    done() {}, // a fact, which is shown
    back: (text) => ({ write: [text, parts.typed()].filter((each) => each !== "").join("\n") }),
    speak,
    async go(id) {
      await options.ready?.(id);
      return { session: id };
    },
  };

  const command = async (typed: TypedSlash, { shown }: { shown: boolean }) => {
    const { name, args } = typed;
    if (shown)
      scroll.add({ type: "note", tone: "dim", lines: [oneLine(`❯ /${name} ${args}`.trimEnd())] }, { apart: true });
    picked(await runSlash(typed, { session, sender, offer }, hand));
    redraw();
  };

  return {
    offer,
    words,
    picked,
    command: (typed, how) => void command(typed, how),
    run(name) {
      if (offeredAt(offer).includes(name)) void command({ name, args: "" }, { shown: true });
    },
  };
}
