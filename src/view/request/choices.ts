import { isObject } from "../../base/issue.ts";
import { canonicalJson } from "../../base/canonical-json.ts";
import type { RuleDestination } from "../../protocol/decision.ts";
import type { RuleGrant } from "../../protocol/facts/answer.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import { needsConsent } from "../../protocol/facts/consent.ts";
import type { PermissionRequest } from "../../protocol/facts/request.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import { rulesFor } from "./answering.ts";
import { dangersOf } from "./danger.ts";

/** Answers that a person may give to a permission. */
export type Choice =
  | "once"
  | "acceptEdits"
  | "always"
  | "unask"
  | "outside"
  | "no"
  | "reason"
  | "edit"
  | "comment"
  | "stop"
  | "together";

/** These let the call run, so all of it must have been on the screen. */
export function allows(choice: Choice): boolean {
  return (
    choice === "once" ||
    choice === "acceptEdits" ||
    choice === "always" ||
    choice === "unask" ||
    choice === "outside" ||
    choice === "edit" ||
    choice === "comment"
  );
}

/** May the input be edited? Not where the asker accepts no other, nor where a secret was redacted: the placeholder would run. */
export function mayEdit({ fixed, masked = 0, source }: PermissionRequest): boolean {
  return !fixed && masked === 0 && source !== "outside";
}

/** The prompt of somebody's own agent takes a bare yes: a remark beside it would reach nobody. */
export function mayComment({ asker }: PermissionRequest): boolean {
  return asker !== "attached";
}

/** Accepting edits would have let it run: an ordinary edit of a file in the workspace. */
export function mayAcceptEdits(request: PermissionRequest): boolean {
  const { tool, hard, preview } = request;
  return (
    (tool === "Edit" || tool === "Write") &&
    !hard &&
    !needsConsent(request) &&
    !preview?.outside &&
    dangersOf(request).length === 0
  );
}

/** The part of an input that is text and can be edited as such; anything else is edited as JSON, whole. */
export function textField({
  tool,
  input,
}: PermissionRequest): "command" | "content" | "new_string" | "plan" | undefined {
  const name = textFields[tool] ?? "command";
  return typeof input[name] === "string" ? name : undefined;
}

const textFields: Readonly<Record<string, "content" | "new_string" | "plan">> = {
  Write: "content",
  Edit: "new_string",
  [PLAN_TOOL]: "plan",
};

export function editable(request: PermissionRequest): string {
  const name = textField(request);
  return name === undefined ? canonicalJson(request.input) : String(request.input[name]);
}

/** The input with a person's changes, or why they are invalid. */
export function inputFrom(
  request: PermissionRequest,
  text: string,
): { input: ToolInput } | { problem: "unchanged" | "not-an-object" } | { problem: "not-json"; error: unknown } {
  const { input } = request;
  if (text === editable(request)) return { problem: "unchanged" };
  const name = textField(request);
  if (name !== undefined) return { input: { ...input, [name]: text } };
  try {
    const fresh: unknown = JSON.parse(text);
    if (!isObject(fresh)) return { problem: "not-an-object" };
    return JSON.stringify(fresh) === JSON.stringify(input) ? { problem: "unchanged" } : { input: fresh };
  } catch (error) {
    return { problem: "not-json", error };
  }
}

/** Places for the rules of a request: this session, and the files that were offered. */
export function placesFor(request: PermissionRequest): { destination: RuleDestination; file: string | undefined }[] {
  const files = new Map<RuleDestination, string | undefined>([["session", undefined]]);
  for (const { places } of rulesFor(request)) for (const { destination, file } of places) files.set(destination, file);
  return [...files].map(([destination, file]) => ({ destination, file }));
}

/** Rules that a person ticked among those offered, one of their own, and the place to keep them in. */
type KeptRules = { ticked: readonly boolean[]; own: string; place: RuleDestination };

export function chosenRules(request: PermissionRequest, { ticked, own, place }: KeptRules): RuleGrant[] {
  const offered = rulesFor(request).filter((_, n) => ticked[n]);
  return [
    ...offered.map(({ rule, behavior }) => ({ rule, behavior, destination: place })),
    ...(own.trim() === "" ? [] : [{ rule: own.trim(), behavior: "allow" as const, destination: place }]),
  ];
}

/** A rule is kept only where it was offered. */
export function fitsPlace(request: PermissionRequest, { ticked, place }: Omit<KeptRules, "own">): boolean {
  return rulesFor(request).every(
    ({ places }, n) => !ticked[n] || places.some(({ destination }) => destination === place),
  );
}
