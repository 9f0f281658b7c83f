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
  const table = own && tables[lang][own.code];
  return {
    question: own ? sentence(own, lang) : question.question,
    header: table?.header ?? question.header,
    options: question.options.map(({ label, description }) => ({
      id: label,
      ...(table?.options[label] ?? { label, description }),
    })),
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
  const { header, options } = tables.en[own.code];
  const offered = Object.entries(options).map(([label, { description }]) => ({ label, description }));
  const question = { question: sentence(own, "en"), header, options: offered, multiSelect: false, own };
  return { ...frame, kind: "question", questions: [question] };
}

type Table = {
  [C in keyof OwnQuestionArgs]: { header: string; options: Record<string, { label: string; description: string }> };
};

const en: Table = {
  lost: {
    header: "Interrupted",
    options: {
      rerun: { label: "rerun", description: "run it once more" },
      done: { label: "done", description: "take it as done and continue" },
      stop: { label: "stop", description: "stop the turn here" },
    },
  },
  "lost-running": {
    header: "Interrupted",
    options: {
      wait: { label: "wait", description: "wait until it ends by itself" },
      kill: { label: "kill", description: "end it now, with everything it started" },
      leave: { label: "leave", description: "let it run, and continue without it" },
    },
  },
  "go-on-repeating": {
    header: "Repeating",
    options: {
      "go on": { label: "go on", description: "let it try again" },
      stop: { label: "stop", description: "stop the turn here" },
    },
  },
  "go-on-spending": {
    header: "Limit",
    options: {
      "go on": { label: "go on", description: "use as much again before you are asked" },
      stop: { label: "stop", description: "stop the turn here" },
    },
  },
  "elicits-url": {
    header: "MCP",
    options: {
      done: { label: "done", description: "you have opened it and are finished there" },
      decline: { label: "decline", description: "tell the server no" },
    },
  },
  "elicits-confirm": {
    header: "MCP",
    options: {
      accept: { label: "accept", description: "tell the server yes" },
      decline: { label: "decline", description: "tell the server no" },
    },
  },
};

const zh: Table = {
  lost: {
    header: "已中断",
    options: {
      rerun: { label: "重跑", description: "再运行一次" },
      done: { label: "算完成", description: "当作已完成，继续" },
      stop: { label: "停止", description: "本轮到此为止" },
    },
  },
  "lost-running": {
    header: "已中断",
    options: {
      wait: { label: "等待", description: "等它自己结束" },
      kill: { label: "终止", description: "现在结束它和它启动的一切" },
      leave: { label: "不管", description: "让它继续运行，不等它" },
    },
  },
  "go-on-repeating": {
    header: "重复",
    options: {
      "go on": { label: "继续", description: "让它再试" },
      stop: { label: "停止", description: "本轮到此为止" },
    },
  },
  "go-on-spending": {
    header: "上限",
    options: {
      "go on": { label: "继续", description: "再用同样多之后才会再问" },
      stop: { label: "停止", description: "本轮到此为止" },
    },
  },
  "elicits-url": {
    header: "MCP",
    options: {
      done: { label: "已完成", description: "你已打开它并办完" },
      decline: { label: "拒绝", description: "回绝服务器" },
    },
  },
  "elicits-confirm": {
    header: "MCP",
    options: {
      accept: { label: "同意", description: "同意服务器的请求" },
      decline: { label: "拒绝", description: "回绝服务器" },
    },
  },
};

const tables = { en, zh } satisfies Record<Lang, Table>;
