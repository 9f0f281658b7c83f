import { isObject } from "../base/issue.ts";
import type { Json } from "./peer.ts";

/** Anything that JSON messages go through: a child's lines, a socket's frames. */
export type Wire = { messages: AsyncIterable<Json>; send(message: unknown): void };

export type RpcId = string | number;

/** JSON-RPC's code for a method that does not exist. */
export const NOT_OFFERED = -32_601;

/** A request of the other side where it has an id, and a notification where it has none. */
export type Incoming = { method: string; params: Json; id?: RpcId };

/** The other side refused a request, or went away before it had answered. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** Undefined: it went away. */
  readonly code: number | undefined;
  readonly data: unknown;
  constructor(message: string, code?: number, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export type Rpc = {
  /** On abort the request is cancelled at the other side, and a late answer is ignored. */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<Json>;
  notify(method: string, params: unknown): void;
  reply(id: RpcId, result: unknown): void;
  refuse(id: RpcId, code: number, message: string): void;
  /** Requests and notifications of the other side, in order, until the connection ends. Can be read once. */
  incoming: AsyncIterable<Incoming>;
};

/** JSON-RPC in both directions. `version` is added to each message if the protocol requires it. */
export function createRpc(wire: Wire, { version }: { version?: "2.0" } = {}): Rpc {
  const mark = version === undefined ? {} : { jsonrpc: version };
  const waiting = new Map<unknown, { resolve(result: Json): void; reject(error: RpcError): void }>();
  const incoming = createQueue<Incoming>();
  let over = false;
  let last = 0;
  const take = ({ id, method, params, result, error }: Json) => {
    if (typeof method === "string") {
      const named = typeof id === "string" || typeof id === "number" ? { id } : {};
      return incoming.push({ method, params: isObject(params) ? params : {}, ...named });
    }
    const asked = waiting.get(id);
    waiting.delete(id);
    if (!isObject(error)) return asked?.resolve(isObject(result) ? result : {});
    const { code, message, data } = error;
    asked?.reject(new RpcError(shownValue(message), typeof code === "number" ? code : 0, data));
  };
  const listen = async () => {
    try {
      for await (const message of wire.messages) take(message);
    } finally {
      over = true;
      for (const { reject } of waiting.values()) reject(new RpcError("it went away"));
      waiting.clear();
      incoming.end();
    }
  };
  void listen().catch(() => {});
  return {
    request(method, params, signal) {
      if (over || signal?.aborted) return Promise.reject(new RpcError("it went away"));
      const id = ++last;
      const { promise, resolve, reject } = Promise.withResolvers<Json>();
      waiting.set(id, { resolve, reject });
      wire.send({ ...mark, id, method, params });
      const takeBack = () => {
        if (!waiting.delete(id)) return;
        wire.send({ ...mark, method: "$/cancel_request", params: { requestId: id } });
        reject(new RpcError("it was taken back"));
      };
      signal?.addEventListener("abort", takeBack, { once: true });
      return signal ? promise.finally(() => signal.removeEventListener("abort", takeBack)) : promise;
    },
    notify: (method, params) => wire.send({ ...mark, method, params }),
    reply: (id, result) => wire.send({ ...mark, id, result }),
    refuse: (id, code, message) => wire.send({ ...mark, id, error: { code, message } }),
    incoming,
  };
}

function shownValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "no reason given");
}

/** Values that come when they come, read one after the other by one reader. */
type Queue<T> = AsyncIterable<T> & {
  readonly length: number;
  push(value: T): void;
  /** Nothing comes after what is in it. */
  end(): void;
};

export function createQueue<T>(taken?: () => void): Queue<T> {
  const values: T[] = [];
  let wake: (() => void) | undefined;
  let over = false;
  const rouse = () => {
    wake?.();
    wake = undefined;
  };
  return {
    get length() {
      return values.length;
    },
    push(value) {
      if (over) return;
      values.push(value);
      rouse();
    },
    end() {
      over = true;
      rouse();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const [value] = values;
        if (values.length > 0) {
          values.shift();
          taken?.();
          yield value as T;
        } else if (over) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
