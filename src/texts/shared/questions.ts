import type { NewRequest, Question, QuestionOption } from "../../protocol/facts/request.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import type { OwnQuestionArgs } from "../../protocol/reasons/turn.ts";
import type { Lang } from "../language.ts";
import { sentence } from "./sentence.ts";

/** A question as it is read. `id` is what an answer names; the label is for the eye. */
export type ShownQuestion = {
  question: string;
  header: string;
  options: { id: string; label: string; description: string }[];
  multiSelect: boolean;
};

/** A question in the reader's language. Those of agents are in the agent's own words. */
export function questionIn(question: Question, lang: Lang): ShownQuestion {
  const { own, multiSelect } = question;
  const words = own && table[own.code];
  return {
    question: own ? sentence(own, lang) : question.question,
    header: words?.header[lang] ?? question.header,
    options: question.options.map((option) => {
      const known = words?.options[option.label];
      const [label, description] = known && lang === "zh" ? known.zh : [option.label, known?.en ?? option.description];
      return { id: option.label, label, description };
    }),
    multiSelect,
  };
}

/** The option that somebody means who writes its label, in whichever language they read it. */
export function optionNamed(question: Question, typed: string): QuestionOption | undefined {
  const names = question.options.map((option, n) => [
    option.label,
    ...languages.map((lang) => questionIn(question, lang).options[n]?.label ?? ""),
  ]);
  return question.options.find((_, n) => names[n]?.some((name) => keyOf(name) === keyOf(typed)));
}

const languages: readonly Lang[] = ["en", "zh"];

/** A typed answer as it is compared: from a full-width keyboard, too. */
export function keyOf(text: string): string {
  return text.normalize("NFKC").trim().toLowerCase();
}

/** A request in which Sage itself asks. Programs that do not translate read it in English. */
export function ownQuestion(
  own: Reason<keyof OwnQuestionArgs>,
  frame: Pick<NewRequest, "source" | "agent" | "why" | "digest">,
): NewRequest {
  const { header, options } = table[own.code];
  const offered = Object.entries(options).map(([label, { en: description }]) => ({ label, description }));
  const question = { question: sentence(own, "en"), header: header.en, options: offered, multiSelect: false, own };
  return { ...frame, kind: "question", questions: [question] };
}

/** By code: the header, and options by their label in English, with the label and the description in Chinese. */
const table: {
  [C in keyof OwnQuestionArgs]: {
    header: Record<Lang, string>;
    options: Record<string, { en: string; zh: [string, string] }>;
  };
} = {
  lost: {
    header: { en: "Interrupted", zh: "已中断" },
    options: {
      rerun: { en: "run it once more", zh: ["重跑", "再运行一次"] },
      done: { en: "take it as done and continue", zh: ["算完成", "当作已完成，继续"] },
      stop: { en: "stop the turn here", zh: ["停止", "本轮到此为止"] },
    },
  },
  "lost-running": {
    header: { en: "Interrupted", zh: "已中断" },
    options: {
      wait: { en: "wait until it ends by itself", zh: ["等待", "等它自己结束"] },
      kill: { en: "end it now, with everything it started", zh: ["终止", "现在结束它和它启动的一切"] },
      leave: { en: "let it run, and continue without it", zh: ["不管", "让它继续运行，不等它"] },
    },
  },
  "go-on-repeating": {
    header: { en: "Repeating", zh: "重复" },
    options: {
      "go on": { en: "let it try again", zh: ["继续", "让它再试"] },
      stop: { en: "stop the turn here", zh: ["停止", "本轮到此为止"] },
    },
  },
  "go-on-spending": {
    header: { en: "Limit", zh: "上限" },
    options: {
      "go on": { en: "use as much again before you are asked", zh: ["继续", "再用同样多之后才会再问"] },
      stop: { en: "stop the turn here", zh: ["停止", "本轮到此为止"] },
    },
  },
  "elicits-url": {
    header: { en: "MCP", zh: "MCP" },
    options: {
      done: { en: "you have opened it and are finished there", zh: ["已完成", "你已打开它并办完"] },
      decline: { en: "tell the server no", zh: ["拒绝", "回绝服务器"] },
    },
  },
  "elicits-confirm": {
    header: { en: "MCP", zh: "MCP" },
    options: {
      accept: { en: "tell the server yes", zh: ["同意", "同意服务器的请求"] },
      decline: { en: "tell the server no", zh: ["拒绝", "回绝服务器"] },
    },
  },
};
