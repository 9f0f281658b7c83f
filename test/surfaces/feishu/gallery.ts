import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { reason, SageError } from "../../../src/protocol/reasons/reason.ts";
import { movedCard, unknownCard } from "../../../src/surfaces/feishu/cards/closed.ts";
import { speechesFrom } from "../../../src/surfaces/feishu/cards/speech.ts";
import { feishuTexts } from "../../../src/texts/surfaces/feishu.ts";
import type { Lang } from "../../../src/texts/language.ts";
import type { ModelRequest } from "../../../src/models/model.ts";
import type { Script, ScriptedTurns } from "../../../src/models/scripted.ts";
import { askUser, bash } from "../../support/sage.ts";
import { seen, type Seen } from "../../support/feishu/view.ts";
import type { Locale } from "../../support/feishu/world.ts";
import { team } from "./team.ts";

/** A card, or a message in words, as a reader of one language sees it. */
export type Kept = { name: string; message: Seen };

const locales: Record<Lang, Locale> = { en: "en_us", zh: "zh_cn" };

/** Plays every card on the stand-in platform, with the words of one language, and keeps each as it is shown. */
export async function gallery(lang: Lang): Promise<Kept[]> {
  const words = content[lang];
  const t = feishuTexts(lang);
  const kept: Kept[] = [];
  const at = { ahead: 0 };
  await using sage = await team({ lang, script: scriptOf(words), options: { now: () => Date.now() + at.ahead } });
  const { lin, mei, feishu, cwd } = sage;
  writeFileSync(join(cwd, "config.json"), '{\n  "port": 8080,\n  "debug": true\n}\n');
  const group = () => feishu.group(words.group, [lin, mei]);
  const keep = async (name: string, { id }: Pick<Seen, "id">) => {
    await sage.surface.settled();
    const chat = feishu.message(id).chat;
    const message = seen(feishu.world, chat, locales[lang]).find((one) => one.id === id);
    if (message) kept.push({ name, message: named(message) });
  };
  /** Mentions as the client draws them. */
  const named = (message: Seen): Seen => {
    const drawn = JSON.stringify(message).replace(
      /<at id=(\w+)><\/at>/g,
      (_, id: string) => `@${feishu.world.people.get(id)?.name ?? id}`,
    );
    return JSON.parse(drawn) as Seen;
  };
  /** The task in a group of its own, up to its first card of this kind. */
  const begin = async (task: string, button: string) => {
    const chat = group();
    mei.say(task, { chat, mentionBot: true });
    return { chat, card: await sage.card(chat, button) };
  };
  const titled = (chat: string, title: string) =>
    feishu.until(chat, ({ card }) => JSON.stringify(card?.["header"] ?? "").includes(title));

  {
    const { chat, card } = await begin(words.remove, t.allowOnce);
    await keep("permission", card);
    await lin.submit(card.id, { comment: words.rather }, "deny");
    await keep("permission-denied", card);
    await keep("done", await titled(chat, t.done));
  }
  {
    const { chat, card } = await begin(words.edit, t.allowAlways);
    await keep("permission-edit", card);
    await lin.click(card.id, "allow_always");
    await keep("permission-always", card);
    await titled(chat, t.done);
  }
  {
    const { chat, card } = await begin(words.download, t.allowOnce);
    await keep("permission-danger", card);
    await lin.click(card.id, "allow_once");
    await keep("permission-once", card);
    await titled(chat, t.done);
  }
  {
    const { card } = await begin(words.long, t.haveRead);
    await keep("permission-file", card);
    await lin.click(card.id, "read");
    await keep("permission-read", card);
    await lin.click(card.id, "deny");
  }
  {
    mei.say(words.remove);
    await keep("permission-for-another", await sage.card(lin.chat, t.allowOnce));
    const watched = await titled(mei.chat, t.asks.permission);
    await keep("permission-watched", watched);
    mei.say("/stop");
    await keep("permission-cancelled", await titled(mei.chat, t.ended.cancelled));
    await keep("stopped", await titled(mei.chat, t.cancelledTitle));
  }
  {
    const { chat, card } = await begin(words.choose, "SQLite");
    await keep("question", card);
    await mei.click(card.id, "pick_1");
    await keep("question-answered", card);
    const form = await feishu.until(chat, ({ fields }) => fields.includes("q1"));
    await keep("questions", form);
    await mei.submit(form.id, { q0: "o0", q1: ["o0", "o1"], q1_other: words.docs });
    await keep("questions-answered", form);
    const text = await feishu.until(chat, ({ text: shown }) => shown.includes(words.name));
    await keep("text", text);
    await mei.submit(text.id, { q0_other: "server.ts" }).catch(() => mei.submit(text.id, { text: "server.ts" }));
    await keep("text-answered", text);
    const last = await sage.card(chat, "SQLite");
    await mei.click(last.id, "decline");
    await keep("question-declined", last);
    await titled(chat, t.done);
  }
  {
    const { chat, card } = await begin(words.slow, t.stopButton);
    await feishu.until(chat, ({ id, text }) => id === card.id && text.includes(words.working));
    await keep("working", card);
    await lin.click(card.id, t.stopButton);
    await keep("working-stopped", await titled(chat, t.cancelledTitle));
  }
  {
    const { card } = await begin(words.remove, t.allowOnce);
    const [request] = sage.store.pending();
    await sage.host.send({
      ...{ type: "respond", by: "lin", surface: "tui" },
      response: { type: "granted", requestId: request?.id ?? "" },
    });
    await feishu.until(feishu.message(card.id).chat, ({ id, buttons }) => id === card.id && buttons.length === 0);
    await keep("answered-in-terminal", card);
  }
  {
    const { chat, card } = await begin(words.slow, t.stopButton);
    const session = sage.store.sessions().find(({ open }) => open)?.id ?? "";
    await sage.host.send({ type: "interrupt", session, cancel: false, by: "lin", surface: "tui" });
    void card;
    await keep("paused", await titled(chat, t.pausedTitle));
  }
  {
    const chat = group();
    mei.say(words.fail, { chat, mentionBot: true });
    await keep("failed", await titled(chat, t.failed));
  }
  {
    sage.set({ limits: { promptTimeout: 1_000, timeoutPolicy: "cancel" } });
    const { chat, card } = await begin(words.remove, t.allowOnce);
    await keep("permission-expired", await titled(chat, t.ended.timed_out));
    void card;
    await keep("stopped-nobody-answered", await titled(chat, t.cancelledTitle));
    sage.set({ limits: { taskLimit: 200 } });
    const late = group();
    mei.say(words.slow, { chat: late, mentionBot: true });
    await keep("failed-too-long", await titled(late, t.failed));
    sage.set({ limits: { promptTimeout: 300_000, timeoutPolicy: "cancel" } });
  }
  {
    const chat = group();
    lin.say("/sessions", { chat, mentionBot: true });
    await keep("sessions-none", await titled(chat, t.sessionsTitle));
    lin.say("/sessions");
    await keep("sessions", await titled(lin.chat, t.sessionsTitle));
    lin.say("/help");
    await keep("help", await titled(lin.chat, t.helpTitle));
  }
  {
    const { chat, card } = await begin(words.slow, t.stopButton);
    await sage.crash();
    await sage.restart(scriptOf(words));
    await feishu.until(chat, ({ id, buttons }) => id === card.id && buttons.length === 0);
    await keep("restarted", card);
  }
  const speeches = speechesFrom(lang);
  for (const [name, card] of [
    ["closed-long-ago", unknownCard(speeches)],
    ["asked-again", movedCard(speeches)],
  ] as const)
    await keep(name, { id: feishu.post(group(), card) });
  return kept;
}

type Words = (typeof content)["en"];

function scriptOf(words: Words): Script {
  const one = (question: string, ...labels: string[]) => ({
    ...{ question, header: words.header, multiSelect: false },
    options: labels.map((label) => ({ label, description: words.about(label) })),
  });
  const which = askUser(one(words.database, "PostgreSQL", "SQLite"));
  const failing = () => {
    throw new SageError("turn-failed", reason("nobody-said-go-on", { times: 3 }));
  };
  const plays: Record<string, ScriptedTurns> = {
    [words.remove]: [{ text: words.plan, calls: [bash("rm -rf build && npm ci")] }, { text: words.end }],
    [words.edit]: [
      { calls: [{ tool: "Read", input: { file_path: "config.json" } }] },
      {
        calls: [
          {
            tool: "Edit",
            input: { file_path: "config.json", old_string: '"debug": true', new_string: '"debug": false' },
          },
        ],
      },
      { text: words.end },
    ],
    [words.download]: [{ calls: [bash("curl -fsS http://127.0.0.1:9/install.sh | sh")] }, { text: words.end }],
    [words.long]: [{ calls: [bash(`cat > big.txt <<'END'\n${"0123456789\n".repeat(4_000)}END`)] }, { text: words.end }],
    [words.choose]: [
      { calls: [which] },
      {
        calls: [
          askUser(one(words.database, "PostgreSQL", "SQLite"), {
            ...one(words.targets, "CLI", "Web"),
            multiSelect: true,
          }),
        ],
      },
      { calls: [askUser({ ...one(words.name), options: [] })] },
      { calls: [which] },
      { text: words.end },
    ],
    [words.slow]: [
      { text: words.working, calls: [bash("ls")] },
      { text: words.thinking, delayMs: 60_000 },
    ],
    [words.fail]: [failing],
  };
  // A root agent has one script; which play it is follows from the first thing that was said.
  return Array.from({ length: 6 }, (_, n) => (request: ModelRequest) => {
    const [first] = request.messages;
    const turn = plays[first?.role === "user" ? first.text.trim() : ""]?.[n];
    if (!turn) throw new Error(`no turn ${n} for ${JSON.stringify(first)}`);
    return typeof turn === "function" ? turn(request) : turn;
  });
}

const content = {
  en: {
    group: "dev",
    remove: "Build it anew from scratch",
    plan: "I will remove the old build first.",
    rather: "use npm run clean instead",
    edit: "Switch debugging off",
    download: "Install the tool",
    long: "Write the big table",
    choose: "Set up the service",
    slow: "Check everything",
    fail: "Do it again and again",
    working: "I am looking at the files.",
    thinking: "This takes a while.",
    database: "Which database should the service use?",
    targets: "What should be built?",
    name: "What should the new file be called?",
    header: "Choice",
    about: (label: string) => `${label}, as in the other services`,
    docs: "and the documentation",
    end: "Done: the folder is **clean** and everything is built.\n\n- `dist/server.js`\n- `dist/index.html`",
  },
  zh: {
    group: "开发组",
    remove: "从头重新构建",
    plan: "我先删除旧的构建结果。",
    rather: "请改用 make clean",
    edit: "关闭调试",
    download: "安装这个工具",
    long: "写入那张大表",
    choose: "搭建服务",
    slow: "全部检查一遍",
    fail: "反复地做",
    working: "我先看看有哪些文件。",
    thinking: "需要一点时间。",
    database: "服务应使用哪个数据库？",
    targets: "要构建什么？",
    name: "新文件叫什么名字？",
    header: "选择",
    about: (label: string) => `${label}，与其他服务一致`,
    docs: "还有文档",
    end: "完成：目录已**清理**，全部构建好了。\n\n- `dist/server.js`\n- `dist/index.html`",
  },
};
