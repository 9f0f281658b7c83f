import type { Lang } from "../texts/language.ts";
import { ownerTexts } from "../texts/surfaces/owner.ts";
import { texts } from "../texts/shared/texts.ts";
import type { Note } from "./note.ts";
import type { SessionChange, Session } from "./session.ts";

/** Notice for the person when somebody else runs the session, nobody does any more, or its host cannot be reached. */
export function ownerNote(change: SessionChange, { run, streams }: Session, lang: Lang): Note | undefined {
  const t = ownerTexts(lang);
  const facts: Note = { tone: "dim", line: texts(lang).facts };
  switch (change.type) {
    case "joined":
      return streams ? undefined : facts;
    case "link":
      return change.lost ? { tone: "warn", line: t.lost } : { tone: "dim", line: t.back };
    case "owner":
      if (run === "stopped") return { tone: "warn", line: t.stopped };
      if (streams === change.before.streams) return undefined;
      return streams ? { tone: "dim", line: t.live } : facts;
    default:
      return undefined;
  }
}
