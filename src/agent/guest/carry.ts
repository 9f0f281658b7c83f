import { join } from "node:path";
import type { Guest } from "../../guest/driver.ts";
import { isProven } from "../../input/passkey.ts";
import type { Message, ToolResult } from "../../protocol/facts/message.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import { imageFile, type ImagePart } from "../../protocol/image.ts";
import { extractOf } from "../../context/extract.ts";
import { askUser } from "../../tools/ask/ask-user.ts";
import { notApproved, withEnd } from "../call/judge/results.ts";
import { isGrant, isUsed, isWhole, tell } from "../turn/carry.ts";
import { between } from "../turn/projection.ts";
import type { Book, KnownCall } from "./book.ts";
import { besideYes, finish } from "./calls.ts";
import { isLost } from "./delivery.ts";
import type { GuestTurn } from "./state.ts";

/** Words for a guest that has joined: where it was stopped, answers it had asked for, a past that it lost. Undefined when it continues by itself. */
export async function wordsFor(
  turn: GuestTurn,
  guest: Guest,
  { isNew }: { isNew: boolean },
): Promise<string | undefined> {
  if (!isNew && guest.goesOn) return undefined;
  const past = turn.resumed === guest.session ? "" : await journalFor(turn);
  if (!isNew) return carried(turn, past, turn.resumed !== guest.session);
  return past === "" ? task(turn) : `${past}\n[This is what you are asked now:]\n${task(turn)}`;
}

/** The messages that began the turn. Pictures are named by their files: the guest may look at them. */
function task(turn: GuestTurn): string {
  return promptText(turn, begunWith(turn));
}

function begunWith({ log, begun, older }: GuestTurn): Message[] {
  return between(log.said, older, begun);
}

export function promptText({ context }: Pick<GuestTurn, "context">, messages: readonly Message[]): string {
  const files = (images: readonly ImagePart[]) =>
    images.map((image) => `[picture: ${join(context.config.keepDir, imageFile(image))}]`);
  return messages
    .flatMap((message) => (message.role === "user" ? [[message.text, ...files(message.images ?? [])].join("\n")] : []))
    .join("\n\n");
}

const stopped = "[You were stopped in the midst of this, and go on here.";

function carried(turn: GuestTurn, past: string, isOther: boolean): string {
  const { book, progress } = turn;
  const asked = openRequests(turn).map(({ request, end }) => wordedAnswer(request, end));
  const lost = book.all.filter(({ end }) => end === "unknown").map((known) => wordedLoss(turn, known));
  const untold = lostAnswers(turn);
  return [
    ...(past === "" ? [] : [past]),
    asked.length + lost.length + untold.length > 0
      ? `${stopped} A call without a result was not run, unless it says so here. Nobody refused anything meanwhile: a refusal in the person's name that is not listed here was not theirs, so make that call again. What was open then, and what became of it:]`
      : `${stopped} Nothing was open then.]`,
    ...asked,
    ...lost,
    ...untold,
    ...(isOther || progress.steps === 0 ? [`[This is what you were asked to do:]\n${task(turn)}`] : []),
  ].join("\n");
}

/** Answers that got lost on the way, with what came of them. */
function lostAnswers(turn: GuestTurn): string[] {
  return turn.book.all
    .filter((known) => isLost(turn, known))
    .map(({ call, request, started, result }) => {
      const resolution = request && turn.log.store.resolution(request.id);
      const given = resolution && "response" in resolution ? resolution.response : undefined;
      return [
        `- ${call.tool} ${JSON.stringify(call.input).slice(0, MAX_TEXT_LENGTH)}`,
        "What the person answered did not reach you.",
        ...(given?.type === "granted" ? besideYes(given.input, given.comment) : []),
        started ? `It was allowed and ran. Do not make it again. Its result: ${result ?? ""}` : (result ?? ""),
        `(Request ${request?.id}.)`,
      ].join("\n  ");
    });
}

function wordedLoss({ log }: GuestTurn, { call, request }: KnownCall): string {
  const resolution = request && log.store.resolution(request.id);
  const given = resolution && "response" in resolution ? resolution.response : undefined;
  return [
    `- ${call.tool} ${JSON.stringify(call.input).slice(0, MAX_TEXT_LENGTH)}`,
    ...(given?.type === "granted" ? besideYes(given.input, given.comment) : []),
    "It was started, and its end was not heard of. Look before you make the call again.",
    ...(request ? [`(Request ${request.id}.)`] : []),
  ].join("\n  ");
}

/** The name of the request goes with it: by that it is found again among what the guest was told. */
function wordedAnswer(request: InputRequest, end: Resolution): string {
  const [, below] = request.agent;
  const asker =
    below === undefined
      ? ""
      : ` Your subagent ${JSON.stringify(below)} asked this. It was stopped, and does not know of the call: wake it with a message that names the call and the answer, or see to it yourself.`;
  return `${tell({ request, end, talk: undefined })}\n  (Request ${request.id}.)${asker}`;
}

/** Calls that were asked about, and have neither a result nor been taken back. */
export function stillAsked({ book, log }: { book: Book; log: GuestTurn["log"] }): KnownCall[] {
  return book.all.filter(({ request, end }) => {
    const resolution = request && end === "open" ? log.store.resolution(request.id) : undefined;
    const isWithdrawn = resolution?.outcome === "superseded" && resolution.reason.code === "guest-withdrew";
    return request !== undefined && end === "open" && !isWithdrawn;
  });
}

const MAX_TEXT_LENGTH = 500;
const MAX_PAST_TOKENS = 10_000;

/** All that the session's facts tell of the person's words and of calls, for a guest that has lost the conversation in which they stood. */
async function journalFor(turn: GuestTurn): Promise<string> {
  const shown = begunWith(turn).flatMap((message) => (message.role === "user" ? [message.text] : []));
  const past = extractOf(await turn.log.record(), { shown, maxTokens: MAX_PAST_TOKENS, withResults: true });
  if (past === "") return "";
  const head =
    "[Your earlier conversation could not be found, so this is a new one. From the journal of this session, to the letter:]";
  return `${head}\n\n${past}\n\n[So far the journal. Calls that are done or failed there ran. Do not make them again. Earlier approvals approve no new call.]`;
}

/** Calls that were asked about and have no end, with what the person said. */
function openRequests({ book, log }: GuestTurn) {
  return book.all.flatMap((known) => {
    const end = known.request && known.end === "open" ? log.store.resolution(known.request.id) : undefined;
    return known.request && end ? [{ known, request: known.request, end }] : [];
  });
}

/** The guest was told: calls that it had asked about, or was about to make, are over without having run. */
export function closeCarried(turn: GuestTurn): void {
  for (const { known, end } of openRequests(turn)) finish(turn, known, told(known, end));
  for (const known of turn.book.all)
    if (known.end === "open" && !known.request)
      finish(turn, known, { ok: false, text: "Not run: the agent was stopped before.", end: "not-run" });
}

function told({ request }: KnownCall, end: Resolution): ToolResult {
  if (request?.kind === "question")
    return withEnd(askUser.answered?.({ questions: request.questions }, end) ?? notApproved(end), "not-run");
  if (end.outcome !== "answered" || end.response.type !== "granted") return notApproved(end);
  const text = "Not run: the agent was stopped while it asked. It was told that the person allowed this call.";
  return { ok: false, text, end: "not-run" };
}

/** Each yes that the guest did not live to use counts once, for the same call. `goesOn`: calls without an end are met again. */
export function grantAgain({ book, log, context }: GuestTurn, { goesOn }: Guest): void {
  for (const { request, verdict, started, end } of book.all) {
    if (!request || !verdict || started || (goesOn && end === "open")) continue;
    const resolution = log.store.resolution(request.id);
    if (!resolution || !isGrant(resolution) || isUsed(log.loaded, request.id)) continue;
    if (isProven(request, resolution) && isWhole(request, resolution, verdict)) context.memory.grant(request, verdict);
  }
}
