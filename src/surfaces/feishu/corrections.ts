import type { Incoming, Recall } from "./channel/channel.ts";
import type { Bridge, Going } from "./message-bridge.ts";

/** A message that was changed while its task is worked on is told to the session; afterwards it is too late. */
export async function edited(bridge: Bridge, message: Incoming, going: Going): Promise<void> {
  const { records, sessions, say } = bridge;
  const taken = records.said(message.messageId);
  const follow = taken && (await sessions.of(taken.session));
  if (!follow?.view.working()) return taken ? say(message, ({ t }) => t.editedLate, "edited") : undefined;
  const from = await bridge.senderOf(message.sender.openId);
  going.signal.throwIfAborted();
  const text = `[The person has changed an earlier message. It now says:]\n${message.text}`;
  await follow.handle.sendMessage(text, from, { id: `${message.messageId}/${message.editedAt}` });
  void bridge.channel.react(message.messageId, "Get");
}

/** A message that was taken back stops the turn it began; otherwise the session is told. */
export async function recalled(
  { records, sessions, senderOf }: Bridge,
  { messageId, byAuthor }: Recall,
): Promise<void> {
  const taken = records.said(messageId);
  const follow = taken && (await sessions.of(taken.session));
  if (!taken || !follow?.view.working()) return;
  const from = byAuthor ? await senderOf(taken.openId) : { by: "administrator", surface: "feishu" };
  if (follow.view.isBegunWith(messageId)) return void (await follow.handle.finish(from));
  const text = "[An earlier message was taken back. Do not act on it any more.]";
  await follow.handle.sendMessage(text, from, { id: `${messageId}/recalled` });
}
