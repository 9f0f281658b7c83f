import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import { reasonFrom } from "../../../protocol/reasons/reason.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { nameOf } from "../../../view/items/summary.ts";

export type Result = {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

/** The end of a request, or that it still waits, for the agent that asked. */
export function resultOf(request: InputRequest, resolution: Resolution | undefined): Result {
  return asResult(resultData(request, resolution));
}

export function asResult(data: Record<string, unknown>): Result {
  return { content: [{ type: "text", text: JSON.stringify(data, undefined, 2) }], structuredContent: data };
}

export function resultData(request: InputRequest, resolution: Resolution | undefined): Record<string, unknown> {
  const frame = { ticket: request.id, asked: nameOf(request, texts("en")) };
  if (!resolution)
    return {
      ...{ status: "waiting", ...frame },
      note: "Nobody has answered yet. The request stays open; call ask_person with this ticket to wait on.",
    };
  const { outcome, by, surface, at } = resolution;
  const response = "response" in resolution ? resolution.response : undefined;
  const reason = "reason" in resolution && resolution.reason ? sentence(reasonFrom(resolution.reason), "en") : "";
  return {
    ...{ status: outcome, ...frame, by, surface, at: new Date(at).toISOString() },
    ...(reason !== "" && { reason }),
    ...(response?.type === "answers" && {
      answers: response.answers,
      ...confirmedIn(request, response.answers),
      ...(response.remark !== undefined && { remark: response.remark }),
    }),
    ...(response?.type === "text" && { text: response.text }),
  };
}

/** Set where yes or no was asked, and one of them chosen: own words are neither. */
function confirmedIn(request: InputRequest, answers: Record<string, { selected: string[] }>): { confirmed?: boolean } {
  const [only, more] = request.kind === "question" ? request.questions : [];
  const labels = only?.options.map(({ label }) => label).join("\n");
  if (!only || more || !words.some((pair) => pair.join("\n") === labels)) return {};
  const [chosen] = answers[only.question]?.selected ?? [];
  return chosen === undefined ? {} : { confirmed: chosen === only.options[0]?.label };
}

const words = [
  ["Yes", "No"],
  ["是", "否"],
] as const;

/** Yes and no in the language of a question. */
export function yesAndNo(question: string): readonly string[] {
  return words[/\p{Script=Han}/u.test(question) ? 1 : 0];
}
