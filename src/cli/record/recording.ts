import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { recordedPersona } from "../../input/persona.ts";
import type { Store } from "../../journal/store/store.ts";
import { oneLine } from "../../base/visible.ts";
import type { ExecutionMode } from "../../protocol/host/options.ts";
import { type SageError } from "../../protocol/reasons/reason.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { answersOf, fixed, parseAnswers, replayAnswers, scriptOf } from "../../archive/recording.ts";
import { writeLines } from "../../archive/trajectory.ts";
import { ownRedaction } from "../host/redaction.ts";
import type { Home } from "../../config/home/home.ts";
import { nameOf } from "../../view/items/summary.ts";
import { recordingTexts } from "../../texts/commands/recording.ts";
import { texts } from "../../texts/shared/texts.ts";
import type { Lang } from "../../texts/language.ts";
import { usage } from "../process/flags.ts";
import { openStore } from "../assemble/open-sage.ts";

type RecordingFlags = {
  record?: string | undefined;
  "record-answers"?: string | undefined;
  "replay-answers"?: string | undefined;
};

/** Before anything costs money: is there a place for what is to be recorded? */
export function checkFolders(values: RecordingFlags, lang: Lang): void {
  for (const flag of ["record", "record-answers"] as const) {
    const path = values[flag];
    if (path !== undefined && !statSync(dirname(resolve(path)), { throwIfNoEntry: false })?.isDirectory())
      throw usage(recordingTexts(lang).noFolder(`--${flag}`, path));
  }
}

/** Another agent's replies would be played by Sage's own loop, with Sage's tools: that would be another run. */
export function refuseScript(what: string, agent: string, lang: Lang): never {
  throw usage(recordingTexts(lang).otherAgent(what, oneLine(agent)));
}

/** A file that a flag names and that cannot be read. */
export function unreadable(flag: string, path: string, error: unknown, lang: Lang): SageError {
  const t = recordingTexts(lang);
  const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? t.noFile : thrownText(error, lang);
  return usage(t.cannotRead(flag, path, why));
}

/** Recorded answers replace the person; a request without one stays open and ends the run. */
export async function replayMode(path: string, lang: Lang): Promise<{ mode: ExecutionMode; test: boolean }> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw unreadable("--replay-answers", path, error, lang);
  }
  const redaction = ownRedaction(process.env);
  const recorded = parseAnswers(text, path);
  const autoResponse = replayAnswers(recorded, { redaction });
  // A persona's answers are for tests, recorded or not.
  const test = recorded.some(({ by }) => recordedPersona(by) !== undefined);
  return { mode: { type: "nonInteractive", autoResponse, sender: { by: "replay", surface: "replay" } }, test };
}

export function tellUnanswered(store: Store, session: string, path: string, lang: Lang): void {
  for (const request of store.pending(session))
    console.error(
      `sage: ${recordingTexts(lang).unanswered(path, request.id, oneLine(nameOf(request, texts(lang))).slice(0, 200))}`,
    );
}

/** From the journal, after the run: so a session that was resumed, or answered from elsewhere, is recorded whole. */
export function writeRecordings(home: Home, session: string, values: RecordingFlags, lang: Lang): void {
  const { record, "record-answers": answers } = values;
  if (record === undefined && answers === undefined) return;
  const t = recordingTexts(lang);
  const redaction = ownRedaction(process.env);
  const store = openStore(home);
  try {
    const facts = store.load(session);
    if (record !== undefined) {
      write(record, fixed(redaction, scriptOf(facts)));
      console.error(`sage: ${t.recorded(record, facts.filter(({ type }) => type === "model.replied").length)}`);
    }
    if (answers !== undefined) {
      const list = answersOf(facts);
      write(answers, fixed(redaction, list));
      console.error(`sage: ${t.recordedAnswers(answers, list.length)}`);
    }
    if (redaction.removed() > 0) console.error(`sage: ${t.removed(redaction.removed())}`);
  } finally {
    store.close();
  }
}

function write(path: string, value: unknown): void {
  writeLines(path, [`${JSON.stringify(value, undefined, 2)}\n`]);
}
