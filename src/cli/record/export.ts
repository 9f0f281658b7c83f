import { realpathSync } from "node:fs";
import { ownRedaction } from "../host/redaction.ts";
import { integrityOf } from "../../archive/integrity.ts";
import { writeLines } from "../../archive/trajectory.ts";
import { createAnchors } from "../../config/home/anchors.ts";
import { sageHome } from "../../config/home/home.ts";
import { receiptKey } from "../../config/home/keys.ts";
import type { Redaction } from "../../config/secrets/redact.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { exportTexts, type ExportTexts } from "../../texts/commands/export.ts";
import { writeStdout, exitCodes } from "../process/stdout.ts";
import { lastSessionIn, sessionBy } from "../../view/find-session.ts";
import { readFlags, usage } from "../process/flags.ts";
import { engineFlag, openJournal } from "../host/journal.ts";
import { exportFormats, exportLines, signedFormat } from "./page/export-lines.ts";

const options = { format: { type: "string" }, output: { type: "string", short: "o" }, ...engineFlag } as const;

/** A session for other eyes: as facts, as a page, or to be played again. Secrets are left out of all of them. */
export async function exportSession(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const [target, stray] = positionals;
  if (stray !== undefined) throw usage(t.noWords("export", stray));
  const asked = values.format ?? (values.output?.endsWith(".html") ? "html" : "jsonl");
  const format = [...exportFormats, signedFormat].find((known) => known === asked);
  if (!format) throw usage(t.expected("--format", t.oneOf([...exportFormats, signedFormat]), asked));
  await using journal = await openJournal(values, { lang, looks: true });
  const { host, store } = journal;
  const session =
    target === undefined ? lastSessionIn(store.sessions(), realpathSync(".")) : sessionBy(store.sessions(), target);
  const facts = await store.read(session.id);
  const [opened] = facts;
  const agent = format === "script" && opened?.type === "session.opened" ? opened.data.agent : undefined;
  if (agent !== undefined) (await import("./recording.ts")).refuseScript("--format script", agent, lang);
  const redaction = ownRedaction(process.env);
  const w = exportTexts(lang);
  const lines =
    format === signedFormat
      ? await signedLines(store, facts, redaction, w)
      : exportLines(facts, session, { format, redaction, lang });
  if (values.output === undefined) for (const line of lines) writeStdout(line);
  else write(values.output, lines, w);
  await host.close();
  if (values.output !== undefined) console.error(w.written(values.output));
  if (redaction.removed() > 0) console.error(w.removed(redaction.removed()));
  return exitCodes.success;
}

/** The public part of the key goes to whoever checks, by another way than the file. */
async function signedLines(store: Store, facts: readonly Fact[], redaction: Redaction, w: ExportTexts) {
  const { publicPart, signedReceipts } = await import("../../archive/proof.ts");
  const [home, session] = [sageHome(process.env), facts[0]?.session ?? ""];
  const { sessions } = await integrityOf(store, createAnchors(home, process.env), [session]);
  const key = receiptKey(home, process.env);
  console.error(w.signedBy(publicPart(key)));
  return signedReceipts(facts, { key, redaction, record: sessions.get(session)?.state ?? "chained", at: Date.now() });
}

function write(path: string, lines: Iterable<string>, w: ExportTexts): void {
  try {
    writeLines(path, lines);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error; // reading the session failed, not writing
    const known = { ENOENT: w.noFolder, EISDIR: w.isFolder, ENXIO: w.noReader };
    const why = known[code as keyof typeof known] ?? thrownText(error);
    throw usage(w.unwritable(path, why));
  }
}
