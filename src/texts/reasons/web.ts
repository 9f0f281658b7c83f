import type { Sentences } from "../../protocol/reasons/reason.ts";
import type { WebReasonArgs } from "../../protocol/reasons/remote.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<WebReasonArgs>;

const en: Table = {
  "may-not-look": ({ by }) => `${by} has no role in "people" of the settings`,
  "may-not-answer": ({ by }) =>
    `${by} did not begin this session; its questions are answered by whoever began it, or by an approver`,
  "folder-unknown": ({ name, known }) =>
    `no folder is called "${name}" here${known.length > 0 ? `; there are: ${known.join(", ")}` : ""}`,
  "model-not-from-afar": ({ model }) => `"${model}" cannot be chosen from another machine`,
  "masked-not-edited": () =>
    "a secret was removed from what you see, so it cannot be edited here; edit it on the machine",
};

const zh: Table = {
  "may-not-look": ({ by }) => `设置的 "people" 中没有给 ${by} 角色`,
  "may-not-answer": ({ by }) => `这个会话不是 ${by} 开始的；提问由开始会话的人或审批人回答`,
  "folder-unknown": ({ name, known }) =>
    `这里没有名为“${name}”的目录${known.length > 0 ? `；现有：${known.join("、")}` : ""}`,
  "model-not-from-afar": ({ model }) => `不能从另一台机器选择“${model}”`,
  "masked-not-edited": () => "你看到的内容已移除机密，因此不能在这里编辑；请在那台机器上编辑",
};

export const webReasons: Record<Lang, Table> = { en, zh };
