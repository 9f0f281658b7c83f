import { thrownText } from "../../../../texts/shared/error.ts";
import { type Api, type Library, libraryLogger, redactorOf } from "../api/api.ts";
import type { ChannelStatus } from "../../channel/channel.ts";
import type { FeishuApp, Log, Timings } from "../api/config.ts";

type Connection = {
  /** Resolves when the first attempt has succeeded or failed. */
  start(): Promise<void>;
  status(): ChannelStatus;
  close(): void;
};

type Client = InstanceType<Library["WSClient"]>;
/** `problem`: how its first attempt ended; undefined when it is connected. */
type Started = { client: Client; problem: Promise<string | undefined>; stop(): void };

/** Supervises the long connection where the library fails: it gave up, tried too long, or holds a connection that is silent. */
export function createConnection(
  app: FeishuApp,
  { api, timings, log, receive }: { api: Api; timings: Timings; log: Log; receive(payload: unknown): Promise<unknown> },
): Connection {
  let current: Started | undefined;
  let watch: NodeJS.Timeout | undefined;
  let renewing = false;
  let closed = false;
  let heardAt: number | undefined;
  let wellAt = Date.now();
  const { status, become } = createStatus(log);
  const retry = createRetry(timings.retryMs, () => void begin());

  const open = async (): Promise<Started> =>
    openClient(app, await api.library(), {
      timings,
      log,
      receive(payload) {
        heardAt = Date.now();
        return receive(payload);
      },
      changed(client, state, problem) {
        if (state === "old-cards") become(status().state, "card-callback");
        else if (current?.client !== client) return;
        else if (state === "reconnecting") become("reconnecting");
        else if (state === "reconnected") well();
        else failed(problem);
      },
    });

  const well = () => {
    retry.reset();
    wellAt = Date.now();
    become("connected");
  };

  const failed = (problem: string) => {
    if (closed || retry.waiting()) return;
    current?.stop();
    current = undefined;
    become("failed", problem);
    retry.later();
  };

  const begin = async (): Promise<void> => {
    if (closed) return;
    become("connecting");
    wellAt = Date.now();
    try {
      const opened = await open();
      if (closed) return opened.stop();
      current = opened;
      const problem = await opened.problem;
      if (problem === undefined && current === opened) well();
    } catch (error) {
      failed(thrownText(error));
    }
  };

  const renew = async (): Promise<void> => {
    if (renewing) return;
    renewing = true;
    const fresh = await replacement(open, () => closed, log);
    if (fresh) {
      current?.stop();
      current = fresh;
    }
    heardAt = Date.now(); // replaced again only after another silence of that length
    renewing = false;
  };

  const look = () => {
    if (!current || retry.waiting()) return;
    const { state } = current.client.getConnectionStatus();
    if (state === "connected") {
      if (status().state !== "connected") well();
      wellAt = Date.now();
      const quietSince = Math.max(heardAt ?? 0, status().since);
      if (Date.now() - quietSince > timings.quietMs) void renew();
    } else if (Date.now() - wellAt > timings.stuckMs) failed("no connection for too long");
    else if (status().state === "connected") become("reconnecting");
  };

  return {
    async start() {
      watch = setInterval(look, timings.lookMs);
      await begin();
    },
    status: () => ({ ...status(), ...(heardAt !== undefined && { heardAt }) }),
    close() {
      closed = true;
      clearInterval(watch);
      retry.stop();
      current?.stop();
      current = undefined;
      become("closed");
    },
  };
}

/** A new connection that works, opened before the old one is closed, so that no event is missed. */
async function replacement(open: () => Promise<Started>, isClosed: () => boolean, log: Log) {
  try {
    const fresh = await open();
    const problem = await fresh.problem;
    if (isClosed() || problem !== undefined) return void fresh.stop();
    log("debug", "long connection: renewed, because nothing was heard for a while");
    return fresh;
  } catch (error) {
    return void log("warn", `long connection: could not be renewed: ${thrownText(error)}`);
  }
}

/** Begins again, after a delay that grows with each attempt. */
function createRetry(firstMs: number, begin: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  return {
    waiting: () => timer !== undefined,
    reset() {
      failures = 0;
    },
    later() {
      const waitMs = Math.min(60_000, firstMs * 2 ** Math.min(failures++, 10)) * (0.75 + Math.random() / 2);
      timer = setTimeout(() => {
        timer = undefined;
        begin();
      }, waitMs);
    },
    stop: () => clearTimeout(timer),
  };
}

function createStatus(log: Log) {
  let status: ChannelStatus = { state: "idle", since: Date.now() };
  return {
    status: () => status,
    become(state: ChannelStatus["state"], problem?: string): void {
      if (state === status.state && problem === status.problem) return;
      const since = state === status.state ? status.since : Date.now();
      status = { state, since, ...(problem !== undefined && { problem }) };
      log(problem === undefined ? "info" : "warn", `long connection: ${state}${problem ? ` (${problem})` : ""}`);
    },
  };
}

type ClientParts = {
  timings: Timings;
  log: Log;
  receive(payload: unknown): Promise<unknown>;
  changed(client: Client, state: "reconnecting" | "reconnected" | "failed" | "old-cards", problem: string): void;
};

/** Starts a client of the library. */
async function openClient(
  app: FeishuApp,
  library: Awaited<ReturnType<Api["library"]>>,
  { timings, log, receive, changed }: ClientParts,
): Promise<Started> {
  const redact = redactorOf(app);
  const logger = libraryLogger(log, redact);
  const { promise: problem, resolve: ended } = Promise.withResolvers<string | undefined>();
  class Dispatcher extends library.EventDispatcher {
    /** The event as it was sent: the library would merge header and event into one object. */
    override async invoke(payload: unknown): Promise<unknown> {
      return receive(payload);
    }
  }
  const client: Client = new library.WSClient({
    appId: app.appId,
    appSecret: app.appSecret,
    domain: app.domain,
    logger,
    httpInstance: library.http,
    ...(app.agent && { agent: app.agent }),
    handshakeTimeoutMs: timings.callMs,
    wsConfig: { pingTimeout: timings.pongMs / 1_000 },
    onReady: () => ended(undefined),
    onReconnecting: () => changed(client, "reconnecting", ""),
    onReconnected: () => changed(client, "reconnected", ""),
    onError(error) {
      const words = redact(thrownText(error));
      ended(words);
      changed(client, "failed", words);
    },
  });
  noticeOldCards(client, () => changed(client, "old-cards", ""));
  const timer = setTimeout(ended, timings.callMs, "it takes long");
  void problem.then(() => clearTimeout(timer));
  try {
    await client.start({ eventDispatcher: new Dispatcher({ logger }) });
  } catch (error) {
    ended(thrownText(error));
    throw error;
  }
  const stop = () => {
    ended("stopped");
    client.close({ force: true });
  };
  return { client, problem, stop };
}

/** Without the callback, clicks arrive as frames `card`, which the library drops while the person sees an error: tell the operator. */
function noticeOldCards(client: Client, tell: () => void): void {
  const inner = client as unknown as {
    handleEventData?: (data: { headers: { key: string; value: string }[] }) => Promise<void>;
  };
  const handle = inner.handleEventData?.bind(client);
  if (!handle) return;
  inner.handleEventData = async (data) => {
    if (data.headers.some(({ key, value }) => key === "type" && value === "card")) tell();
    return handle(data);
  };
}
