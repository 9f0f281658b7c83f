import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import { harmless, oneLine } from "../base/visible.ts";
import type { Answer } from "../protocol/facts/answer.ts";
import type { Question, RequestBody, Resolution } from "../protocol/facts/request.ts";
import type { FieldForm } from "../protocol/reasons/mcp.ts";
import { reason, type Reason } from "../protocol/reasons/reason.ts";
import type { ToolScope } from "../tools/definition/tool.ts";

const MAX_FIELDS = 20;
const MAX_OPTIONS = 50;
const MAX_TEXT_LENGTH = 1_000;
const MAX_URL_LENGTH = 2_000;

/** Field names that no server gets an answer to: secrets do not belong in a form. */
const secret =
  /pass(?:word|wd|phrase|code)|secret|token|api.?key|private.?key|credential|\bpin\b|\bcvv\b|\bssn\b|\botp\b|密码|口令|密钥|验证码/i;

type Asker = {
  server: string;
  tool: string;
  signal: AbortSignal;
  elicit: NonNullable<ToolScope["elicit"]>;
  notice: ToolScope["notice"];
};

/** Puts a server's question before the person, and their answer into the words of the protocol. Silence and refusals are no answers. */
export async function askFor(
  params: ElicitRequestParams,
  { server, tool, signal, elicit, notice }: Asker,
): Promise<ElicitResult> {
  const message = harmless(params.message).slice(0, MAX_TEXT_LENGTH).toWellFormed();
  const why = reason("elicits", { server, tool, message });
  if (params.mode === "url") {
    const url = webAddress(params.url);
    if (url === undefined) return { action: "decline" };
    const question: RequestBody = {
      kind: "question",
      questions: [ownQuestion(reason("elicits-url", { server, url: url.href, host: url.host }))],
    };
    return chosen(await elicit({ body: question, server, why, signal }));
  }
  const { properties, required = [] } = params.requestedSchema;
  const fields = Object.entries(properties).map(([name, schema]) =>
    fieldOf(name, schema as Schema, server, required.includes(name)),
  );
  const asksSecret = Object.entries(properties).find(([name, schema]) => wantsSecret(name, schema as Schema, message));
  if (asksSecret) notice?.(reason("elicitation-secret", { server, field: oneLine(asksSecret[0]) }));
  if (asksSecret || fields.length > MAX_FIELDS) return { action: "decline" };
  if (fields.length === 0) {
    const question = ownQuestion(reason("elicits-confirm", { server, message }));
    return chosen(await elicit({ body: { kind: "question", questions: [question] }, server, why, signal }));
  }
  const questions = distinct(fields);
  const resolution = await elicit({ body: { kind: "question", questions }, server, why, signal });
  const { outcome } = resolution;
  if ((outcome !== "answered" && outcome !== "partial") || resolution.response.type !== "answers")
    return refusal(resolution);
  const { answers } = resolution.response;
  const content: ElicitResult["content"] = {};
  for (const [n, field] of fields.entries()) {
    const answer = answers[questions[n]?.question ?? ""];
    const value = answer && field.read(answer);
    if (value !== undefined) content[field.name] = value;
    else if (field.otherwise !== undefined) content[field.name] = field.otherwise;
  }
  return { action: "accept", content };
}

/** A field's description says what to write there; for a free-text field the form's message does, too. */
function wantsSecret(name: string, schema: Schema, message: string): boolean {
  const { title, description, format } = schema;
  const isFree =
    readChoices(schema).length === 0 && fieldForm(schema).type === "string" && fieldForm(schema).format === undefined;
  // "Never enter a secret" is harmless next to a number; next to a text field it could be a trick.
  const beside = fieldForm(schema).type === "string" ? description : description?.replaceAll(warning, "");
  const words = [name, title, beside, ...(isFree ? [message] : [])].join("\n");
  // As it looks: full-width letters count as letters, invisible characters as nothing.
  return format === "password" || secret.test(words.normalize("NFKC").replaceAll(/[\p{Cf}\p{Mn}]/gu, ""));
}

const warning = /\b(?:do not|don't|never) (?:give|enter|share|send|provide|type)\b[^.!?;)\n]*/gi;

type Value = string | number | boolean | string[];
type Field = {
  name: string;
  question: Question;
  read(answer: Answer): Value | undefined;
  otherwise: Value | undefined;
};
type Schema = {
  type?: string;
  title?: string;
  description?: string;
  default?: Value;
  enum?: unknown[];
  enumNames?: string[];
  oneOf?: { const: string; title?: string }[];
  items?: { enum?: string[]; anyOf?: { const: string; title?: string }[] };
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  format?: string;
};

function fieldOf(name: string, schema: Schema, header: string, required: boolean): Field {
  const { type = "string", title, description, default: otherwise } = schema;
  const told = [title ?? name, description].filter((text): text is string => typeof text === "string" && text !== "");
  const usual = otherwise === undefined ? [] : [`[${oneLine(String(otherwise))}]`];
  const choices = readChoices(schema);
  const options = choices.map(({ label }) => ({ label, description: "" }));
  const form = options.length > 0 ? undefined : fieldForm(schema);
  const question: Question = {
    question: cut([...told, ...usual].join(": ")),
    header: cut(header),
    options,
    multiSelect: type === "array",
    field: { ...(!required && { optional: true as const }), ...(form && { form }) },
  };
  const valueOf = (label: string) => choices.find((choice) => choice.label === label)?.value;
  const read = ({ selected, other }: Answer): Value | undefined => {
    if (type === "array") return selected.map((label) => String(valueOf(label)));
    if (choices.length > 0) return valueOf(selected[0] ?? "");
    const text = other?.trim() ?? "";
    if (text === "") return undefined;
    return type === "number" || type === "integer" ? Number(text) : text;
  };
  return { name, question, read, otherwise };
}

type Choice = { label: string; value: string | boolean };

function readChoices({ type, enum: values, enumNames = [], oneOf, items }: Schema): Choice[] {
  if (type === "boolean")
    return [
      { label: "yes", value: true },
      { label: "no", value: false },
    ];
  const named =
    oneOf ??
    items?.anyOf ??
    (values ?? items?.enum ?? []).map((value, n) => ({ const: String(value), title: enumNames[n] }));
  const seen = new Set<string>();
  return named.slice(0, MAX_OPTIONS).map(({ const: value, title }) => {
    let label = cut(title ?? value) || "·";
    if (seen.has(label)) label = cut(`${label} (${value})`);
    seen.add(label);
    return { label, value };
  });
}

function fieldForm({ type, minLength, maxLength, minimum, maximum, format }: Schema): FieldForm {
  const isNumber = type === "number" || type === "integer";
  const [least, most] = isNumber ? [minimum, maximum] : [minLength, maxLength];
  const known = (["email", "uri", "date", "date-time"] as const).find((candidate) => candidate === format);
  return {
    type: isNumber ? type : "string",
    ...(typeof least === "number" && { least }),
    ...(typeof most === "number" && { most }),
    ...(known && !isNumber && { format: known }),
  };
}

/** Answers name a question by its text. */
function distinct(fields: readonly Field[]): Question[] {
  const seen = new Set<string>();
  return fields.map(({ name, question }) => {
    const text = seen.has(question.question) ? `${question.question} (${oneLine(name)})` : question.question;
    seen.add(text);
    return { ...question, question: text };
  });
}

/** Labels are fixed words; people read them in their language. */
function ownQuestion(own: Reason<"elicits-url" | "elicits-confirm">): Question {
  const labels = own.code === "elicits-url" ? ["done", "decline"] : ["accept", "decline"];
  return {
    question: own.code === "elicits-url" ? own.args.url : own.args.message || own.args.server,
    header: own.args.server,
    options: labels.map((label) => ({ label, description: "" })),
    multiSelect: false,
    field: {},
    own,
  };
}

function chosen(resolution: Resolution): ElicitResult {
  if (resolution.outcome !== "answered" || resolution.response.type !== "answers") return refusal(resolution);
  const [answer] = Object.values(resolution.response.answers);
  return answer?.selected[0] === "decline" ? { action: "decline" } : { action: "accept", content: {} };
}

function refusal({ outcome }: Resolution): ElicitResult {
  return { action: outcome === "declined" ? "decline" : "cancel" };
}

/** Only what a browser opens, and nothing that hides where it leads. */
function webAddress(text: string): URL | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isWeb =
    url.protocol === "https:" || (url.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname));
  return isWeb && url.username === "" && url.password === "" ? url : undefined;
}

function cut(text: string): string {
  const line = oneLine(text).trim();
  return line.length > MAX_TEXT_LENGTH ? `${line.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : line;
}
