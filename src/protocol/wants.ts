import { reason, type ReasonArgs } from "./reason.ts";
import * as z from "./z.ts";

/** A value of code, which no schema of data describes. */
export const wants = (
  expected: ReasonArgs["module-wants"]["expected"],
  isFit: (value: unknown) => boolean,
): ReturnType<typeof z.custom> => z.custom(isFit, { params: { why: reason("module-wants", { expected }) } });

export function hasMethods(value: unknown, ...names: string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
