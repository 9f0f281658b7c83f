import type { RuleDestination } from "../../../protocol/decision.ts";
import type { Draft, PermissionRequest } from "../../../protocol/facts/request.ts";
import { PLAN_TOOL } from "../../../protocol/mode.ts";
import { narrowerRule, ruleInTheWay, rulesFor } from "../../../view/request/answering.ts";
import {
  editable,
  mayAcceptEdits,
  mayComment,
  mayEdit,
  placesFor,
  type Choice,
} from "../../../view/request/choices.ts";
import { dangersOf } from "../../../view/request/danger.ts";
import { neededOf, type Offer } from "../../../view/request/describe.ts";
import { createField, isBlank, type Field } from "../widgets/field.ts";

export type PermissionState = {
  stage: "choices" | "reason" | "comment" | "edit" | "always" | "unask" | "together";
  /** Requests that one answer may be meant for, this one included; while they are listed, those that are in the list. */
  alike: readonly PermissionRequest[];
  /** In that list: yes or no to all. None at first. */
  all: "granted" | "denied" | undefined;
  /** None at first: no key alone allows anything. */
  row: number | undefined;
  /** All choices are shown, and how the call was judged. */
  more: boolean;
  reason: Field;
  comment: Field;
  edit: Field;
  always: Always;
  /** The narrower ask rule in place of the one that asks; empty, and it is removed. */
  unask: Field;
  note: string;
};

type Always = { row: number; ticked: boolean[]; own: Field; place: RuleDestination };

export type AlwaysRow =
  | { type: "offer"; n: number; offer: Offer }
  | { type: "own" }
  /** Place that the rules are saved in; one of several. */
  | { type: "place"; places: { destination: RuleDestination; file: string | undefined }[] }
  | { type: "keep" };

/** A dangerous request opens on "no"; any other on nothing. */
export function begin(request: PermissionRequest, draft: Draft = {}): PermissionState {
  const offers = rulesFor(request);
  const needed = neededOf(offers);
  const ticked = offers.map((offer) => needed.includes(offer));
  const start: PermissionState = {
    stage: "choices",
    alike: [],
    all: undefined,
    row: undefined,
    more: false,
    reason: createField(draft.reason),
    comment: createField(draft.comment),
    edit: createField(draft.edit ?? editable(request)),
    // The rule that is needed is ticked already: Enter saves it. Without one, one is written.
    always: {
      row: offers.length > 0 ? alwaysRows(request).length - 1 : 0,
      ticked,
      own: createField(),
      place: "session",
    },
    unask: createField(narrowerRule(request)),
    note: "",
  };
  const risky = dangersOf(request).length > 0;
  return risky ? { ...start, row: offeredChoices(request, start).indexOf("no") } : start;
}

/** Text that was written and not sent. */
export function permissionDraft(
  request: PermissionRequest,
  { reason, comment, edit }: PermissionState,
): Draft & Partial<Record<Choice, string>> {
  return {
    ...(!isBlank(reason) && { reason: reason.text }),
    ...(!isBlank(comment) && { comment: comment.text }),
    ...(!isBlank(edit) && edit.text !== editable(request) && { edit: edit.text }),
  };
}

/** The choices that people take; the others on demand, or where one of them is half written. */
export function offeredChoices(request: PermissionRequest, state: PermissionState): Choice[] {
  const written = permissionDraft(request, state);
  const others = (["reason", "edit", "comment", "stop"] as const).filter(
    (choice) =>
      (choice !== "edit" || mayEdit(request)) &&
      (choice !== "comment" || mayComment(request)) &&
      (state.more || written[choice] !== undefined),
  );
  if (request.tool === PLAN_TOOL)
    return ["once", "acceptEdits", "reason", ...others.filter((choice) => choice !== "reason")];
  const edits = mayAcceptEdits(request) ? (["acceptEdits"] as const) : [];
  const leaves = request.mayLeave ? (["outside"] as const) : [];
  const unask = ruleInTheWay(request) ? (["unask"] as const) : [];
  // Last, whatever else is shown: others come and go while somebody is about to press a key.
  const together = state.alike.length > 1 ? (["together"] as const) : [];
  return [
    "once",
    ...edits,
    ...(request.hard ? [] : (["always"] as const)),
    ...unask,
    ...leaves,
    "no",
    ...others,
    ...together,
  ];
}

export function alwaysRows(request: PermissionRequest): AlwaysRow[] {
  const offers = rulesFor(request);
  const places = placesFor(request);
  return [
    ...offers.map((offer, n): AlwaysRow => ({ type: "offer", n, offer })),
    { type: "own" },
    ...(places.length > 1 ? [{ type: "place" as const, places }] : []),
    { type: "keep" },
  ];
}
