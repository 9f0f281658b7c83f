import { randomBytes, randomUUID } from "node:crypto";
import type { Executor } from "../agent/turn/execution.ts";
import { approve, type Approver } from "../input/approve.ts";
import { ended, endOf, prepare } from "../input/respond.ts";
import { openSession, Stopped } from "../journal/session.ts";
import { untilWritten } from "../journal/retry.ts";
import type { Awaitable, Page, SessionRow, Store } from "../journal/store.ts";
import { errorBecause } from "../texts/error.ts";
import { readRule } from "../permission/rules/rules.ts";
import {
  createMail,
  draftKeys,
  errorOf,
  inquiryKey,
  interruptKey,
  MOST_IMAGES,
  misfits,
  modeChosenKey,
  needsConsent,
  readSlash,
  reason,
  refusalOf,
  SageError,
  said,
  saidKey,
  splitRequestId,
  unseenMessages,
  withdrawnKey,
  withInquiry,
  withoutRewound,
  type Command,
  type CommandReply,
  type GivenImage,
  type Host,
  type ImagePart,
  type InputRequest,
  type InputResponse,
  type PendingRequest,
  type Reason,
  type Resolution,
  type Sender,
  type SessionSummary,
  type TurnLimits,
} from "../protocol/index.ts";
import { keepImage } from "../tools/image.ts";
import { builtinTools } from "../tools/registry.ts";
import { batchAppends } from "./batched-appends.ts";
import { checkSender, type Guard, type PersonOf } from "./guard.ts";
import { interruptOf, standingOf } from "./interrupt.ts";
import { respondAll } from "./respond-all.ts";
import type { Runner } from "./runner.ts";
import { existingSession } from "./session-run.ts";

const QUEUED_MESSAGES = 50;
/** For so long a command is tried on a journal that another process keeps busy. */
const BUSY_MS = 30_000;
const LONGEST_MESSAGE = 2_000_000;
const LONGEST_INQUIRY = 10_000;

type Reply<C extends Command["type"]> = Exclude<CommandReply<C>, { ok: false }>;

export type CommandParts = {
  store: Store;
  version: string;
  /** Text that the model reads in place of a message, if it is another. */
  expand(session: SessionRow, text: string): Awaitable<string | undefined>;
  /** Folder of the session's kept files. */
  keepDir(session: SessionRow): string | undefined;
  runner: Runner;
  executor(session: SessionRow): Promise<Executor>;
  guard: Guard | undefined;
  personOf: PersonOf | undefined;
  /** Is a surface of this process attached to the session? */
  watched(session: string): boolean;
  /** Aborted when the host lets go of everything. */
  leaving: AbortSignal;
};

/** Handlers, by command of a surface. */
export function createCommands(parts: CommandParts): Host["send"] {
  const { store, version, expand, keepDir, runner, executor, guard, personOf, watched, leaving } = parts;
  const append = batchAppends(store);

  /** In one commit: an agent must not go on after one request was cancelled before it hears that all of it was. */
  const interrupt = async (session: string, to: "pause" | "cancel", sender: Sender): Promise<void> => {
    const at = Date.now();
    const why = reason("stopped-by", { by: sender.by });
    const ends = (to === "cancel" ? store.pending(session) : []).map((request) =>
      endOf(request, { requestId: request.id, ...sender, at, outcome: "cancelled", reason: why }),
    );
    const fact = { key: interruptKey(randomUUID()), type: "turn.interrupted", at, data: { to, ...sender } } as const;
    const written = store.appendAll([...ends, { session, fact }]);
    if (written instanceof Promise) await written;
    if (to === "cancel") runner.wake(session); // if nobody runs it, the turn is ended here
  };

  const isRunning = (session: string): boolean =>
    runner.of(session) !== undefined || existingSession(store, session).owned;

  const handlers: {
    [C in Command["type"]]: (command: Extract<Command, { type: C }>) => Reply<C> | Promise<Reply<C>>;
  } = {
    async open({ session, cwd, model, agent }) {
      if (session !== undefined && !/^(?!\.{1,2}$)[\w.-]{1,100}$/.test(session))
        throw errorBecause("input-invalid", reason("session-id-unfit", { given: session }));
      if (session !== undefined && store.session(session)) return { ok: true, session, created: false };
      for (;;) {
        const id = session ?? newSessionId();
        const named = { ...(model !== undefined && { model }), ...(agent !== undefined && { agent }) };
        if (await store.create(id, { cwd, version, ...named })) return { ok: true, session: id, created: true };
      }
    },
    async say({ session, text, images: given = [], id = randomUUID(), limits, ...sender }) {
      const { by, surface } = sender;
      const name = personOf?.(sender);
      const row = existingSession(store, session);
      if (text.trim() === "" && given.length === 0) throw errorBecause("input-invalid", reason("message-empty", {}));
      if (limits) checkLimits(limits);
      if (text.length > LONGEST_MESSAGE)
        throw errorBecause(
          "input-invalid",
          reason("message-too-long", { limit: LONGEST_MESSAGE, length: text.length }),
        );
      const expansion = expand(row, text);
      const expanded = expansion instanceof Promise ? await expansion : expansion;
      if (expanded === undefined && readSlash(text)?.args === "")
        throw errorBecause("input-invalid", reason("command-unknown", { command: text.trim() }));
      if ((runner.of(session)?.log?.unseen().length ?? 0) >= QUEUED_MESSAGES)
        throw errorBecause("queue-full", reason("messages-wait", { limit: QUEUED_MESSAGES }));
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
      // In the same breath where the journal is on this machine: a command that comes next finds the session running.
      const { fact } = written instanceof Promise ? await written : written;
      runner.wake(session);
      if (!runner.of(session))
        void import("./after-rewind.ts")
          .then(({ wakeAfterRewind }) => wakeAfterRewind({ store, runner, leaving }, session, fact.seq))
          .catch(() => {}); // the journal may be closed by then
      return { ok: true, seq: fact.seq };
    },
    async withdraw({ session, message, by, surface }) {
      existingSession(store, session);
      const facts = withoutRewound(store.load(session));
      const found = facts.find((fact) => fact.type === "user.said" && fact.key === message);
      if (!found) throw errorBecause("input-invalid", reason("message-missing", {}));
      const mail = createMail();
      for (const fact of facts) mail.note(fact);
      if (mail.fateOf(found.seq) === "read") throw errorBecause("input-invalid", reason("message-read", {}));
      const data = { message: found.seq, by, surface };
      const fact = { key: withdrawnKey(message), type: "message.withdrawn", at: Date.now(), data } as const;
      const { won, fact: first } = await store.append(session, fact);
      if (!won && first.type === "message.withdrawn")
        throw errorBecause("input-invalid", reason("message-withdrawn", { by: first.data.by }));
      return { ok: true };
    },
    async respond({ response, ...sender }) {
      checkRules(response);
      await checkInput(store, response);
      const ready = await prepare(store, response, { by: sender.by, surface: sender.surface });
      const { session } = splitRequestId(response.requestId);
      const end =
        "yes" in ready
          ? await approve(store, ready.request, ready.yes, approverOf(sender, personOf))
          : "won" in ready
            ? ready
            : ended(await append(endOf(ready.request, ready.resolution)));
      if (!("won" in end)) return { ok: true, approved: end, running: isRunning(session) };
      if (!end.won) throw alreadyResolved(end.resolution);
      return { ok: true, resolution: end.resolution, running: isRunning(session) };
    },
    respondAll: async (command) => ({
      ok: true,
      results: await respondAll({ store, running: isRunning, late: alreadyResolved }, command),
    }),
    async inquire({ requestId, text, id = randomUUID(), by, surface }) {
      const { resolution } = existingRequest(store, requestId);
      if (resolution) throw alreadyResolved(resolution);
      if (text.trim() === "") throw errorBecause("input-invalid", reason("inquiry-empty", {}));
      const { length } = text;
      if (length > LONGEST_INQUIRY)
        throw errorBecause("input-invalid", reason("inquiry-too-long", { limit: LONGEST_INQUIRY, length }));
      const { session, key } = splitRequestId(requestId);
      const inquiry = id.replaceAll(/[^\w-]/g, "-"); // a surface's own id becomes the end of a key
      const data = { requestId, inquiry, text, by, surface };
      await store.append(session, { key: inquiryKey(key, inquiry), type: "inquiry.made", at: Date.now(), data });
      return { ok: true, inquiry, running: isRunning(session) };
    },
    async interrupt({ session, cancel: forGood, by, surface }) {
      const row = existingSession(store, session);
      const run = runner.of(session);
      const standing = standingOf(row, run);
      const to = interruptOf(standing, { attended: forGood === undefined ? watched(session) : !forGood });
      if (to === "nothing") return { ok: true, to };
      if (standing === "beginning")
        run?.stop(
          to === "pause"
            ? new Stopped("interrupted", reason("interrupted-by", { by }))
            : new Stopped("cancelled", reason("stopped-by", { by })),
        );
      else if (to === "pause" && run?.phase.name === "working") run.phase.lifecycle.handleInterrupt();
      await interrupt(session, to, { by, surface });
      return { ok: true, to };
    },
    resume({ session }) {
      runner.of(session)?.resume();
      if (existingSession(store, session).open || isUnseen(store, session)) runner.wake(session);
      return { ok: true };
    },
    async chooseMode({ session, mode, by, surface }) {
      existingSession(store, session);
      const fact = { key: modeChosenKey(randomUUID()), type: "mode.chosen", at: Date.now() } as const;
      await store.append(session, { ...fact, data: { mode, by, surface } });
      return { ok: true };
    },
    async compact({ session }) {
      const checkIdle = (row: SessionRow): SessionRow => {
        if (runner.of(session) === undefined && !row.owned && !row.open) return row;
        throw errorBecause("input-invalid", reason("turn-is-open", {}));
      };
      const agent = await executor(checkIdle(existingSession(store, session)));
      checkIdle(existingSession(store, session)); // somebody may have spoken while it was made
      const log = openSession(store, session);
      const leave = () => log.close();
      leaving.addEventListener("abort", leave);
      try {
        const outcome = await agent.compact({ log });
        if (outcome.status === "error") throw errorOf({ ok: false, ...outcome.error });
        if ("reason" in outcome) throw errorBecause("input-invalid", outcome.reason); // interrupted, or left
        if (outcome.text !== "") throw errorBecause("input-invalid", reason("too-short-to-summarise", {}));
        return { ok: true };
      } finally {
        leaving.removeEventListener("abort", leave);
        const released = log.release();
        if (released) await released;
        if (isUnseen(store, session)) runner.wake(session); // said meanwhile
      }
    },
    async saveDraft({ requestId, draft, by, surface }) {
      const { resolution } = existingRequest(store, requestId);
      if (resolution) throw alreadyResolved(resolution);
      const { session, key } = splitRequestId(requestId);
      const data = { requestId, draft, by, surface };
      const fact = { key: draftKeys(key).prefix + randomUUID(), type: "draft.saved", at: Date.now(), data } as const;
      await store.append(session, fact);
      return { ok: true };
    },
    sessions({ session }) {
      const rows = session === undefined ? store.sessions() : [existingSession(store, session)];
      return { ok: true, sessions: rows.map((row) => summary(row, runner.of(row.id) !== undefined)) };
    },
    request({ id }) {
      const { request, resolution } = existingRequest(store, id);
      const inquiries = store.inquiries(id).reduce(withInquiry, []);
      return {
        ...{ ok: true, ...withDraft(store, request) },
        ...(inquiries.length > 0 && { inquiries }),
        ...(resolution && { resolution }),
      };
    },
    pending: ({ session, limit, after }) => ({
      ok: true,
      requests: pending(
        store,
        session,
        limit === undefined ? undefined : { limit, ...(after !== undefined && { after }) },
      ),
    }),
  };

  return async (command) => {
    try {
      if (guard) checkSender(guard, command, (id) => store.find(id)?.request);
      const handle = handlers[command.type] as unknown as (
        c: typeof command,
      ) => Promise<CommandReply<(typeof command)["type"]>>;
      const giveUp = performance.now() + BUSY_MS;
      // Nothing of it was recorded: on a busy journal it is simply tried again. A full disk is for a person to know about.
      const failed = ({ code }: SageError) => code === "journal-locked" && performance.now() < giveUp;
      return await untilWritten(async () => handle(command), { signal: leaving, failed });
    } catch (error) {
      return refusalOf(error);
    }
  };
}

/** Was something said that no turn has taken up? The process that took it may have been killed before the turn began. */
function isUnseen(store: Store, session: string): boolean {
  return unseenMessages(store.since(session, 0)).length > 0;
}

export function pending(store: Store, session: string | undefined, page?: Page): PendingRequest[] {
  return store.pending(session, page).map((request) => withDraft(store, request));
}

function withDraft(store: Store, request: InputRequest): PendingRequest {
  const draft = store.draft(request.id);
  const approvals = needsConsent(request) ? store.approvals(request.id) : undefined;
  return { request, ...(draft && { draft }), ...(approvals && { approvals }) };
}

/** The person behind a yes, by the one name that they have on every surface. */
function approverOf(sender: Sender, personOf: PersonOf | undefined): Approver {
  const { by, surface } = sender;
  const name = personOf ? personOf(sender) : by;
  if (name === undefined || name === null) throw errorBecause("not-permitted", reason("approver-unknown", { by }));
  return { by: name, surface };
}

function existingRequest(store: Store, id: string): { request: InputRequest; resolution: Resolution | undefined } {
  const found = store.find(id);
  if (!found) throw errorBecause("request-unknown", reason("request-missing", { request: id }));
  return found;
}

function summary({ open, unheard, owned, pending: waiting, ...row }: SessionRow, here: boolean): SessionSummary {
  const runs = here || owned;
  const state = !open && !unheard ? "idle" : waiting > 0 ? "waiting" : runs ? "running" : "stopped";
  return { ...row, pending: waiting, state };
}

/** Short enough to type, from an alphabet without look-alikes. */
export function newSessionId(): string {
  const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";
  return Array.from(randomBytes(8), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** On disk before the fact that names them. A message with a picture that cannot be kept is not said. */
function keepImages(folder: string | undefined, given: readonly GivenImage[]): ImagePart[] {
  if (given.length > MOST_IMAGES)
    throw errorBecause("input-invalid", reason("images-too-many", { limit: MOST_IMAGES, count: given.length }));
  return given.map(({ name, data }) => {
    const kept =
      folder === undefined ? noFolder(name) : keepImage(folder, { name, content: Buffer.from(data, "base64") });
    if ("problem" in kept) throw errorBecause("input-invalid", kept.problem);
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

/** A rule that would not parse must not be recorded as granted. */
function checkRules(response: InputResponse): void {
  if (response.type !== "granted") return;
  for (const { rule, behavior } of response.rules ?? []) {
    const parsed = readRule(rule, behavior);
    if (!parsed.ok) throw errorBecause("request-invalid", reason("rule-not-read", { rule, problem: parsed.problem }));
  }
}

/** An edit that does not fit its tool is refused while the request is still open. Tools of an embedder check their own. */
async function checkInput(store: Store, response: InputResponse): Promise<void> {
  if (response.type !== "granted" || !response.input) return;
  const request = store.find(response.requestId)?.request;
  const tool = request?.kind === "permission" ? builtinTools().find(({ name }) => name === request.tool) : undefined;
  const parsed = tool?.inputSchema.safeParse(response.input);
  if (!parsed || parsed.success) return;
  throw errorBecause(
    "request-invalid",
    reason("unfit-input", {
      tool: request?.kind === "permission" ? request.tool : "",
      problem: misfits(parsed.error, response.input),
    }),
  );
}

function alreadyResolved(resolution: Resolution): SageError {
  const { outcome, by, surface, at } = resolution;
  return errorBecause("request-resolved", reason("request-ended", { outcome, by, surface, at }), { cause: resolution });
}
