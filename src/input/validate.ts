import {
  SageError,
  takesOwnWords,
  type Answer,
  type InputRequest,
  type InputResponse,
  type LooseAnswers,
  type LooseResponse,
  type Resolution,
} from "../protocol/index.ts";

type Sender = { by: string; surface: string };

/** Checks a response against its request and says how the request ends by it. A bad one is refused with the reason. */
export function resolve(request: InputRequest, response: InputResponse, { by, surface }: Sender): Resolution {
  const frame = { requestId: request.id, by, surface, at: Date.now() };
  switch (response.type) {
    case "cancelled":
      return { ...frame, outcome: "cancelled", reason: response.reason ?? "stopped by the person" };
    case "denied":
      return request.kind === "permission"
        ? { ...frame, outcome: "answered", response }
        : { ...frame, outcome: "declined", reason: response.reason ?? "" };
    case "granted":
      expectKind(request, "permission", response);
      return { ...frame, outcome: "answered", response };
    case "text":
      expectKind(request, "text", response);
      if (response.text.trim() === "") throw refused("an empty text is not an answer; write something, or decline");
      return { ...frame, outcome: "answered", response };
    case "answers":
      return { ...frame, outcome: checkAnswers(request, response), response };
    default:
      throw unknownType(response);
  }
}

/** Spells out answers that were given for short. */
export function spellOut(request: InputRequest, response: LooseResponse): InputResponse {
  if (response.type !== "answers" || request.kind !== "question") return response as InputResponse;
  const full = ([question, given]: [string, LooseAnswers[string]]): [string, Answer] => {
    if (typeof given === "object" && !Array.isArray(given)) return [question, given as Answer];
    const labels = request.questions.find((one) => one.question === question)?.options.map(({ label }) => label) ?? [];
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
  for (const { question, options, multiSelect } of request.questions) {
    const answer = given.get(question);
    given.delete(question);
    if (answer?.other && !takesOwnWords(request))
      throw refused(
        `"${answer.other}" is not an option here; expected ${options.map(({ label }) => `"${label}"`).join(", ")}`,
      );
    if (answer && checkAnswer(question, answer, { labels: options.map((option) => option.label), multiSelect }))
      answered++;
  }
  const [stranger] = given.keys();
  if (stranger !== undefined) {
    const known = request.questions.map(({ question }) => `"${question}"`).join(", ");
    throw refused(`"${stranger}" was not asked; the questions are ${known}`);
  }
  if (answered === request.questions.length) return "answered";
  if (answered === 0) throw refused("an empty answer is not an answer; choose an option, write your own, or decline");
  if (response.partial) return "partial";
  throw refused(
    `${answered} of ${request.questions.length} questions are answered; answer the rest, or submit it as partial`,
  );
}

/** False when the question was left open. */
function checkAnswer(
  question: string,
  answer: Answer,
  { labels, multiSelect }: { labels: string[]; multiSelect: boolean },
): boolean {
  const stranger = answer.selected.find((label) => !labels.includes(label));
  if (stranger !== undefined)
    throw refused(
      `"${stranger}" is not an option of "${question}"; expected ${labels.map((l) => `"${l}"`).join(", ")}`,
    );
  if (new Set(answer.selected).size < answer.selected.length)
    throw refused(`an option of "${question}" is chosen twice`);
  const other = answer.other !== undefined && answer.other.trim() !== "";
  const count = answer.selected.length + (other ? 1 : 0);
  if (count > 1 && !multiSelect) throw refused(`"${question}" takes one answer; ${count} were given`);
  return count > 0;
}

function expectKind<K extends InputRequest["kind"]>(
  request: InputRequest,
  kind: K,
  response: InputResponse,
): asserts request is InputRequest & { kind: K } {
  if (request.kind === kind) return;
  const fits = {
    question: "answers, denied or cancelled",
    permission: "granted, denied or cancelled",
    text: "text, denied or cancelled",
  };
  throw refused(`this is a ${request.kind} request and takes ${fits[request.kind]}; got "${response.type}"`);
}

function unknownType(response: never): SageError {
  const { type } = response as { type?: unknown };
  return refused(`a response is answers, granted, denied, text or cancelled; got "${String(type)}"`);
}

function refused(message: string): SageError {
  return new SageError("request-invalid", message);
}
