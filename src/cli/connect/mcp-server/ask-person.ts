import { ask } from "../../../protocol/host/refusal.ts";
import { hash } from "node:crypto";
import type { z as Zod } from "../../../tools/definition/zod.ts";
import { findFromOutside } from "../../../input/outside.ts";
import type { Store } from "../../../journal/store/store.ts";
import { canonicalJson } from "../../../base/canonical-json.ts";
import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import type { Host } from "../../../protocol/host/host.ts";
import type { OutsideBody } from "../../../protocol/host/outside.ts";
import { reasonFrom, reasonOf } from "../../../protocol/reasons/reason.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { nameOf } from "../../../view/items/summary.ts";

/** Clients time out after a minute without progress: by then they have a ticket. */
const WAIT_SECONDS = 50;
const MAX_WAIT_SECONDS = 3_600;
const PROGRESS_MS = 5_000;
const MAX_REPEATS = 1_000;

export type AskParts = {
  host: Host;
  store: Store;
  cwd: string;
  agent(): string;
  signal: AbortSignal;
};

type Calling = {
  signal: AbortSignal;
  _meta?: { progressToken?: string | number | undefined } | undefined;
  notify(notification: { method: "notifications/progress"; params: Record<string, unknown> }): Promise<void>;
};

type Input = Zod.infer<ReturnType<typeof askPersonInput>>;

/** Input of the tool, as a schema of the library that the server package takes. */
export function askPersonInput(z: typeof Zod) {
  const option = z.object({ label: z.string(), description: z.string().optional() });
  const question = z.object({
    question: z.string().describe("The question, whole"),
    header: z.string().optional().describe("A word or two above it"),
    options: z.array(option).max(20).optional().describe("What to choose from; own words are always possible"),
    multiSelect: z.boolean().optional().describe("More than one option may be chosen"),
  });
  return z.object({
    questions: z.array(question).max(20).optional(),
    text: z.string().optional().describe("What the person should write"),
    confirm: z.string().optional().describe("A question to be answered with yes or no"),
    ticket: z.string().optional().describe("From an earlier call: waits for that request"),
    why: z.string().optional().describe("Why you ask, in a sentence"),
    id: z.string().optional().describe("Your own id: the same id again is the same request"),
    wait_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .optional()
      .describe(`How long this call waits (${WAIT_SECONDS}); afterwards you have a ticket. 0 returns at once`),
  });
}

/** Asks, or finds what was asked, and waits for a while. A refusal is a result: the model that called reads why. */
export async function askPerson(parts: AskParts, input: Input, calling: Calling): Promise<Result> {
  try {
    const found = await open(parts, input);
    const { request } = found;
    const resolution =
      found.resolution ?? (await waited(parts, request, { calling, ms: (input.wait_seconds ?? WAIT_SECONDS) * 1_000 }));
    if (!resolution && calling.signal.aborted && input.ticket === undefined) await forget(parts, request);
    return asResult(resultData(request, resolution));
  } catch (error) {
    return { content: [{ type: "text", text: sentence(reasonOf(error), "en") }], isError: true };
  }
}

async function open(parts: AskParts, { ticket, why, id, ...input }: Input) {
  const { host, cwd } = parts;
  const given = [ticket, input.questions, input.text, input.confirm].filter((field) => field !== undefined);
  if (given.length !== 1) throw new Error("give exactly one of questions, text, confirm and ticket");
  if (ticket !== undefined) return findFromOutside(parts, { id: ticket, agent: parts.agent() });
  const body = askedBody(input);
  const frame = { agent: [parts.agent()], cwd, body, ...(why !== undefined && { why }) } as const;
  if (id !== undefined) return ask(host, { type: "ask", ...frame, id });
  // A question that still waits is the same question, also for a client that was killed and asks it again. Once it has ended, it is a new one.
  const name = hash("sha256", canonicalJson(body), "hex").slice(0, 16);
  for (let n = 0; n < MAX_REPEATS; n++) {
    const asked = await ask(host, { type: "ask", ...frame, id: `${name}-${n}` });
    if (!asked.resolution) return asked;
  }
  throw new Error("this was asked too often");
}

function askedBody({ questions, text, confirm }: Input): OutsideBody {
  if (text !== undefined) return { kind: "text", prompt: text };
  if (confirm !== undefined) {
    const options = yesAndNo(confirm).map((label) => ({ label, description: "" }));
    return { kind: "question", questions: [{ question: confirm, header: "", multiSelect: false, options }] };
  }
  return {
    kind: "question",
    questions: (questions ?? []).map(({ question, header = "", options = [], multiSelect = false }) => ({
      question,
      header,
      multiSelect,
      options: options.map(({ label, description = "" }) => ({ label, description })),
    })),
  };
}

/** Undefined when nobody has answered in that time, or nobody waits any more. */
async function waited(
  { store, signal }: AskParts,
  request: InputRequest,
  { calling, ms }: { calling: Calling; ms: number },
): Promise<Resolution | undefined> {
  const { _meta, notify } = calling;
  const token = _meta?.progressToken;
  let progress = 0;
  const tell = () => {
    const message = `waiting for a person; ticket ${request.id}`;
    void notify({
      method: "notifications/progress",
      params: { progressToken: token, progress: ++progress, message },
    }).catch(() => {});
  };
  if (token !== undefined) tell();
  const telling = token === undefined ? undefined : setInterval(tell, PROGRESS_MS);
  try {
    const enough = AbortSignal.any([signal, calling.signal, AbortSignal.timeout(ms)]);
    return await waitForEnd(store, request.id, enough);
  } finally {
    clearInterval(telling);
  }
}

/** The client has cancelled its call before it had a ticket: nobody would hear the answer. */
async function forget({ host, agent }: AskParts, { id }: InputRequest): Promise<void> {
  await host.send({ type: "unask", requestId: id, end: { type: "gone" }, by: agent(), surface: "mcp" });
}

/** Waits until a request has ended, in any process. Undefined once `enough` aborts. */
async function waitForEnd(store: Store, requestId: string, enough: AbortSignal): Promise<Resolution | undefined> {
  const ended = Promise.withResolvers<Resolution | undefined>();
  const forget = store.hub.wait(requestId, ended.resolve);
  const stop = () => ended.resolve(undefined);
  enough.addEventListener("abort", stop);
  try {
    const already = store.resolution(requestId); // between the look before and the listening
    if (already || enough.aborted) return already;
    return await ended.promise;
  } finally {
    forget();
    enough.removeEventListener("abort", stop);
  }
}

export type Result = {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

export function asResult(data: Record<string, unknown>): Result {
  return { content: [{ type: "text", text: JSON.stringify(data, undefined, 2) }], structuredContent: data };
}

export function resultData(request: InputRequest, resolution: Resolution | undefined): Record<string, unknown> {
  const frame = { ticket: request.id, asked: nameOf(request, texts("en")) };
  if (!resolution)
    return {
      status: "waiting",
      ...frame,
      note: "Nobody has answered yet. The request stays open; call ask_person with this ticket to wait on.",
    };
  const { outcome, by, surface, at } = resolution;
  const response = "response" in resolution ? resolution.response : undefined;
  const reason = "reason" in resolution && resolution.reason ? sentence(reasonFrom(resolution.reason), "en") : "";
  return {
    status: outcome,
    ...frame,
    by,
    surface,
    at: new Date(at).toISOString(),
    ...(reason !== "" && { reason }),
    ...(response?.type === "answers" && {
      answers: response.answers,
      ...confirmedIn(request, response.answers),
      ...(response.remark !== undefined && { remark: response.remark }),
    }),
    ...(response?.type === "text" && { text: response.text }),
  };
}

/** Set where yes or no was asked, and one of them chosen: own words are neither. */
function confirmedIn(request: InputRequest, answers: Record<string, { selected: string[] }>): { confirmed?: boolean } {
  const [only, more] = request.kind === "question" ? request.questions : [];
  const labels = only?.options.map(({ label }) => label).join("\n");
  if (!only || more || !words.some((pair) => pair.join("\n") === labels)) return {};
  const [chosen] = answers[only.question]?.selected ?? [];
  return chosen === undefined ? {} : { confirmed: chosen === only.options[0]?.label };
}

const words = [
  ["Yes", "No"],
  ["是", "否"],
] as const;

function yesAndNo(question: string): readonly string[] {
  return words[/\p{Script=Han}/u.test(question) ? 1 : 0];
}
