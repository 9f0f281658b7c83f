import type { ToolResult } from "../protocol/index.ts";

export function failed(text: string): ToolResult {
  return { ok: false, text };
}
