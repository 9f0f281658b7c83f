import type { Diff, ToolCall, ToolCallContent, ToolCallStatus, ToolKind } from "@agentclientprotocol/sdk";
import { harmless, oneLine } from "../../base/visible.ts";
import type { Preview, ToolInput } from "../../protocol/facts/call.ts";
import type { PermissionRequest } from "../../protocol/facts/request.ts";
import type { Standing } from "../../protocol/host/receipt.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { CallItem } from "../../view/transcript/item.ts";
import { resultText } from "../../view/items/result.ts";
import { briefOf, isAsking, summaryOf } from "../../view/items/summary.ts";

const MAX_TITLE_LENGTH = 200;
const MAX_CONTENT_LENGTH = 100_000;

type Shown = Omit<ToolCall, "toolCallId"> & { status: ToolCallStatus };

/** A call as the editor shows it. `cwd` makes paths whole: an editor opens nothing else. */
export function shownCall(item: CallItem, t: Texts, cwd: string): Shown {
  const { tool } = item.call;
  const questions = isAsking(item) ? questionsIn(item.input) : "";
  if (questions !== "") return { ...shownFields(item, t, cwd), title: questions.slice(0, MAX_TITLE_LENGTH) };
  const brief = oneLine(briefOf(item, cwd));
  const within = item.agent.length > 0 ? `${item.agent.map(oneLine).join(" › ")}: ` : "";
  return {
    ...shownFields(item, t, cwd),
    title: `${within}${titled(tool, brief)}`.slice(0, MAX_TITLE_LENGTH),
  };
}

function shownFields(item: CallItem, t: Texts, cwd: string): Omit<Shown, "title"> {
  return {
    kind: toolKind(item.call.tool),
    status: toolStatus(item.standing),
    locations: locationsOf(item.input, cwd),
    rawInput: item.input,
    content: toolContent(item, t, cwd),
  };
}

function questionsIn({ questions }: ToolInput): string {
  const asked = Array.isArray(questions) ? (questions as ({ question?: unknown } | null)[]) : [];
  return oneLine(
    asked.flatMap((question) => (typeof question?.question === "string" ? [question.question] : [])).join(" / "),
  );
}

/** The call of a request, for an editor that has not seen the call itself. */
export function requestedCall(request: PermissionRequest, cwd: string): Shown {
  const { tool, input, preview } = request;
  return {
    title: titled(tool, oneLine(summaryOf(input))).slice(0, MAX_TITLE_LENGTH),
    kind: toolKind(tool),
    status: "pending",
    locations: locationsOf(input, cwd),
    rawInput: input,
    content: [...diffs(tool, input, { preview, cwd })],
  };
}

function titled(tool: string, brief: string): string {
  return tool === "Bash" && brief !== "" ? brief : `${oneLine(tool)} ${brief}`.trim();
}

const kinds: Readonly<Record<string, ToolKind>> = {
  Read: "read",
  Edit: "edit",
  Write: "edit",
  Bash: "execute",
  KillShell: "execute",
  Wait: "read",
  Glob: "search",
  Grep: "search",
  ToolSearch: "search",
  WebFetch: "fetch",
  WebSearch: "fetch",
  Task: "think",
  Skill: "think",
  AskUserQuestion: "think",
  ExitPlanMode: "switch_mode",
};

function toolKind(tool: string): ToolKind {
  return Object.hasOwn(kinds, tool) ? (kinds[tool] ?? "other") : "other";
}

function toolStatus(standing: Standing): ToolCallStatus {
  if (standing === "new" || standing === "waiting") return "pending";
  if (standing === "running") return "in_progress";
  return standing === "done" ? "completed" : "failed"; // the protocol has no other word for what did not run to its end
}

function locationsOf(input: ToolInput, cwd: string): { path: string; line?: number }[] {
  const given = input["file_path"] ?? input["path"];
  if (typeof given !== "string" || given === "") return [];
  const line = input["offset"];
  return [{ path: absolute(given, cwd), ...(typeof line === "number" && line > 0 && { line }) }];
}

function absolute(path: string, cwd: string): string {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path) ? path : `${cwd}/${path.replace(/^\.\//, "")}`;
}

function toolContent(item: CallItem, t: Texts, cwd: string): ToolCallContent[] {
  const { call, input, result, asked, output } = item;
  const preview = result?.change ?? (item.changed ? undefined : previewIn(asked));
  const change = diffs(call.tool, input, { preview, cwd });
  const printed = result ? resultText(item, t) : output;
  // A changed file is shown by its change.
  const told = change.length > 0 && item.standing === "done" ? "" : printed;
  return [...change, ...(told.trim() === "" ? [] : [text(told)])];
}

function previewIn(asked: CallItem["asked"]): Preview | undefined {
  const request = asked.findLast(({ request: each }) => each.kind === "permission")?.request;
  return request?.kind === "permission" ? request.preview : undefined;
}

export function text(said: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: harmless(said).slice(-MAX_CONTENT_LENGTH) } };
}

/** The change whole where a preview tells it, else what the call says of it. */
function diffs(
  tool: string,
  input: ToolInput,
  { preview, cwd }: { preview: Preview | undefined; cwd: string },
): (Diff & { type: "diff" })[] {
  if (tool !== "Edit" && tool !== "Write") return [];
  const given = input["file_path"];
  const path = preview?.path ?? (typeof given === "string" ? absolute(given, cwd) : "");
  if (path === "") return [];
  const side = (gone: "-" | "+") =>
    (preview?.lines ?? [])
      .filter(({ mark }) => mark === " " || mark === gone)
      .map((line) => line.text)
      .join("\n");
  const [before, after] = tool === "Edit" ? [input["old_string"], input["new_string"]] : [undefined, input["content"]];
  if (preview && preview.lines.length > 0) {
    const isNew = tool === "Write" && preview.lines.every(({ mark }) => mark === "+");
    return [{ type: "diff", path, oldText: isNew ? null : side("-"), newText: side("+") }];
  }
  if (typeof after !== "string") return [];
  return [{ type: "diff", path, oldText: typeof before === "string" ? before : null, newText: after }];
}
