import type { TurnEnd } from "../../../protocol/facts/outcome.ts";
import type { Deadline } from "../../../protocol/facts/silence.ts";
import { errorText, thrownText } from "../../../texts/shared/error.ts";
import { sentenceOf, whereOf, closedBy } from "../cards/closed.ts";
import type { Finish, ProgressView } from "../cards/progress.ts";
import type { Speech } from "../cards/speech.ts";
import { wantsPlainer } from "../channel/failure.ts";
import { filesIn } from "../chat/files.ts";
import type { Ending } from "./phase.ts";
import { uuidOf, type Home } from "../bot/records.ts";
import { sendTarget, type Sending, type Streamer } from "../chat/streamer.ts";
import type { SessionView } from "./view.ts";

export type ConclusionParts = Sending & {
  /** May this file of a session's folder be read there without asking? */
  mayRead(path: string, cwd: string): Promise<boolean>;
};

/** Tells the chat how a turn ended. Resolves when the last card is as it should be; may be called again after a failure that passes. */
type Conclude = () => Promise<void>;

/** Takes down now what is told, for the next turn may begin first. Files go before the card, which promises none that failed. */
export function conclusionOf(
  ending: Ending,
  { parts, view, streamer, home }: { parts: ConclusionParts; view: SessionView; streamer: Streamer; home: () => Home },
): Conclude {
  const { channel, log } = parts;
  const sofar = view.progress();
  const outcome = ending.type === "turn.ended" ? ending.data : undefined;
  const whole = outcome?.text.trim() ?? "";
  const shown: ProgressView = sofar.text.trim() === "" ? { ...sofar, text: whole } : sofar;
  const finish = concludeWith(ending, view);
  const begun = begunElsewhere(view, parts);
  const uuid = uuidOf(home().session, "end", ending.seq);
  let files: Promise<string[]> | undefined;

  /** Names of the files that the answer links to and that could not be sent. */
  const sendFiles = async (): Promise<string[]> => {
    const found = outcome?.status === "success" ? await filesIn(whole, home().cwd, parts) : [];
    const failed: string[] = [];
    for (const [n, { name, content, image }] of found.entries()) {
      const each = { ...sendTarget(home()), uuid: uuidOf(uuid, n, name), content }; // two may have the same name
      try {
        await (image ? channel.sendImage(each) : channel.sendFile({ ...each, name }));
      } catch (error) {
        if (!wantsPlainer(error)) throw error;
        log(`a file of an answer could not be sent: ${thrownText(error)}`);
        failed.push(name);
      }
    }
    return failed;
  };

  return async () => {
    files ??= sendFiles().catch((error: unknown) => {
      files = undefined;
      throw error;
    });
    const failed = await files;
    const finishing = (speech: Speech): Finish => {
      const { title, template, notes } = finish(speech);
      const missing = failed.length > 0 ? [speech.t.filesNotSent(failed.join(", "))] : [];
      return { title, template, notes: [...begun(speech), ...notes, ...missing].map(parts.redaction.text) };
    };
    await streamer.finish(
      shown,
      { in: finishing },
      {
        uuid,
        attach: attachment(whole === "" ? shown.text : whole, uuid, parts, home),
      },
    );
  };
}

/** The text that a card can only begin to show, as a file. False when it cannot be sent. */
export function attachment(text: string, uuid: string, parts: Sending, home: () => Home): () => Promise<boolean> {
  let sent: boolean | undefined;
  return async () => {
    if (sent !== undefined) return sent;
    const content = Buffer.from(parts.redaction.text(text));
    try {
      await parts.channel.sendFile({
        ...sendTarget(home()),
        uuid: uuidOf(uuid, "file"),
        name: parts.speak(home().chat)[0].t.answerFile,
        content,
      });
      return (sent = true);
    } catch (error) {
      if (!wantsPlainer(error)) throw error;
      parts.log(`an answer could not be sent as a file: ${thrownText(error)}`);
      return (sent = false);
    }
  };
}

/** The message that began a turn, where it came from another surface. */
function begunElsewhere(view: SessionView, { redaction }: ConclusionParts): (speech: Speech) => string[] {
  const said = view.begunWith();
  if (!said || said.surface === "feishu") return () => [];
  const text = [...redaction.text(said.text)].slice(0, 200).join("");
  return ({ t }) => [t.begunBy(said.by, whereOf(said.surface, t), text)];
}

function concludeWith(ending: Ending, view: SessionView): (speech: Speech) => Finish {
  const late = view.expired()?.deadline;
  const limit = view.begunWith()?.limits?.executionTimeout;
  return (speech) => {
    const { t } = speech;
    if (ending.type === "turn.interrupted") {
      const who = closedBy(ending.data, t);
      return { title: t.pausedTitle, template: "grey", notes: [t.pausedBecause(t.interruptedBy(who))] };
    }
    return finishOfTurn(ending.data, speech, { late, limit });
  };
}

type Limits = { late: Deadline | undefined; limit: number | undefined };

function finishOfTurn(outcome: TurnEnd, speech: Speech, { late, limit }: Limits): Finish {
  const { t, words } = speech;
  const { stats, usage } = outcome;
  const cost = t.stats(stats.toolCalls, usage.inputTokens + usage.outputTokens, words.duration(stats.durationMs));
  const nobody = late && t.promptTimeout(words.duration(late.timeoutMs));
  switch (outcome.status) {
    case "success":
      return { title: t.done, template: "green", notes: [cost] };
    case "cancelled":
      return { title: t.cancelledTitle, template: "grey", notes: [nobody ?? sentenceOf(outcome.reason, speech)] };
    case "paused":
      return { title: t.pausedTitle, template: "grey", notes: [t.pausedBecause(sentenceOf(outcome.reason, speech))] };
    case "incomplete":
      return { title: t.cancelledTitle, template: "orange", notes: [words.turnIncomplete[outcome.lack], cost] };
    case "max-steps":
      return { title: t.cancelledTitle, template: "orange", notes: [t.maxSteps(outcome.steps), cost] };
    case "needs-input":
      return { title: t.waiting, template: "grey", notes: [] };
    case "error": {
      const slow = outcome.error.code === "timeout" && limit !== undefined && t.taskTimeout(words.duration(limit));
      const why = nobody ?? (slow || t.failedBecause(errorText(outcome.error, words)));
      return { title: t.failed, template: "red", notes: [why] };
    }
    default:
      return outcome satisfies never;
  }
}
