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
type One = { client: Client; stop(): void };

/**
 * The long connection, supervised. The library reconnects by itself in ordinary cases. This notices the others: the library gave up,
 * has tried for too long, or holds a connection on which nothing arrives.
 */
export function createConnection(
  app: FeishuApp,
  { api, timings, log, receive }: { api: Api; timings: Timings; log: Log; receive(payload: unknown): Promise<unknown> },
): Connection {
  let current: One | undefined;
  let watch: NodeJS.Timeout | undefined;
  let again: NodeJS.Timeout | undefined;
  let failures = 0;
  let renewing = false;
  let closed = false;
  let heardAt: number | undefined;
  let wellAt = Date.now();
  let status: ChannelStatus = { state: "idle", since: Date.now() };

  const become = (state: ChannelStatus["state"], problem?: string) => {
    if (state === status.state && problem === status.problem) return;
    const since = state === status.state ? status.since : Date.now();
    status = { state, since, ...(problem !== undefined && { problem }) };
    log(problem === undefined ? "info" : "warn", `long connection: ${state}${problem ? ` (${problem})` : ""}`);
  };

  /** Starts one client of the library; `ended` is told how its first attempt ended. */
  const open = async (ended: (problem?: string) => void): Promise<One> => {
    const library = await api.library();
    const logger = libraryLogger(log, redactorOf(app));
    class Dispatcher extends library.EventDispatcher {
      /** The event as it was sent: the library would merge header and event into one object. */
      override async invoke(payload: unknown): Promise<unknown> {
        heardAt = Date.now();
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
      onReady: () => ended(),
      onReconnecting: () => current?.client === client && become("reconnecting"),
      onReconnected: () => current?.client === client && well(),
      onError: (error) => {
        ended(redactorOf(app)(thrownText(error)));
        if (current?.client === client) failed(redactorOf(app)(thrownText(error)));
      },
    });
    noticeOldCards(client, () => become(status.state, "card-callback"));
    await client.start({ eventDispatcher: new Dispatcher({ logger }) });
    return { client, stop: () => client.close({ force: true }) };
  };

  const well = () => {
    failures = 0;
    wellAt = Date.now();
    become("connected");
  };

  /** Starts a new client, after a delay that grows with each attempt. */
  const failed = (problem: string) => {
    if (closed || again) return;
    current?.stop();
    current = undefined;
    become("failed", problem);
    const waitMs = Math.min(60_000, timings.retryMs * 2 ** Math.min(failures++, 10)) * (0.75 + Math.random() / 2);
    again = setTimeout(() => {
      again = undefined;
      void begin();
    }, waitMs);
  };

  const begin = async (): Promise<void> => {
    if (closed) return;
    become("connecting");
    wellAt = Date.now();
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(resolve, timings.callMs, "it takes long");
    try {
      const opened = await open(resolve);
      if (closed) return opened.stop();
      current = opened;
      const problem = await promise;
      if (problem === undefined && current === opened) well();
    } catch (error) {
      failed(thrownText(error));
    } finally {
      clearTimeout(timer);
    }
  };

  /** Opens the new connection before closing the old one, so that no event is missed. */
  const renew = async (): Promise<void> => {
    if (renewing) return;
    renewing = true;
    try {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const timer = setTimeout(resolve, timings.callMs, "it takes long");
      const fresh = await open(resolve);
      const problem = await promise;
      clearTimeout(timer);
      if (closed || problem !== undefined) return fresh.stop();
      current?.stop();
      current = fresh;
      log("debug", "long connection: renewed, because nothing was heard for a while");
    } catch (error) {
      log("warn", `long connection: could not be renewed: ${thrownText(error)}`);
    } finally {
      heardAt = Date.now(); // replaced again only after another silence of that length
      renewing = false;
    }
  };

  const look = () => {
    if (!current || again) return;
    const { state } = current.client.getConnectionStatus();
    if (state === "connected") {
      if (status.state !== "connected") well();
      wellAt = Date.now();
      const quietSince = Math.max(heardAt ?? 0, status.since);
      if (Date.now() - quietSince > timings.quietMs) void renew();
    } else if (Date.now() - wellAt > timings.stuckMs) failed("no connection for too long");
    else if (status.state === "connected") become("reconnecting");
  };

  return {
    async start() {
      watch = setInterval(look, timings.lookMs);
      await begin();
    },
    status: () => ({ ...status, ...(heardAt !== undefined && { heardAt }) }),
    close() {
      closed = true;
      clearInterval(watch);
      clearTimeout(again);
      current?.stop();
      current = undefined;
      become("closed");
    },
  };
}

/**
 * Clicks arrive as frames of type `card` when the callback is not set up or no version with it was published. The library drops them
 * silently and the person sees an error, so the operator is told.
 */
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
