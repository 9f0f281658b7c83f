import {
  canonicalJson,
  type Draft,
  type PermissionRequest,
  type RuleDestination,
  type RuleGrant,
} from "../../../protocol/index.ts";
import { createField, isBlank, type Field } from "./field.ts";
import { neededOf, offersOf, type Offer } from "../../../view/describe.ts";

export type Choice = "once" | "always" | "no" | "reason" | "edit" | "comment" | "stop";

export type PermissionState = {
  stage: "choices" | "reason" | "comment" | "edit" | "always";
  /** None at first: no key alone allows anything. */
  row: number | undefined;
  reason: Field;
  comment: Field;
  edit: Field;
  always: Always;
  note: string;
};

export type Always = { row: number; ticked: boolean[]; own: Field; place: RuleDestination };

export type AlwaysRow =
  | { type: "offer"; n: number; offer: Offer }
  | { type: "own" }
  | { type: "place"; destination: RuleDestination; file: string | undefined }
  | { type: "keep" };

/** A risky request opens on "no"; any other on nothing. */
export function begin(request: PermissionRequest, draft: Draft = {}): PermissionState {
  const offers = offersOf(request);
  const needed = neededOf(offers);
  return {
    stage: "choices",
    row: request.hard ? choicesOf(request).indexOf("no") : undefined,
    reason: createField(draft.reason),
    comment: createField(draft.comment),
    edit: createField(draft.edit ?? editable(request)),
    always: { row: 0, ticked: offers.map((offer) => needed.includes(offer)), own: createField(), place: "session" },
    note: "",
  };
}

/** What was written and not sent. */
export function draftOf(
  request: PermissionRequest,
  { reason, comment, edit }: PermissionState,
): Draft & Partial<Record<Choice, string>> {
  return {
    ...(!isBlank(reason) && { reason: reason.text }),
    ...(!isBlank(comment) && { comment: comment.text }),
    ...(!isBlank(edit) && edit.text !== editable(request) && { edit: edit.text }),
  };
}

export function choicesOf({ hard }: PermissionRequest): Choice[] {
  return ["once", ...(hard ? [] : (["always"] as const)), "no", "reason", "edit", "comment", "stop"];
}

/** These let the call run, so all of it must have been on the screen. */
export function allows(choice: Choice): boolean {
  return choice === "once" || choice === "always" || choice === "edit" || choice === "comment";
}

/** The part of an input that is text and can be edited as such; anything else is edited as JSON, whole. */
export function textField({ tool, input }: PermissionRequest): "command" | "content" | "new_string" | undefined {
  const name = tool === "Write" ? "content" : tool === "Edit" ? "new_string" : "command";
  return typeof input[name] === "string" ? name : undefined;
}

export function editable(request: PermissionRequest): string {
  const name = textField(request);
  return name === undefined ? canonicalJson(request.input) : String(request.input[name]);
}

export function alwaysRows(request: PermissionRequest): AlwaysRow[] {
  const offers = offersOf(request);
  const files = new Map<RuleDestination, string | undefined>([["session", undefined]]);
  for (const { places } of offers) for (const { destination, file } of places) files.set(destination, file);
  return [
    ...offers.map((offer, n): AlwaysRow => ({ type: "offer", n, offer })),
    { type: "own" },
    ...(files.size > 1
      ? [...files].map(([destination, file]): AlwaysRow => ({ type: "place", destination, file }))
      : []),
    { type: "keep" },
  ];
}

/** The rules that would be kept. */
export function rulesOf(request: PermissionRequest, { ticked, own, place }: Always): RuleGrant[] {
  const written = own.text.trim();
  return [
    ...offersOf(request).flatMap(({ rule, behavior }, n) =>
      ticked[n] ? [{ rule, behavior, destination: place }] : [],
    ),
    ...(written === "" ? [] : [{ rule: written, behavior: "allow" as const, destination: place }]),
  ];
}

/** A rule is kept only where it was offered. */
export function fitsPlace(request: PermissionRequest, { ticked, place }: Always): boolean {
  return offersOf(request).every(
    ({ places }, n) => !ticked[n] || places.some(({ destination }) => destination === place),
  );
}
