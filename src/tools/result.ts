import { messageOf } from "../protocol/index.ts";
import type { ToolResult } from "../protocol/index.ts";

export function failed(text: string): ToolResult {
  return { ok: false, text };
}

/** A tool that fails is a result the model reads, so whatever goes wrong inside becomes one. */
export async function attempt(what: string, work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    return failed(`${what} failed: ${messageOf(error)}`);
  }
}
