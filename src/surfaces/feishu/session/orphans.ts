import { thrownText } from "../../../texts/shared/error.ts";
import { restartCard, unknownCard } from "../cards/closed.ts";
import type { FollowParts } from "./follow.ts";
import { closeProgress } from "../chat/streamer.ts";

type Parts = Pick<FollowParts, "channel" | "records" | "speak" | "log">;

/** Closes cards of sessions that somebody deleted while nobody was here. What cannot be closed now is closed at the next start. */
export function closeOrphans({ channel, records, speak, log }: Parts, isAlive: (session: string) => boolean): void {
  const close = (closing: Promise<void>, closed: () => void): void => {
    closing
      .then(closed)
      .catch((error: unknown) => log(`a card of a deleted session could not be closed: ${thrownText(error)}`));
  };
  for (const record of records.openCards()) {
    if (isAlive(record.session)) continue;
    const { message, spoken } = record;
    const isCard = message !== undefined && !spoken;
    const closing = isCard ? channel.patchCard(message, unknownCard(speak(record.chat))) : Promise.resolve();
    close(closing, () => records.closeCard(record));
  }
  for (const { session, chat } of records.homes()) {
    const left = isAlive(session) ? undefined : records.progress(session);
    if (left) close(closeProgress(channel, left, restartCard(false, speak(chat))), () => records.endProgress(session));
  }
}
