import type { Guest, GuestAnswer, GuestAsk, GuestEvent } from "../../../src/guest/driver.ts";

/** Reads a guest's events to its end, answering what it asks. Deltas are left out. */
export async function played(
  guest: Guest,
  answer: (ask: GuestAsk, number: number) => GuestAnswer | "interrupt" | "nothing",
): Promise<GuestEvent[]> {
  const heard: GuestEvent[] = [];
  let asked = 0;
  for await (const event of guest.events) {
    if (event.type !== "delta") heard.push(event);
    if (event.type !== "asks") continue;
    const given = answer(event.ask, asked++);
    if (given === "interrupt") guest.interrupt();
    else if (given !== "nothing") guest.answer(event.ask, given);
  }
  return heard;
}

export const yes: GuestAnswer = { type: "allowed", by: "person" };
export const no = (words = "The person said no.", reason?: string): GuestAnswer => ({
  type: "refused",
  by: "person",
  words,
  ...(reason !== undefined && { reason }),
});
