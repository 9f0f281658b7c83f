import { randomUUID } from "node:crypto";
import { existingSession } from "../../journal/session/existing-session.ts";
import { isPromised } from "../../journal/store/store.ts";
import { kindOf } from "../../base/issue.ts";
import { readSlash } from "../../base/name.ts";
import { withoutRewound } from "../../protocol/facts/rewound.ts";
import type { TurnLimits } from "../../protocol/facts/silence.ts";
import { createMail } from "../../protocol/facts/unseen.ts";
import { MAX_IMAGES, type GivenImage, type ImagePart } from "../../protocol/image.ts";
import { saidKey, withdrawnKey } from "../../protocol/key.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { reason, said, type Reason } from "../../protocol/reasons/reason.ts";
import { keepImage } from "../../tools/content/image.ts";
import type { CommandParts, Handlers } from "./parts.ts";

const QUEUED_MESSAGES = 50;
const MAX_MESSAGE_LENGTH = 2_000_000;

/** Messages: said, and taken back. */
export function sayCommands(parts: CommandParts): Handlers<"say" | "withdraw"> {
  const { store, expand, keepDir, runner, personOf, leaving } = parts;
  return {
    async say({ session, text, images: given = [], id = randomUUID(), limits, ...sender }) {
      const { by, surface } = sender;
      const name = personOf?.(sender);
      const row = existingSession(store, session);
      if (typeof text !== "string")
        throw new SageError("input-invalid", reason("message-not-text", { came: kindOf(text) }));
      if (text.trim() === "" && given.length === 0) throw new SageError("input-invalid", reason("message-empty", {}));
      if (limits) checkLimits(limits);
      if (text.length > MAX_MESSAGE_LENGTH)
        throw new SageError(
          "input-invalid",
          reason("message-too-long", { limit: MAX_MESSAGE_LENGTH, length: text.length }),
        );
      // In the same breath where nothing has to be fetched and the journal is on this machine: a command that comes next finds the session
      // running. Hence no `await` of a value that is there.
      const expansion = expand(row, text);
      const expanded = isPromised(expansion) ? await expansion : expansion;
      if (expanded === undefined && readSlash(text)?.args === "")
        throw new SageError("input-invalid", reason("command-unknown", { command: text.trim() }));
      if ((runner.of(session)?.log?.unseen().length ?? 0) >= QUEUED_MESSAGES)
        throw new SageError("queue-full", reason("messages-wait", { limit: QUEUED_MESSAGES }));
      const images = given.length === 0 ? [] : keepImages(keepDir(row), given);
      const written = store.append(session, {
        key: saidKey(id),
        type: "user.said",
        at: Date.now(),
        data: {
          ...{ text, by, surface },
          ...(name !== undefined && name !== by && { name }),
          ...(images.length > 0 && { images }),
          ...(expanded !== undefined && { expanded }),
          ...(limits && { limits }),
        },
      });
      const { fact } = isPromised(written) ? await written : written;
      runner.wake(session);
      if (!runner.of(session))
        void import("../run/after-rewind.ts")
          .then(({ wakeAfterRewind }) => wakeAfterRewind({ store, runner, leaving }, session, fact.seq))
          .catch(() => {}); // the journal may be closed by then
      return { ok: true, seq: fact.seq };
    },
    async withdraw({ session, message, by, surface }) {
      existingSession(store, session);
      const facts = withoutRewound(store.load(session));
      const found = facts.find((fact) => fact.type === "user.said" && fact.key === message);
      if (!found) throw new SageError("input-invalid", reason("message-missing", {}));
      const mail = createMail();
      for (const fact of facts) mail.note(fact);
      if (mail.fateOf(found.seq) === "read") throw new SageError("input-invalid", reason("message-read", {}));
      const data = { message: found.seq, by, surface };
      const fact = { key: withdrawnKey(message), type: "message.withdrawn", at: Date.now(), data } as const;
      const { won, fact: first } = await store.append(session, fact);
      if (!won && first.type === "message.withdrawn")
        throw new SageError("input-invalid", reason("message-withdrawn", { by: first.data.by }));
      return { ok: true };
    },
  };
}

/** On disk before the fact that names them. A message with a picture that cannot be kept is not said. */
function keepImages(folder: string | undefined, given: readonly GivenImage[]): ImagePart[] {
  if (given.length > MAX_IMAGES)
    throw new SageError("input-invalid", reason("images-too-many", { limit: MAX_IMAGES, count: given.length }));
  return given.map(({ name, data }) => {
    const kept =
      folder === undefined ? noFolder(name) : keepImage(folder, { name, content: Buffer.from(data, "base64") });
    if ("problem" in kept) throw new SageError("input-invalid", kept.problem);
    return kept.image;
  });
}

function noFolder(name: string): { problem: Reason } {
  return { problem: reason("image-not-kept", { name, problem: "this host keeps no files" }) };
}

/** They are kept with the message: a bad one would spoil every attempt at its turn. */
function checkLimits({ promptTimeout, executionTimeout, timeoutPolicy }: TurnLimits): void {
  for (const [name, ms] of Object.entries({ promptTimeout, executionTimeout }))
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0))
      throw new SageError("input-invalid", said(`${name} should be a number of milliseconds above 0; got ${ms}`));
  const { end: given, escalate = [] } =
    typeof timeoutPolicy === "object" ? timeoutPolicy : { end: timeoutPolicy ?? "fail" };
  if (!ends.some((end) => end === given) || !Array.isArray(escalate) || escalate.some((to) => typeof to !== "string"))
    throw new SageError(
      "input-invalid",
      said(
        `timeoutPolicy should be ${ends.map((end) => `"${end}"`).join(", ")}, or { escalate, end }; got ${JSON.stringify(timeoutPolicy)}`,
      ),
    );
}

const ends = ["fail", "cancel", "deny"] as const;
