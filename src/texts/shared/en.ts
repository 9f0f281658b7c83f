import type { PermissionBehavior, RuleSource } from "../../protocol/decision.ts";
import type { Preview } from "../../protocol/facts/call.ts";
import type { Question, RequestSource } from "../../protocol/facts/request.ts";
import type { RestoreProblem, RewindWhat } from "../../protocol/facts/rewind.ts";
import type { DeadlinePolicy } from "../../protocol/facts/silence.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import { sage } from "../command.ts";
import { ageText, durationText } from "../duration.ts";
import { questionIn, type ShownQuestion } from "./questions.ts";
import { sentence } from "./sentence.ts";

const plural = (n: number, singular: string, many = `${singular}s`) =>
  `${n.toLocaleString("en")} ${n === 1 ? singular : many}`;

export const en = {
  // A request
  title: { permission: "Permission needed", question: "Question", text: "Input needed" },
  place: (n: number, of: number) => `${n} of ${of}`,
  colon: ": ",
  comma: ", ",
  aside: (text: string, more: string) => `${text} (${more})`,
  tools: {
    Bash: "Run this command?",
    Edit: "Edit this file?",
    Write: "Write this file?",
    WebFetch: "Read this page?",
    WebSearch: "Search the web for this?",
    ExitPlanMode: "Approve this plan?",
  } as Record<string, string>,
  otherTool: (tool: string) => `Run ${tool}?`,
  size: (characters: number, lines: number) => `${plural(characters, "character")}, ${plural(lines, "line")}`,
  fromLine: (n: number) => `line ${n}`,
  omitted: {
    binary: "The existing file is binary, so the change cannot be shown.",
    huge: "Too large to compare with the existing file (over 1 MB).",
    same: "The file already has this content.",
  } satisfies Record<NonNullable<Preview["omitted"]>, string>,
  image: (label: string) => `[image ${label}]`,
  writes: "Writes to:",
  leaves: "outside the workspace",
  why: "Why:",
  /** Why a call was judged as it was. */
  because: (reason: Reason | string): string => sentence(reason, "en"),
  question: (question: Question): ShownQuestion => questionIn(question, "en"),
  source: {
    tool: "",
    approval: "",
    sage: "Sage asks.",
    model: "Sage asks.",
    mcp: "An MCP server asks.",
    recovery: "Sage asks: a command was interrupted.",
    outside: "", // the reason says so
  } satisfies Record<RequestSource, string>,
  hard: "Only a person can allow this; no rule can.",
  danger: {
    removes: "removes files",
    "force-push": "force push",
    "runs-download": "runs a download",
    outside: "writes outside the workspace",
    "person-only": "only a person can allow this",
  },
  careful: (dangers: readonly string[]) => `Careful: ${dangers.join(", ")}.`,
  agent: (path: readonly string[]) => `Asked by ${path.join(" › ")}`,
  openedIn: (folder: string, { machine, place }: { machine: string; place?: string }) =>
    `In ${folder} on ${machine}${place === undefined ? "" : ` (place ${place})`}`,
  forTask: (by: string, words: string) => `${by === "" ? "Task" : `Task of ${by}`}: ${words}`,
  ownWords: "The agent says (not verified):",
  cut: (n: number) => `… ${plural(n, "more character")}`,
  parts: "Commands:",
  behavior: { allow: "allowed", deny: "refused", ask: "asks", passthrough: "asks" } satisfies Record<
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
  consent: (needed: number, except: readonly string[]) => {
    const others = except.length === 0 ? "" : ` other than ${except.join(" and ")}, who asked for it,`;
    return needed === 1 ? `Somebody${others} has to approve this.` : `${needed} people${others} have to approve this.`;
  },
  /** `who`: such as "by lin (terminal)". */
  consentGiven: (given: number, needed: number, who: readonly string[]) =>
    `${given} of ${needed}: approved ${who.join(", ")}`,
  takesSignature: "A yes counts only from a paired device that is another machine, or with a passkey on the page",
  signed: (who: readonly string[]) => `approved ${who.join(", ")}`,
  approvedAgain: "You have approved this before; each person counts once.",
  waitsForEver: "Waits until somebody answers.",
  thenAsked: (who: string, time: string) => `If nobody answers, ${who} is asked at ${time}.`,
  reminded: "Nobody has answered yet; those who were asked are reminded.",
  escalated: (who: string) => `Nobody has answered yet; ${who} is asked now.`,
  overdue: "overdue",
  inTime: (duration: string) => `${duration} left`,

  // Answering
  once: "Allow once",
  runOutside: "Run it outside the sandbox, once (with your files, keys and network)",
  always: (rules: number) =>
    rules > 1 ? `Always allow in this session (all ${rules} rules)` : "Always allow in this session (rule 1)",
  alwaysOther: "a 2: rule 2 instead",
  alwaysPlace: "a local: save it to that file",
  alwaysOwn: "a = …: your own rule",
  no: "No",
  noBecause: "No, and say why",
  edit: "Edit first",
  yesAnd: "Allow with a comment",
  stop: "Stop the turn",
  together: (count: number) => `Answer ${count} alike together`,
  permitAll: (count: number) => `Allow all ${count} once? (y/n, empty: back)`,
  /** `count` further requests that one answer may be meant for. */
  alikeTo: (count: number) => `and ${count} more alike`,
  ctrlCOnly: "Ctrl-C cancels the request and stops the turn.",
  ctrlC: "Ctrl-C cancels the request and stops the turn; Ctrl-D exits and leaves it open.",
  permit: "Allow? (y/n/…)",
  permitPlan: "Approve? (y/a/r/…)",
  planReason: "What should change (empty: back)",
  planComment: "Comment, then the plan is approved (empty: back)",
  newPlan: "New plan as JSON, then it is approved (empty: back)",
  reason: "Reason (empty: back)",
  comment: "Comment, then it runs (empty: back)",
  newCommand: "New command, then it runs (empty: back)",
  newRule: "Rule, then it runs (empty: back)",
  newInput: "New input as JSON, then it runs (empty: back)",
  answer: "Answer",
  remark: "Comment for the agent (empty: none)",
  questionPlace: (n: number, of: number) => `Question ${n} of ${of}`,
  kept: (question: string, answer: string) => `From your draft: ${question} → ${answer}`,
  oneOption: "Type a number.",
  someOptions: "Type numbers (1,3).",
  oneOf: "Type a number or your own answer.",
  someOf: "Type numbers, your own answer, or both (1,3 and …).",
  severalMay: "Choose one or more.",
  declineHint: "d: don't answer · s: stop the turn",
  declineAllHint: "d: answer none of these · s: stop the turn",
  backHint: "b: previous question",
  partialHint: "p: submit only these answers",
  textHint: "Type your answer on one line.",

  // A line that is no answer
  emptyLine: "An empty line is no answer.",
  noChoice: (typed: string, choices = "") => `“${typed}” is not a choice.${choices && ` Choose ${choices}.`}`,
  noRule: "No rule can be saved for this request; y allows it once.",
  noPlace: (place: string) => `Rules cannot be saved to “${place}” here. Use a place listed above, or “session”.`,
  noOption: (n: string, last: number) =>
    `There is no option ${n}; choose 1 to ${last}. To answer with the text itself, quote it: "${n}"`,
  noOptionHere: (last: number) => `Choose an option from 1 to ${last}.`,
  onlyOne: (typed: string) => `Choose only one. To answer with the text itself, quote it: "${typed}"`,
  noneBefore: "This is the first question.",
  nothingYet: "Answer at least one question first, or type d.",
  unchanged: "Nothing changed; y allows it as it is.",
  notJson: (why: string) => `Not a JSON object: ${why}`,
  notUsed: (typed: string) => `Ignored “${typed}”: it was pasted, or typed before the prompt.`,
  sendingFailed: (why: string) => `Not accepted: ${why}`,

  // How it was answered
  delivery: {
    waiting: "not delivered yet",
    told: "not delivered yet, told in words",
    unknown: "nobody knows whether it was delivered",
  },
  answeredBy: (who: string, time: string) => `Answered ${who} at ${time}`,
  endedBy: (who: string, time: string) => `Closed ${who} at ${time}`,
  byYou: "by you",
  byAgent: "by the agent",
  automatically: "automatically",
  onDevice: (where: string, device: string) => `${where}, on ${device}`,
  byWhom: (by: string, where: string) => `by ${by} ${where}`,
  surfaces: {
    plain: "in the terminal",
    tui: "in the terminal",
    cli: "on the command line",
    web: "in the browser",
    feishu: "in Feishu",
    persona: "in a test",
  } as Record<string, string>,
  otherSurface: (surface: string) => `from ${surface}`,
  recorded: "Recorded",
  allowed: "allowed",
  signedElsewhere: ", signed by a device that is another machine",
  passkey: "passkey",
  addPasskey: "Make a passkey in this browser",
  typedHere: ", typed here",
  signedByPasskey: ", signed with a passkey",
  outsideOnce: ", to run outside the sandbox",
  unask: (rule: string, place: string) => `Allow, and remove the rule that asks: ${rule} (${place})`,
  unaskNarrower: (rule: string) => `Ask only for ${rule} instead`,
  unaskLine: "Ask only for this rule instead; -: remove it (empty: back)",
  unaskInstead: "Ask only for this instead (empty: the rule is removed)",
  removes: (rules: string) => `, without the rule ${rules} from now on`,
  fromNowOn: (rules: string) => `, always with ${rules}`,
  destination: {
    session: "this session",
    local: "you, in this project",
    project: "everyone, in this project",
    user: "you, in all projects",
    managed: "policy of this machine",
  } satisfies Record<RuleSource, string>,
  allowedEdited: "allowed with changes",
  refused: "refused",
  declined: "not answered",
  cancelled: "cancelled",
  timedOut: "no answer in time",
  superseded: "no longer needed",
  noSurface: "nobody to ask",
  partly: "partly",

  // A session
  says: (by: string) => `${by}:`,
  youSaid: "You:",
  startsAgain: "— reply restarted —",
  /** Status of a call. */
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
  keptOutput: (lines: number) => `… ${plural(lines, "line")} in all`,
  keptIn: (file: string) => `kept in ${file}`,
  more: (n: number) => `… ${plural(n, "more line")}`,
  earlier: (n: number) => `… ${plural(n, "earlier message")}`,
  facts:
    "Another process runs this session. Replies appear when they are complete; you can still answer and send messages.",
  ruleAdded: (rule: string, file: string | undefined) =>
    `Rule ${file ? `saved to ${file}` : "added for this session"}: ${rule}`,
  takesBack: (command: string) => ` (${command} takes it back)`,
  ruleNotSaved: (rule: string, why: string) => `Rule added for this session only: ${rule} (not saved: ${why})`,
  compacted: (before: number, after: number) =>
    `Conversation compacted: about ${before.toLocaleString("en")} → ${after.toLocaleString("en")} tokens.`,
  ruleRemoved: (rule: string, who: string) => `Rule taken back: ${rule} (${who}).`,
  planYes: "Approve",
  planAccept: "Approve and accept edits",
  planChange: "Change the plan: say what",
  modes: { ask: "ask", acceptEdits: "accept edits", plan: "plan" } as Record<SessionMode, string>,
  rewindWhat: { conversation: "conversation", files: "files", both: "conversation and files" } as Record<
    RewindWhat,
    string
  >,
  rewound: (what: string, turn: string, who: string) => `Rewound ${who} to before ${turn}: ${what}.`,
  restored: (restored: number, left: number) =>
    `${plural(restored, "file")} restored${left === 0 ? "" : `, ${left} left as they are`}.`,
  restoreProblem: {
    changed: "changed by somebody else since",
    moved: "a link leads elsewhere now",
    lost: "its earlier content was not kept or is damaged",
    "not-a-file": "no longer a regular file",
    failed: "could not be written",
  } as Record<RestoreProblem, string>,
  inquired: (text: string, who: string) => `Inquiry ${who}: ${text}`,
  inquiryReply: (cost: string) => (cost === "" ? "The agent replies:" : `The agent replies (${cost}):`),
  inquiryFailed: (why: string) => `No reply: ${why}`,
  inquiryOver: "The request ended before there was a reply.",
  past: (calls: number, changed: number, against: number, named: string) =>
    `Of the last ${calls} calls it would have allowed ${changed} without asking${against === 0 ? "" : `; ${against} of those a person refused`}${named === "" ? "." : `: ${named}`}`,
  opensToo: (count: number) => `It answers ${plural(count, "other open request")} as well.`,
  inquiryWaits: "The agent is asked. The request stays open.",
  inquiryKey: "ask about it first: ? and your question",
  inquiryHow: "Type your question after the question mark: ? why not with sed",
  withdrawn: (text: string, who: string) => `Message taken back ${who}: ${text}`,
  withdrawnLate: "Too late to take it back: the agent has read the message.",
  modeChosen: (mode: string, who: string) => `Mode changed ${who}: ${mode}.`,
  modelChosen: (model: string, who: string) => `Model changed ${who}: ${model} from the next turn.`,
  unknownEnd: (why: string) => `Cut off: ${why}`,
  queuedMessage: (text: string) => `Waits for the next step: ${text}`,
  queuedBefore: (n: number) => `${plural(n, "message")} before these`,
  interruptedToRead: (who: string) => `Interrupted ${who} to read a message.`,
  interrupted: (who: string) => `Interrupted ${who}. Say what to do instead, or /resume.`,
  still: (what: string, time: string) => `  … ${what} (${time})`,
  runs: (tool: string) => `${tool} is running`,
  modelWorks: "waiting for the model",
  interrupting: "Interrupting… (Ctrl-C again exits)",
  cancelling: "Cancelling the request and the turn… (Ctrl-C again exits)",
  queued: "(the agent reads this at its next step)",
  done: (calls: number, tokens: number, time: string, cost = "") =>
    `Done: ${plural(calls, "tool call")}, ${plural(tokens, "token")}, ${time}${cost && `, ${cost}`}`,
  turnCancelled: (why: string) => `Turn cancelled: ${why}`,
  youCancelled: "Turn cancelled.",
  turnPaused: (why: string) => `Turn paused: ${why}`,
  turnIncomplete: {
    length: "The reply was cut off at the token limit. Say “continue” for the rest, or raise maxOutputTokens.",
    filtered: "The model's provider withheld the reply. Rephrase the task, or choose another model.",
    empty: "The model sent an empty reply. Say “continue” to try again.",
  },
  turnMaxSteps: (steps: number) => `Stopped at the limit of ${plural(steps, "step")}. Say “continue” to resume.`,
  turnNeedsInput: "Waiting for a person.",
  turnFailed: (why: string) => `Turn failed: ${why}`,
  resumeWith: (command: string) => `Session saved. Resume with: ${command}`,
  help: [
    "Type a task. While the agent works, it reads what you type at its next step.",
    "Ctrl-C interrupts the agent, or cancels a request and its turn; twice, or when nothing is running, it exits. Ctrl-D exits too.",
  ],
  inboxEmpty: "No open requests.",
  answerWith: (id: string) => sage(`answer ${id}`),
  duration: (ms: number) => durationText(ms, "en"),
  age: (ms: number) => ageText(ms, "en"),
};
