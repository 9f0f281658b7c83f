import { callsOf, harmless, textOf, type Call, type Fact } from "../../protocol/index.ts";

/** A session as Markdown, for people. */
export function exportOf(facts: readonly Fact[]): string {
  const calls = new Map<string, Call>();
  const parts = facts.flatMap((fact): string[] => {
    switch (fact.type) {
      case "user.said":
        return [`## ${harmless(fact.data.by)}`, harmless(fact.data.text)];
      case "model.replied": {
        const step = fact.key.slice(0, -"model".length);
        for (const [n, call] of callsOf(fact.data).entries()) calls.set(`${step}${n}`, call);
        const text = fact.key.includes("/sub/") ? "" : textOf(fact.data).trim();
        return text === "" ? [] : ["## Sage", harmless(text)];
      }
      case "call.finished": {
        const call = calls.get(fact.key.replace(/\/[^/]*$/, ""));
        if (!call) return [];
        return [
          `### ${harmless(call.tool)}`,
          fenced(JSON.stringify(call.input, undefined, 2), "json"),
          fenced(fact.data.text),
        ];
      }
      default:
        return [];
    }
  });
  return `${parts.join("\n\n")}\n`;
}

function fenced(text: string, lang = ""): string {
  const clean = harmless(text);
  const fence = "`".repeat(Math.max(3, ...[...clean.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}${lang}\n${clean}\n${fence}`;
}
