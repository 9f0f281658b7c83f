import type { DeadlinePolicy } from "../../protocol/facts/silence.ts";
import { zh } from "./feishu-zh.ts";
import { inBoth } from "../language.ts";

function afterwards(policy: DeadlinePolicy): string {
  if (policy === "cancel") return "the task is cancelled";
  if (policy === "deny") return "it counts as a no, and the task continues";
  return policy === "fail" ? "the task fails" : "the default answer is used";
}

const plural = (n: number, singular: string, many = `${singular}s`) =>
  `${n.toLocaleString("en")} ${n === 1 ? singular : many}`;

const en = {
  // Cards that ask
  asks: { permission: "Permission needed", question: "Sage needs your input", text: "Sage needs your input" },
  summary: {
    permission: (tool: string) => `Sage asks to use ${tool}`,
    question: (n: number) => `Sage has ${plural(n, "question")}`,
    text: "Sage asks for your input",
  },
  questions: (n: number) => plural(n, "question"),
  session: (id: string) => `Session ${id}`,
  details: "Details",
  comma: ", ",
  pair: (name: string, value: string) => `${name}: ${value}`,
  /** `label` ends with its own colon. */
  labelled: (label: string, text: string) => `${label} ${text}`,
  waits: (time: string, policy: DeadlinePolicy) => `If nobody answers by ${time}, ${afterwards(policy)}.`,
  thenAsked: (time: string, name: string) => `If nobody answers by ${time}, ${name} is asked.`,
  escalated: (name: string) => `Nobody has answered yet. Now asking ${name}.`,
  waitsFor: (left: string, policy: DeadlinePolicy) => `If nobody answers within ${left}, ${afterwards(policy)}.`,
  allowAll: (count: number) => `Allow all ${count} once`,
  denyAll: (count: number) => `Deny all ${count}`,
  oneByOne: "One by one",
  togetherDone: (answered: number, of: number) => `${answered} of ${of} answered`,
  togetherGone: "These can no longer be answered together; here is the request itself",
  allowOnce: "Allow once",
  allowAlways: "Allow for this session",
  alwaysTitle: "Allow this until the session ends?",
  allowOutside: "Run outside the sandbox, once",
  leaving: {
    title: "Run it outside the sandbox?",
    text: "It can then use the files, keys and network of the machine that Sage runs on.",
  },
  alwaysRules: "Allowed for this session:",
  comment: "Comment for Sage (optional)",
  deny: "Deny",
  denyWhy: "What should Sage do instead? (optional)",
  permissionByText: (typed: (words: string) => string, { always, outside }: { always: boolean; outside: boolean }) =>
    `Without buttons: ${typed("/allow")}, ${always ? `${typed("/allow always")}, ` : ""}${outside ? `${typed("/allow outside")}, ` : ""}or ${typed("/deny")} and a reason.`,
  askByText: (typed: (words: string) => string) => `To ask about it first: ${typed("/ask")} and your question.`,
  denyByText: (typed: (words: string) => string) => `Without buttons: ${typed("/deny")} and a reason.`,
  openChat: "Open the chat",
  masked: (n: number) => `${plural(n, "secret")} removed.`,
  leftOut: (lines: number, characters: number) =>
    `‹… ${plural(lines, "line")} (${plural(characters, "character")}) omitted …›`,
  attached: (file: string) =>
    `Too long for a card. The full text is in the file ${file}, sent just before this card. Read it before you decide.`,
  notAttached:
    "Too long for a card, and the file with the full text could not be sent. You can allow it only in the terminal.",
  answerThere: (id: string) => `In the terminal: sage answer ${id}`,
  readFirst: "Read the file first, then confirm with the button on the card.",
  askedFor: (name: string) => `Task from ${name}.`,
  approversAsked: (names: string) => `Only an approver can answer this. Asked: ${names}.`,
  noApprovers: "Only an approver can answer this, and none is set. Answer it in the terminal.",
  reminder: "Still waiting for an answer.",
  movedTitle: "Asked again below",
  movedBody: "This card was about to expire.",
  haveRead: "I have read the file; show the choices",
  chooseOne: "Choose one",
  chooseAny: "Choose any",
  otherBelow: "Other (write below)",
  other: "Other answer",
  otherOptional: "Other (optional)",
  submit: "Submit",
  notAnswer: "Don't answer",
  stop: "Stop the task",
  remark: "Comment for Sage (optional)",
  questionByText: (typed: (words: string) => string) =>
    `Without buttons: ${typed("/answer")} and an option number or your own words.`,
  questionsByText: (typed: (words: string) => string) =>
    `Without buttons: ${typed("/answer")} and a line for each question: an option number or your own words.`,
  textByText: (typed: (words: string) => string) => `Without buttons: ${typed("/answer")} and your answer.`,
  pickByText: (typed: (words: string) => string) => `Without buttons: ${typed("/answer")} and an option number.`,
  writeHere: "Your answer",
  requestFile: (id: string) => `request-${id}.txt`,

  // Cards that ask no more
  closed: {
    permission: "Permission",
    question: "Question",
    text: "Input",
  },
  ended: {
    allowed: "allowed once",
    always: "allowed for this session",
    edited: "allowed with changes",
    outside: "allowed once, outside the sandbox",
    denied: "denied",
    answered: "answered",
    partial: "partly answered",
    declined: "not answered",
    cancelled: "cancelled",
    timed_out: "expired",
    superseded: "no longer needed",
    no_surface: "nobody could be asked",
  },
  answeredBy: (who: string, where: string, time: string) => `Answered by ${who} ${where} · ${time}`,
  endedBy: (who: string, where: string, time: string) => `Ended by ${who} ${where} · ${time}`,
  somebody: "somebody",
  inFeishu: "in Feishu",
  inTerminal: "in the terminal",
  byRule: "by a rule",
  elsewhere: (surface: string) => `from ${surface}`,
  automatically: "automatically",
  reason: (why: string) => `Reason: ${why}`,
  expired: (time: string, policy: DeadlinePolicy) =>
    `No answer within ${time}. Nothing ran; the task ${policy === "cancel" ? "was cancelled" : "failed"}.`,
  expiredDenied: (time: string) => `No answer within ${time}, which counts as a no. Nothing ran.`,
  expiredDefault: (time: string) => `No answer within ${time}; the default answer was used.`,
  unknownTitle: "This request is no longer open",
  unknownBody: "It was answered or has ended; see the session's record.",
  restartTitle: "Interrupted by a restart",
  restartGoesOn: "Sage was restarted. Nothing is lost; the task continues below.",
  restartStopped: "Sage was restarted. Nothing is lost; continue with /resume.",

  // Progress
  working: "Sage is working",
  workingSummary: "Sage is working…",
  waiting: "So far",
  continued: "Continues below",
  steps: (n: number) => plural(n, "step"),
  stepsTitle: "Steps",
  stopButton: "Stop",
  earlierSteps: (n: number) => `… ${plural(n, "earlier step")}`,
  done: "Done",
  stats: (calls: number, tokens: number, time: string) =>
    `${plural(calls, "tool call")}, ${plural(tokens, "token")}, ${time}`,
  failed: "Failed",
  cancelledTitle: "Stopped",
  pausedTitle: "Paused",
  maxSteps: (n: number) => `Stopped at the limit of ${plural(n, "step")}. Say “continue” to resume.`,
  promptTimeout: (time: string) => `The task was cancelled: nobody answered within ${time}.`,
  taskTimeout: (time: string) => `The task was stopped: it reached its limit of ${time} of work.`,
  interruptedBy: (who: string) => `${who} interrupted`,
  pausedBecause: (why: string) => `Paused: ${why}. Say what to do instead, or /resume.`,
  begunBy: (who: string, where: string, text: string) => `${who} ${where}: ${text}`,
  failedBecause: (why: string) => `Failed: ${why}`,
  answerFile: "answer.md",
  wholeAnswer: (file: string) => `The full answer is in the file ${file}.`,
  answerNotSent: "The rest did not fit and could not be sent as a file. See the session in the terminal.",
  filesNotSent: (names: string) => `Could not be sent: ${names}`,

  // Results of clicks and messages
  toast: {
    allowed: "Allowed once",
    always: "Allowed for this session",
    outside: "Allowed once, outside the sandbox",
    denied: "Denied",
    answered: "Answer recorded",
    declined: "Declined to answer",
    stopped: "Stopping",
    notYours: "You may not answer this request",
    notStopper: "Only the person who gave the task or an approver may stop it",
    notTalker: "You may not use this bot",
    gone: "This request is no longer open",
    wrongCard: "This button belongs to another card",
    oldCard: "This card was out of date and is now updated",
    already: (who: string) => `Already answered by ${who}`,
    expired: "This request has expired",
    fill: (n: number) => `Answer question ${n}`,
    empty: "An empty answer is not an answer",
    failed: (why: string) => `Not accepted: ${why}`,
    nothing: "Nothing is running",
  },
  mayNotTalk: "You may not give tasks to this bot. An administrator can add you here with /invite.",
  mayNotTalkAlone: (id: string) =>
    `You may not give tasks to this bot. An administrator can add you with /invite in a group, or in the settings by your id: ${id}`,
  mayNotAnswer: "Only an approver can answer this.",
  queueFull: "Fifty messages are already waiting. Wait a little, or /stop.",
  replyToCard:
    "Several requests are open, so this was not sent to Sage. Use the buttons on the card you mean, or write:",
  useCard: "A permission is waiting, so this was not sent to Sage. Use the buttons on its card, or write:",
  notThis: "That card is closed. Nothing was sent to Sage.",
  quoteCard: "Say which card you mean: use its buttons, or write:",
  answerFirst: (why: string) => `Not an answer: ${why}`,
  noOption: (n: string, last: number) => `No option ${n}; choose 1 to ${last}.`,
  oneOnly: "Choose only one here.",
  needLines: (n: number) => `There are ${n} questions; write one line for each.`,
  onlyOptions: "Choose one of the options here.",
  cardFailed: "The card could not be shown; here is its text.",
  raceLost: (who: string) => `Too late: already answered by ${who}.`,
  failedToSay: (why: string) => `Not accepted: ${why}`,

  // Commands
  stopping: "Stopping. Open requests are cancelled.",
  nothingRuns: "Nothing is running here.",
  stoppedBefore: "Stopped before it started. Nothing was sent to Sage.",
  newSession: (folder: string) => `New session in ${folder}. What would you like to do?`,
  status: {
    IDLE: "idle: ready for a task",
    EXECUTING: "working",
    WAITING_INPUT: "waiting for your input",
    WAITING_CONFIRM: "waiting for your decision",
  },
  statusLine: (session: string, state: string, folder: string, by: { model: string; agent: string | undefined }) =>
    `Session ${session}: ${state}\nFolder: ${folder}${by.model === "" ? "" : `\nModel: ${by.model}`}${by.agent === undefined ? "" : `\nAgent: ${by.agent}`}`,
  noSession: "No session here yet. What would you like to do?",
  openRequests: (n: number) => plural(n, "open request"),
  sessionsTitle: "Sessions",
  moreSessions: (n: number) => `and ${n} more`,
  noSessions: "No sessions yet.",
  sessionState: { idle: "idle", running: "working", waiting: "waiting for an answer", stopped: "interrupted" },
  untitled: "(empty)",
  goOn: "Continue here",
  resumed: (id: string) => `This chat continues session ${id}.`,
  resumeWhich: "Which one? Type /resume and the start of its id; /sessions lists them.",
  worksForOthers: "It is working for somebody else. Take it over when it is done, or ask an approver to.",
  hasLeft: "The conversation from here continues elsewhere. This starts a new one.",
  noSuchSession: (id: string) => `No session ${id} available in this chat; /sessions lists them.`,
  cdWhich: (folder: string, folders: readonly string[]) =>
    `This session works in ${folder}. Available folders:\n${folders.join("\n")}`,
  cdRefused: (folder: string) => `${folder} is not one of this bot's folders.`,
  cdMissing: (folder: string) => `No such folder: ${folder}`,
  modelNow: (model: string, models: readonly string[]) =>
    `Model: ${model || "the default"}${models.length > 0 ? `\nAvailable: ${models.join(", ")}` : ""}`,
  modelRefused: (model: string) => `${model} is not one of the available models.`,
  modelNew: (model: string) => `New session with ${model}. What would you like to do?`,
  agentNow: (agent: string | undefined, agents: readonly string[]) =>
    `Agent: ${agent ?? "Sage itself"}${agents.length > 0 ? `\nAvailable: ${agents.join(", ")}` : ""}`,
  agentRefused: (agent: string) => `${agent} is not one of the available agents.`,
  agentNew: (agent: string) => `New session with ${agent}. What would you like to do?`,
  callsEach: (time: string, names: string) => `After each ${time} without an answer, Sage asks the next of: ${names}.`,
  waitsForEver: "Requests wait until somebody answers.",
  worksFor: (time: string) => `A task works for at most ${time}; waiting does not count.`,
  timeoutHow:
    "For example: /timeout 30m, /timeout 2h deny, /timeout off. 10 seconds to 30 days; then cancel, fail or deny.",
  boundTo: (name: string | undefined, names: readonly string[]) =>
    `${name === undefined ? "This chat works in the bot's default folder." : `This chat works in ${name}.`}\n${names.length === 0 ? "The settings name no workspaces." : `Workspaces: ${names.join(", ")}`}`,
  bound: (name: string, folder: string) => `From the next session on, this chat works in ${name} (${folder}).`,
  noWorkspace: (name: string, names: readonly string[]) =>
    `Unknown workspace ${name}. ${names.length === 0 ? "The settings name none." : `Available: ${names.join(", ")}`}`,
  langHow: "/lang en or /lang zh: for people whose client uses neither, and for files.",
  langSet: "Done.",
  mentionWhom: (command: string) => `Mention the person: ${command} @name`,
  nowApprove: (names: string) => `${names} can now give tasks and approve.`,
  nowTalk: (names: string) => `${names} can now give tasks.`,
  nothingMissing: "Nothing is missing.",
  helpTitle: "Using Sage here",
  help: [
    "Say what you want done. In a group, mention the bot: each mention starts a task, and the conversation continues in its thread.",
    "If you write while it works, it reads your message at its next step.",
    "When it asks, use the card; the details say what to write instead.",
  ],

  // Files
  cannotRead: "Sage reads text, pictures and files; this is none of them.",
  noVoice: "Thank you for the voice message! Sage cannot listen yet. Please write it, or use the client's voice input.",
  editedLate: "You edited your message after the task was done. Send it again to have it redone.",
  quoteUnread: "The message you replied to could not be read; Sage got only your own text.",
  forwardUnread: "The forwarded messages could not be read.",
  fileTooLarge: (name: string, limit: string) => `${name} was not accepted: files may be at most ${limit}.`,
  fileFailed: (name: string) => `${name} could not be fetched.`,
  tooManyFiles: (n: number) => `Only the first ${n} files were accepted.`,
};

/** Texts of a chat. */
export type FeishuTexts = typeof en;

export const feishuTexts = inBoth<FeishuTexts>(en, zh);
