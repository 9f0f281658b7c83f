import { resolve } from "node:path";
import { oneLine } from "../../base/visible.ts";
import type { Answers } from "../../protocol/facts/answer.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import type { Call, Usage } from "../../protocol/facts/message.ts";
import type { Question } from "../../protocol/facts/request.ts";
import { readQuestion } from "../acp/map.ts";
import { commandLine } from "../command.ts";
import { count, fields, list, text, told, type Fields } from "../json.ts";

type Judged = { tool: string; input: ToolInput };
type Place = { cwd: string };

/** A Codex item as a call; undefined for anything else, such as a message. */
export function readCall(item: Fields, { cwd }: Place): Call | undefined {
  const id = text(item["id"]);
  if (id === undefined) return undefined;
  const call = { type: "call" as const, id };
  switch (item["type"]) {
    case "commandExecution":
      return { ...call, tool: "Bash", input: { command: commandIn(item, cwd) } };
    case "fileChange":
      return { ...call, tool: "Patch", input: { changes: changesOf(item) } };
    case "mcpToolCall":
      return {
        ...call,
        tool: `mcp__${text(item["server"])}__${text(item["tool"])}`,
        input: { ...fields(item["arguments"]) },
      };
    case "webSearch":
      return { ...call, tool: "web_search", input: { query: text(item["query"]) ?? "" } };
    default:
      return undefined;
  }
}

function commandIn({ command, cwd }: Fields, sessionCwd: string): string {
  return commandLine(command, { cwd, sessionCwd }) ?? "";
}

type Change = { path: string; kind: "add" | "delete" | "update"; diff: string; movedTo?: string };

export function changesOf(item: Fields): Change[] {
  return list(item["changes"]).flatMap((change) => {
    const { path, kind, diff } = told(change);
    const how = text(fields(kind)["type"]) ?? text(kind);
    if (typeof path !== "string" || (how !== "add" && how !== "delete" && how !== "update")) return [];
    const movedTo = text(fields(kind)["move_path"]);
    return [{ path, kind: how, diff: text(diff) ?? "", ...(movedTo !== undefined && { movedTo }) }];
  });
}

/** A patch as calls of Sage's tools, one for each file. One without changes cannot be judged and is for a person. */
export function judgedPatch(changes: readonly Change[], { cwd }: Place): Judged[] {
  return changes.flatMap(({ path, kind, diff, movedTo }) => {
    const file_path = resolve(cwd, path);
    const moved = movedTo === undefined ? [] : [resolve(cwd, movedTo)];
    if (kind === "add") return [{ tool: "Write", input: { file_path, content: diff } }];
    if (kind === "delete") return [edit(file_path, diff || "\n", "")];
    const hunks = readDiff(diff);
    return [
      ...hunks.map(({ before, after }) => edit(file_path, before || "\n", before ? after : `\n${after}`)),
      ...(hunks.length === 0 ? [edit(file_path, "\n", "")] : []),
      ...moved.map((target) => ({ tool: "Write", input: { file_path: target, content: "" } })),
    ];
  });
}

function edit(file_path: string, old_string: string, new_string: string): Judged {
  return {
    tool: "Edit",
    input: { file_path, old_string, new_string: new_string === old_string ? `${new_string}\n` : new_string },
  };
}

function readDiff(diff: string): { before: string; after: string }[] {
  const hunks: { before: string[]; after: string[] }[] = [];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    if (line.startsWith("@@")) hunks.push({ before: [], after: [] });
    const hunk = hunks.at(-1);
    if (hunk === undefined || line.startsWith("@@") || line.startsWith("\\")) continue;
    if (!line.startsWith("+")) hunk.before.push(line.slice(1));
    if (!line.startsWith("-")) hunk.after.push(line.slice(1));
  }
  return hunks.map(({ before, after }) => ({ before: before.join("\n"), after: after.join("\n") }));
}

export function isOver(item: Fields): boolean {
  return item["status"] !== "inProgress";
}

export function readResult(item: Fields): { ok: boolean; text: string } {
  const status = text(item["status"]) ?? "completed";
  const output =
    text(item["aggregatedOutput"]) ?? contentText(item["result"]) ?? text(fields(item["error"])["message"]);
  const code = item["exitCode"];
  const failed = typeof code === "number" && code !== 0;
  return {
    ok: status === "completed" && !failed,
    text: output || (failed ? `exit code ${code}` : status),
  };
}

function contentText(result: unknown): string | undefined {
  const words = list(fields(result)["content"]).flatMap((block) => text(fields(block)["text"]) ?? []);
  return words.length === 0 ? undefined : words.join("\n");
}

export type CodexQuestion = Question & { id: string };

/** Undefined where one of them asks for a secret, which has no place in a journal. */
export function readQuestions(params: Fields): CodexQuestion[] | undefined {
  const asked = list(params["questions"]).map(fields);
  if (asked.some(({ isSecret }) => isSecret === true)) return undefined;
  return asked.flatMap((entry) => {
    const question = readQuestion(entry);
    return question ? [{ ...question, id: text(entry["id"]) ?? oneLine(question.question) }] : [];
  });
}

export function toCodexAnswers(
  questions: readonly CodexQuestion[],
  answers: Answers,
): Record<string, { answers: string[] }> {
  return Object.fromEntries(
    questions.flatMap(({ id, question }) => {
      const answer = answers[question];
      return answer ? [[id, { answers: [...answer.selected, ...(answer.other ? [answer.other] : [])] }]] : [];
    }),
  );
}

export function readUsage(params: Fields): Usage | undefined {
  const last = fields(fields(params["tokenUsage"])["last"]);
  if (count(last["inputTokens"]) + count(last["outputTokens"]) === 0) return undefined;
  return {
    inputTokens: count(last["inputTokens"]),
    outputTokens: count(last["outputTokens"]),
    cacheReadTokens: count(last["cachedInputTokens"]),
    cacheWriteTokens: count(last["cacheWriteInputTokens"]),
  };
}
