import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createApi } from "./api.ts";
import { createClock, type FakeClock } from "./clock.ts";
import { createDelivery, type Delivery } from "./delivery.ts";
import { createUser, type User } from "./people.ts";
import { ApiError } from "./refusal.ts";
import { createRegistration, type Registration } from "./registration.ts";
import { createSockets, type Sockets } from "./sockets.ts";
import { seen, type Seen } from "./view.ts";
import { newId, scopes, type Failure, type Json, type Locale, type Message, type World } from "./world.ts";

export type FakeFeishu = AsyncDisposable & {
  /** For `domain`. */
  url: string;
  appId: string;
  appSecret: string;
  encryptKey: string;
  verificationToken: string;
  clock: FakeClock;
  world: World;
  sockets: Sockets;
  delivery: Delivery;
  user(name: string, locale?: Locale): User;
  /** A group with the bot and these people; its id. */
  group(name: string, members: User[]): string;
  /** A card of another bot; the id of the message. */
  post(chat: string, card: Json): string;
  /** Messages that people see in a chat, from the oldest on. */
  seen(chat: string, locale?: Locale): Seen[];
  message(id: string): Message;
  /** Waits until a message in the chat is as the test wants it, and gives it. */
  until(chat: string, wanted: (message: Seen) => boolean): Promise<Seen>;
  /** The next calls of this route go wrong. */
  failNext(route: RegExp, how?: Partial<Omit<Failure, "route">>): void;
  delay(route: RegExp, ms: number): void;
  /** All tokens that were given out are worth nothing from now on. */
  expireTokens(): void;
  recall(messageId: string): void;
  /** How often a route was called. */
  count(route: RegExp): number;
  /** Answer of the discovery of the long connection, instead of the usual one. */
  discovery: { answer?: Json };
  registration: Registration;
};

const PATIENCE_MS = 20_000;

/** An open platform on this machine, for the real client library. It refuses what the real one refuses. */
export async function fakeFeishu(
  options: { port?: number; client?: Json; tokenLifeMs?: number } = {},
): Promise<FakeFeishu> {
  process.env["NO_PROXY"] = "127.0.0.1,localhost";
  const clock = createClock();
  const world: World = {
    clock,
    app: {
      id: "cli_a1b2c3d4e5f60718",
      secret: "the-secret-of-the-app-0123456789",
      encryptKey: "an encrypt key",
      verificationToken: "a-verification-token",
      tenantKey: "2ca1d211f64f6438",
    },
    bot: { openId: newId("ou"), name: "Sage" },
    messages: new Map(),
    entities: new Map(),
    chats: new Map(),
    people: new Map(),
    files: new Map(),
    uuids: new Map(),
    tokens: new Map(),
    tokenLifeMs: options.tokenLifeMs ?? 2 * 60 * 60_000,
    updateTokens: new Map(),
    granted: new Set(scopes),
    published: true,
    events: new Set(["im.message.receive_v1", "im.message.recalled_v1"]),
    callbacks: new Set(["card.action.trigger"]),
    shown: [],
    calls: [],
    failures: [],
    delays: [],
    limits: { perChat: 5, perMessage: 5, perEntity: 10 },
  };
  const client = { ReconnectCount: -1, ReconnectInterval: 1, ReconnectNonce: 0, PingInterval: 120, ...options.client };
  const sockets = createSockets(client);
  const delivery = createDelivery(world, sockets);
  const api = createApi(world);
  const discovery: { answer?: Json } = {};
  const registration = createRegistration(world);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://x");
    const route = `${request.method} ${url.pathname}`;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const wait = world.delays.find((one) => one.route.test(route))?.ms ?? 0;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait).unref()); // nobody is kept by it when all is over
    const contentType = request.headers["content-type"] ?? "";
    const body =
      contentType.startsWith("application/json") && raw.length > 0 ? (JSON.parse(raw.toString("utf8")) as Json) : {};
    const failure = world.failures.find((one) => one.times > 0 && one.route.test(route));
    if (failure) failure.times--;
    const answer = (status: number, told: Json, headers: Record<string, string> = {}) => {
      world.calls.push({ route, code: Number(told["code"] ?? 0), status, at: clock.now(), body });
      response.writeHead(status, { "content-type": "application/json", "x-tt-logid": newId("log"), ...headers });
      response.end(JSON.stringify(told));
    };
    const fail = ({ status, code, msg, headers, cut }: Failure) => {
      if (cut) response.destroy();
      else answer(status, { code, msg }, headers);
    };
    if (failure && !failure.afterwards) return fail(failure);
    try {
      if (route === "POST /oauth/v1/app/registration") {
        const { status, body: told } = registration.answer(new URLSearchParams(raw.toString("utf8")));
        return answer(status, told);
      }
      if (route === "POST /callback/ws/endpoint") {
        const known = body["AppID"] === world.app.id && body["AppSecret"] === world.app.secret;
        const good = known ? sockets.endpoint(port) : { code: 514, msg: "auth failed", data: {} };
        return answer(200, discovery.answer ?? good);
      }
      const told = api(
        route,
        { params: [], query: url.searchParams, body, raw, contentType },
        request.headers.authorization ?? "",
      );
      if (failure) return fail(failure);
      if ("bytes" in told && Buffer.isBuffer(told["bytes"])) {
        world.calls.push({ route, code: 0, status: 200, at: clock.now(), body });
        response.writeHead(200, { "content-type": "application/octet-stream", "content-length": told["bytes"].length });
        response.end(told["bytes"]);
      } else answer(200, told);
    } catch (error) {
      if (error instanceof ApiError) answer(error.status, { code: error.code, msg: error.message }, error.headers);
      else answer(500, { code: 1500, msg: error instanceof Error ? (error.stack ?? "") : String(error) });
    }
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.on("upgrade", sockets.upgrade);
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const find = (id: string): Message => {
    const message = world.messages.get(id);
    if (!message) throw new Error(`there is no message ${id}`);
    return message;
  };

  return {
    url: `http://127.0.0.1:${port}`,
    appId: world.app.id,
    appSecret: world.app.secret,
    encryptKey: world.app.encryptKey,
    verificationToken: world.app.verificationToken,
    clock,
    world,
    sockets,
    delivery,
    discovery,
    registration,
    user: (name, locale) => createUser(world, delivery, name, locale),
    group(name, members) {
      const id = newId("oc");
      const all = [...members.map(({ openId }) => openId), "bot"];
      world.chats.set(id, { id, type: "group", name, members: all, dissolved: false });
      return id;
    },
    post(chat, card) {
      const id = newId("om");
      const times = { at: clock.now(), edits: 0, patches: 0, recalled: false, locked: false, reactions: [] };
      world.messages.set(id, { id, chat, sender: "other-bot", type: "interactive", content: card, card, ...times });
      return id;
    },
    seen: (chat, locale) => seen(world, chat, locale),
    message: find,
    async until(chat, wanted) {
      const started = performance.now();
      for (;;) {
        const found = seen(world, chat).find(wanted);
        if (found) return found;
        if (performance.now() - started > PATIENCE_MS)
          throw new Error(`nothing like it is to be seen in:\n${JSON.stringify(seen(world, chat), undefined, 1)}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    failNext(route, how = {}) {
      const failure = {
        times: 1,
        status: 400,
        code: 0,
        msg: "as the test wished",
        headers: {},
        cut: false,
        afterwards: false,
      };
      world.failures.push({ ...failure, ...how, route });
    },
    delay: (route, ms) => void world.delays.push({ route, ms }),
    expireTokens: () => world.tokens.clear(),
    recall: (id) => void (find(id).recalled = true),
    count: (route) => world.calls.filter((call) => route.test(call.route)).length,
    async [Symbol.asyncDispose]() {
      clock.stop();
      sockets.close();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
