import { takesOwnWords, type InputRequest } from "../../../protocol/facts/request.ts";
import { rulesFor } from "../../../view/request/answering.ts";
import { neededOf } from "../../../view/request/describe.ts";
import type { Asked } from "./permission.ts";
import type { Speech } from "./speech.ts";

/** How to answer in words: only what works where the card stands, when it is typed to the letter. */
export function typedHint(request: InputRequest, asked: Pick<Asked, "typed" | "file">, speech: Speech): string {
  return `${answerHint(request, asked, speech)} ${speech.t.askByText(asked.typed)}`;
}

function answerHint(request: InputRequest, { typed, file }: Pick<Asked, "typed" | "file">, { t }: Speech): string {
  if (request.kind === "text") return t.textByText(typed);
  if (request.kind === "permission") {
    if (file === "sent") return t.denyByText(typed);
    return t.permissionByText(typed, {
      always: neededOf(rulesFor(request)).length > 0,
      outside: request.mayLeave === true,
    });
  }
  const { questions } = request;
  if (!takesOwnWords(request)) return t.pickByText(typed);
  if (questions.length > 1) return t.questionsByText(typed);
  return questions[0]?.options.length === 0 ? t.textByText(typed) : t.questionByText(typed);
}
