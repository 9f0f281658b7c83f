import { checkCard, components } from "./card-check.ts";
import { ApiError, rateLimit, type Call, type Route } from "./refusal.ts";
import { createMeter, newId, type Entity, type Json, type World } from "./world.ts";

const DAY = 24 * 60 * 60_000;
const STREAMING_MS = 10 * 60_000;
const LONGEST_TEXT = 100_000;

/** Card entities: created, sent once, changed in a numbered order. */
export function cardkitRoutes(world: World): Route[] {
  const { clock, entities, messages } = world;
  const within = createMeter(clock.now);

  const allowed = () => {
    if (!world.granted.has("cardkit:card:write"))
      throw new ApiError(99991672, "Access denied. One of the following scopes is required: [cardkit:card:write].");
  };

  /** Every change goes through here: known, young enough, not locked, next in order. */
  const change = ({ params, body }: Call, streamed = false): Entity => {
    allowed();
    const entity = entities.get(params[0] ?? "");
    if (!entity) throw new ApiError(200740, "card id is invalid");
    if (clock.now() - entity.at > 14 * DAY) throw new ApiError(200750, "card entity is expired");
    if (entity.message !== undefined && messages.get(entity.message)?.locked)
      throw new ApiError(200810, "card action is lock");
    if (!within(`entity ${entity.id}`, world.limits.perEntity)) throw rateLimit(99991400);
    const { uuid, sequence } = body;
    if (typeof uuid === "string" && entity.uuids.has(uuid)) throw new ApiError(200770, "uuid conflict");
    if (!Number.isInteger(sequence) || Number(sequence) < 1 || Number(sequence) > 2 ** 31 - 1)
      throw new ApiError(300301, "sequence should be a positive int32");
    if (Number(sequence) <= entity.sequence) throw new ApiError(300317, "sequence number compare failed");
    if (streamed && entity.streaming && clock.now() - entity.streamingSince > STREAMING_MS) {
      entity.streaming = false;
      throw new ApiError(200850, "card streaming timeout");
    }
    if (streamed && !entity.streaming) throw new ApiError(300309, "streaming mode is closed");
    entity.sequence = Number(sequence);
    if (typeof uuid === "string") entity.uuids.add(uuid);
    return entity;
  };

  const put = (entity: Entity, card: Json) => {
    entity.card = card;
    const streaming = (card["config"] as Json | undefined)?.["streaming_mode"] === true;
    if (streaming && !entity.streaming) entity.streamingSince = clock.now();
    entity.streaming = streaming;
    const message = entity.message === undefined ? undefined : messages.get(entity.message);
    if (message) message.card = card;
  };

  const refuse = (card: unknown): Json => {
    const problem = checkCard(card);
    if (problem) throw new ApiError(problem.code, `ErrMsg: ${problem.message}`);
    return card as Json;
  };

  return [
    [
      /^POST \/open-apis\/cardkit\/v1\/cards$/,
      ({ body }) => {
        allowed();
        if (body["type"] !== "card_json") throw new ApiError(300301, "type should be card_json");
        const card = refuse(JSON.parse(String(body["data"])));
        const id = newId("card");
        const entity = {
          id,
          card,
          sequence: 0,
          streaming: false,
          streamingSince: 0,
          at: clock.now(),
          uuids: new Set<string>(),
        };
        entities.set(id, entity);
        put(entity, card);
        return { code: 0, msg: "success", data: { card_id: id } };
      },
    ],
    [
      /^PUT \/open-apis\/cardkit\/v1\/cards\/([^/]+)$/,
      (call) => {
        const card = refuse(JSON.parse(String(((call.body["card"] ?? {}) as Json)["data"])));
        put(change(call), card);
        return { code: 0, msg: "success", data: {} };
      },
    ],
    [
      /^PATCH \/open-apis\/cardkit\/v1\/cards\/([^/]+)\/settings$/,
      (call) => {
        const settings = JSON.parse(String(call.body["settings"])) as Json;
        const entity = change(call);
        const config = { ...(entity.card["config"] as Json), ...(settings["config"] as Json) };
        put(entity, refuse({ ...entity.card, config }));
        return { code: 0, msg: "success", data: {} };
      },
    ],
    [
      /^PUT \/open-apis\/cardkit\/v1\/cards\/([^/]+)\/elements\/([^/]+)\/content$/,
      (call) => {
        const entity = change(call, true);
        const { content } = call.body;
        if (typeof content !== "string" || content === "") throw new ApiError(300301, "content is empty");
        if (content.length > LONGEST_TEXT) throw new ApiError(300305, "content is too long");
        const card = structuredClone(entity.card);
        const element = [...components(card)].find((one) => one["element_id"] === call.params[1]);
        if (!element) throw new ApiError(300313, "element is not found");
        if (element["tag"] !== "markdown" && element["tag"] !== "plain_text")
          throw new ApiError(300303, "only text can be streamed");
        element["content"] = content;
        put(entity, card);
        return { code: 0, msg: "success", data: {} };
      },
    ],
  ];
}
