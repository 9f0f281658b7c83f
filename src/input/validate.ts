import { kindOf } from "../base/issue.ts";
import type { RuleDestination } from "../protocol/decision.ts";
import type {
  Answer,
  InputResponse,
  LooseAnswers,
  LooseResponse,
  PlanEnd,
  RuleGrant,
  WholeAnswer,
} from "../protocol/facts/answer.ts";
import { takesSignature } from "../protocol/facts/consent.ts";
import { takesOwnWords, type InputRequest, type Resolution } from "../protocol/facts/request.ts";
import type { ResponderAnswer } from "../protocol/host/options.ts";
import { PLAN_TOOL } from "../protocol/mode.ts";
import { reason, said, type Misfit, type Reason, SageError } from "../protocol/reasons/reason.ts";
import type { FieldForm } from "../protocol/reasons/mcp.ts";
import type { Sender } from "../protocol/sender.ts";

type From = Pick<Sender, "by" | "surface" | "device" | "signed" | "typed">;

/** Checks a response against its request and says how the request ends by it. A bad one is refused with the reason. */
export function resolve(request: InputRequest, response: InputResponse, from: From): Resolution {
  const { by, surface, device, signed, typed } = from;
  const proof = takesSignature(request) && signed !== undefined && { signed };
  const frame = {
    requestId: request.id,
    by,
    surface,
    ...(device !== undefined && { device }),
    ...proof,
    ...(typed && { typed }),
    at: Date.now(),
  };
  switch (response.type) {
    case "cancelled":
      return {
        ...frame,
        outcome: "cancelled",
        reason: response.reason === undefined ? reason("person-stopped", {}) : said(response.reason),
      };
    case "denied":
      return request.kind === "permission"
        ? { ...frame, outcome: "answered", response }
        : { ...frame, outcome: "declined", ...(response.reason?.trim() && { reason: said(response.reason) }) };
    case "granted":
      expectKind(request, "permission", response);
      if (request.source === "outside") checkPlainYes(request, response);
      if (request.fixed && response.input !== undefined)
        throw refused(reason("input-fixed", { agent: request.agent[0] ?? "" }));
      // Approvers approve one by one, in `approve.ts`.
      if (request.consent) throw refused(reason("needs-people", { approvals: request.consent.approvals }));
      if (response.mode !== undefined && request.tool !== PLAN_TOOL) throw refused(reason("mode-without-plan", {}));
      if (response.outside && !request.mayLeave) throw refused(reason("not-offered-outside", {}));
      return { ...frame, outcome: "answered", response };
    case "text":
      expectKind(request, "text", response);
      if (response.text.trim() === "") throw refused(reason("empty-text", {}));
      return { ...frame, outcome: "answered", response };
    case "answers":
      return { ...frame, outcome: checkAnswers(request, response), response };
    default:
      throw unknownType(response);
  }
}

/** Rules, edits and modes are of Sage's own sessions: an agent outside hears a yes, and a comment with it unless it asks by its hook. */
function checkPlainYes({ agent, asker }: InputRequest, response: InputResponse & { type: "granted" }): void {
  const { type: _type, requestId: _id, comment, ...more } = response;
  if (asker === "attached" && comment?.trim()) throw refused(reason("outside-no-comment", { agent: agent[0] ?? "" }));
  if (Object.values(more).some((given) => given !== undefined))
    throw refused(reason("outside-yes-or-no", { agent: agent[0] ?? "" }));
}

/** Refuses what has no form of a response, as untyped code may send. `resolve` refuses what does not fit its request. */
export function checkResponse(given: LooseResponse): void {
  if (kindOf(given) !== "object") throw misfit("response", "object", given);
  if (typeof given.requestId !== "string") throw misfit("requestId", "string", given.requestId);
  if (given.type === "text" && typeof given.text !== "string") throw misfit("text", "string", given.text);
  if (given.type === "denied" || given.type === "cancelled") checkWords("reason", given.reason);
  if (given.type === "granted") {
    checkWords("comment", given.comment);
    if (given.input !== undefined && kindOf(given.input) !== "object") throw misfit("input", "object", given.input);
    for (const list of ["rules", "removeRules"] as const) checkList(list, given[list]);
    checkFlag("outside", given.outside);
    if (given.mode !== undefined) checkOneOf("mode", given.mode, planEnds);
  }
  if (given.type !== "answers") return;
  checkWords("remark", given.remark);
  checkFlag("partial", given.partial);
  if (kindOf(given.answers) !== "object") throw misfit("answers", "object", given.answers);
  for (const [question, answer] of Object.entries(given.answers)) checkAnswerForm(question, answer);
}

function checkAnswerForm(question: string, answer: LooseAnswers[string]): void {
  if (typeof answer === "string") return;
  const at = `answers[${JSON.stringify(question)}]`;
  const whole = kindOf(answer) === "object" ? (answer as Answer) : undefined;
  const labels: unknown = whole ? whole.selected : answer;
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === "string")) throw misfit(at, "string", answer);
  if (whole) checkWords(`${at}.other`, whole.other);
}

function checkWords(at: string, words: unknown): void {
  if (words !== undefined && typeof words !== "string") throw misfit(at, "string", words);
}

/** The word "false" must not count as a yes. */
function checkFlag(at: string, flag: unknown): void {
  if (flag !== undefined && typeof flag !== "boolean") throw misfit(at, "boolean", flag);
}

function checkList(at: "rules" | "removeRules", list: readonly unknown[] | undefined): void {
  if (list === undefined) return;
  if (!Array.isArray(list)) throw misfit(at, "array", list);
  for (const [n, item] of list.entries()) {
    if (kindOf(item) !== "object") throw misfit(`${at}[${n}]`, "object", item);
    const { rule, destination, behavior } = item as Record<string, unknown>;
    if (typeof rule !== "string") throw misfit(`${at}[${n}].rule`, "string", rule);
    checkOneOf(`${at}[${n}].destination`, destination, destinations);
    // A rule of any other kind would be kept, and would hold nobody back.
    if (at === "rules") checkOneOf(`${at}[${n}].behavior`, behavior, behaviors);
  }
}

const destinations: readonly RuleDestination[] = ["session", "local", "project", "user"];
const behaviors: readonly RuleGrant["behavior"][] = ["allow", "deny", "ask"];
const planEnds: readonly PlanEnd[] = ["ask", "acceptEdits"];

function checkOneOf(at: string, came: unknown, values: readonly string[]): void {
  if (values.includes(came as string)) return;
  const expected = values.map((value) => JSON.stringify(value));
  const found: Misfit =
    came === undefined
      ? { at, kind: "missing", expected }
      : { at, kind: "value", expected, came: typeof came === "string" ? JSON.stringify(came) : kindOf(came) };
  throw refused(reason("misfits", { misfits: [found] }));
}

function misfit(at: string, type: string, value: unknown): SageError {
  const expected = [type];
  const found: Misfit =
    value === undefined ? { at, kind: "missing", expected } : { at, kind: "type", expected, came: kindOf(value) };
  return refused(reason("misfits", { misfits: [found] }));
}

/** The whole response of code that was shown this request. */
export function toResponse(request: InputRequest, given: ResponderAnswer): InputResponse {
  const whole = completed(request, given);
  if (kindOf(whole) !== "object") throw misfit("response", "object", whole);
  const response = { ...(whole as WholeAnswer), requestId: request.id };
  checkResponse(response);
  return spellOut(request, response);
}

/** Labels answer one question, and words a text. A word that code returns by mistake is no answer, and grants nothing. */
function completed(request: InputRequest, given: ResponderAnswer): ResponderAnswer {
  if (request.kind === "text" && typeof given === "string") return { type: "text", text: given };
  if (request.kind !== "question" || (typeof given !== "string" && !Array.isArray(given))) return given;
  const [only, second] = request.questions;
  const isLabel = (word: unknown) => only?.options.some(({ label }) => label === word);
  if (!only || second || ![given].flat().every(isLabel)) return given;
  return { type: "answers", answers: { [only.question]: given as string | readonly string[] } };
}

export function spellOut(request: InputRequest, response: LooseResponse): InputResponse {
  if (response.type !== "answers" || request.kind !== "question") return response as InputResponse;
  const full = ([question, given]: [string, LooseAnswers[string]]): [string, Answer] => {
    if (typeof given === "object" && !Array.isArray(given)) return [question, given as Answer];
    const labels =
      request.questions.find((each) => each.question === question)?.options.map(({ label }) => label) ?? [];
    const words = [given].flat() as string[];
    const other = words.filter((word) => !labels.includes(word)).join(", ");
    return [question, { selected: words.filter((word) => labels.includes(word)), ...(other !== "" && { other }) }];
  };
  return { ...response, answers: Object.fromEntries(Object.entries(response.answers).map(full)) };
}

function checkAnswers(request: InputRequest, response: InputResponse & { type: "answers" }): "answered" | "partial" {
  expectKind(request, "question", response);
  const given = new Map(Object.entries(response.answers));
  let answered = 0;
  let open = 0;
  for (const { question, options, multiSelect, field } of request.questions) {
    const answer = given.get(question);
    given.delete(question);
    const chooses = field !== undefined && options.length > 0; // a form takes its own words alone
    if (answer?.other && (chooses || !takesOwnWords(request)))
      throw refused(reason("not-an-option", { given: answer.other, options: options.map(({ label }) => label) }));
    if (answer && checkAnswer(question, answer, { labels: options.map((option) => option.label), multiSelect }))
      answered++;
    else if (field?.optional) open++;
    else if (field) throw refused(reason("field-missing", { question }));
    if (answer?.other && field?.form) checkForm(question, answer.other.trim(), field.form);
  }
  const [stranger] = given.keys();
  if (stranger !== undefined) {
    const questions = request.questions.map(({ question }) => question);
    throw refused(reason("not-asked", { question: stranger, questions }));
  }
  // All fields of a form may be optional: an empty form is a valid answer.
  if (answered + open === request.questions.length && (answered > 0 || request.source === "mcp")) return "answered";
  if (answered === 0) throw refused(reason("empty-answer", {}));
  if (response.partial) return "partial";
  throw refused(reason("answers-missing", { answered, of: request.questions.length }));
}

/** A field of a form says what it takes. */
function checkForm(question: string, text: string, expected: FieldForm): void {
  const { type, least = -Infinity, most = Infinity, format } = expected;
  const number = Number(text);
  const size = type === "string" ? [...text].length : number;
  const isType = type === "string" || (Number.isFinite(number) && (type === "number" || Number.isInteger(number)));
  if (!isType || size < least || size > most || (format !== undefined && !formats[format](text)))
    throw refused(reason("field-unfit", { question, expected }));
}

const formats: Record<NonNullable<FieldForm["format"]>, (text: string) => boolean> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
};

/** False when the question was left open. */
function checkAnswer(
  question: string,
  answer: Answer,
  { labels, multiSelect }: { labels: string[]; multiSelect: boolean },
): boolean {
  const stranger = answer.selected.find((label) => !labels.includes(label));
  if (stranger !== undefined) throw refused(reason("not-an-option", { given: stranger, question, options: labels }));
  if (new Set(answer.selected).size < answer.selected.length) throw refused(reason("chosen-twice", { question }));
  const other = answer.other !== undefined && answer.other.trim() !== "";
  const count = answer.selected.length + (other ? 1 : 0);
  if (count > 1 && !multiSelect) throw refused(reason("takes-one", { question, count }));
  return count > 0;
}

function expectKind<K extends InputRequest["kind"]>(
  request: InputRequest,
  kind: K,
  response: InputResponse,
): asserts request is InputRequest & { kind: K } {
  if (request.kind === kind) return;
  throw refused(reason("unfit-response", { kind: request.kind, got: response.type }));
}

function unknownType(response: never): SageError {
  const { type } = response as { type?: unknown };
  return refused(reason("unknown-response", { got: String(type) }));
}

function refused(why: Reason): SageError {
  return new SageError("request-invalid", why);
}
