import { answersOf, fixed, scriptOf } from "../../../archive/recording.ts";
import { trajectory } from "../../../archive/trajectory.ts";
import type { Redaction } from "../../../config/secrets/redact.ts";
import { version } from "../../../config/version.ts";
import type { Fact } from "../../../protocol/facts/fact.ts";
import type { Lang } from "../../../texts/language.ts";
import { titleOf } from "../../../view/items/summary.ts";
import { page } from "./page.ts";

export const exportFormats = ["jsonl", "html", "script", "answers"] as const;
/** Made by `sage export` alone: it needs the key and the anchors of this installation. */
export const signedFormat = "receipts" as const;

export function exportLines(
  facts: readonly Fact[],
  session: { id: string; title: string; cwd: string },
  { format, redaction, lang }: { format: (typeof exportFormats)[number]; redaction: Redaction; lang: Lang },
): Iterable<string> {
  switch (format) {
    case "jsonl":
      return trajectory(facts, redaction);
    case "html": {
      const clean = facts.map(({ seq, key, type, at, data }) =>
        redaction.value({ seq, session: session.id, key, type, at, data }),
      );
      const head = redaction.value({ title: titleOf(session), session: session.id, cwd: session.cwd });
      return [page({ ...head, facts: clean as typeof facts, version, removed: redaction.removed(), lang })];
    }
    case "script":
      return [`${JSON.stringify(fixed(redaction, scriptOf(facts)), undefined, 2)}\n`];
    case "answers":
      return [`${JSON.stringify(fixed(redaction, answersOf(facts)), undefined, 2)}\n`];
    default:
      return format satisfies never;
  }
}
