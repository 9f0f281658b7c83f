import { isObject } from "../../base/issue.ts";
import type { RuleDestination } from "../../protocol/decision.ts";
import type { Answer, Answers, InputResponse, RuleGrant } from "../../protocol/facts/answer.ts";
import type { InputRequest, Question } from "../../protocol/facts/request.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import { optionNamed } from "../../texts/shared/questions.ts";
import type { CliTexts } from "../../texts/commands/cli.ts";
import { usage, type Flags } from "../process/flags.ts";
import { hostFlag } from "../host/open-host.ts";
import { narrowerRule, ruleInTheWay, rulesFor, withoutAsking } from "../../view/request/answering.ts";
import { neededOf } from "../../view/request/describe.ts";

export const answerOptions = {
  yes: { type: "boolean" },
  "accept-edits": { type: "boolean" },
  outside: { type: "boolean" },
  comment: { type: "string" },
  input: { type: "string" },
  always: { type: "boolean" },
  to: { type: "string" },
  rule: { type: "string" },
  unask: { type: "boolean" },
  narrow: { type: "boolean" },
  no: { type: "boolean" },
  reason: { type: "string" },
  choose: { type: "string", multiple: true },
  other: { type: "string", multiple: true },
  remark: { type: "string" },
  partial: { type: "boolean" },
  text: { type: "string" },
  decline: { type: "boolean" },
  stop: { type: "boolean" },
  json: { type: "string" },
  ask: { type: "string" },
  "all-like": { type: "boolean" },
  seen: { type: "string" },
  run: { type: "boolean" },
  model: { type: "string" },
  ...hostFlag,
} as const;

type Values = Flags<typeof answerOptions>["values"];

/** A question about the request instead of an answer to it. No flag of an answer goes with it. */
export function readInquiry(values: Values, t: CliTexts): string | undefined {
  if (values.ask === undefined) return undefined;
  const beside = new Set(["ask", "run", "model", "lang", "host", "engine"]);
  const other = Object.entries(values).find(([flag, given]) => given !== undefined && !beside.has(flag))?.[0];
  if (other !== undefined) throw usage(t.conflict("--ask", `--${other}`));
  return values.ask;
}

/** The flags of `sage answer` as a response. Whether it fits is for the host to say. `nth` is the number after --always. */
export async function readResponse(
  request: InputRequest,
  { nth, ...values }: Values & { nth: string | undefined },
  t: CliTexts,
): Promise<InputResponse> {
  const chosen = values.choose !== undefined || values.other !== undefined;
  const ways = {
    "--yes": values.yes ?? values.always ?? values.unask ?? values.narrow,
    "--no": values.no,
    "--choose": chosen,
    "--text": values.text !== undefined,
    "--decline": values.decline,
    "--stop": values.stop,
    "--json": values.json !== undefined,
  };
  const [way, second] = Object.entries(ways).flatMap(([flag, given]) => (given ? [flag as keyof typeof ways] : []));
  if (second !== undefined) throw usage(t.conflict(String(way), second));
  if (way !== undefined) checkKind(request, values.always ? "--always" : way, t);
  checkCompanions(values, way, t);
  // Let out is the command that was shown, and this once.
  const [change, more] = (["unask", "narrow", "always"] as const).filter((flag) => values[flag]);
  if (more !== undefined) throw usage(t.conflict(`--${change}`, `--${more}`));
  for (const flag of ["always", "input", "unask", "narrow"] as const)
    if (values.outside && values[flag] !== undefined) throw usage(t.conflict("--outside", `--${flag}`));
  const frame = { requestId: request.id };
  const reason = values.reason === undefined ? {} : { reason: values.reason };
  switch (way) {
    case "--yes":
      return {
        type: "granted",
        ...frame,
        ...(values.comment !== undefined && { comment: values.comment }),
        ...(values.input !== undefined && { input: jsonObject("--input", values.input, t) }),
        ...(values["accept-edits"] && { mode: "acceptEdits" as const }),
        ...(values.outside && { outside: true as const }),
        ...((values.unask ?? values.narrow) && readUnask(request, values, t)),
        ...(values.always && { rules: readRules(request, { ...values, nth }, t) }),
      };
    case "--no":
    case "--decline":
      return { type: "denied", ...frame, ...reason };
    case "--choose":
      return {
        type: "answers",
        ...frame,
        answers: readAnswers(request, values, t),
        ...(values.remark !== undefined && { remark: values.remark }),
        ...(values.partial && { partial: true }),
      };
    case "--text": {
      const text = values.text ?? "";
      const asked = textQuestion(request);
      return asked
        ? { type: "answers", ...frame, answers: { [asked.question]: { selected: [], other: text } } }
        : { type: "text", ...frame, text };
    }
    case "--stop":
      return { type: "cancelled", ...frame, ...reason };
    case "--json": {
      const { parseResponse } = await import("../../host/socket/messages.ts");
      return parseResponse({ ...jsonObject("--json", values.json ?? "", t), requestId: request.id });
    }
    default:
      throw usage(t.answerHow);
  }
}

const ownWays: Record<InputRequest["kind"], readonly string[]> = {
  permission: ["--yes", "--always"],
  question: ["--choose"],
  text: ["--text"],
};

/** A yes is no choice and a choice no text. That something else fits every kind is for the host to say. */
function checkKind(request: InputRequest, way: string, t: CliTexts): void {
  const { kind } = request;
  if (way === "--text" && textQuestion(request)) return;
  const meantFor = Object.values(ownWays).some((ways) => ways.includes(way));
  if (meantFor && !ownWays[kind].includes(way)) throw new SageError("request-invalid", said(t.wrongWay[kind](way)));
}

/** The one question of a request that offers nothing to choose from. */
function textQuestion(request: InputRequest): Question | undefined {
  const [only, ...more] = request.kind === "question" ? request.questions : [];
  return only?.options.length === 0 && more.length === 0 ? only : undefined;
}

/** A flag that would be ignored is a misunderstanding. */
function checkCompanions(values: Values, way: string | undefined, t: CliTexts): void {
  const goWith: [keyof Values, ...string[]][] = [
    ["comment", "--yes"],
    ["accept-edits", "--yes"],
    ["outside", "--yes"],
    ["input", "--yes"],
    ["always", "--yes"],
    ["unask", "--yes"],
    ["narrow", "--yes"],
    ["to", "--always"],
    ["rule", "--always", "--unask"],
    ["reason", "--no", "--decline", "--stop"],
    ["remark", "--choose"],
    ["partial", "--choose"],
    ["all-like", "--yes", "--no"],
  ];
  const given = [way, ...(values.always ? ["--always"] : []), ...(values.unask ? ["--unask"] : [])];
  for (const [flag, ...with_] of goWith)
    if (values[flag] !== undefined && !with_.some((name) => given.includes(name)))
      throw usage(t.only(`--${flag}`, with_.join(", ")));
}

const destinations = ["session", "local", "project", "user"] as const;

function readRules(request: InputRequest, { nth, to = "session", rule }: RuleFlags, t: CliTexts): RuleGrant[] {
  const destination = destinations.find((destination) => destination === to);
  if (!destination) throw usage(t.expected("--to", t.oneOf(destinations), to));
  const offers = request.kind === "permission" && !request.hard ? rulesFor(request) : undefined;
  if (offers && rule !== undefined) return [{ rule, behavior: "allow", destination }];
  const chosen = nth === undefined ? neededOf(offers ?? []) : (offers?.slice(Number(nth) - 1, Number(nth)) ?? []);
  if (chosen.length === 0) throw new SageError("request-invalid", said(t.noSuggestion(offers?.length)));
  const fits = (to: RuleDestination) => chosen.every(({ places }) => places.some((place) => place.destination === to));
  if (!fits(destination))
    throw new SageError("request-invalid", said(t.noPlace(destination, destinations.filter(fits))));
  return chosen.map((offer) => ({ rule: offer.rule, behavior: offer.behavior, destination }));
}

/** The rule in the way goes, or asks only for `--rule` from now on. */
function readUnask(request: InputRequest, { rule, narrow }: Pick<Values, "rule" | "narrow">, t: CliTexts) {
  if (request.kind !== "permission" || !ruleInTheWay(request))
    throw new SageError("request-invalid", said(t.nothingInTheWay));
  const instead = narrow ? narrowerRule(request) : rule;
  if (instead === "") throw new SageError("request-invalid", said(t.nothingNarrower));
  const { rules, removeRules = [] } = withoutAsking(request, instead);
  return { removeRules, ...(rules && { rules }) };
}

type RuleFlags = { nth: string | undefined; to?: string | undefined; rule?: string | undefined };

function readAnswers(request: InputRequest, { choose = [], other = [], partial }: Values, t: CliTexts): Answers {
  if (request.kind !== "question") throw new SageError("request-invalid", said(t.wrongWay[request.kind]("--choose")));
  const answers = new Map<string, Answer>(); // a model chooses the names, "__proto__" among them
  const put = (given: string, add: (answer: Answer, text: string, question: Question) => void) => {
    const { question, text } = aim(request.questions, given, t);
    const answer = answers.get(question.question) ?? { selected: [] };
    answers.set(question.question, answer);
    add(answer, text, question);
  };
  for (const given of choose)
    put(given, ({ selected }, text, question) => {
      const option = optionNamed(question, text) ?? question.options[Number(text) - 1];
      selected.push(option?.label ?? text);
    });
  for (const given of other) put(given, (answer, text) => (answer.other = text));
  const [given, of] = [answers.size, request.questions.length];
  if (given < of && !partial) throw new SageError("request-invalid", said(t.incomplete(given, of)));
  return Object.fromEntries(answers);
}

/** "question=answer", the question by its text, header or number; with one question, the answer alone. */
function aim(questions: readonly Question[], given: string, t: CliTexts): { question: Question; text: string } {
  const [only, second] = questions;
  if (only && !second) return { question: only, text: given };
  for (const [n, question] of questions.entries())
    for (const name of [question.question, question.header, `${n + 1}`])
      if (given.toLowerCase().startsWith(`${name.toLowerCase()}=`))
        return { question, text: given.slice(name.length + 1).trim() };
  throw usage(
    t.whichQuestion(
      given,
      questions.map(({ question }) => question),
    ),
  );
}

function jsonObject(flag: string, text: string, t: CliTexts): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // said below
  }
  throw usage(t.notJsonObject(flag));
}
