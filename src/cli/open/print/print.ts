import { ask } from "../../../protocol/host/refusal.ts";
import { setImmediate as immediate } from "node:timers/promises";
import type { Delta, FactData } from "../../../protocol/facts/fact.ts";
import type { AgentOutcome } from "../../../protocol/facts/outcome.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { SageError } from "../../../protocol/reasons/error.ts";
import { said } from "../../../protocol/reasons/reason.ts";
import { errorText, noticeText } from "../../../texts/shared/error.ts";
import { cliTexts } from "../../../texts/commands/cli.ts";
import type { Lang } from "../../../texts/language.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { exitCodeOf, exitCodes } from "../../process/exit-codes.ts";
import { usage } from "../../process/flags.ts";
import { person } from "../../host/account.ts";
import { styleOf } from "../../process/style.ts";
import { onLeave } from "../../process/termination.ts";
import { createRefusals } from "./refusals.ts";
import type { Format } from "./format.ts";
import type { Store } from "../../../journal/store/store.ts";
import type { Sage } from "../../assemble/open-sage.ts";
import { toStdout } from "../../process/stdout.ts";
import { deltaInEnglish, factInEnglish, outcomeInEnglish } from "../../../view/in-english.ts";
import { endNote, ruleNote } from "../../../view/note.ts";
import { followSession, type SessionChange } from "../../../view/session.ts";

type Job = { session: string; task: string | undefined; format: Format; lang: Lang };

/** Runs a turn without a conversation: its result goes to stdout, everything else to stderr. */
export async function print({ host, store }: Sage, { session: id, task, format, lang }: Job): Promise<number> {
  const t = cliTexts(lang);
  const sender = { by: person(), surface: "cli" };
  const line = (value: object) => void toStdout(`${JSON.stringify(value)}\n`);
  const refused = createRefusals((text) => console.error(`sage: ${text}`), t, texts(lang));
  const rules: FactData["rule.added"][] = [];
  const ended = new AbortController();
  const joined = Promise.withResolvers<void>();
  const changed = (change: SessionChange) => {
    if (change.type === "joined") joined.resolve();
    if ((change.type !== "fact" && change.type !== "delta") || (change.type === "fact" && change.past)) return;
    if (format === "stream-json")
      return line(
        change.type === "fact"
          ? { type: "fact", fact: factInEnglish(change.fact) }
          : { type: "delta", delta: deltaInEnglish(change.delta) },
      );
    if (change.type === "delta") return change.refused ? undefined : tellNotice(change.delta, lang);
    if (change.fact.type === "rule.added") rules.push(change.fact.data);
    if (format === "text") refused(change.items);
  };
  const session = followSession(host, id, { signal: ended.signal, changed, keep: "turn" });
  const over = new AbortController();
  const watched = session.done.finally(() => over.abort());
  await Promise.race([joined.promise, watched]);
  if (session.run === "running") throw new SageError("session-owned", said(t.owned(id)));
  if (task === undefined && session.run === "idle") throw usage(t.noTurnToResume(id));

  let interrupted = false;
  process.on("SIGINT", () => {
    if (interrupted) return void host.close().finally(() => process.exit(exitCodes.interrupted));
    interrupted = true;
    void session.send({ type: "interrupt", session: id, cancel: true, ...sender });
  });
  const leaving = onLeave(() => host.close());
  if (task !== undefined) await ask(session, { type: "say", session: id, text: task, ...sender });
  let outcome = await host.run(id);
  // An answer may have come while this process still had the session: whoever gave it was told that it is taken up here.
  while (!leaving.signal.aborted && isAnswered(store, outcome)) outcome = await host.run(id);
  if (leaving.signal.aborted) return leaving.code;
  while (!over.signal.aborted && store.since(id, session.seq, 1).length > 0) await immediate(); // all of it is told before the result
  ended.abort();
  if (rules.length > 0) await tellRules(rules, lang);

  const requests = store.pending(id);
  if (format === "text")
    await tell(outcome, requests, { lang, cwd: session.progress.cwd, isOpen: store.session(id)?.open === true });
  else line(format === "json" ? report(outcome, requests) : { type: "outcome", outcome: report(outcome, requests) });
  return exitCodeOf(outcome);
}

function isAnswered(store: Store, outcome: AgentOutcome): boolean {
  if (outcome.status !== "needs-input" || store.session(outcome.session)?.owned) return false;
  return store.pending(outcome.session).length === 0 || outcome.requests.some((id) => store.resolution(id));
}

/** Notices for somebody who waits for the result. A turn that cannot begin ends the run, and is told there. */
function tellNotice(delta: Delta, lang: Lang): void {
  if (delta.kind === "notice") console.error(`sage: ${noticeText(delta, texts(lang))}`);
}

async function tellRules(rules: readonly FactData["rule.added"][], lang: Lang): Promise<void> {
  const { noteLines } = await import("../../../view/lines/note.ts");
  const style = styleOf(process.stderr, lang);
  for (const rule of rules) console.error(noteLines(ruleNote(rule, style.t), style).join("\n"));
}

function report(outcome: AgentOutcome, requests: InputRequest[]): object {
  const { messages: _messages, toolHistory: _toolHistory, ...rest } = outcomeInEnglish(outcome);
  return { ...rest, requests };
}

async function tell(
  outcome: AgentOutcome,
  requests: InputRequest[],
  { lang, cwd, isOpen }: { lang: Lang; cwd: string | undefined; isOpen: boolean },
): Promise<void> {
  if (outcome.text !== "") toStdout(outcome.text.endsWith("\n") ? outcome.text : `${outcome.text}\n`);
  if (outcome.status === "success") return;
  const t = cliTexts(lang);
  if (outcome.status !== "needs-input") {
    const why = outcome.status === "error" ? errorText(outcome.error, texts(lang)) : endNote(outcome, texts(lang)).line;
    console.error(`sage: ${why}`);
    // A turn that was cancelled or paused was so by somebody who knows.
    const how = isOpen ? "--resume" : `-p "${t.goOnWords}" --resume`; // a turn that has ended is gone on with by a message
    if (["max-steps", "incomplete", "error"].includes(outcome.status))
      console.error(t.goOn(`${how} ${outcome.session}`));
    return;
  }
  const { openLines } = await import("./request-lines.ts");
  const style = styleOf(process.stderr, lang);
  console.error(t.needed(requests.length));
  for (const request of requests) console.error(openLines(request, style, { lang, cwd }).join("\n"));
  console.error(t.thenResume(outcome.session));
}
