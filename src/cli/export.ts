import { realpathSync } from "node:fs";
import type { SessionRow, Store } from "../journal/store.ts";
import { createRedaction, type Redaction } from "../runtime/redact.ts";
import { sageHome } from "../runtime/home.ts";
import { answersOf, fixed, scriptOf } from "../runtime/recording.ts";
import { trajectory, writeLines } from "../runtime/trajectory.ts";
import { version } from "../runtime/version.ts";
import { exportTexts } from "../texts/export.ts";
import type { Lang } from "../texts/language.ts";
import { exitCodes } from "./exit-codes.ts";
import { lastSessionIn, sessionBy } from "./find-session.ts";
import { readFlags, usage } from "./flags.ts";
import { page } from "./page.ts";
import { openStore } from "./setup.ts";
import { titleOf } from "./title.ts";

const options = { format: { type: "string" }, output: { type: "string", short: "o" } } as const;

const formats = ["jsonl", "html", "script", "answers"] as const;

/** A session for other eyes: as facts, as a page, or to be played again. Secrets are left out of all of them. */
export async function exportSession(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const [target, stray] = positionals;
  if (stray !== undefined) throw usage(t.noWords("export", stray));
  const asked = values.format ?? (values.output?.endsWith(".html") ? "html" : "jsonl");
  const format = formats.find((one) => one === asked);
  if (!format) throw usage(t.expected("--format", t.oneOf(formats), asked));
  const store = openStore(sageHome(process.env));
  const session = target === undefined ? lastSessionIn(store, realpathSync("."), t) : sessionBy(store, target, t);
  const redaction = createRedaction(process.env);
  const lines = linesOf(store, session, { format, redaction, lang });
  if (values.output === undefined) for (const line of lines) process.stdout.write(line);
  else writeLines(values.output, lines);
  store.close();
  const w = exportTexts(lang);
  if (values.output !== undefined) console.error(w.written(values.output));
  if (redaction.removed() > 0) console.error(w.removed(redaction.removed()));
  return exitCodes.success;
}

export function linesOf(
  store: Store,
  session: SessionRow,
  { format, redaction, lang }: { format: (typeof formats)[number]; redaction: Redaction; lang: Lang },
): Iterable<string> {
  const facts = store.load(session.id);
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
