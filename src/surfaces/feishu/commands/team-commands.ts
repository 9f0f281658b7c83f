import type { TurnLimits } from "../../../protocol/facts/silence.ts";
import type { Phrase, Speech } from "../cards/speech.ts";
import type { Incoming } from "../channel/channel.ts";
import type { OwnSlash } from "../../../view/slash/table.ts";
import { limitsOf, type ChangeTeam, type ChatLimits, type ChatSettings, type Examine, type Team } from "../bot/team.ts";

export type TeamCommandParts = {
  team(): Team;
  changeTeam: ChangeTeam;
  examine: Examine;
};

type TeamCommand = Extract<OwnSlash<"feishu">, "timeout" | "bind" | "lang" | "invite" | "approver" | "doctor">;

type TeamCommands = (name: TeamCommand, message: Incoming, words: string) => Promise<Phrase>;

const MAX_TIMEOUT_MS = 30 * 24 * 60 * 60_000;

/** Commands that change settings from a chat. Their rights are in the table of what can be typed. */
export function createTeamCommands({ team, changeTeam, examine }: TeamCommandParts): TeamCommands {
  const keepChat = async ({ chatId }: Incoming, more: ChatSettings, done: Phrase): Promise<Phrase> => {
    await changeTeam({ type: "chat", chat: chatId, settings: { ...team().chats[chatId], ...more } });
    return done;
  };

  const timeout = async (message: Incoming, words: string): Promise<Phrase> => {
    const now = limitsOf(team(), message.chatId);
    if (words === "") return (speech) => timeoutLine(now, speech);
    const wanted = readTimeout(words);
    if (!wanted) return ({ t }) => t.timeoutHow;
    const limits = { ...team().chats[message.chatId]?.limits, ...wanted };
    return keepChat(message, { limits }, (speech) => timeoutLine(limitsOf(team(), message.chatId), speech));
  };

  const bind = async (message: Incoming, name: string): Promise<Phrase> => {
    const { workspaces, chats } = team();
    const bound = chats[message.chatId]?.workspace;
    if (name === "") return ({ t }) => t.boundTo(bound, Object.keys(workspaces));
    const folder = workspaces[name];
    if (folder === undefined) return ({ t }) => t.noWorkspace(name, Object.keys(workspaces));
    return keepChat(message, { workspace: name }, ({ t }) => t.bound(name, folder));
  };

  const lang = async (message: Incoming, words: string): Promise<Phrase> => {
    const wanted = words === "zh" || words === "en" ? words : undefined;
    if (!wanted) return ({ t }) => t.langHow;
    return keepChat(message, { lang: wanted }, ({ t }) => t.langSet);
  };

  const admit = async (message: Incoming, role: "talker" | "approver"): Promise<Phrase> => {
    const { mentions } = message;
    if (mentions.length === 0) return ({ t }) => t.mentionWhom(role === "approver" ? "/approver" : "/invite");
    for (const { openId, name } of mentions) await changeTeam({ type: "person", openId, name, role });
    const names = mentions.map(({ name }) => name);
    return ({ t }) => (role === "approver" ? t.nowApprove : t.nowTalk)(names.join(t.comma));
  };

  const doctor = async (): Promise<Phrase> => {
    const missing = await examine();
    return ({ t, lang }) => missing(lang).join("\n") || t.nothingMissing;
  };

  const commands: Record<TeamCommand, (message: Incoming, words: string) => Promise<Phrase>> = {
    timeout,
    bind,
    lang,
    invite: (message) => admit(message, "talker"),
    approver: (message) => admit(message, "approver"),
    doctor,
  };
  return (name, message, words) => commands[name](message, words);
}

function timeoutLine(limits: TurnLimits, { t, words }: Speech): string {
  const { promptTimeout, timeoutPolicy = "fail", executionTimeout } = limits;
  const works = executionTimeout === undefined ? [] : [t.worksFor(words.duration(executionTimeout))];
  if (promptTimeout === undefined) return [t.waitsForEver, ...works].join("\n");
  const { escalate, end } = typeof timeoutPolicy === "object" ? timeoutPolicy : { escalate: [], end: timeoutPolicy };
  const calls = escalate.length === 0 ? [] : [t.callsEach(words.duration(promptTimeout), escalate.join(t.comma))];
  return [...calls, t.waitsFor(words.duration(promptTimeout * (escalate.length + 1)), end), ...works].join("\n");
}

/** `30m`, `2h deny`, `off`. */
function readTimeout(words: string): ChatLimits | undefined {
  if (/^(off|wait|关|不限)$/i.test(words)) return { timeoutPolicy: "wait" };
  const [, amount = "", unit = "", policy] = /^(\d{1,4})\s*(s|m|h|d)(?:\s+(cancel|fail|deny))?$/i.exec(words) ?? [];
  const ms = Number(amount) * { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit.toLowerCase() as "s"];
  if (!(ms >= 10_000 && ms <= MAX_TIMEOUT_MS)) return undefined;
  return { promptTimeout: ms, timeoutPolicy: (policy?.toLowerCase() ?? "cancel") as "cancel" | "fail" | "deny" };
}
