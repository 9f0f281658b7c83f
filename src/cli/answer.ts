import type { Store } from "../journal/store.ts";
import { SageError, type Answers, type InputRequest, type InputResponse, type Question } from "../protocol/index.ts";
import { ending, headline } from "../surfaces/plain/request.ts";
import { oneLine } from "../surfaces/plain/safe.ts";
import type { CliTexts } from "../texts/cli.ts";
import { texts } from "../texts/texts.ts";
import { exitCodes } from "./exit-codes.ts";
import { readFlags, usage, type Flags } from "./flags.ts";
import { openJournal, person } from "./journal.ts";

const options = {
  yes: { type: "boolean" },
  comment: { type: "string" },
  input: { type: "string" },
  always: { type: "boolean" },
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
  run: { type: "boolean" },
  model: { type: "string" },
} as const;

type Values = Flags<typeof options>["values"];

/** Answers a request whether or not a Sage runs: the answer is on disk before anyone is told. */
export async function answer(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const [target, stray] = positionals;
  if (target === undefined || stray !== undefined) throw usage(t.answerWhat);
  const { host, store } = openJournal(process.env);
  try {
    const request = find(store, target, t);
    if ("outcome" in request) {
      console.error(`sage: ${headline(request, texts(lang))}`);
      return exitCodes.failure;
    }
    const reply = await host.send({
      type: "respond",
      response: await responseOf(request, values, t),
      by: person(),
      surface: "cli",
    });
    if (!reply.ok) {
      console.error(`sage: ${reply.resolution ? headline(reply.resolution, texts(lang)) : reply.message}`);
      return exitCodes.failure;
    }
    console.log(t.recorded(oneLine(ending(reply.resolution, texts(lang)))));
    if (reply.running) console.log(t.takenUp);
    else if (!values.run) console.log(t.thenResume(request.session));
    else {
      await host.close();
      const { run } = await import("./run.ts");
      return await run(
        ["-p", "--resume", request.session, "--lang", lang, ...(values.model ? ["--model", values.model] : [])],
        [],
      );
    }
    return exitCodes.success;
  } finally {
    if (!values.run) await host.close();
  }
}

/** By id, by the start of one, or by the session if it waits for one thing only. */
function find(store: Store, target: string, t: CliTexts) {
  const open = store.pending();
  const found = open.filter(({ id }) => id.startsWith(target));
  const exact = open.find(({ id }) => id === target) ?? (found.length === 1 ? found[0] : undefined);
  if (exact) return exact;
  if (found.length > 1)
    throw usage(
      t.ambiguous(
        target,
        found.map(({ id }) => id),
      ),
    );
  const ended = store.find(target)?.resolution;
  if (ended) return ended;
  throw new SageError("request-unknown", t.unknownRequest(target));
}

async function responseOf(request: InputRequest, values: Values, t: CliTexts): Promise<InputResponse> {
  const chosen = values.choose !== undefined || values.other !== undefined;
  const ways = {
    "--yes": values.yes,
    "--no": values.no,
    "--choose": chosen,
    "--text": values.text !== undefined,
    "--decline": values.decline,
    "--stop": values.stop,
    "--json": values.json !== undefined,
  };
  const [way, second] = Object.entries(ways).flatMap(([flag, given]) => (given ? [flag as keyof typeof ways] : []));
  if (second !== undefined) throw usage(t.conflict(String(way), second));
  checkCompanions(values, way, t);
  const frame = { requestId: request.id };
  const reason = values.reason === undefined ? {} : { reason: values.reason };
  switch (way) {
    case "--yes":
      return {
        type: "granted",
        ...frame,
        ...(values.comment !== undefined && { comment: values.comment }),
        ...(values.input !== undefined && { input: jsonObject("--input", values.input, t) }),
        ...(values.always && { rules: rulesOf(request, t) }),
      };
    case "--no":
    case "--decline":
      return { type: "denied", ...frame, ...reason };
    case "--choose":
      return {
        type: "answers",
        ...frame,
        answers: answersOf(request, values, t),
        ...(values.remark !== undefined && { remark: values.remark }),
        ...(values.partial && { partial: true }),
      };
    case "--text":
      return { type: "text", ...frame, text: values.text ?? "" };
    case "--stop":
      return { type: "cancelled", ...frame, ...reason };
    case "--json": {
      const { parseResponse } = await import("./response.ts");
      return parseResponse({ ...jsonObject("--json", values.json ?? "", t), requestId: request.id });
    }
    default:
      throw usage(t.answerHow);
  }
}

/** A flag that would be ignored is a misunderstanding. */
function checkCompanions(values: Values, way: string | undefined, t: CliTexts): void {
  const goWith: [keyof Values, ...string[]][] = [
    ["comment", "--yes"],
    ["input", "--yes"],
    ["always", "--yes"],
    ["reason", "--no", "--decline", "--stop"],
    ["remark", "--choose"],
    ["partial", "--choose"],
  ];
  for (const [flag, ...with_] of goWith)
    if (values[flag] !== undefined && (way === undefined || !with_.includes(way)))
      throw usage(t.only(`--${flag}`, with_.join(", ")));
}

function rulesOf(request: InputRequest, t: CliTexts) {
  const suggestions = request.kind === "permission" ? request.suggestions : [];
  if (suggestions.length === 0) throw new SageError("request-invalid", t.noSuggestion);
  return suggestions.map(({ rule, behavior, destination }) => ({ rule, behavior, destination }));
}

function answersOf(request: InputRequest, { choose = [], other = [] }: Values, t: CliTexts): Answers {
  if (request.kind !== "question") throw new SageError("request-invalid", t.notQuestion(request.kind));
  const answers: Answers = {};
  const put = (given: string, add: (question: Question, text: string) => void) => {
    const { question, text } = aim(request.questions, given, t);
    answers[question.question] ??= { selected: [] };
    add(question, text);
  };
  for (const given of choose)
    put(given, ({ question, options: offered }, text) => {
      const label = (offered.find((one) => one.label.toLowerCase() === text.toLowerCase()) ?? offered[Number(text) - 1])
        ?.label;
      answers[question]?.selected.push(label ?? text);
    });
  for (const given of other)
    put(given, ({ question }, text) => Object.assign(answers[question] ?? {}, { other: text }));
  return answers;
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
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // said below
  }
  throw usage(t.notJsonObject(flag));
}
