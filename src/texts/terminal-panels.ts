import type { Lang } from "./language.ts";

const en = {
  // At the top
  asked: (duration: string) => `asked ${duration} ago`,
  review: "Review",
  rowsShown: (from: number, to: number, of: number) => `rows ${from}–${to} of ${of} · PgUp/PgDn`,

  // A question
  other: "Other:",
  otherToo: "Also:",
  otherHere: "your own answer",
  remark: "Comment for the agent (optional):",
  remarkHere: "none",
  unanswered: "no answer",
  submit: "Submit",
  submitPart: (answered: number, of: number) => `Submit ${answered} of ${of} answers`,
  submitNone: "Submit (no answer yet)",
  toUnanswered: "Go to the unanswered question",
  decline: "Don't answer",
  declineMore: "the agent is told so, with your comment",
  stop: "Stop the turn",
  answerHere: "type your answer",
  answer: "Your answer:",
  send: "Send",
  sendNone: "Send (empty)",

  // A permission
  locked: "Scroll to the end (End) to allow this.",
  choices: {
    once: "Allow once",
    acceptEdits: "Allow, and accept edits from now on (Shift-Tab)",
    always: "Always allow…",
    no: "No",
    reason: "No, and say why",
    edit: "Edit first",
    comment: "Allow with a comment",
    stop: "Stop the turn",
  },
  planChoices: {
    once: "Approve",
    acceptEdits: "Approve and accept edits",
    always: "",
    no: "No",
    reason: "Change the plan…",
    edit: "Edit the plan first",
    comment: "Approve with a comment",
    stop: "Stop the turn",
  },
  lockedChoice: (choice: string) => `${choice} (locked)`,
  reasonHere: "why not",
  reason: "No. Tell the agent why:",
  planReasonHere: "what should be different",
  planReason: "Tell the agent what to change:",
  commentHere: "a comment for the agent",
  comment: "Allow, and tell the agent:",
  edit: {
    command: "Edit the command; Enter runs it:",
    content: "Edit the content; Enter writes it:",
    new_string: "Edit the new text; Enter writes it:",
    plan: "Edit the plan; Enter approves it:",
    input: "Edit the input (JSON); Enter uses it:",
  },
  past: (calls: number, changed: number, against: number, named: string) =>
    `Of the last ${calls} calls it would have allowed ${changed} without asking${against === 0 ? "." : `; ${against} of those a person refused: ${named}`}`,
  ownRule: "Your own rule:",
  ownRuleHere: "such as Bash(npm test:*)",
  savedFor: (place: string) => `Applies to: ${place}`,
  keep: (rules: number) =>
    rules === 0
      ? "Always allow (no rule chosen)"
      : rules === 1
        ? "Always allow with this rule"
        : `Always allow with these ${rules} rules`,
  noRuleChosen: "Choose or write a rule first; Esc goes back.",
  placeGone: "This rule cannot be saved there.",
  chooseFirst: "Choose with ↑ ↓ or a number, then press Enter.",
  notTyped: "Typing does nothing here: choose with ↑ ↓ or a number, then Enter. Esc sets this aside.",
  empty: "Nothing to send.",
  unchanged: "Nothing changed.",
  notAnObject: "expected a JSON object",

  // Keys
  keys: {
    move: "↑↓ move",
    pick: "Enter confirm",
    numberPick: "1–9 choose",
    toggle: "Space tick",
    change: "←→ change",
    tab: "←→ questions",
    tabOnly: "Tab questions",
    next: "Enter next",
    newline: "Alt-Enter new line",
    send: "Enter send",
    editRule: "e edit rule",
    more: "Tab more choices, details",
    less: "Tab fewer",
    back: "Esc back",
    aside: "Esc later",
    ask: "? ask about it",
  },
  sending: "Sending…",
  inquiry: "Ask about it; the request stays open:",
  inquiryHere: "such as: why not with sed?",
};

export type PanelTexts = typeof en;

const zh: PanelTexts = {
  asked: (duration) => `${duration}前提出`,
  review: "检查",
  rowsShown: (from, to, of) => `第 ${from}–${to} 行，共 ${of} 行 · PgUp/PgDn`,

  other: "其他：",
  otherToo: "另外：",
  otherHere: "自己的回答",
  remark: "给智能体的附言（可留空）：",
  remarkHere: "无",
  unanswered: "未回答",
  submit: "提交",
  submitPart: (answered, of) => `提交 ${answered} 个回答（共 ${of} 问）`,
  submitNone: "提交（尚无回答）",
  toUnanswered: "前往未回答的问题",
  decline: "不回答",
  declineMore: "会连同附言告知智能体",
  stop: "停止本轮",
  answerHere: "输入回答",
  answer: "你的回答：",
  send: "发送",
  sendNone: "发送（尚无内容）",

  locked: "翻到末尾（End）后才能允许。",
  choices: {
    once: "允许一次",
    acceptEdits: "允许，并从现在起接受编辑（Shift-Tab）",
    always: "始终允许…",
    no: "拒绝",
    reason: "拒绝并说明理由",
    edit: "先修改",
    comment: "允许并附言",
    stop: "停止本轮",
  },
  planChoices: {
    once: "允许",
    acceptEdits: "允许，并接受编辑",
    always: "",
    no: "拒绝",
    reason: "修改计划…",
    edit: "先自己改计划",
    comment: "允许并附言",
    stop: "停止本轮",
  },
  lockedChoice: (choice) => `${choice}（未解锁）`,
  reasonHere: "为什么不行",
  reason: "拒绝，并告诉智能体理由：",
  planReasonHere: "哪里要改",
  planReason: "告诉智能体要改什么：",
  commentHere: "给智能体的附言",
  comment: "允许，并告诉智能体：",
  edit: {
    command: "修改命令，按 Enter 运行：",
    content: "修改内容，按 Enter 写入：",
    new_string: "修改新文本，按 Enter 写入：",
    plan: "修改计划，按 Enter 允许：",
    input: "修改输入（JSON），按 Enter 使用：",
  },
  past: (calls, changed, against, named) =>
    `最近 ${calls} 次调用中，它会让 ${changed} 次不经询问就获准${against === 0 ? "。" : `；其中 ${against} 次曾被人拒绝：${named}`}`,
  ownRule: "自己写规则：",
  ownRuleHere: "例如 Bash(npm test:*)",
  savedFor: (place) => `适用范围：${place}`,
  keep: (rules) =>
    rules === 0 ? "始终允许（未选规则）" : rules === 1 ? "按这条规则始终允许" : `按这 ${rules} 条规则始终允许`,
  noRuleChosen: "请先选择或写一条规则；Esc 返回。",
  placeGone: "这条规则不能保存在那里。",
  chooseFirst: "请用 ↑ ↓ 或数字选择，再按 Enter。",
  notTyped: "这里不接受文字：请用 ↑ ↓ 或数字选择，再按 Enter。Esc 稍后处理。",
  empty: "没有可发送的内容。",
  unchanged: "没有改动。",
  notAnObject: "应为 JSON 对象",

  keys: {
    move: "↑↓ 移动",
    pick: "Enter 确认",
    numberPick: "1–9 选择",
    toggle: "空格 勾选",
    change: "←→ 更改",
    tab: "←→ 切换问题",
    tabOnly: "Tab 切换问题",
    next: "Enter 下一步",
    newline: "Alt-Enter 换行",
    send: "Enter 发送",
    editRule: "e 修改规则",
    more: "Tab 更多选项和详情",
    less: "Tab 收起",
    back: "Esc 返回",
    aside: "Esc 稍后",
    ask: "? 追问",
  },
  sending: "正在发送…",
  inquiry: "先追问，请求仍待处理：",
  inquiryHere: "例如：为什么不用 sed？",
};

const tables = { en, zh } satisfies Record<Lang, PanelTexts>;

/** Texts of the terminal's panels, besides those that every surface has. */
export function panelTexts(lang: Lang): PanelTexts {
  return tables[lang];
}
