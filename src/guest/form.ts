import { askFor } from "../mcp/elicit.ts";
import type { Answers } from "../protocol/facts/answer.ts";
import type { Question, Resolution } from "../protocol/facts/request.ts";
import type { GuestAnswer } from "./driver.ts";
import { fields, text, type Fields } from "./json.ts";

type Asker = { name: string; signal: AbortSignal; ask(questions: Question[]): Promise<GuestAnswer> };
const OWN_WORDS = "_custom";

/** Shows an agent's form as an MCP server's. A text field beside a choice is the person's own words for it, not a question. */
export async function askForm(params: Fields, { name, signal, ask }: Asker): Promise<object> {
  const schema = fields(params["requestedSchema"]);
  const properties = fields(schema["properties"]);
  const isBeside = (field: string) => field.endsWith(OWN_WORDS) && field.slice(0, -OWN_WORDS.length) in properties;
  const asked = Object.entries(properties).filter(([field]) => !isBeside(field));
  let questions: readonly Question[] = [];
  let answers: Answers = {};
  const form = {
    ...params,
    message: text(params["message"]) ?? "",
    requestedSchema: { ...schema, properties: Object.fromEntries(asked) },
  };
  const result = await askFor(form as Parameters<typeof askFor>[0], {
    server: name,
    tool: "",
    signal,
    notice: undefined,
    async elicit({ body }) {
      if (body.kind !== "question") throw new Error("a form asks questions");
      questions = body.questions;
      const answer = await ask(body.questions);
      if (answer.type === "answers") answers = answer.answers;
      return toResolution(answer);
    },
  });
  if (result.action !== "accept") return result;
  const own = asked.flatMap(([field], number) => {
    const words = answers[questions[number]?.question ?? ""]?.other?.trim();
    return words && `${field}${OWN_WORDS}` in properties ? [[`${field}${OWN_WORDS}`, words]] : [];
  });
  return { action: "accept", content: { ...result.content, ...Object.fromEntries(own) } };
}

function toResolution(answer: GuestAnswer): Resolution {
  const frame = { requestId: "", by: "", surface: "", at: 0 };
  if (answer.type !== "answers") return { ...frame, outcome: "declined" };
  return { ...frame, outcome: "answered", response: { type: "answers", requestId: "", answers: answer.answers } };
}
