import { ask } from "../../../protocol/host/refusal.ts";
import { setImmediate as immediate } from "node:timers/promises";
import type { Delta, FactData } from "../../../protocol/facts/fact.ts";
import type { AgentOutcome } from "../../../protocol/facts/outcome.ts";
import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import { type Reason, said, SageError } from "../../../protocol/reasons/reason.ts";
import { errorText, noticeText } from "../../../texts/shared/error.ts";
import { type CliTexts, cliTexts } from "../../../texts/commands/cli.ts";
import type { Lang } from "../../../texts/language.ts";
import { type Texts, texts } from "../../../texts/shared/texts.ts";
import { styleOf, writeStdout, exitCodeOf, exitCodes } from "../../process/stdout.ts";
import { usage } from "../../process/flags.ts";
import { person } from "../../host/journal.ts";
import { onTermination } from "../../process/termination.ts";
import type { Format } from "./format.ts";
import type { Store } from "../../../journal/store/store.ts";
import type { Sage } from "../../assemble/open-sage.ts";
import { deltaInEnglish, factInEnglish, outcomeInEnglish } from "../../../view/in-english.ts";
import { endNote, ruleNote } from "../../../view/note.ts";
import { followSession, type SessionChange } from "../../../view/session.ts";
import { oneLine } from "../../../base/visible.ts";
import type { Asked, Standing } from "../../../protocol/host/receipt.ts";
import { changeLine } from "../../../texts/shared/resolution.ts";
import type { CallItem, Item } from "../../../view/transcript/item.ts";
import { briefOf, isOver, nameOf } from "../../../view/items/summary.ts";

const MAX_TEXT_LENGTH = 200;

type Job = { session: string; task: string | undefined; format: Format; lang: Lang };

/** Runs a turn without a conversation: its result goes to stdout, everything else to stderr. */
export async function print({ host, store }: Sage, { session: id, task, format, lang }: Job): Promise<number> {
  const t = cliTexts(lang);
  const sender = { by: person(), surface: "cli" };
  const line = (value: object) => void writeStdout(`${JSON.stringify(value)}\n`);
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
  const leaving = onTermination(() => host.close());
  if (task !== undefined) await ask(session, { type: "say", session: id, text: task, ...sender });
  let outcome = await host.run(id);
  // An answer may have come while this process still owned the session, and its sender was told that it continues here.
  while (!leaving.signal.aborted && isAnswered(store, outcome)) outcome = await host.run(id);
  if (leaving.signal.aborted) return leaving.code;
  while (!over.signal.aborted && store.since(id, session.seq, 1).length > 0) await immediate(); // print everything before the result
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

/** Notices while somebody waits for the result. A turn that cannot begin ends the run and is reported there. */
function tellNotice(delta: Delta, lang: Lang): void {
  if (delta.kind === "notice") console.error(`sage: ${noticeText(delta, texts(lang))}`);
}

async function tellRules(rules: readonly FactData["rule.added"][], lang: Lang): Promise<void> {
  const { noteLines } = await import("../../../view/lines/note.ts");
  const style = styleOf(process.stderr, lang);
  for (const rule of rules)
    console.error(noteLines(ruleNote(rule, style.t, "sage permissions remove"), style).join("\n"));
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
  if (outcome.text !== "") writeStdout(outcome.text.endsWith("\n") ? outcome.text : `${outcome.text}\n`);
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
  const { requestLines } = await import("./request-lines.ts");
  const style = styleOf(process.stderr, lang);
  console.error(t.needed(requests.length));
  for (const request of requests) console.error(requestLines(request, style, { lang, cwd }).join("\n"));
  console.error(t.thenResume(outcome.session));
}

const refusals: readonly Standing[] = ["refused-by-rule", "refused-by-person", "not-run"];

/** Tells of each call that was refused or did not run, and of each question nobody answered: a result that says "done" does not. */
export function createRefusals(
  tell: (line: string) => void,
  t: CliTexts,
  words: Texts,
): (items: readonly Item[]) => void {
  const told = new WeakSet<CallItem | Asked>();
  const once = (item: CallItem | Asked, line: string) => {
    if (!told.has(item)) tell(line);
    told.add(item);
  };
  return (items) => {
    for (const item of items) {
      if (item.type !== "call" || !isOver(item)) continue;
      for (const asked of item.asked) {
        const why = asked.request.kind === "permission" ? undefined : whyNot(asked.resolution);
        if (why !== undefined)
          once(asked, t.notAnswered(oneLine(nameOf(asked.request, words)), oneLine(words.because(why))));
      }
      const asks = item.asked.some(({ request }) => request.kind !== "permission");
      if (asks || item.turnStopped || !refusals.includes(item.standing)) continue;
      const call = oneLine(`${item.call.tool} ${briefOf(item)}`).slice(0, MAX_TEXT_LENGTH);
      const why = [item.changed ? changeLine(item.changed, words) : "", oneLine(words.because(refusedBecause(item)))];
      once(item, t.wasRefused(howOf(item, t, words), call, why.filter((text) => text !== "").join(" · ")));
    }
  };
}

/** A stand-in for a person is shown by name. */
function howOf({ standing, asked }: CallItem, t: CliTexts, words: Texts): string {
  const end = asked.at(-1)?.resolution;
  const stoodIn = standing === "refused-by-person" && end?.surface === "persona" && end.by !== undefined;
  return stoodIn ? t.refusedBy(oneLine(end.by)) : words.standing[standing];
}

function refusedBecause({ verdict, asked }: CallItem): Reason | string {
  if (verdict?.behavior === "deny") return verdict.reason;
  return whyNot(asked.at(-1)?.resolution) ?? "";
}

/** Undefined when it was answered, and not with a no. */
function whyNot(end: Resolution | undefined): Reason | string | undefined {
  switch (end?.outcome) {
    case undefined:
    case "cancelled": // the outcome of the turn says it
    case "superseded":
      return undefined;
    case "answered":
    case "partial":
      return end.response.type === "denied" ? (end.reason ?? end.response.reason ?? "") : undefined;
    case "timed_out":
      return end.response ? undefined : end.reason;
    case "declined":
    case "no_surface":
      return end.reason ?? "";
    default:
      return end satisfies never;
  }
}
