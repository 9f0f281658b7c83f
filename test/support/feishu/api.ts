import { randomBytes } from "node:crypto";
import { checkCard } from "./card-check.ts";
import { cardkitRoutes } from "./cardkit.ts";
import { partsOf } from "./multipart.ts";
import { ApiError, rateLimit, type Answer, type Call, type Route } from "./refusal.ts";
import { createMeter, newId, scopes, type Json, type Message, type World } from "./world.ts";

const DAY = 24 * 60 * 60_000;

/** Refuses what the platform refuses, with its codes. */
export function createApi(world: World): (route: string, call: Call, authorization: string) => Answer {
  const routes = [...messageRoutes(world), ...cardkitRoutes(world), ...otherRoutes(world)];
  return (route, call, authorization) => {
    if (route === "POST /open-apis/auth/v3/tenant_access_token/internal") return token(world, call.body);
    const bearer = /^Bearer (t-\S+)$/.exec(authorization)?.[1];
    if (bearer === undefined) throw new ApiError(99991661, "Missing access token for authorization");
    if ((world.tokens.get(bearer) ?? 0) <= world.clock.now())
      throw new ApiError(
        99991663,
        "Invalid access token for authorization. Please make a request with token attached.",
      );
    for (const [pattern, handle] of routes) {
      const found = pattern.exec(route);
      if (found) return handle({ ...call, params: found.slice(1).map(decodeURIComponent) });
    }
    throw new ApiError(99991402, `no such route: ${route}`, 404);
  };
}

function token({ app, tokens, tokenLifeMs, clock }: World, body: Json): Json {
  if (body["app_id"] !== app.id) return { code: 10003, msg: "invalid param" };
  if (body["app_secret"] !== app.secret) return { code: 10014, msg: "app secret invalid" };
  // With half an hour left the same one comes again; below that a new one, and both are good.
  const lasting = [...tokens].find(([, until]) => until - clock.now() > 30 * 60_000);
  const [name, until] = lasting ?? [`t-${randomBytes(16).toString("hex")}`, clock.now() + tokenLifeMs];
  tokens.set(name, until);
  const expire = Math.floor((until - clock.now()) / 1_000);
  return { code: 0, msg: "ok", tenant_access_token: name, expire };
}

function messageRoutes(world: World): Route[] {
  const { clock, messages, chats, entities, uuids } = world;
  const within = createMeter(clock.now);
  const needs = (...any: string[]) => {
    if (!any.some((scope) => world.granted.has(scope)))
      throw new ApiError(99991672, `Access denied. One of the following scopes is required: [${any.join(", ")}].`);
  };

  const find = (id: string): Message => {
    const message = messages.get(id);
    if (!message)
      throw new ApiError(230001, "Your request contains an invalid request parameter, ext=invalid message_id");
    return message;
  };

  const send = (chatId: string, body: Json, reply: Partial<Message>): Json => {
    needs("im:message:send_as_bot", "im:message");
    const uuid = body["uuid"];
    if (uuid !== undefined && (typeof uuid !== "string" || uuid.length > 50))
      throw new ApiError(230001, "uuid too long");
    const before = uuid === undefined ? undefined : uuids.get(uuid);
    if (before && clock.now() - before.at < 60 * 60_000) return data(world, find(before.id));
    const chat = chats.get(chatId);
    if (!chat) throw new ApiError(230002, "Bot/User can NOT be out of the chat.");
    if (chat.dissolved) throw new ApiError(232009, "The chat has been dissolved.");
    if (!chat.members.includes("bot")) throw new ApiError(230002, "Bot/User can NOT be out of the chat.");
    if (!within(`chat ${chatId}`, world.limits.perChat)) throw rateLimit(230020);
    const content = parse(body["content"]);
    const type = String(body["msg_type"]);
    const size = Buffer.byteLength(String(body["content"]));
    if (size > (type === "text" ? 150 : 30) * 1024)
      throw new ApiError(230025, "The length of the message content reaches its limit.");
    const message: Message = {
      id: newId("om"),
      chat: chatId,
      sender: "bot",
      type,
      content,
      at: clock.now(),
      edits: 0,
      patches: 0,
      recalled: false,
      locked: false,
      reactions: [],
      ...reply,
      ...(type === "interactive" && carried(content)),
    };
    if (type === "text" && typeof content["text"] !== "string") throw new ApiError(230001, "content of text");
    if (type === "post" && !Object.values(content).every((one) => Array.isArray((one as Json | null)?.["content"])))
      throw new ApiError(230001, "content of post: one for each language");
    if (!["text", "interactive", "post", "image", "file"].includes(type))
      throw new ApiError(230001, `msg_type ${type}`);
    for (const key of ["image_key", "file_key"])
      if (type === key.split("_")[0] && world.files.get(String(content[key]))?.by !== "bot")
        throw new ApiError(230001, `ext=invalid ${key}`);
    if (message.entity !== undefined) {
      const entity = entities.get(message.entity);
      if (entity) entity.message = message.id;
    }
    messages.set(message.id, message);
    if (typeof uuid === "string") uuids.set(uuid, { id: message.id, at: clock.now() });
    return data(world, message);
  };

  const carried = (content: Json): Pick<Message, "card" | "entity"> => {
    if (content["type"] === "card") {
      const id = String((content["data"] as Json | undefined)?.["card_id"]);
      const entity = entities.get(id);
      if (!entity)
        throw new ApiError(230099, "Failed to create card content, ext=ErrCode: 200740; ErrMsg: card id is invalid");
      if (entity.message !== undefined)
        throw new ApiError(
          230099,
          "Failed to create card content, ext=ErrCode: 200220; ErrMsg: card entity was sent already",
        );
      return { card: entity.card, entity: id };
    }
    refuseCard(content);
    return { card: content };
  };

  return [
    [
      /^POST \/open-apis\/im\/v1\/messages$/,
      ({ query, body }) => {
        const kind = query.get("receive_id_type");
        const id = String(body["receive_id"]);
        const prefix =
          kind === "chat_id" ? "oc_" : kind === "open_id" ? "ou_" : kind === "union_id" ? "on_" : undefined;
        if (prefix === undefined || !id.startsWith(prefix))
          throw new ApiError(230001, "Your request contains an invalid request parameter, ext=invalid receive_id");
        const p2p = [...chats.values()].find(({ type, members }) => type === "p2p" && members.includes(id));
        if (kind !== "chat_id" && !p2p) throw new ApiError(230013, "Bot has NO availability to this user.");
        return send(kind === "chat_id" ? id : (p2p?.id ?? ""), body, {});
      },
    ],
    [
      /^POST \/open-apis\/im\/v1\/messages\/([^/]+)\/reply$/,
      ({ params, body }) => {
        const to = find(params[0] ?? "");
        if (to.recalled) throw new ApiError(230011, "The message was withdrawn.");
        const thread = to.thread ?? (body["reply_in_thread"] === true ? newId("omt") : undefined);
        const reply = { parent: to.id, root: to.root ?? to.id, ...(thread !== undefined && { thread }) };
        const sent = send(to.chat, body, reply);
        if (thread !== undefined) to.thread = thread;
        return sent;
      },
    ],
    [
      /^PATCH \/open-apis\/im\/v1\/messages\/([^/]+)$/,
      ({ params, body }) => {
        needs("im:message:update", "im:message", "im:message:send_as_bot");
        const message = find(params[0] ?? "");
        if (message.sender !== "bot") throw new ApiError(230071, "not the sender of the message");
        if (message.recalled) throw new ApiError(230011, "The message was withdrawn.");
        if (message.type !== "interactive") throw new ApiError(230001, "This message is NOT a card.");
        if (clock.now() - message.at > 14 * DAY) throw new ApiError(230031, "The message is too old to update.");
        if (message.locked)
          throw new ApiError(230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: card action is lock");
        if (!within(`message ${message.id}`, world.limits.perMessage)) throw rateLimit(230020);
        if (message.entity !== undefined)
          throw new ApiError(
            230099,
            "Failed to create card content, ext=ErrCode: 300303; ErrMsg: card entity is not patched",
          );
        const card = parse(body["content"]);
        refuseCard(card);
        message.card = message.content = card;
        message.patches++;
        return { code: 0, msg: "success", data: {} };
      },
    ],
    [
      /^PUT \/open-apis\/im\/v1\/messages\/([^/]+)$/,
      ({ params, body }) => {
        const message = find(params[0] ?? "");
        if (message.type !== "text" && message.type !== "post")
          throw new ApiError(230054, "This operation is not supported");
        if (message.edits++ >= 20)
          throw new ApiError(230072, "The message has reached the number of times it can be edited.");
        message.content = parse(body["content"]);
        return data(world, message);
      },
    ],
    [
      /^DELETE \/open-apis\/im\/v1\/messages\/([^/]+)$/,
      ({ params }) => {
        find(params[0] ?? "").recalled = true;
        return { code: 0, msg: "success", data: {} };
      },
    ],
    [
      /^GET \/open-apis\/im\/v1\/messages\/([^/]+)$/,
      ({ params }) => {
        needs("im:message:readonly", "im:message");
        const message = find(params[0] ?? "");
        if (message.recalled) throw new ApiError(230110, "The message has been deleted.");
        const inside = (message.forwards ?? []).map((id) => ({
          ...item(world, find(id)),
          upper_message_id: message.id,
        }));
        return { code: 0, msg: "success", data: { items: [item(world, message), ...inside] } };
      },
    ],
    [
      /^POST \/open-apis\/im\/v1\/messages\/([^/]+)\/reactions$/,
      ({ params, body }) => {
        const emoji = String(((body["reaction_type"] ?? {}) as Json)["emoji_type"]);
        if (!/^[A-Za-z]+$/.test(emoji)) throw new ApiError(231001, "reaction type is invalid.");
        find(params[0] ?? "").reactions.push(emoji);
        return { code: 0, msg: "success", data: { reaction_id: newId("re") } };
      },
    ],
    [
      /^GET \/open-apis\/im\/v1\/messages\/([^/]+)\/resources\/([^/]+)$/,
      ({ params, query }) => {
        needs("im:resource", "im:message", "im:message:readonly");
        const message = find(params[0] ?? "");
        const file = world.files.get(params[1] ?? "");
        if (message.type === "interactive" || message.type === "merge_forward")
          throw new ApiError(234043, "Unsupported message type.");
        if (!file || file.message !== message.id) throw new ApiError(234003, "File not in msg.");
        if (!["image", "file"].includes(query.get("type") ?? "")) throw new ApiError(234001, "Invalid request param.");
        return { bytes: file.content, name: file.name };
      },
    ],
    [
      /^POST \/open-apis\/interactive\/v1\/card\/update$/,
      ({ body }) => {
        const known = world.updateTokens.get(String(body["token"]));
        if (!known) throw new ApiError(300020, "token is invalid");
        if (!known.armed) throw new ApiError(200810, "card action is lock");
        if (clock.now() - known.at > 30 * 60_000) throw new ApiError(300030, "token is expired");
        if (known.used++ >= 2) throw new ApiError(300040, "token is used up");
        const message = find(known.message);
        refuseCard(body["card"] as Json);
        message.card = body["card"] as Json;
        return { code: 0, msg: "ok" };
      },
    ],
  ];
}

function otherRoutes(world: World): Route[] {
  const upload = (prefix: string, field: string, limit: number, call: Call): Json => {
    const parts = partsOf(call.raw, call.contentType);
    const file = parts.get(field);
    if (!file || file.length === 0) throw new ApiError(234006, "The file is empty.");
    if (file.length > limit) throw new ApiError(234006, "The file size exceed the max value.");
    const key = newId(prefix);
    const name = parts.get("file_name")?.toString("utf8") ?? "image";
    world.files.set(key, { name, content: file, by: "bot" });
    return { code: 0, msg: "success", data: { [field === "image" ? "image_key" : "file_key"]: key } };
  };
  return [
    [
      /^GET \/open-apis\/bot\/v3\/info$/,
      () => ({
        code: 0,
        msg: "ok",
        bot: { open_id: world.bot.openId, app_name: world.bot.name, activate_status: world.published ? 2 : 1 },
      }),
    ],
    [
      /^GET \/open-apis\/im\/v1\/chats\/([^/]+)$/,
      ({ params }) => {
        const chat = world.chats.get(params[0] ?? "");
        if (!chat) throw new ApiError(232006, "chat not found");
        return { code: 0, msg: "success", data: { name: chat.name, chat_mode: chat.type, chat_type: "private" } };
      },
    ],
    [
      /^GET \/open-apis\/im\/v1\/chats\/([^/]+)\/members$/,
      ({ params, query }) => {
        const any = ["im:chat.members:read", "im:chat:readonly", "im:chat"];
        if (!any.some((scope) => world.granted.has(scope)))
          throw new ApiError(99991672, `Access denied. One of the following scopes is required: [${any.join(", ")}].`);
        const chat = world.chats.get(params[0] ?? "");
        if (!chat?.members.includes("bot")) throw new ApiError(232011, "Operator can NOT be out of the chat.");
        if (query.get("member_id_type") !== "open_id") throw new ApiError(230001, "member_id_type");
        const people = chat.members.filter((one) => one !== "bot");
        const from = Number(query.get("page_token") ?? 0);
        const size = Math.min(Number(query.get("page_size") ?? 20), 100);
        const items = people.slice(from, from + size).map((member_id) => ({ member_id, member_id_type: "open_id" }));
        const has_more = from + size < people.length;
        return { code: 0, msg: "success", data: { items, has_more, page_token: has_more ? `${from + size}` : "" } };
      },
    ],
    [
      /^GET \/open-apis\/contact\/v3\/users\/([^/]+)$/,
      ({ params }) => {
        if (!world.granted.has("contact:user.base:readonly"))
          throw new ApiError(
            99991672,
            "Access denied. One of the following scopes is required: [contact:user.base:readonly].",
          );
        const person = world.people.get(params[0] ?? "");
        if (!person) throw new ApiError(41050, "no user authority error");
        return { code: 0, msg: "success", data: { user: { open_id: person.openId, name: person.name } } };
      },
    ],
    [
      /^GET \/open-apis\/application\/v6\/scopes$/,
      () => ({
        code: 0,
        msg: "success",
        data: {
          scopes: [...new Set([...scopes, ...world.granted])].map((scope) => ({
            scope_name: scope,
            grant_status: world.granted.has(scope) ? 1 : 2,
            scope_type: "tenant",
          })),
        },
      }),
    ],
    [
      /^GET \/open-apis\/application\/v6\/applications\/([^/]+)$/,
      () => {
        if (!world.granted.has("application:application:self_manage"))
          throw new ApiError(
            99991672,
            "Access denied. One of the following scopes is required: [application:application:self_manage].",
          );
        return {
          code: 0,
          msg: "success",
          data: {
            app: {
              app_id: world.app.id,
              ...(world.published && { online_version_id: "oav_1" }),
              event: { subscription_type: "websocket", subscribed_events: [...world.events] },
              callback: { callback_type: "websocket", subscribed_callbacks: [...world.callbacks] },
            },
          },
        };
      },
    ],
    [/^POST \/open-apis\/im\/v1\/images$/, (call) => upload("img", "image", 10 * 1024 * 1024, call)],
    [/^POST \/open-apis\/im\/v1\/files$/, (call) => upload("file", "file", 30 * 1024 * 1024, call)],
  ];
}

/** A card inside of a message: the exact complaint stands in the words. */
function refuseCard(card: Json): void {
  const problem = checkCard(card);
  if (!problem) return;
  if (problem.code === 230025) throw new ApiError(230025, "The length of the message content reaches its limit.");
  throw new ApiError(
    230099,
    `Failed to create card content, ext=ErrCode: ${problem.code}; ErrMsg: ${problem.message}; ErrorValue: ; `,
  );
}

function parse(content: unknown): Json {
  try {
    const value: unknown = JSON.parse(String(content));
    if (typeof content === "string" && typeof value === "object" && value !== null) return value as Json;
  } catch {
    // said below
  }
  throw new ApiError(
    230001,
    "Your request contains an invalid request parameter, ext=content is not a string in json format",
  );
}

function data(world: World, message: Message): Json {
  return { code: 0, msg: "success", data: item(world, message) };
}

function item({ app }: World, message: Message): Json {
  return {
    message_id: message.id,
    ...(message.root !== undefined && { root_id: message.root, parent_id: message.parent }),
    ...(message.thread !== undefined && { thread_id: message.thread }),
    msg_type: message.type,
    create_time: String(message.at),
    update_time: String(message.at),
    deleted: message.recalled,
    updated: message.edits > 0,
    chat_id: message.chat,
    sender:
      message.sender === "bot" || message.sender === "other-bot"
        ? {
            id: message.sender === "bot" ? app.id : "cli_0000000000000000",
            id_type: "app_id",
            sender_type: "app",
            tenant_key: app.tenantKey,
          }
        : { id: message.sender, id_type: "open_id", sender_type: "user", tenant_key: app.tenantKey },
    body: { content: JSON.stringify(message.content) },
  };
}
