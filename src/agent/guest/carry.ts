import { join } from "node:path";
import type { Guest } from "../../guest/driver.ts";
import { isProven } from "../../input/passkey.ts";
import type { Message, ToolResult } from "../../protocol/facts/message.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import { imageFile, type ImagePart } from "../../protocol/image.ts";
import { askUser } from "../../tools/ask/ask-user.ts";
import { notApproved, withEnd } from "../call/judge/results.ts";
import { isGrant, isUsed, isWhole, tell } from "../turn/carry.ts";
import { between } from "../turn/projection.ts";
import type { KnownCall } from "./book.ts";
import { finish } from "./calls.ts";
import type { GuestTurn } from "./state.ts";

/** Words for a guest that has joined: where it was stopped, and the answers it had asked for. Undefined when it continues by itself. */
export function wordsFor(turn: GuestTurn, guest: Guest, { isNew }: { isNew: boolean }): string | undefined {
  if (isNew) return task(turn);
  return guest.goesOn ? undefined : carried(turn, guest);
}

/** The messages that began the turn. Pictures are named by their files: the guest may look at them. */
function task(turn: GuestTurn): string {
  const { log, begun, older } = turn;
  return promptText(turn, between(log.said, older, begun));
}

export function promptText({ context }: Pick<GuestTurn, "context">, messages: readonly Message[]): string {
  const files = (images: readonly ImagePart[]) =>
    images.map((image) => `[picture: ${join(context.config.keepDir, imageFile(image))}]`);
  return messages
    .flatMap((message) => (message.role === "user" ? [[message.text, ...files(message.images ?? [])].join("\n")] : []))
    .join("\n\n");
}

const stopped = "[You were stopped in the midst of this, and go on here.";

function carried(turn: GuestTurn, guest: Guest): string {
  const { book, progress } = turn;
  const isOther = turn.resumed !== undefined && turn.resumed !== guest.session;
  const asked = openRequests(turn).map(({ request, end }) => tell({ request, end, talk: undefined }));
  const lost = book.all
    .filter(({ end }) => end === "unknown")
    .map(
      ({ call }) =>
        `- ${call.tool} ${JSON.stringify(call.input).slice(0, MAX_TEXT_LENGTH)}\n  It was started, and its end was not heard of. Look before you make the call again.`,
    );
  const first = isOther || progress.steps === 0;
  return [
    ...(isOther ? ["[Your earlier conversation could not be found, so this is a new one.]", ...doneBefore(turn)] : []),
    asked.length + lost.length > 0
      ? `${stopped} A call without a result was not run, unless it says so here. What was open then, and what became of it:]`
      : `${stopped} Nothing was open then.]`,
    ...asked,
    ...lost,
    first ? `[This is what you were asked to do:]\n${task(turn)}` : undefined,
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

const MAX_TEXT_LENGTH = 500;
const MAX_DONE = 40;

/** Calls of the turn that ran in a conversation which the guest has lost, with their results: it is not to do them once more. */
function doneBefore({ progress }: GuestTurn): string[] {
  const done = progress.toolHistory.filter(({ result }) => result.end === "done" || result.end === "failed");
  if (done.length === 0) return [];
  const lines = done
    .slice(-MAX_DONE)
    .map(
      ({ tool, input, result }) =>
        `- ${tool} ${JSON.stringify(input).slice(0, MAX_TEXT_LENGTH)}\n  ${result.text.slice(0, MAX_TEXT_LENGTH)}`,
    );
  return ["[In it you made these calls, and they ran. Do not make them again. Each with its result:]", ...lines];
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
  if (!isGrant(end)) return notApproved(end);
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
