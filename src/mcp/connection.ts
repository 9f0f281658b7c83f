import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import {
  Client,
  ProtocolError,
  UnauthorizedError,
  type CallToolResult,
  type ElicitRequestParams,
  type ElicitResult,
  type GetPromptResult,
  type Progress,
  type ReadResourceResult,
  type RequestOptions,
  type Transport,
} from "@modelcontextprotocol/client";
import type { ToolInput } from "../protocol/facts/call.ts";
import { reason, type Reason, messageOf, SageError } from "../protocol/reasons/reason.ts";
import { MAX_TOOLS } from "./definition.ts";
import { type ServerDefinition, ServerFailure } from "./server.ts";
import type { Known } from "./memory.ts";
import { stdioTransport, type StdioPlace } from "./stdio.ts";

/** Disables the library's timeouts: time is measured here, and waiting for a person does not count. */
const NEVER_MS = 2 ** 31 - 1;
const MAX_ELICITATIONS = 5;
const SHOWN_EVERY_MS = 200;
const MAX_PROMPTS = 200;
const MAX_LOG_LENGTH = 10_000;
const MAX_LOG_BYTES = 128 * 1024;

export type CallListener = {
  signal: AbortSignal;
  /** A word of the server on how far it is. */
  progress(text: string): void;
  /** Asks the person on the server's behalf; without it nobody can be asked. */
  elicit?(params: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>;
};

/** An open line to one server. */
export type Connection = {
  /** Why it is over; undefined while it works. */
  readonly ended: Reason | undefined;
  /** True while a call waits for its end. */
  readonly busy: boolean;
  list(): Promise<Known>;
  /** Rejects with a `ServerFailure` when nobody can say what became of the call. */
  call(tool: string, input: ToolInput, listener: CallListener): Promise<CallToolResult>;
  prompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<GetPromptResult>;
  resource(uri: string, signal: AbortSignal): Promise<ReadResourceResult>;
  close(): Promise<void>;
};

type Place = Omit<StdioPlace, "start"> & {
  version: string;
  /** Starts servers of a folder's own settings. */ start?: StdioPlace["start"];
};

type InFlight = { listener: CallListener; elicitations: number; asking: boolean; pause(): Disposable };

/** Connects to a server and greets it. Rejects with a `ServerFailure`. */
export async function connect(
  definition: ServerDefinition,
  { cwd, env, version, home, start }: Place,
  on: { listChanged(): void; ended(): void },
  http?: () => Promise<Transport>,
): Promise<Connection> {
  const { transport: how, timeoutMs, startupTimeoutMs } = definition;
  const changed = definition.changed?.();
  if (changed !== undefined) throw new ServerFailure(reason("server-changed", { path: changed }));
  const stdio =
    how.type === "stdio"
      ? stdioTransport(how, {
          cwd,
          env: { ...env, ...how.env },
          home,
          start: definition.source === "project" ? start : undefined,
        })
      : undefined;
  const inFlight: InFlight[] = [];
  let ended: Reason | undefined;

  const client = createClient({ cwd, version }, inFlight, {
    listChanged: on.listChanged,
    ended() {
      ended ??= stdio?.ended ?? reason("server-ended", { code: "closed", output: "" });
      on.ended();
    },
  });

  try {
    const transport = stdio ?? (await http?.());
    if (!transport) throw new Error("no transport");
    await client.connect(transport, { timeout: startupTimeoutMs });
  } catch (error) {
    await client.close().catch(() => {});
    await stdio?.close();
    throw error instanceof ServerFailure ? error : new ServerFailure(stdio?.ended ?? connectFailure(error, definition));
  }

  const close = async () => {
    ended ??= reason("leaving", {});
    await client.close().catch(() => {});
  };
  const brief: RequestOptions = { timeout: startupTimeoutMs };
  return {
    get ended() {
      return ended;
    },
    get busy() {
      return inFlight.length > 0;
    },
    list: () => listOffers(client, brief),
    async call(tool, input, listener) {
      if (ended) throw new ServerFailure(ended);
      using clock = createClock(timeoutMs);
      const call: InFlight = { listener, elicitations: 0, asking: false, pause: () => clock.pause() };
      inFlight.push(call);
      let shown = 0;
      const onprogress = ({ progress, total, message }: Progress) => {
        clock.reset();
        if (performance.now() - shown < SHOWN_EVERY_MS) return;
        shown = performance.now();
        listener.progress(message ?? (total === undefined ? `${progress}` : `${progress}/${total}`));
      };
      const signal = AbortSignal.any([listener.signal, clock.signal]);
      const options = { signal, timeout: NEVER_MS, onprogress };
      try {
        return await client.request({ method: "tools/call", params: { name: tool, arguments: input } }, options);
      } catch (error) {
        listener.signal.throwIfAborted();
        if (clock.signal.aborted)
          throw new ServerFailure(reason("server-late", { limitMs: timeoutMs }), { sent: true });
        if (ended) throw new ServerFailure(ended, { sent: true });
        if (error instanceof ProtocolError) throw error;
        // The connection broke and the server may have lost our session: the next call opens a new one.
        if (how.type === "http") await close();
        if (error instanceof ServerFailure) throw error;
        throw new ServerFailure(serverUnreachable(error), {
          sent: true,
        });
      } finally {
        inFlight.splice(inFlight.indexOf(call), 1);
      }
    },
    prompt: (name, args, signal) => client.getPrompt({ name, arguments: args }, { ...brief, signal }),
    resource: (uri, signal) => client.readResource({ uri }, { ...brief, signal }),
    close,
  };
}

/** Tells of the client's end and of lists that changed, and answers the server's own requests. */
function createClient(
  { cwd, version }: Pick<Place, "cwd" | "version">,
  inFlight: readonly InFlight[],
  on: { listChanged(): void; ended(): void },
): Client {
  const client = new Client(
    { name: "sage", version },
    { capabilities: { elicitation: { form: {}, url: {} }, roots: {} }, listMaxPages: 20 },
  );
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library has no other way
  client.onclose = on.ended;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- as above
  client.onerror = () => {}; // what matters fails a request or ends the connection
  client.setRequestHandler("roots/list", () => ({
    roots: [{ uri: pathToFileURL(cwd).href, name: basename(cwd) }],
  }));
  client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => elicit(inFlight, params, mcpReq.signal));
  for (const list of ["tools", "prompts"] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => on.listChanged());
  return client;
}

async function listOffers(client: Client, options: RequestOptions): Promise<Known> {
  const { tools, prompts } = client.getServerCapabilities() ?? {};
  const [listed, offered] = await Promise.all([
    tools ? client.listTools(undefined, options) : { tools: [] },
    prompts ? client.listPrompts(undefined, options).catch(() => ({ prompts: [] })) : { prompts: [] },
  ]);
  return {
    tools: fewest(
      listed.tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema })),
      MAX_TOOLS,
    ),
    prompts: fewest(
      offered.prompts.map(({ name, description = "", arguments: args = [] }) => ({
        name,
        description,
        arguments: args.map(({ name, required = false }) => ({ name, required })),
      })),
      MAX_PROMPTS,
    ),
  };
}

/** The part of a list that is kept: not more of it, and nothing larger, than anybody will use. */
function fewest<T extends { description: string }>(list: readonly T[], most: number): T[] {
  return list
    .slice(0, most)
    .map((entry) => ({ ...entry, description: entry.description.slice(0, MAX_LOG_LENGTH).toWellFormed() }))
    .filter((entry) => JSON.stringify(entry).length <= MAX_LOG_BYTES);
}

/** Only during a call of this server, one at a time and limited in number: a server may ask for what its call needs, and no more. */
async function elicit(
  inFlight: readonly InFlight[],
  params: ElicitRequestParams,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const call = inFlight.at(-1);
  if (!call?.listener.elicit || call.asking || call.elicitations >= MAX_ELICITATIONS) return { action: "decline" };
  call.elicitations++;
  call.asking = true;
  using _waiting = call.pause();
  try {
    return await call.listener.elicit(params, AbortSignal.any([signal, call.listener.signal]));
  } finally {
    call.asking = false;
  }
}

/** Measures the silence of a server; paused while a person is asked. */
function createClock(
  limitMs: number,
): Disposable & { readonly signal: AbortSignal; reset(): void; pause(): Disposable } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let paused = 0;
  const stop = () => clearTimeout(timer);
  const reset = () => {
    stop();
    if (paused === 0) timer = setTimeout(() => late.abort(new Error("late")), limitMs);
  };
  reset();
  return {
    signal: late.signal,
    reset,
    pause() {
      paused++;
      stop();
      return {
        [Symbol.dispose]() {
          paused--;
          reset();
        },
      };
    },
    [Symbol.dispose]: () => {
      paused = Infinity;
      stop();
    },
  };
}

function connectFailure(error: unknown, { name, startupTimeoutMs: limitMs }: ServerDefinition): Reason {
  const { code, status } = error as { code?: unknown; status?: unknown };
  if (code === "REQUEST_TIMEOUT") return reason("server-late", { limitMs });
  if (error instanceof UnauthorizedError || status === 401) return reason("server-login", { server: name });
  return serverUnreachable(error);
}

function serverUnreachable(error: unknown): Reason {
  const problem = error instanceof SageError ? error.reason : messageOf(error).slice(0, 300);
  return reason("server-unreachable", { problem });
}
