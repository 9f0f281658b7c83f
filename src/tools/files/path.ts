import { relative } from "node:path";
import * as z from "../../base/z.ts";
import { isInside, troubleWithPath } from "../../permission/paths/canonical.ts";

export const pathSchema = z
  .string()
  .min(1)
  .superRefine((path, context) => {
    const trouble = troubleWithPath(path);
    if (trouble) context.addIssue(trouble.message);
  });

/** How results name a file: short when it lies below cwd, and never with a line break or an escape in it. */
export function showPath(path: string, cwd: string): string {
  const shown = isInside(cwd, path) ? relative(cwd, path) || "." : path;
  return /[\u0000-\u001f\u007f-\u009f]/.test(shown) ? JSON.stringify(shown) : shown;
}
