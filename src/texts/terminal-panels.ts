import type { RuleDestination } from "../protocol/index.ts";
import type { Lang } from "./language.ts";

const en = {
  // At the top
  asked: (duration: string) => `asked ${duration} ago`,
  review: "Review",
  rowsShown: (from: number, to: number, of: number) => `rows ${from}–${to} of ${of} · PgUp/PgDn`,

  // A question
  other: "Something else:",
  otherToo: "Something else as well:",
  otherHere: "type your own answer here",
  remark: "A remark for the agent (optional):",
  remarkHere: "nothing",
  unanswered: "not answered",
  submit: "Submit",
  submitPart: (answered: number, of: number) =>
    `Submit only what is answered (${answered} of ${of}); the agent is told that the rest is not`,
  submitNone: "Submit (nothing is answered yet)",
  toUnanswered: "Go to the question that is not answered yet",
  decline: "Do not answer",
  declineMore: "the agent is told that you chose not to, with your remark if you wrote one",
  stop: "Stop the turn",
  answerHere: "type your answer here",
  answer: "Your answer:",
  send: "Send",
  sendNone: "Send (nothing is written yet)",

  // A permission
  locked: "Scroll to its end (PgDn) before you allow it.",
  choices: {
    once: "Allow once",
    always: "Allow, and always from now on …",
    no: "No",
    reason: "No, with a reason",
    edit: "Edit it first",
    comment: "Allow, with a comment",
    stop: "Stop the turn",
  },
  lockedChoice: (choice: string) => `${choice} (locked)`,
  lockedNote: "The end of what will run has not been on the screen yet: PgDn, then it can be allowed.",
  reasonHere: "why not",
  reason: "No. Your reason, which the agent reads:",
  commentHere: "what the agent should know",
  comment: "Allow it. Your comment, which the agent reads:",
  edit: {
    command: "The whole new command, which then runs:",
    content: "The whole new content of the file, which then is written:",
    new_string: "The new text in the place of the old one, which then is written:",
    input: "The whole new input as JSON, which then is used:",
  },
  rules: "Rules that are kept",
  ownRule: "A rule of your own:",
  ownRuleHere: "such as Bash(npm test:*)",
  keepWhere: "Kept",
  keep: (rules: number) =>
    rules === 0
      ? "Allow it (no rule is chosen yet)"
      : rules === 1
        ? "Allow it now, and keep this rule"
        : `Allow it now, and keep these ${rules} rules`,
  noRuleChosen: "Choose a rule first, or write one; Esc goes back to allowing it once.",
  placeGone: "This rule cannot be kept there.",
  place: {
    session: "for this session",
    local: "for you in this project",
    project: "for everyone in this project",
    user: "for you everywhere",
  } satisfies Record<RuleDestination, string>,
  chooseFirst: "Choose first: ↑ ↓ or a number, then Enter.",
  notTyped: "What you type is not used here: ↑ ↓ or a number, then Enter. Esc puts this aside.",
  empty: "Nothing was written, so nothing was sent.",
  unchanged: "Nothing was changed.",
  notAnObject: "a JSON object is needed",

  // Keys
  keys: {
    move: "↑↓ move",
    pick: "Enter choose",
    number: "1–9 move",
    numberPick: "1–9 choose",
    toggle: "Space or Enter tick",
    tab: "←→ or Tab questions",
    tabOnly: "Tab questions",
    next: "Enter go on",
    newline: "Alt-Enter new line",
    send: "Enter send",
    editRule: "e edit the rule",
    back: "Esc back",
    aside: "Esc put aside",
  },
  sending: "Sending …",
};

export type PanelTexts = typeof en;

const zh: PanelTexts = {
  asked: (duration) => `${duration}前提出`,
  review: "检查",
  rowsShown: (from, to, of) => `第 ${from}–${to} 行，共 ${of} 行 · PgUp/PgDn`,

  other: "其他：",
  otherToo: "另外：",
  otherHere: "在这里输入你自己的回答",
  remark: "给智能体的备注（可不填）：",
  remarkHere: "无",
  unanswered: "未回答",
  submit: "提交",
  submitPart: (answered, of) => `只提交已回答的部分（${answered}/${of}），并告诉智能体其余未回答`,
  submitNone: "提交（还没有回答任何问题）",
  toUnanswered: "去回答还没有回答的问题",
  decline: "不回答",
  declineMore: "智能体会知道你选择不回答；写了备注的话也会看到",
  stop: "停止本轮",
  answerHere: "在这里输入你的回答",
  answer: "你的回答：",
  send: "发送",
  sendNone: "发送（还没有写任何内容）",

  locked: "先翻到末尾（PgDn），才能允许。",
  choices: {
    once: "允许一次",
    always: "允许，并且从此总是允许……",
    no: "不允许",
    reason: "不允许，并说明理由",
    edit: "先修改",
    comment: "允许，并附上说明",
    stop: "停止本轮",
  },
  lockedChoice: (choice) => `${choice}（未解锁）`,
  lockedNote: "将要运行的内容的末尾还没有在屏幕上出现过：按 PgDn 之后才能允许。",
  reasonHere: "为什么不行",
  reason: "不允许。你的理由，智能体会读到：",
  commentHere: "智能体应该知道的事",
  comment: "允许。你的说明，智能体会读到：",
  edit: {
    command: "完整的新命令，确认后执行：",
    content: "文件的全部新内容，确认后写入：",
    new_string: "替换原文的新内容，确认后写入：",
    input: "完整的新输入（JSON），确认后使用：",
  },
  rules: "要保存的规则",
  ownRule: "自己写的规则：",
  ownRuleHere: "例如 Bash(npm test:*)",
  keepWhere: "保存范围",
  keep: (rules) =>
    rules === 0
      ? "允许（还没有选规则）"
      : rules === 1
        ? "现在允许，并保存这条规则"
        : `现在允许，并保存这 ${rules} 条规则`,
  noRuleChosen: "请先选一条规则，或者自己写一条；按 Esc 返回，可以只允许一次。",
  placeGone: "这条规则不能保存在那里。",
  place: {
    session: "本次会话",
    local: "你在本项目中",
    project: "本项目的所有人",
    user: "你的所有项目",
  },
  chooseFirst: "请先选择：↑ ↓ 或数字，然后按 Enter。",
  notTyped: "这里不接受输入的文字：用 ↑ ↓ 或数字选择，再按 Enter。按 Esc 可以先放一边。",
  empty: "什么都没有写，所以没有发送。",
  unchanged: "没有改动。",
  notAnObject: "需要一个 JSON 对象",

  keys: {
    move: "↑↓ 移动",
    pick: "Enter 选定",
    number: "1–9 移动",
    numberPick: "1–9 选择",
    toggle: "空格或 Enter 勾选",
    tab: "←→ 或 Tab 切换问题",
    tabOnly: "Tab 切换问题",
    next: "Enter 继续",
    newline: "Alt-Enter 换行",
    send: "Enter 发送",
    editRule: "e 修改规则",
    back: "Esc 返回",
    aside: "Esc 先放一边",
  },
  sending: "正在发送……",
};

const tables = { en, zh } satisfies Record<Lang, PanelTexts>;

/** What a person reads on the terminal's panels, besides what every surface says. */
export function panelTexts(lang: Lang): PanelTexts {
  return tables[lang];
}
