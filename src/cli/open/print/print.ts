import { ask } from "../../../protocol/host/refusal.ts";
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
import { endNote, ruleNote } from "../../../view/note.ts";

type Job = { session: string; task: string | undefined; format: Format; lang: Lang };

/** Runs a turn without a conversation: its result goes to stdout, everything else to stderr. */
export async function print({ host, store }: Sage, { session, task, format, lang }: Job): Promise<number> {
  const t = cliTexts(lang);
  const sender = { by: person(), surface: "cli" };
  const row = store.session(session);
  if (row?.owned) throw new SageError("session-owned", said(t.owned(session)));
  if (task === undefined && !row?.open && !row?.unheard) throw usage(t.noTurnToResume(session));

  let interrupted = false;
  process.on("SIGINT", () => {
    if (interrupted) return void host.close().finally(() => process.exit(exitCodes.interrupted));
    interrupted = true;
    void host.send({ type: "interrupt", session, cancel: true, ...sender });
  });
  const leaving = onLeave(() => host.close());

  const line = (value: object) => void toStdout(`${JSON.stringify(value)}\n`);
  const refusal = createRefusals((text) => console.error(`sage: ${text}`), t, texts(lang));
  const rules: FactData["rule.added"][] = [];
  const unwatch = store.hub.subscribe(
    session,
    format === "stream-json"
      ? { fact: (fact) => line({ type: "fact", fact }), delta: (delta) => line({ type: "delta", delta }) }
      : {
          fact(fact) {
            if (fact.type === "rule.added") rules.push(fact.data);
            if (format === "text") refusal(fact);
          },
          delta: (delta) => tellNotice(delta, lang),
        },
  );
  if (task !== undefined) await ask(host, { type: "say", session, text: task, ...sender });
  let outcome = await host.run(session);
  // An answer may have come while this process still had the session: whoever gave it was told that it is taken up here.
  while (!leaving.signal.aborted && isAnswered(store, outcome)) outcome = await host.run(session);
  if (leaving.signal.aborted) return leaving.code;
  unwatch();
  if (rules.length > 0) await tellRules(rules, lang);

  const requests = store.pending(session);
  if (format === "text")
    await tell(outcome, requests, { lang, cwd: row?.cwd, isOpen: store.session(session)?.open === true });
  else line(format === "json" ? report(outcome, requests) : { type: "outcome", outcome: report(outcome, requests) });
  return exitCodeOf(outcome);
}

function isAnswered(store: Store, outcome: AgentOutcome): boolean {
  if (outcome.status !== "needs-input" || store.session(outcome.session)?.owned) return false;
  return store.pending(outcome.session).length === 0 || outcome.requests.some((id) => store.resolution(id));
}

/** Notices for somebody who waits for the result. A notice of the host itself ends the run, and is told there. */
function tellNotice(delta: Delta, lang: Lang): void {
  if (delta.kind === "notice" && delta.key !== "host") console.error(`sage: ${noticeText(delta, texts(lang))}`);
}

async function tellRules(rules: readonly FactData["rule.added"][], lang: Lang): Promise<void> {
  const { noteLines } = await import("../../../view/lines/note.ts");
  const style = styleOf(process.stderr, lang);
  for (const rule of rules) console.error(noteLines(ruleNote(rule, style.t), style).join("\n"));
}

function report(outcome: AgentOutcome, requests: InputRequest[]): object {
  const { messages: _messages, toolHistory: _toolHistory, ...rest } = outcome;
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
