import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { attempt } from "../../base/attempt.ts";
import type { Told } from "../driver.ts";
import { fields, list, text, type Fields } from "../json.ts";

// Claude Code's own record of a conversation. Its format is private: from here come checks that may say "not known", and nothing else.

/** Lines of the conversation, and of each subagent's. */
type Transcript = readonly (readonly Fields[])[];

/** Undefined where it is not found or cannot be read. */
export function readTranscript(env: NodeJS.ProcessEnv, session: string): Transcript | undefined {
  const projects = join(env["CLAUDE_CONFIG_DIR"] ?? join(env["HOME"] ?? homedir(), ".claude"), "projects");
  return attempt(() => {
    const dir = readdirSync(projects).find((name) => existsSync(join(projects, name, `${session}.jsonl`)));
    if (dir === undefined) return undefined;
    const below = join(projects, dir, session, "subagents");
    const others = existsSync(below) ? readdirSync(below).filter((name) => name.endsWith(".jsonl")) : [];
    return [join(projects, dir, `${session}.jsonl`), ...others.map((name) => join(below, name))].map(readLines);
  });
}

function readLines(path: string): Fields[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [fields(attempt(() => JSON.parse(line) as unknown))]));
}

/** The message to resume at, if another call's result behind the kept call would make the turn look cut off and lose that result. */
export function markerIn(transcript: Transcript | undefined): string | undefined {
  const [lines = []] = transcript ?? [];
  const at = lines.findLastIndex(({ attachment }) => fields(attachment)["type"] === "hook_deferred_tool");
  const kept = fields(lines[at]?.["attachment"])["toolUseID"];
  const behind = lines
    .slice(at + 1)
    .filter(({ type }) => type === "user" || type === "assistant" || type === "attachment");
  if (kept === undefined || behind.some((line) => resultsIn(line).some(({ tool_use_id: id }) => id === kept)))
    return undefined;
  const last = behind.at(-1);
  return last && resultsIn(last).length > 0 ? text(lines[at]?.["uuid"]) : undefined;
}

/** Which of these answers the model was sent. Undefined where the record is not of a known form. */
export function deliveriesIn(
  transcript: Transcript | undefined,
  told: readonly Told[],
): (boolean | undefined)[] | undefined {
  const known = transcript?.[0]?.some(({ type }) => type === "api-request");
  return known ? told.map((each) => findDelivery(transcript ?? [], each)) : undefined;
}

function findDelivery(transcript: Transcript, { request, call, words }: Told): boolean | undefined {
  const found = transcript.map((lines) => {
    // Told in words that name the request. Whatever a call printed may name it, too, and tells the model nothing of the answer.
    const said = lines.findIndex(
      (line) =>
        line["type"] === "user" && blocksIn(line).some((block) => text(block["text"])?.includes(request) === true),
    );
    if (said >= 0 && isSent(lines, said)) return true;
    const at = lines.findLastIndex(
      (line) => line["type"] === "user" && resultsIn(line).some(({ tool_use_id: id }) => id === call),
    );
    if (at < 0 || !isSent(lines, at)) return undefined;
    const read = lines.slice(at).flatMap(saysIn);
    const isLost = lines.some(
      (line) => line["type"] === "api-request-blob" && resultsIn(line).some((result) => isMissing(result, call)),
    );
    return !isLost && words.every((word) => read.some((say) => say.includes(word)));
  });
  return found.find((delivered) => delivered !== undefined);
}

/** A reply came after it, or a request to the model was written down. */
function isSent(lines: readonly Fields[], at: number): boolean {
  const isReply = (line: Fields) => line["type"] === "assistant" && fields(line["message"])["model"] !== "<synthetic>";
  return lines.slice(at + 1).some((line) => line["type"] === "api-request" || isReply(line));
}

function isMissing({ tool_use_id: id, content }: Fields, call: string): boolean {
  return id === call && textIn(content).startsWith("[Tool result missing");
}

function blocksIn(line: Fields): Fields[] {
  const { content } = fields(line["message"]);
  return typeof content === "string" ? [{ type: "text", text: content }] : list(content).map(fields);
}

function resultsIn(line: Fields): Fields[] {
  return blocksIn(line).filter(({ type }) => type === "tool_result");
}

function saysIn(line: Fields): string[] {
  return blocksIn(line).map((block) => text(block["text"]) ?? textIn(block["content"]));
}

function textIn(content: unknown): string {
  return (
    text(content) ??
    list(content)
      .map((block) => text(fields(block)["text"]) ?? "")
      .join("\n")
  );
}
