import { callsOf, textOf, type Message, type Reply } from "../../protocol/facts/message.ts";
import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";

/** Times in a row that the model is asked for the rest of a reply, before the turn ends without it. */
const MAX_CONTINUATIONS = 3;

/** `asked`: how often in a row the rest has been asked for already. After a reply with calls the turn continues with their results. */
export function finishOf(reply: Reply, asked: number): { ended: OutcomeStatus } | { asks: Message } {
  const lack = lackOf(reply);
  if (lack === undefined) return { ended: { status: "success" } };
  const asks = asked < MAX_CONTINUATIONS ? restMessage(reply) : undefined;
  return asks ? { asks } : { ended: { status: "incomplete", lack } };
}

/** The message that asks for the rest of this reply; the fold of earlier turns puts the same one back in its place. */
export function restMessage(reply: Reply): Message | undefined {
  switch (lackOf(reply)) {
    case "length":
      return ask(
        "Your reply was cut off at the token limit. Go on exactly where it stopped, without repeating anything.",
      );
    case "empty":
      return ask("Your reply was empty. Go on with the task, or say what you did and what is left.");
    default:
      return undefined; // what a filter withheld is not asked for again
  }
}

function lackOf(reply: Reply): "length" | "filtered" | "empty" | undefined {
  if (callsOf(reply).length > 0) return undefined;
  if (reply.finish === "length" || reply.finish === "filtered") return reply.finish;
  return textOf(reply).trim() === "" ? "empty" : undefined;
}

function ask(text: string): Message {
  return { role: "user", text };
}
