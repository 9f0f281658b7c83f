import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { TurnLimits } from "../../../protocol/facts/silence.ts";
import type { CommandReply, Host, SharedAnswer, WatchEvent } from "../../../protocol/host/host.ts";
import type { GivenImage } from "../../../protocol/image.ts";
import type { Sender } from "../../../protocol/sender.ts";

/** A session as the bridge runs it: its output, and its three inputs. */
export type ExecutionHandle = {
  readonly session: string;
  /** Facts from the first one on, then what is open, then what comes; ends with the handle. */
  readonly stream: AsyncIterable<WatchEvent>;
  /** A task, or a word to a task that runs. `id` makes a message that comes twice harmless. */
  sendMessage(
    text: string,
    from: Sender,
    more: { id: string; limits?: TurnLimits; images?: readonly GivenImage[] },
  ): Promise<CommandReply<"say">>;
  /** The first answer wins; whoever comes later is told who it was. */
  sendAnswer(response: InputResponse, from: Sender): Promise<CommandReply<"respond">>;
  /** A question about a request; `id` makes one that comes twice harmless. */
  sendInquiry(asked: { requestId: string; text: string; id: string }, from: Sender): Promise<CommandReply<"inquire">>;
  /** One answer to several requests that are alike. */
  sendAnswerToAll(
    requestIds: readonly string[],
    answer: SharedAnswer,
    from: Sender,
  ): Promise<CommandReply<"respondAll">>;
  /** Ends the turn for good, with whatever waits for an answer. */
  finish(from: Sender): Promise<CommandReply<"interrupt">>;
};

/** `mayGoOn`: is the session to be run here when nobody else does? */
export function createExecutionHandle(
  host: Host,
  session: string,
  { signal, mayGoOn }: { signal: AbortSignal; mayGoOn(): boolean },
): ExecutionHandle {
  // Recorded, and nobody runs the session: it continues here.
  const goOn = async (reply: { ok: boolean; running?: boolean }) => {
    if (reply.ok && !reply.running && mayGoOn()) await host.send({ type: "resume", session });
  };
  return {
    session,
    stream: host.watch(session, { signal }),
    sendMessage: (text, from, more) => host.send({ type: "say", session, text, ...more, ...from }),
    async sendAnswer(response, from) {
      const reply = await host.send({ type: "respond", response, ...from });
      await goOn(reply);
      return reply;
    },
    async sendInquiry(asked, from) {
      const reply = await host.send({ type: "inquire", ...asked, ...from });
      await goOn(reply);
      return reply;
    },
    async sendAnswerToAll(requestIds, answer, from) {
      const reply = await host.send({ type: "respondAll", requestIds, answer, ...from });
      const running = !reply.ok || reply.results.every((one) => !one.ok || one.running);
      await goOn({ ok: reply.ok, running });
      return reply;
    },
    finish: (from) => host.send({ type: "interrupt", session, cancel: true, ...from }),
  };
}
