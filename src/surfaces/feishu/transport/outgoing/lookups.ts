import type { SurfaceStore } from "../../../../protocol/host/surface-store.ts";
import { thrownText } from "../../../../texts/shared/error.ts";
import type { FeishuChannel } from "../../channel/channel.ts";
import { FeishuFailure } from "../../channel/failure.ts";
import { segment, type Api } from "../api/api.ts";
import type { Log } from "../api/config.ts";
import { readItems } from "../incoming/event.ts";

const NAME_MS = 24 * 60 * 60_000;
const NO_NAME_MS = 10 * 60_000;
const MEMBERS_MS = 5 * 60_000;
const MAX_PAGES = 20;

type LookupParts = { api: Api; appId: string; store: SurfaceStore; log: Log };

/** Files, messages and people, as the platform tells them. */
export function createLookups({
  api,
  appId,
  store,
  log,
}: LookupParts): Pick<FeishuChannel, "download" | "userName" | "message" | "members"> {
  return {
    download: (messageId, key, kind, { limit, signal }) =>
      api.download({
        method: "GET",
        path: `im/v1/messages/${segment(messageId)}/resources/${segment(key)}`,
        query: { type: kind },
        bytes: limit,
        signal,
      }),
    async userName(openId) {
      const known = store.get(`name/${openId}`) as { name?: string } | undefined;
      if (known) return known.name;
      const name = await api
        .call(
          { method: "GET", path: `contact/v3/users/${segment(openId)}`, query: { user_id_type: "open_id" } },
          { once: true },
        )
        .then((answer) => (answer["data"] as { user?: { name?: string } } | undefined)?.user?.name)
        .catch((error: unknown) => void log("debug", `no name for ${openId}: ${thrownText(error)}`));
      store.set(`name/${openId}`, name === undefined ? {} : { name }, { ttlMs: name ? NAME_MS : NO_NAME_MS });
      return name;
    },
    async message(messageId) {
      const answer = await api.call({ method: "GET", path: `im/v1/messages/${segment(messageId)}` });
      const found = readItems((answer["data"] as { items?: unknown } | undefined)?.items, appId);
      if (!found) throw new FeishuFailure("gone", "Feishu gave a message that cannot be read");
      return found;
    },
    async members(chat) {
      const known = store.get(`members/${chat}`) as { all?: string[] } | undefined;
      if (known) return known.all;
      const all = await membersOf(api, chat).catch(
        (error: unknown) => void log("debug", `the people of ${chat} are not known: ${thrownText(error)}`),
      );
      store.set(`members/${chat}`, all === undefined ? {} : { all }, { ttlMs: MEMBERS_MS });
      return all;
    },
  };
}

async function membersOf(api: Api, chat: string): Promise<string[]> {
  const found: string[] = [];
  let page = "";
  for (let count = 0; count < MAX_PAGES; count++) {
    const query = { member_id_type: "open_id", page_size: "100", ...(page !== "" && { page_token: page }) };
    const answer = await api.call(
      { method: "GET", path: `im/v1/chats/${segment(chat)}/members`, query },
      { once: true },
    );
    const { items = [], page_token, has_more } = (answer["data"] ?? {}) as MemberPage;
    found.push(...items.flatMap(({ member_id }) => (member_id === undefined ? [] : [member_id])));
    if (has_more !== true || !page_token) break;
    page = page_token;
  }
  return found;
}

type MemberPage = { items?: { member_id?: string }[]; page_token?: string; has_more?: boolean };
