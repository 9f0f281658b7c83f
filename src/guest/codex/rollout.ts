import { readFileSync } from "node:fs";
import { attempt } from "../../base/attempt.ts";
import type { Told } from "../driver.ts";
import { fields, list, text, type Fields } from "../json.ts";

/**
 * Which answers the model was sent, by Codex's own record of the thread: what its server tells of a thread leaves out declined calls. The
 * format is private: undefined for whatever is not found there.
 */
export function deliveriesInRollout(path: string, told: readonly Told[]): (boolean | undefined)[] | undefined {
  const items = attempt(() => readFileSync(path, "utf8").split("\n"))?.flatMap((line) => {
    const entry = fields(attempt(() => JSON.parse(line) as unknown));
    return entry["type"] === "response_item" ? [fields(entry["payload"])] : [];
  });
  return items && items.length > 0 ? told.map((each) => deliveryIn(items, each)) : undefined;
}

function deliveryIn(items: readonly Fields[], { request, call, words }: Told): boolean | undefined {
  const said = items.findLastIndex((item) => isSaid(item) && joinText(item).includes(request));
  if (said >= 0 && isAnswered(items, said)) return true;
  const at = items.findLastIndex(
    ({ type, call_id: id }) => type === "function_call_output" && id === call.split(":", 1)[0],
  );
  if (at < 0 || !isAnswered(items, at)) return undefined;
  if (readOutput(items[at]).startsWith("aborted")) return false;
  const read = items.filter(isSaid).map(joinText);
  return words.every((word) => read.some((say) => say.includes(word)));
}

function isSaid({ type, role }: Fields): boolean {
  return type === "message" && role === "user";
}

/** The model replied after it. */
function isAnswered(items: readonly Fields[], at: number): boolean {
  return items
    .slice(at + 1)
    .some(({ type, role }) => type === "function_call" || (type === "message" && role === "assistant"));
}

function joinText({ content }: Fields): string {
  return list(content)
    .map((part) => text(fields(part)["text"]) ?? "")
    .join("\n");
}

function readOutput(item: Fields | undefined): string {
  return text(item?.["output"]) ?? JSON.stringify(item?.["output"] ?? "");
}
