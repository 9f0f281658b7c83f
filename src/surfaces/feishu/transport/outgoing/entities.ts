import type { FeishuChannel } from "../../channel/channel.ts";
import { FeishuFailure } from "../../channel/failure.ts";
import { segment, type Api, type CallOptions, type Request } from "../api/api.ts";
import { createPace, type Drawing, type Queues } from "../api/queues.ts";

const PER_ENTITY = 8;
const SKIPS = [1_000, 100_000, 10_000_000];
const MAX_ENTITIES = 1_000;

type EntityParts = { api: Api; queues: Queues; drawing: Drawing; sleep: (ms: number) => Promise<void> };

/** Card entities: cards that stream, changed by numbered calls. */
export function createEntities({
  api,
  queues,
  drawing,
  sleep,
}: EntityParts): Pick<FeishuChannel, "createEntity" | "streamText" | "entitySettings" | "updateEntity"> {
  const entityPace = createPace(PER_ENTITY, sleep);
  const sequences = createSequences();
  const entity = async (
    cardId: string,
    request: Pick<Request, "method" | "path"> & { data: Record<string, unknown> },
    options: CallOptions = {},
  ): Promise<void> => {
    await entityPace(cardId);
    const call = () =>
      api.call(
        {
          method: request.method,
          path: `cardkit/v1/cards/${segment(cardId)}${request.path}`,
          data: { ...request.data, sequence: sequences.next(cardId) },
        },
        options,
      );
    for (const skip of SKIPS) {
      try {
        await call();
        return;
      } catch (error) {
        if (!(error instanceof FeishuFailure) || error.kind !== "sequence") throw error;
        // The platform has seen a higher number, or our clock was set back: numbers may skip, but never repeat.
        sequences.skip(cardId, skip);
      }
    }
    await call();
  };

  return {
    async createEntity(card) {
      const data = { type: "card_json", data: JSON.stringify(card) };
      const made = (await api.call({ method: "POST", path: "cardkit/v1/cards", data }))["data"] as
        | { card_id?: string }
        | undefined;
      if (made?.card_id === undefined) throw new FeishuFailure("unknown", "Feishu gave no id for the card");
      return { cardId: made.card_id };
    },
    streamText: (cardId, elementId, text) =>
      drawing.draw(`text/${cardId}/${elementId}`, `card/${cardId}`, (moot) =>
        entity(
          cardId,
          { method: "PUT", path: `/elements/${segment(elementId)}/content`, data: { content: text } },
          { moot },
        ),
      ),
    entitySettings: (cardId, settings) =>
      queues.run(`card/${cardId}`, () =>
        entity(cardId, { method: "PATCH", path: "/settings", data: { settings: JSON.stringify(settings) } }),
      ),
    updateEntity: (cardId, card) =>
      drawing.draw(`card/${cardId}`, `card/${cardId}`, (moot) =>
        entity(
          cardId,
          { method: "PUT", path: "", data: { card: { type: "card_json", data: JSON.stringify(card) } } },
          { moot },
        ),
      ),
  };
}

/** Sequence numbers that grow across restarts: they start at the current time, ten per second. */
function createSequences() {
  const last = new Map<string, number>();
  const clock = () => (Math.floor(Date.now() / 100) % (2 ** 31 - 2)) + 1;
  return {
    next(cardId: string): number {
      const next = Math.max((last.get(cardId) ?? 0) + 1, clock());
      last.delete(cardId); // keeps the map in order of use
      last.set(cardId, next);
      forgetOldest(last);
      return next;
    },
    skip(cardId: string, by: number): void {
      last.set(cardId, (last.get(cardId) ?? clock()) + by);
    },
  };
}

/** Drops the oldest entries: a card changes for minutes, the process runs for months. */
export function forgetOldest(map: Map<string, unknown>): void {
  for (const key of map.keys())
    if (map.size > MAX_ENTITIES) map.delete(key);
    else return;
}
