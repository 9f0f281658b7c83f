import type { Guest, Told } from "../../guest/driver.ts";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import { deliveredKey, splitRequestId, undeliveredKey } from "../../protocol/key.ts";
import type { KnownCall } from "./book.ts";
import { besideYes } from "./calls.ts";
import type { GuestTurn } from "./state.ts";

/** Time in which a guest writes down what it has just read. */
const WRITTEN_MS = 150;

/**
 * Looks in the guest's own record for the answers that it was given, and writes down which its model has read. `over`: its turn is, and
 * whatever it has not read by then got lost. Resolves to whether any did just now: it is told in words.
 */
export async function noteDeliveries(turn: GuestTurn, guest: Guest, { over }: { over: boolean }): Promise<boolean> {
  const open = givenIn(turn).filter(({ request }) => isOpen(turn.deliveries.get(request)));
  if (open.length === 0) return false;
  let read = guest.read?.(open);
  if (over && read?.some((each) => each !== true)) {
    await new Promise((resolve) => setTimeout(resolve, WRITTEN_MS));
    read = guest.read?.(open);
  }
  let lost = false;
  for (const [n, { request }] of open.entries()) {
    const delivered = read?.[n];
    if (delivered === true) note(turn, request, "read");
    else if (over && delivered === undefined) note(turn, request, "unknown");
    else if (over && turn.deliveries.get(request) === undefined) {
      note(turn, request, "lost");
      lost = true;
    }
  }
  await turn.log.flush();
  return lost;
}

function isOpen(delivery: "read" | "lost" | "unknown" | undefined): boolean {
  return delivery === undefined || delivery === "lost";
}

function note({ log, deliveries }: GuestTurn, request: string, delivery: "read" | "lost" | "unknown"): void {
  if (log.closed || deliveries.get(request) === delivery) return;
  deliveries.set(request, delivery);
  const line = log.branch("");
  const { key } = splitRequestId(request);
  if (delivery === "read") line.decide(deliveredKey(key), "answer.delivered", () => ({ requestId: request }));
  else {
    const data = { requestId: request, ...(delivery === "unknown" && { unknown: true as const }) };
    line.decide(undeliveredKey(key), "answer.undelivered", () => data);
  }
}

/** Answers of people that the guest was given in this turn: with the call, or in words. */
function givenIn({ book, log }: GuestTurn): Told[] {
  return book.all.flatMap(({ call, request, started, end }) => {
    const resolution = request && (started || end !== "open") ? log.store.resolution(request.id) : undefined;
    if (!request || resolution?.outcome !== "answered") return [];
    return [{ request: request.id, call: call.id, words: wordsIn(resolution.response) }];
  });
}

function wordsIn(response: InputResponse): string[] {
  if (response.type === "granted") return besideYes(response.input, response.comment);
  return response.type === "denied" && response.reason !== undefined ? [JSON.stringify(response.reason)] : [];
}

/** Calls whose answer got lost on the way to the guest, or was not read when it was cut off. */
export function isLost({ deliveries, log }: GuestTurn, { request, end }: KnownCall): boolean {
  const isAnswered = request !== undefined && log.store.resolution(request.id)?.outcome === "answered";
  return isAnswered && end === "finished" && isOpen(deliveries.get(request.id));
}
