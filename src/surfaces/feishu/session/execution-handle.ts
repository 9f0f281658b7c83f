import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { TurnLimits } from "../../../protocol/facts/silence.ts";
import type { CommandReply, SharedAnswer } from "../../../protocol/host/host.ts";
import type { GivenImage } from "../../../protocol/image.ts";
import type { Sender } from "../../../protocol/sender.ts";
import type { FollowedSession } from "../../../view/session.ts";

/** A session as the bridge runs it: its three inputs. What comes out is told to `follow.ts`. */
export type ExecutionHandle = {
  readonly session: string;
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

export function createExecutionHandle({ id: session, send }: FollowedSession): ExecutionHandle {
  return {
    session,
    sendMessage: (text, from, more) => send({ type: "say", session, text, ...more, ...from }),
    sendAnswer: (response, from) => send({ type: "respond", response, ...from }),
    sendInquiry: (asked, from) => send({ type: "inquire", ...asked, ...from }),
    sendAnswerToAll: (requestIds, answer, from) => send({ type: "respondAll", requestIds, answer, ...from }),
    finish: (from) => send({ type: "interrupt", session, cancel: true, ...from }),
  };
}
