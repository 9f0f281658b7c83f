import type {
  DeadlinePolicy,
  PermissionBehavior,
  Preview,
  Question,
  Reason,
  RequestSource,
  RuleDestination,
} from "../protocol/index.ts";
import { sage } from "./command.ts";
import { questionIn, type ShownQuestion } from "./questions.ts";
import { sentence } from "./reasons.ts";

const plural = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export const en = {
  // What is asked
  title: { permission: "Permission needed", question: "Question", text: "Text needed" },
  place: (n: number, of: number) => `${n} of ${of}`,
  tools: {
    Bash: "Bash is to run this command:",
    Edit: "Edit is to change this file:",
    Write: "Write is to write this file, as a whole:",
  } as Record<string, string>,
  otherTool: (tool: string) => `${tool} is to run with this input:`,
  size: (characters: number, lines: number) => `${plural(characters, "character")}, ${plural(lines, "line")}`,
  fromLine: (n: number) => `from line ${n}:`,
  omitted: {
    binary: "The file that is there now is no text, so what it loses cannot be shown.",
    huge: "Too large to show what is there now beside what will be (over 1 MB).",
    same: "The file holds exactly this already.",
  } satisfies Record<NonNullable<Preview["omitted"]>, string>,
  writes: "It writes to:",
  leaves: "leaves the workspace",
  why: "Why you are asked:",
  /** Why a call was judged as it was. */
  because: (reason: Reason | string): string => sentence(reason, "en"),
  question: (question: Question): ShownQuestion => questionIn(question, "en"),
  source: {
    tool: "",
    approval: "",
    sage: "Sage asks.",
    model: "Sage asks.",
    mcp: "An outside server asks.",
    recovery: "Sage asks: something was interrupted.",
  } satisfies Record<RequestSource, string>,
  hard: "Only a person may allow this one; no rule can.",
  agent: (path: readonly string[]) => `Asked by the subagent ${path.join(" › ")}`,
  ownWords: "The agent's own words about it (unchecked):",
  cut: (n: number) => `… and ${plural(n, "more character")} of the agent's words`,
  parts: "Part by part:",
  behavior: { allow: "allowed", deny: "refused", ask: "needs you", passthrough: "needs you" } satisfies Record<
    PermissionBehavior,
    string
  >,
  deadline: (time: string, left: string, policy: DeadlinePolicy) =>
    `Waits until ${time} (${left}), then ${
      policy === "fail"
        ? "the turn fails"
        : policy === "cancel"
          ? "the turn is cancelled"
          : policy === "deny"
            ? "it is refused"
            : "a default answer is used"
    }.`,
  overdue: "overdue",
  inTime: (duration: string) => `${duration} left`,

  // How to answer
  once: "allow it once",
  always: (rules: number) =>
    rules > 1
      ? `allow it always in this session, with these ${rules} rules together`
      : "allow it always in this session, with rule 1 of these",
  alwaysOther: "a 2: another one",
  alwaysPlace: "a local: keep it in that file",
  alwaysOwn: "a = …: a rule of your own",
  no: "no",
  noBecause: "no, with a reason",
  edit: "edit it first",
  yesAnd: "allow it, with a comment",
  stop: "stop the turn",
  ctrlCOnly: "Ctrl-C cancels this and stops the turn.",
  ctrlC: "Ctrl-C cancels this and stops the turn; Ctrl-D leaves and keeps it open.",
  permit: "allow? (y/n/…)",
  reason: "reason (empty: back)",
  comment: "comment, then it runs (empty: back)",
  newCommand: "the whole new command, then it runs (empty: back)",
  newRule: "the rule to keep, then it runs (empty: back)",
  newInput: "the whole new input as JSON, then it runs (empty: back)",
  answer: "answer",
  remark: "remark for the agent (empty: none)",
  questionPlace: (n: number, of: number) => `Question ${n} of ${of}`,
  kept: (question: string, answer: string) => `Kept from your draft: ${question} → ${answer}`,
  oneOption: "A number.",
  someOptions: "Numbers (1,3).",
  oneOf: "A number, or your own words.",
  someOf: "Numbers, your own words, or both (1,3 and something else).",
  severalMay: "Several of them may be chosen.",
  declineHint: "d: do not answer · s: stop the turn",
  declineAllHint: "d: decline all questions of this request · s: stop the turn",
  backHint: "b: back to the question before",
  partialHint: "p: submit what is answered so far",
  textHint: "Your answer in one line.",

  // Why a line was no answer
  emptyLine: "An empty line answers nothing.",
  noChoice: (typed: string, choices = "") => `“${typed}” is none of the choices${choices && `, which are ${choices}`}.`,
  noRule: "There is no rule to keep for this one; y allows it once.",
  noPlace: (place: string) =>
    `Nothing can be kept under “${place}” here; the places are those listed above, or “session”.`,
  noOption: (n: string, last: number) =>
    `There is no option ${n}; the options are 1 to ${last}. To answer with the text itself, quote it: "${n}"`,
  noOptionHere: (last: number) => `Choose one of the options, 1 to ${last}.`,
  onlyOne: (typed: string) => `Only one can be chosen here. To answer with the text itself, quote it: "${typed}"`,
  noneBefore: "This is the first question; there is none before it.",
  nothingYet: "No question is answered yet; answer one first, or d to decline.",
  unchanged: "Nothing was changed; y allows it as it is.",
  notJson: (why: string) => `The input should be a JSON object: ${why}`,
  notUsed: (typed: string) => `“${typed}” was typed too early or pasted, so it was not used.`,
  sendingFailed: (why: string) => `Not taken: ${why}`,

  // What became of it
  answeredBy: (who: string, time: string) => `Answered ${who} at ${time}`,
  endedBy: (who: string, time: string) => `Ended ${who} at ${time}`,
  byYou: "by you",
  automatically: "automatically",
  byWhom: (by: string, where: string) => `by ${by} ${where}`,
  surfaces: { plain: "in the terminal", tui: "in the terminal", cli: "by command" } as Record<string, string>,
  otherSurface: (surface: string) => `from ${surface}`,
  recorded: "Recorded",
  allowed: "allowed",
  fromNowOn: (rules: string) => `, and from now on ${rules}`,
  destination: {
    session: "in this session",
    local: "for you in this project",
    project: "for everyone in this project",
    user: "for you everywhere",
  } satisfies Record<RuleDestination, string>,
  allowedEdited: "allowed with changes",
  refused: "refused",
  declined: "not answered, on purpose",
  cancelled: "cancelled",
  timedOut: "nobody answered in time",
  superseded: "no longer needed",
  noSurface: "nobody could be asked",
  partly: "in part",

  // What happens
  says: (by: string) => `${by} says:`,
  youSaid: "You:",
  startsAgain: "— the reply starts again —",
  /** How a call stands. */
  standing: {
    new: "not started",
    waiting: "waiting for you",
    running: "running",
    done: "done",
    failed: "failed",
    "refused-by-rule": "refused by a rule",
    "refused-by-person": "refused by a person",
    invalid: "invalid",
    "not-run": "not run",
    stopped: "stopped",
    unknown: "end unknown",
  },
  inputChanged: (who: string) => `Input changed ${who}`,
  byHook: "by a hook",
  more: (n: number) => `… ${plural(n, "more line")}`,
  earlier: (n: number) => `… ${plural(n, "earlier turn")}`,
  facts: "Another process runs this session: its text appears when it is complete. You may answer and speak from here.",
  ruleAdded: (rule: string, file: string | undefined) =>
    `Rule ${file ? `saved in ${file}` : "for this session"}: ${rule}`,
  ruleNotSaved: (rule: string, why: string) => `Rule for this session only, for it was not saved: ${rule} (${why})`,
  compacted: (before: number, after: number) =>
    `Room was made in the conversation: from about ${plural(before, "token")} to ${plural(after, "token")}.`,
  modelChosen: (model: string, who: string) => `Model from the next turn on: ${model} (chosen ${who}).`,
  unknownEnd: (why: string) => `Its end is unknown: ${why}`,
  interrupted: (who: string) => `Interrupted ${who}. Say what to do instead, or /resume.`,
  stopping: (who: string) => `Stopped ${who}.`,
  still: (what: string, time: string) => `  … ${what} (${time})`,
  runs: (tool: string) => `${tool} is running`,
  modelWorks: "waiting for the model",
  interrupting: "Interrupting… (Ctrl-C again leaves)",
  cancelling: "Cancelling the request and the turn… (Ctrl-C again leaves)",
  queued: "(the agent reads it at its next step)",
  done: (calls: number, tokens: number, time: string, cost = "") =>
    `Done: ${plural(calls, "tool call")}, ${plural(tokens, "token")}, ${time}${cost && `, ${cost}`}`,
  turnCancelled: (why: string) => `The turn was cancelled: ${why}`,
  youCancelled: "The turn was cancelled.",
  turnPaused: (why: string) => `The turn is paused: ${why}`,
  turnMaxSteps: (steps: number) =>
    `The turn stopped after ${plural(steps, "step")}, which is its limit. Say “go on” to continue.`,
  turnNeedsInput: "A person is needed.",
  turnFailed: (why: string) => `The turn failed: ${why}`,
  resumeWith: (command: string) => `Nothing is lost. Go on with: ${command}`,
  unknownCommand: (typed: string) => `There is no ${typed}; /help lists what there is.`,
  help: [
    "Type what you want done. While the agent works, a line you type is read at its next step.",
    "/inbox   open requests of all sessions",
    "/name    use the skill of that name, with whatever follows it",
    "/resume  go on with an interrupted turn",
    "/compact make room: what was said so far is summarised",
    "/quit    leave; nothing is lost (/exit and Ctrl-D too)",
    "Ctrl-C   interrupts the agent; at a request it cancels the request and the turn;",
    "         twice, or when there is nothing to interrupt, it leaves",
  ],
  inboxEmpty: "Nobody is waiting for you.",
  answerWith: (id: string) => sage(`answer ${id}`),
  duration(ms: number): string {
    if (ms < 1_000) return `${Math.round(ms)} ms`;
    if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
    if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
    return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`;
  },
};
