import type { DeadlinePolicy } from "../protocol/index.ts";
import { zh } from "./feishu-zh.ts";
import type { Lang } from "./language.ts";

function afterwards(policy: DeadlinePolicy): string {
  if (policy === "cancel") return "the task is cancelled";
  if (policy === "deny") return "it counts as refused, and the task goes on";
  return policy === "fail" ? "the task fails" : "the answer set in advance is used";
}

const plural = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

const en = {
  // Cards that ask
  asks: { permission: "Permission needed", question: "Sage needs your input", text: "Sage needs your input" },
  summary: {
    permission: (tool: string) => `Sage asks: may it use ${tool}?`,
    question: (n: number) => `Sage has ${plural(n, "question")}`,
    text: "Sage asks you for a text",
  },
  questions: (n: number) => plural(n, "question"),
  session: (id: string) => `Session ${id}`,
  details: "Details",
  comma: ", ",
  waits: (time: string, policy: DeadlinePolicy) => `If nobody answers by ${time}, ${afterwards(policy)}.`,
  thenAsked: (time: string, name: string) => `If nobody answers by ${time}, ${name} is called.`,
  escalated: (name: string) => `Nobody has answered yet, so ${name} is called.`,
  waitsFor: (left: string, policy: DeadlinePolicy) => `If nobody answers within ${left}, ${afterwards(policy)}.`,
  allowOnce: "Allow once",
  allowAlways: "Allow for this session",
  alwaysTitle: "Allow without asking again, until this session ends?",
  alwaysRules: "For this session means:",
  comment: "A word to Sage with your answer (optional)",
  deny: "Deny",
  denyWhy: "What should Sage do instead? (optional)",
  permissionByText: (typed: (words: string) => string) =>
    `Without buttons: ${typed("/allow")}, ${typed("/allow always")}, or ${typed("/deny")} and a reason.`,
  openChat: "Open the chat",
  masked: (n: number) => `${plural(n, "secret")} in it ${n === 1 ? "is" : "are"} not shown here.`,
  leftOut: (lines: number, characters: number) =>
    `‹… ${plural(lines, "line")} (${plural(characters, "character")}) not shown here …›`,
  attached: (file: string) =>
    `This does not fit on a card. All of it is in the file ${file}, sent just before this card. Read it before you decide.`,
  notAttached:
    "This does not fit on a card, and the file with all of it could not be sent. It can be allowed in the terminal only.",
  answerThere: (id: string) => `In the terminal: sage answer ${id}`,
  readFirst: "Read the file first, and say so with the button on the card.",
  askedFor: (name: string) => `${name} gave this task.`,
  approversAsked: (names: string) => `Only an approver can answer this. Asked: ${names}.`,
  noApprovers: "Only an approver can answer this, and there is none. It waits in the terminal.",
  reminder: (left: string, policy: DeadlinePolicy) =>
    `This still waits for an answer. If nobody answers within ${left}, ${afterwards(policy)}.`,
  movedTitle: "Asked again below",
  movedBody: "This card was about to become too old to be answered.",
  haveRead: "I have read the file: show the choices",
  chooseOne: "Choose one",
  chooseAny: "Choose any",
  otherBelow: "Other (write below)",
  other: "Other answer",
  otherOptional: "Other (optional)",
  submit: "Submit",
  notAnswer: "Do not answer",
  stop: "Stop the task",
  remark: "A remark for Sage (optional)",
  questionByText: (typed: (words: string) => string) =>
    `Without buttons: ${typed("/answer")} and the number of an option or your own words; for several questions, one line each.`,
  pickByText: (typed: (words: string) => string) => `Without buttons: ${typed("/answer")} and the number of an option.`,
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
    denied: "denied",
    answered: "answered",
    partial: "answered in part",
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
    `No answer within ${time}. Nothing was run; the task ${policy === "cancel" ? "was cancelled" : "failed"}.`,
  expiredDenied: (time: string) => `No answer within ${time}, which counts as refused. Nothing was run.`,
  expiredDefault: (time: string) => `No answer within ${time}; the answer set in advance was used.`,
  unknownTitle: "This request is no longer open",
  unknownBody: "It was answered or has ended. What counts is in the session's record.",
  restartTitle: "Interrupted by a restart",
  restartGoesOn: "Sage was restarted. Nothing is lost: the task goes on below.",
  restartStopped: "Sage was restarted. Nothing is lost; /resume goes on with the task.",

  // Progress
  working: "Sage is working",
  workingSummary: "Sage is working…",
  waiting: "So far",
  continued: "Goes on below",
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
  maxSteps: (n: number) => `It stopped after ${plural(n, "step")}, which is its limit. Say “go on” to continue.`,
  promptTimeout: (time: string) => `The task was cancelled: nobody answered within ${time}.`,
  taskTimeout: (time: string) => `The task was stopped: it had worked for ${time}, which is its limit.`,
  interruptedBy: (who: string) => `${who} interrupted`,
  pausedBecause: (why: string) => `Paused: ${why}. Say what to do instead, or /resume.`,
  begunBy: (who: string, where: string, text: string) => `${who} ${where}: ${text}`,
  failedBecause: (why: string) => `Failed: ${why}`,
  answerFile: "answer.md",
  wholeAnswer: (file: string) => `The whole answer is in the file ${file}.`,
  answerNotSent: "The rest did not fit, and could not be sent as a file. It is in the session: see it in the terminal.",
  filesNotSent: (names: string) => `Could not be sent: ${names}`,

  // What a click or a message came to
  toast: {
    allowed: "Allowed once",
    always: "Allowed for this session",
    denied: "Denied",
    answered: "Answer recorded",
    declined: "Not answered, on purpose",
    stopped: "Stopping",
    notYours: "You may not answer this one",
    notStopper: "Whoever gave the task, or an approver, may stop it",
    notTalker: "You may not use this bot",
    gone: "This request is no longer open",
    wrongCard: "This button belongs to another card",
    oldCard: "This card is out of date; here is the present one",
    already: (who: string) => `Already answered by ${who}`,
    expired: "This request has expired",
    fill: (n: number) => `Answer question ${n}`,
    empty: "An empty answer is not an answer",
    failed: (why: string) => `Not taken: ${why}`,
    nothing: "Nothing is running",
  },
  mayNotTalk: "You may not give tasks to this bot. An administrator can admit you here with /invite.",
  mayNotTalkAlone: (id: string) =>
    `You may not give tasks to this bot. An administrator can admit you with /invite in a group, or in the settings by your id: ${id}`,
  mayNotAnswer: "Only an approver can answer this.",
  queueFull: "Fifty messages wait to be read already. Wait a little, or /stop.",
  replyToCard:
    "Several requests are open, so this was not sent to Sage. Use the buttons of the card that you mean, or write:",
  useCard: "A permission is waiting, so this was not sent to Sage. Use the buttons of its card, or write:",
  notThis: "That card is closed. Nothing was sent to Sage.",
  quoteCard: "Say which card you mean: use its buttons, or write:",
  answerFirst: (why: string) => `That is no answer: ${why}`,
  noOption: (n: string, last: number) => `There is no option ${n}; the options are 1 to ${last}.`,
  oneOnly: "Only one can be chosen here.",
  needLines: (n: number) => `There are ${n} questions; write one line for each.`,
  onlyOptions: "Only one of the options can be chosen here.",
  cardFailed: "The card could not be shown, so here it is in words.",
  raceLost: (who: string) => `Too late: already answered by ${who}.`,
  failedToSay: (why: string) => `Not taken: ${why}`,

  // Commands
  stopping: "Stopping. What was waiting for an answer is cancelled.",
  nothingRuns: "Nothing is running here.",
  stoppedBefore: "Stopped before it began. Nothing of it was sent to Sage.",
  newSession: (folder: string) => `A new session in ${folder}. Say what to do.`,
  status: {
    IDLE: "idle: ready for a task",
    EXECUTING: "working",
    WAITING_INPUT: "waits for a text from you",
    WAITING_CONFIRM: "waits for your decision",
  },
  statusLine: (session: string, state: string, folder: string, model: string) =>
    `Session ${session}: ${state}\nFolder: ${folder}${model === "" ? "" : `\nModel: ${model}`}`,
  noSession: "There is no session here yet. Say what to do.",
  openRequests: (n: number) => plural(n, "open request"),
  sessionsTitle: "Sessions",
  noSessions: "There are no sessions yet.",
  sessionState: { idle: "idle", running: "working", waiting: "waits for an answer", stopped: "stopped in the middle" },
  untitled: "(nothing said yet)",
  goOn: "Go on here",
  resumed: (id: string) => `This chat goes on with session ${id}.`,
  resumeWhich: "Which one? /resume and the first letters of its id; /sessions lists them.",
  worksForOthers: "It works for somebody else just now. It can be taken over once it is done, or by an approver.",
  hasLeft: "The conversation that was here goes on in another place. This begins a new one.",
  noSuchSession: (id: string) => `There is no session ${id} that this chat may take; /sessions lists them.`,
  cdWhich: (folder: string, folders: readonly string[]) =>
    `This session works in ${folder}. Folders that may be chosen:\n${folders.join("\n")}`,
  cdRefused: (folder: string) => `${folder} is none of the folders that this bot may work in.`,
  cdMissing: (folder: string) => `There is no folder ${folder}.`,
  modelNow: (model: string, models: readonly string[]) =>
    `Model: ${model || "the default"}${models.length > 0 ? `\nMay be chosen: ${models.join(", ")}` : ""}`,
  modelRefused: (model: string) => `${model} is none of the models that may be chosen here.`,
  modelNew: (model: string) => `A new session with ${model}. Say what to do.`,
  administratorsOnly: "Only an administrator can do this.",
  callsEach: (time: string, names: string) => `After ${time} each without an answer, these are called: ${names}.`,
  waitsForEver: "Requests wait until somebody answers them.",
  worksFor: (time: string) => `A task works for at most ${time}; waiting does not count.`,
  timeoutHow:
    "For example: /timeout 30m, /timeout 2h deny, /timeout off. 10 seconds to 30 days; then cancel, fail or deny.",
  boundTo: (name: string | undefined, names: readonly string[]) =>
    `${name === undefined ? "This chat works in the bot's own folder." : `This chat works in ${name}.`}\n${names.length === 0 ? "No workspaces are named in the settings." : `Workspaces: ${names.join(", ")}`}`,
  bound: (name: string, folder: string) => `From the next session on, this chat works in ${name} (${folder}).`,
  noWorkspace: (name: string, names: readonly string[]) =>
    `There is no workspace ${name}. ${names.length === 0 ? "None is named in the settings." : `There are: ${names.join(", ")}`}`,
  langHow: "/lang en or /lang zh: for readers whose client speaks neither, and for files.",
  langSet: "Done.",
  mentionWhom: (command: string) => `Mention the person: ${command} @name`,
  nowApprove: (names: string) => `${names} can now give tasks and approve.`,
  nowTalk: (names: string) => `${names} can now give tasks.`,
  nothingMissing: "Nothing is missing.",
  unknownCommand: (name: string) => `There is no ${name}; /help lists what there is.`,
  helpTitle: "What Sage understands here",
  help: [
    "Say what is to be done. In a group, mention the bot: each mention begins a task, and its thread is the conversation.",
    "While it works, what you write is read at its next step.",
    "When it asks, use the card; its details say what to write instead.",
    "/stop: stops the task · /new: a new session · /status: where it stands",
    "/sessions: what there is · /resume id: goes on with one, also from the terminal",
    "/cd folder: a new session elsewhere · /model name: a new session with another model",
    "/timeout: how long it waits for an answer · /bind name: the folder of this chat · /lang en",
    "For administrators: /invite @name · /approver @name · /doctor",
  ],

  // Files
  cannotRead: "Sage reads text, pictures and files. This was none of them.",
  noVoice: "Thank you for the voice message! Sage cannot listen yet. Please write it, or use the client's voice input.",
  editedLate:
    "You have changed your message. The task was done with the earlier words; say it anew if it should be done again.",
  quoteUnread: "The message that you reply to could not be read, so Sage has only your own words.",
  forwardUnread: "The forwarded messages could not be read.",
  fileTooLarge: (name: string, limit: string) => `${name} was not taken: files may have at most ${limit}.`,
  fileFailed: (name: string) => `${name} could not be fetched.`,
  tooManyFiles: (n: number) => `Only the first ${n} files were taken.`,
};

/** What a person reads in a chat. */
export type FeishuTexts = typeof en;

const tables = { en, zh } satisfies Record<Lang, FeishuTexts>;

export function feishuTexts(lang: Lang): FeishuTexts {
  return tables[lang];
}
