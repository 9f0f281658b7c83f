import { randomUUID } from "node:crypto";
import { kindOf } from "../base/issue.ts";
import { readSlash } from "../base/name.ts";
import { type Approver, approve } from "../input/approve.ts";
import { endOf, ended, isRepeated, prepare } from "../input/respond.ts";
import { checkResponse } from "../input/validate.ts";
import { existingSession } from "../journal/session/existing-session.ts";
import { isRetryable, untilWritten } from "../journal/store/retry.ts";
import { isPromised, type Appended, type InboundFact, type Store } from "../journal/store/store.ts";
import { withoutRewound } from "../protocol/facts/rewound.ts";
import type { TurnLimits } from "../protocol/facts/silence.ts";
import { createMail, unseenMessages } from "../protocol/facts/unseen.ts";
import type { Command, CommandReply, Host } from "../protocol/host/host.ts";
import { refusalOf } from "../protocol/host/refusal.ts";
import { MAX_IMAGES, type GivenImage, type ImagePart } from "../protocol/image.ts";
import { saidKey, splitRequestId, withdrawnKey } from "../protocol/key.ts";
import { reason, said, SageError } from "../protocol/reasons/reason.ts";
import type { Sender } from "../protocol/sender.ts";
import { keepImage } from "../tools/content/image.ts";
import type { CommandParts, Handlers } from "./commands/parts.ts";
import { pastCommands } from "./commands/past.ts";
import { checkTaken, outsideCommands } from "./commands/requests/outside.ts";
import { alreadyResolved, checkGrant, requestCommands } from "./commands/requests/request.ts";
import { ruleCommands, trialCommands } from "./commands/requests/rule.ts";
import { undoCommand } from "./commands/requests/undo.ts";
import { rewindCommands } from "./commands/rewind.ts";
import { sessionCommands } from "./commands/session.ts";
import { surroundingsCommands } from "./commands/surroundings.ts";
import { readingNow, turnCommands } from "./commands/turn.ts";

/** Time for which a command is tried on a journal that another process keeps busy. */
const BUSY_MS = 30_000;
const QUEUED_MESSAGES = 50;
const MAX_MESSAGE_LENGTH = 2_000_000;

type Given = Omit<CommandParts, "isRunning"> & {
  /** Throws when the sender may not do this. */
  check: ((command: Command) => void) | undefined;
};

export function createCommands({ check, ...given }: Given): Host["send"] {
  const { store, runner, leaving } = given;
  const parts: CommandParts = {
    ...given,
    isRunning: (session) => runner.of(session) !== undefined || existingSession(store, session).owned,
  };
  const turns = turnCommands(parts);
  const handlers: Handlers<Command["type"]> = {
    ...sessionCommands(parts),
    ...messageCommands(parts),
    ...answerCommands(parts),
    ...requestCommands(parts),
    ...turns,
    ...rewindCommands(parts, turns.interrupt),
    ...ruleCommands(parts),
    ...undoCommand(parts),
    ...surroundingsCommands(parts),
    ...outsideCommands(parts),
    ...pastCommands(parts),
    ...trialCommands(parts),
  };

  return async (command) => {
    try {
      check?.(command);
      checkTaken(command);
      const handle = handlers[command.type] as unknown as (
        c: typeof command,
      ) => Promise<CommandReply<(typeof command)["type"]>>;
      const giveUp = performance.now() + BUSY_MS;
      // Said under one name however often it is tried: a database elsewhere may have written it and lost the reply.
      const once = command.type === "say" ? { id: randomUUID(), ...command } : command;
      // Nothing of it was recorded: on a busy journal it is simply tried again. A full disk is for a person to know about.
      const failed = ({ code }: SageError) => code === "journal-locked" && performance.now() < giveUp;
      try {
        return await handle(once);
      } catch (error) {
        if (!isRetryable(error) || !failed(error)) throw error;
        return await untilWritten(async () => handle(once), { signal: leaving, failed });
      }
    } catch (error) {
      return refusalOf(error);
    }
  };
}

function messageCommands(parts: CommandParts): Handlers<"say" | "withdraw"> {
  const { store, expand, keepDir, runner, personOf, leaving } = parts;
  return {
    async say({ session, text, images: given = [], id = randomUUID(), limits, when = "next", ...sender }) {
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
      const said = {
        key: saidKey(id),
        type: "user.said",
        at: Date.now(),
        data: {
          text,
          by,
          surface,
          ...(name !== undefined && name !== by && { name }),
          ...(images.length > 0 && { images }),
          ...(expanded !== undefined && { expanded }),
          ...(limits && { limits }),
        },
      } as const;
      const before = store.fact(session, said.key); // it waits, or was read, or taken back
      const waits = !before || unseenMessages(store.since(session, 0)).some(({ key }) => key === said.key);
      const facts = when === "now" && waits ? readingNow(parts, session, said, sender) : [];
      const written =
        facts.length === 0 ? store.append(session, said) : appendTogether(store, [...facts, { session, fact: said }]);
      const { fact } = isPromised(written) ? await written : written;
      runner.wake(session);
      if (!runner.of(session))
        void import("./run/after-rewind.ts")
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

/** The result for the last of them. */
async function appendTogether(store: Store, facts: readonly Inbound[]): Promise<Appended> {
  const last = (await store.appendAll(facts)).at(-1) as Appended | SageError;
  if (last instanceof SageError) throw last;
  return last;
}

/** Stored before the fact that refers to them. A message whose picture cannot be stored is refused. */
function keepImages(folder: string | undefined, given: readonly GivenImage[]): ImagePart[] {
  if (given.length > MAX_IMAGES)
    throw new SageError("input-invalid", reason("images-too-many", { limit: MAX_IMAGES, count: given.length }));
  return given.map(({ name, data }) => {
    const kept =
      folder === undefined
        ? { problem: reason("image-not-kept", { name, problem: "this host keeps no files" }) }
        : keepImage(folder, { name, content: Buffer.from(data, "base64") });
    if ("problem" in kept) throw new SageError("input-invalid", kept.problem);
    return kept.image;
  });
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

/** Answers to requests. Facts that come in one tick share a commit. */
function answerCommands({ store, personOf, isRunning }: CommandParts): Handlers<"respond"> {
  const append = batchAppends(store);
  return {
    async respond({ response, ...sender }) {
      checkResponse(response);
      checkGrant(store, response);
      const ready = await prepare(store, response, withoutPerson(sender));
      const { session } = splitRequestId(response.requestId);
      const end =
        "yes" in ready
          ? await approve(store, ready.request, ready.yes, approverOf(sender, personOf))
          : "won" in ready
            ? ready
            : ended(await append(endOf(ready.request, ready.resolution)));
      if (!("won" in end)) return { ok: true, approved: end, running: isRunning(session) };
      const reply = { ok: true, resolution: end.resolution, running: isRunning(session) } as const;
      if (end.won) return reply;
      const from = { ...sender, name: personOf?.(sender) ?? sender.by };
      if (!isRepeated(store, response, from, end.resolution)) throw alreadyResolved(end.resolution);
      return { ...reply, again: true };
    },
  };
}

/** The sender as a resolution holds them: the id in the list of people is for the guard alone. */
function withoutPerson({ by, surface, device, signed, typed }: Sender): Omit<Sender, "person"> {
  return {
    by,
    surface,
    ...(device !== undefined && { device }),
    ...(signed !== undefined && { signed }),
    ...(typed && { typed }),
  };
}

/** The person behind a yes, by the one name that they have on every surface. */
function approverOf(sender: Sender, personOf: CommandParts["personOf"]): Approver {
  const { by } = sender;
  const name = personOf ? personOf(sender) : by;
  if (name === undefined || name === null) throw new SageError("not-permitted", reason("approver-unknown", { by }));
  return { ...withoutPerson(sender), by: name };
}

type Inbound = { session: string; fact: InboundFact };

type Queued = Inbound & {
  done(written: Appended): void;
  failed(error: unknown): void;
};

/** Facts that come in one tick share one commit. Each is on disk before its sender hears of it. */
function batchAppends(store: Store): (inbound: Inbound) => Promise<Appended> {
  let queued: Queued[] = [];
  const write = async () => {
    const batch = queued;
    queued = [];
    try {
      const written = await store.appendAll(batch);
      for (const [n, { done, failed }] of batch.entries()) {
        const result = written[n] as Appended | SageError;
        if (result instanceof SageError) failed(result);
        else done(result);
      }
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  };
  return (inbound) =>
    new Promise((done, failed) => {
      if (queued.push({ ...inbound, done, failed }) === 1) setImmediate(() => void write());
    });
}
