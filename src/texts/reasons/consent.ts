import type { Sentences } from "../../protocol/reasons/reason.ts";
import type { ConsentReasonArgs } from "../../protocol/reasons/call.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<ConsentReasonArgs>;

const en: Table = {
  "needs-people": ({ approvals }) =>
    approvals === 1
      ? "a person has to approve this in their own name; no flag, script or recording does it for them"
      : `${approvals} people have to approve this, each in their own name; no flag, script or recording does it for them`,
  "approver-unknown": ({ by }) =>
    `${by} is not in "people" of the settings, so nobody can tell whether this yes is another person's; add them there with all their ids`,
  "asker-may-not-approve": ({ by }) => `${by} asked for this, and somebody else has to approve it`,
  "asker-unknown": ({ by }) =>
    `${by} asked for this and is not in "people" of the settings, so nobody can tell whether you are somebody else; add them there with all their ids, then let them ask again`,
  "consent-takes-no-rules": () => "this needs its own approvals each time; a yes to it keeps or takes back no rule",
  "edited-anew": ({ by }) => `${by} changed it; it is asked again, and every yes counts anew`,
  "answered-by-itself": ({ request }) => `nothing was answered: ${request || "this list"} has to be answered by itself`,
  "list-changed": () => "nothing was answered: the list is not the one that was shown; look at it again",
};

const zh: Table = {
  "needs-people": ({ approvals }) =>
    approvals === 1
      ? "这一项必须由本人具名批准，任何选项、脚本或录制的答复都不能代替"
      : `这一项须由 ${approvals} 个人各自具名批准，任何选项、脚本或录制的答复都不能代替`,
  "approver-unknown": ({ by }) =>
    `设置的 "people" 中没有 ${by}，无法判断这是不是另一个人的同意；请把此人及其全部 id 写进去`,
  "asker-may-not-approve": ({ by }) => `这是 ${by} 提出的，须由别人批准`,
  "asker-unknown": ({ by }) =>
    `这是 ${by} 提出的，而设置的 "people" 中没有此人，无法判断你是不是另一个人；请把此人及其全部 id 写进去，再重新提出`,
  "consent-takes-no-rules": () => "这一项每次都要单独批准；同意时不能添加或收回规则",
  "edited-anew": ({ by }) => `${by} 修改了内容；将重新询问，同意人数重新计算`,
  "answered-by-itself": ({ request }) => `什么都没有回答：${request || "这一组"} 必须单独回答`,
  "list-changed": () => "什么都没有回答：这一组已经不是之前显示的那些，请再看一遍",
};

export const consentReasons: Record<Lang, Table> = { en, zh };
