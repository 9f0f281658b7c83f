import { callsOf, oneLine, type Call, type Fact, type InputRequest, type Reason } from "../../protocol/index.ts";
import { summaryOf } from "../../view/summary.ts";
import type { CliTexts } from "../../texts/cli.ts";

/** What was refused and what nobody answered, a line each: a result that says "done" does not tell. */
export function createRefusals(
  tell: (line: string) => void,
  t: CliTexts,
  because: (reason: Reason | string) => string,
): (fact: Fact) => void {
  const calls = new Map<string, Call[]>();
  const asked = new Map<string, InputRequest>();
  const refused = (call: { tool: string; input: Call["input"] } | undefined, why: string) => {
    const what = call ? `${call.tool} ${summaryOf(call.input)}` : "?";
    tell(t.wasRefused(oneLine(what).slice(0, 200), oneLine(why)));
  };
  return (fact) => {
    switch (fact.type) {
      case "model.replied":
        return void calls.set(fact.key.replace(/model$/, ""), callsOf(fact.data));
      case "calls.judged": {
        const step = fact.key.replace(/judged$/, "");
        for (const [n, { behavior, digest, reason }] of fact.data.verdicts.entries())
          // Without a digest it was no call at all: an unknown tool, or an input that does not fit.
          if (behavior === "deny" && digest !== "") refused(calls.get(step)?.[n], because(reason));
        return;
      }
      case "input.requested":
        return void asked.set(fact.data.id, fact.data);
      case "input.resolved": {
        const request = asked.get(fact.data.requestId);
        const why = whyNot(fact);
        if (!request || why === undefined) return;
        if (request.kind === "permission") return refused(request, why);
        const words = request.kind === "text" ? [request.prompt] : request.questions.map(({ question }) => question);
        return tell(t.notAnswered(oneLine(words.join(" / ")), oneLine(why)));
      }
      default:
    }
  };
}

/** Undefined when it was answered, and not with a no. */
function whyNot({ data }: Fact<"input.resolved">): string | undefined {
  switch (data.outcome) {
    case "answered":
    case "partial":
      return data.response.type === "denied" ? (data.response.reason ?? "") : undefined;
    case "timed_out":
      return data.response ? undefined : data.reason;
    case "declined":
    case "no_surface":
      return data.reason;
    case "cancelled": // the outcome of the turn says it
    case "superseded":
      return undefined;
    default:
      return data satisfies never;
  }
}
