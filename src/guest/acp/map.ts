import type { Answers } from "../../protocol/facts/answer.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import type { Call, Usage } from "../../protocol/facts/message.ts";
import type { Question } from "../../protocol/facts/request.ts";
import { commandLine } from "../command.ts";
import { count, fields, list, text, told, type Fields } from "../json.ts";

/** Everything an agent has reported about one call so far: each update may add a part. */
export type Seen = Fields & { toolCallId: string };

export function seenWith(before: Seen | undefined, update: unknown): Seen | undefined {
  const { sessionUpdate: _, ...news } = told(update);
  const id = text(news["toolCallId"]);
  if (id === undefined) return undefined;
  const input = fields(news["rawInput"]);
  // Its input comes whole or not at all: an empty one takes nothing back.
  const kept = Object.keys(input).length === 0 && before?.["rawInput"] !== undefined;
  return { ...before, ...news, ...(kept && { rawInput: before["rawInput"] }), toolCallId: id };
}

/** The call in the agent's own words; a command as Bash's. */
export function readCall(seen: Seen, cwd: string): Call {
  const command = commandOf(seen, cwd);
  const call = { type: "call" as const, id: seen.toolCallId };
  if (command !== undefined) return { ...call, tool: "Bash", input: { command } };
  return { ...call, tool: toolName(seen), input: readInput(seen) };
}

/** Only a command can be judged. */
export function judgedOf(seen: Seen, cwd: string): { tool: string; input: ToolInput }[] {
  const command = commandOf(seen, cwd);
  return command === undefined ? [] : [{ tool: "Bash", input: { command } }];
}

/** The whole command, never its title: a title may be truncated, and a rule would then allow more than it shows. */
function commandOf(seen: Seen, cwd: string): string | undefined {
  if (seen["kind"] !== "execute") return undefined;
  const input = fields(seen["rawInput"]);
  return commandLine(input["command"], { cwd: input["cwd"] ?? input["workdir"], sessionCwd: cwd });
}

/** Sage's own tools are judged and shown by their fields, which this one does not have: it never goes by their names. */
const ours = new Set(["Bash", "Read", "Write", "Edit", "Glob", "Grep", "AskUserQuestion"]);

function toolName(seen: Seen): string {
  const meta = fields(seen["_meta"]);
  const name =
    text(seen["name"]) ?? text(meta["toolName"]) ?? text(fields(meta["claudeCode"])["toolName"]) ?? text(seen["kind"]);
  if (name === undefined || name === "") return "tool";
  return ours.has(name) ? name.toLowerCase() : name;
}

function readInput(seen: Seen): ToolInput {
  const raw = fields(seen["rawInput"]);
  if (Object.keys(raw).length > 0) return { ...raw };
  const paths = list(seen["locations"]).flatMap((location) => text(fields(location)["path"]) ?? []);
  const words = wordsIn(seen["content"]);
  const changes = list(seen["content"]).flatMap((block) => {
    const { type, path, oldText, newText } = told(block);
    return type === "diff" ? [{ path, ...(oldText !== undefined && { oldText }), newText }] : [];
  });
  return {
    ...(text(seen["title"]) !== undefined && { title: seen["title"] }),
    ...(paths.length > 0 && { paths }),
    ...(changes.length > 0 && { changes }),
    ...(words !== "" && { content: words }),
  };
}

/** How a call ended, in words for the journal. */
export function readResult(seen: Seen): string {
  const words = wordsIn(seen["content"]);
  if (words !== "") return words;
  const raw = seen["rawOutput"];
  const output = text(raw) ?? text(fields(raw)["output"]) ?? text(fields(raw)["text"]) ?? text(fields(raw)["error"]);
  return output ?? text(seen["status"]) ?? "";
}

function wordsIn(content: unknown): string {
  return list(content)
    .flatMap((block) => text(fields(fields(block)["content"])["text"]) ?? [])
    .join("\n");
}

/** Takes only a choice for this one call: Sage's rules live in Sage's files. */
export function findOption(params: Fields, kind: "allow_once" | "reject_once"): string | undefined {
  const found = list(params["options"]).find((option) => fields(option)["kind"] === kind);
  return text(fields(found)["optionId"]);
}

/** Questions that come as a request for permission (Qwen Code), numbered in their order. */
export function questionsIn(toolCall: Seen): Question[] | undefined {
  const asked = list(fields(toolCall["_meta"])["qwenQuestions"]);
  const questions = asked.flatMap((question) => readQuestion(fields(question)) ?? []);
  return questions.length > 0 && questions.length === asked.length ? questions : undefined;
}

export function readQuestion({ question, header, multiSelect, options }: Fields): Question | undefined {
  const words = text(question);
  if (words === undefined) return undefined;
  const choices = list(options).flatMap((option) => {
    const label = text(fields(option)["label"]);
    return label === undefined ? [] : [{ label, description: text(fields(option)["description"]) ?? "" }];
  });
  return { question: words, header: text(header) ?? "", options: choices, multiSelect: multiSelect === true };
}

/** Answers by the number of their question, as text. */
export function numbered(questions: readonly Question[], answers: Answers): Record<string, string> {
  return Object.fromEntries(
    questions.flatMap(({ question }, number) => {
      const answer = answers[question];
      if (answer === undefined) return [];
      return [[`${number}`, [...answer.selected, ...(answer.other ? [answer.other] : [])].join(", ")]];
    }),
  );
}

export function readUsage(value: unknown): Usage | undefined {
  const used = fields(value);
  const output = count(used["outputTokens"]);
  // Some count input beside what was cached.
  const input = Math.max(count(used["inputTokens"]), count(used["totalTokens"]) - output);
  if (input + output === 0) return undefined;
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: count(used["cachedReadTokens"]),
    cacheWriteTokens: count(used["cachedWriteTokens"]),
  };
}
