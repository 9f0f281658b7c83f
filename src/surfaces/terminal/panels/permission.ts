import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { PermissionRequest } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";
import { PLAN_TOOL } from "../../../protocol/mode.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import type { PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import { carriedLines, withoutAsking } from "../../../view/request/answering.ts";
import { allows, chosenRules, fitsPlace, inputFrom, type Choice } from "../../../view/request/choices.ts";
import { consentLines } from "../../../view/request/consent.ts";
import { describeRequest, isLong } from "../../../view/request/describe.ts";
import { createField, edit, isBlank } from "../widgets/field.ts";
import { digitOf, type Key } from "../widgets/key.ts";
import type { Model, Step } from "./model.ts";
import { alwaysRows, begin, offeredChoices, permissionDraft, type PermissionState } from "./permission-state.ts";
import { permissionBody, permissionChoices, permissionKeys, togetherBody } from "./permission-view.ts";

export function permissionModel(
  pending: PendingRequest,
  {
    cwd,
    alike,
    ...words
  }: { wording: PanelTexts; t: Texts; cwd: string | undefined; alike(): readonly PermissionRequest[] },
): Model<PermissionState> {
  const { request, draft, carried } = pending;
  const asked = request as PermissionRequest;
  const description = describeRequest(asked, { cwd });
  /** A list that is being read stays as it is. */
  const known = (state: PermissionState) => (state.stage === "together" ? state : { ...state, alike: alike() });
  return {
    start: begin(asked, draft),
    dangerous: description.dangers.length > 0,
    ...(isLong(description) && { size: description }),
    press: (state, key, { seenEnd }) => press({ asked, seenEnd, ...words }, { ...known(state), note: "" }, key),
    page: ({ stage, more }) => (stage === "together" ? stage : more ? "more" : ""),
    reads: ({ stage }) => (stage === "together" ? stage : ""),
    body: (state, draw) =>
      state.stage === "together"
        ? togetherBody(
            state.alike.map((request) => ({ request, asked: describeRequest(request, { cwd }) })),
            draw,
          )
        : permissionBody(description, state, draw, [
            ...carriedLines({ request, ...(carried && { carried }) }, words.t),
            // Others approve it while it is shown.
            ...consentLines(asked, pending.approvals, words.t),
          ]),
    choices: (state, draw, { seenEnd }) => permissionChoices(asked, known(state), { draw, seenEnd }),
    note: ({ note }, { seenEnd }) => (seenEnd && note === words.wording.locked ? "" : note),
    keys: (state, draw) => permissionKeys(asked, state, draw),
    writes: ({ stage, always }) =>
      stage === "always" ? alwaysRows(asked)[always.row]?.type === "own" : stage !== "choices" && stage !== "together",
    draft: (state) => permissionDraft(asked, state),
  };
}

type Context = { asked: PermissionRequest; seenEnd: boolean; wording: PanelTexts; t: Texts };
type State = PermissionState;

function press(context: Context, state: State, key: Key): Step<State> {
  const back: Step<State> = { state: { ...state, stage: "choices" } };
  switch (state.stage) {
    case "choices":
      return key.name === "escape" ? { state, collapse: true } : choosing(context, state, key);
    case "always":
      return key.name === "escape" ? back : keeping(context, state, key);
    case "together":
      return key.name === "escape" ? back : answeringAll(context, state, key);
    default:
      return key.name === "escape" ? back : writing(context, state, key, state.stage);
  }
}

/** A number or an arrow only goes to a choice, and Enter alone makes it: a stray key cannot allow anything. */
function choosing(context: Context, state: State, key: Key): Step<State> {
  const { asked, wording } = context;
  const choices = offeredChoices(asked, state);
  const { row } = state;
  const to = (n: number): Step<State> => ({ state: { ...state, row: (n + choices.length) % choices.length } });
  const digit = digitOf(key);
  if (digit !== undefined && digit <= choices.length) return to(digit - 1);
  switch (key.name) {
    case "up":
      return to((row ?? choices.length) - 1);
    case "down":
      return to((row ?? -1) + 1);
    case "tab":
      return { state: showMore(asked, state) };
    case "shift+tab":
      return choices.includes("acceptEdits") ? to(choices.indexOf("acceptEdits")) : { state };
    case "enter": {
      const choice = row === undefined ? undefined : choices[row];
      return choice ? choose(context, state, choice) : { state: { ...state, note: wording.chooseFirst } };
    }
    default:
      // Somebody who types in the middle of a sentence has not read this.
      return key.text ? { state: { ...begin(asked), ...kept(state), note: wording.notTyped }, rearm: true } : { state };
  }
}

/** The person stays at the choice they were at. */
function showMore(asked: PermissionRequest, state: State): State {
  const at = state.row === undefined ? undefined : offeredChoices(asked, state)[state.row];
  const shown = { ...state, more: !state.more };
  const row = at === undefined ? -1 : offeredChoices(asked, shown).indexOf(at);
  return { ...shown, row: row < 0 ? undefined : row };
}

/** A written text stays when the choice is taken back. */
function kept({ reason, comment, edit: edited, always, more }: State): Partial<State> {
  return { reason, comment, edit: edited, always, more };
}

function choose({ asked, seenEnd, wording }: Context, state: State, choice: Choice): Step<State> {
  const requestId = asked.id;
  if (allows(choice) && !seenEnd) return { state: { ...state, note: wording.locked } };
  switch (choice) {
    case "once":
      return { state, respond: { type: "granted", requestId } };
    case "acceptEdits":
      return asked.tool === PLAN_TOOL
        ? { state, respond: { type: "granted", requestId, mode: choice } }
        : { state, respond: { type: "granted", requestId }, mode: choice };
    case "outside":
      return { state, respond: { type: "granted", requestId, outside: true } };
    case "no":
      return { state, respond: { type: "denied", requestId } };
    case "stop":
      return { state, respond: { type: "cancelled", requestId } };
    case "together":
      return { state: { ...state, stage: choice, all: undefined } };
    case "always":
    case "unask":
    case "reason":
    case "edit":
    case "comment":
      return { state: { ...state, stage: choice } };
    default:
      return choice satisfies never;
  }
}

/** Answers the whole list, once its end was on the screen. */
function answeringAll({ seenEnd, wording }: Context, state: State, key: Key): Step<State> {
  const { all, alike } = state;
  const to = (answer: State["all"]): Step<State> => ({ state: { ...state, all: answer } });
  switch (key.name) {
    case "up":
    case "down":
      return to(all === "granted" ? "denied" : "granted");
    case "enter":
      if (all === undefined) return { state: { ...state, note: wording.chooseFirst } };
      if (!seenEnd) return { state: { ...state, note: wording.locked } };
      return { state, respondAll: { requestIds: alike.map(({ id }) => id), answer: { type: all } } };
    default: {
      const digit = digitOf(key);
      return digit === 1 ? to("granted") : digit === 2 ? to("denied") : { state };
    }
  }
}

function writing(
  context: Context,
  state: State,
  key: Key,
  stage: "reason" | "comment" | "edit" | "unask",
): Step<State> {
  const { asked, wording } = context;
  const field = state[stage];
  if (key.name !== "enter") return { state: { ...state, [stage]: edit(field, key) ?? field } };
  if (stage === "unask") return { state, respond: withoutAsking(asked, field.text) };
  if (isBlank(field)) return { state: { ...state, stage: "choices", note: wording.empty } };
  const requestId = asked.id;
  const text = field.text.trim();
  if (stage === "reason") return { state, respond: { type: "denied", requestId, reason: text } };
  if (stage === "comment") return { state, respond: { type: "granted", requestId, comment: text } };
  const response = edited(context, field.text);
  return typeof response === "string" ? { state: { ...state, note: response } } : { state, respond: response };
}

/** The grant with the new input, or why it is none. */
function edited({ asked, wording, t }: Context, text: string): InputResponse | string {
  const found = inputFrom(asked, text);
  if ("input" in found) return { type: "granted", requestId: asked.id, input: found.input };
  switch (found.problem) {
    case "unchanged":
      return wording.unchanged;
    case "not-an-object":
      return t.notJson(wording.notAnObject);
    case "not-json":
      return t.notJson(thrownText(found.error));
    default:
      return found satisfies never;
  }
}

function keeping({ asked, wording }: Context, state: State, key: Key): Step<State> {
  const { always } = state;
  const rows = alwaysRows(asked);
  const row = rows[always.row];
  const next = (change: Partial<State["always"]>, note = ""): Step<State> => ({
    state: { ...state, always: { ...always, ...change }, note },
  });
  if (row?.type === "own" && key.name !== "enter") {
    const written = edit(always.own, key);
    if (written) return next({ own: { ...written, text: written.text.replaceAll("\n", " ") } });
  }
  const choosesRow = key.name === "enter" || key.name === "space";
  if (key.name === "up") return next({ row: (always.row + rows.length - 1) % rows.length });
  if (key.name === "down" || (key.name === "enter" && row?.type === "own"))
    return next({ row: (always.row + 1) % rows.length });
  if (row?.type === "offer" && choosesRow) return next({ ticked: always.ticked.with(row.n, !always.ticked[row.n]) });
  if (row?.type === "offer" && key.name === "e") {
    const own = rows.findIndex(({ type }) => type === "own");
    return next({ row: own, own: createField(row.offer.rule), ticked: always.ticked.with(row.n, false) });
  }
  if (row?.type === "place" && (choosesRow || key.name === "right" || key.name === "left")) {
    const { places } = row;
    const now = places.findIndex(({ destination }) => destination === always.place);
    const then = places[(now + (key.name === "left" ? places.length - 1 : 1)) % places.length];
    return next(then ? { place: then.destination } : {});
  }
  if (row?.type !== "keep" || key.name !== "enter") return { state };
  const rules = chosenRules(asked, { ...always, own: always.own.text });
  if (rules.length === 0) return next({}, wording.noRuleChosen);
  if (!fitsPlace(asked, always)) return next({}, wording.placeGone);
  return { state, respond: { type: "granted", requestId: asked.id, rules } };
}
