import type { InputResponse } from "../../protocol/facts/answer.ts";
import { isComplete, needsConsent } from "../../protocol/facts/consent.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import type { Asked } from "../../protocol/host/receipt.ts";
import { placeOfKey, withoutEnd } from "../../protocol/key.ts";
import { plainText, reason } from "../../protocol/reasons/reason.ts";
import type { AskedItem, CallItem, InquiryItem, Item } from "./item.ts";

/** Changes a call; returns the items that changed with it. */
export type Change = (item: CallItem | undefined, more?: Partial<CallItem>) => CallItem[];

/** Open requests: asked by a call, or by themselves. */
type Requests = {
  requested(fact: Fact<"input.requested">, call: CallItem | undefined): Item[];
  approved(fact: Fact<"input.approved">): Item[];
  resolved(fact: Fact<"input.resolved">): Item[];
  /** A guest runs the turns; its facts tell what became of answers. */
  delivered(fact: Fact<"guest.joined" | "answer.delivered" | "answer.undelivered">): Item[];
  inquired(fact: Fact<"inquiry.made" | "inquiry.replied">): Item[];
};

export function createRequests(change: Change): Requests {
  /** Open requests, by id. */
  const requests = new Map<string, { asked: Asked; item: CallItem | AskedItem }>();
  /** Inquiries about open requests, by their keys. */
  const inquiries = new Map<string, InquiryItem>();
  /** Answers to the guest. */
  const given = new Map<string, { asked: Asked; item: CallItem | AskedItem }>();
  let guest: string | undefined;

  const answered = ({ key, at, data }: Fact<"input.resolved">): Item[] => {
    const found = requests.get(data.requestId);
    if (!found) return [];
    found.asked.resolution = data;
    if (guest !== undefined && data.outcome === "answered") {
      found.asked.delivery = "waiting";
      given.set(data.requestId, found);
    }
    if (found.item.type === "asked") return [Object.assign(found.item, { resolution: data })];
    const { item } = found;
    const edit = editOf(data);
    change(item, edit ? { input: edit, changed: { by: "person", who: { by: data.by, surface: data.surface } } } : {});
    if (!item.turnEnded) return change(item);
    // Its turn is over and was shown; the answer becomes an item of its own.
    const { request } = found.asked;
    return [item, { type: "asked", key, at, within: item.within, request, resolution: data, call: item }];
  };
  /** Tells it in the item, and with the request that it is about. */
  const tell = (item: InquiryItem, more: Pick<InquiryItem, "reply" | "over">): Item[] => {
    const { inquiries: all = [] } = requests.get(item.request.id)?.asked ?? {};
    Object.assign(all.find(({ made }) => made.inquiry === item.made.inquiry) ?? {}, more);
    return [Object.assign(item, more)];
  };
  return {
    requested({ key, at, data }, call) {
      const asked: Asked = { request: data };
      const own: AskedItem = { type: "asked", key, at, within: placeOfKey(key)?.within ?? [], request: data };
      requests.set(data.id, { asked, item: call ?? own });
      call?.asked.push(asked);
      return call ? change(call) : [own];
    },
    approved({ at, data }) {
      const found = requests.get(data.requestId);
      if (!found || !needsConsent(found.asked.request)) return [];
      const { asked, item } = found;
      const approvals = (asked.approvals = [...(asked.approvals ?? []), data]);
      if (item.type === "asked") item.approvals = approvals;
      const { request } = asked;
      const needed = found.asked.request.consent.approvals;
      const told: Item = { type: "approved", at, request, approvals, needed };
      return [
        ...(item.type === "call" ? change(item) : [item]),
        ...(isComplete(found.asked.request, approvals) ? [] : [told]),
      ];
    },
    resolved(fact) {
      const { requestId } = fact.data;
      const unreplied = [...inquiries.values()]
        .filter(({ request }) => request.id === requestId)
        .flatMap((inquiry) => (inquiries.delete(inquiry.key), tell(inquiry, { over: true })));
      const items = answered(fact);
      return requests.delete(requestId) ? [...unreplied, ...items] : [];
    },
    delivered({ type, data }) {
      if (type === "guest.joined") guest = data.delivers ? data.agent : undefined;
      if (type === "guest.joined") return [];
      const { asked, item } = given.get(data.requestId) ?? {};
      if (!asked || !item || guest === undefined) return [];
      const wasTold = asked.delivery === "told";
      asked.delivery = type === "answer.delivered" ? "read" : data.unknown ? "unknown" : "told";
      const changed = item.type === "call" ? change(item) : [item];
      if (asked.delivery !== "told" && !wasTold) return changed;
      const { request } = asked;
      const tool = request.kind === "permission" ? request.tool : "AskUserQuestion";
      const why = reason(wasTold ? "guest-answer-read" : "guest-answer-lost", { agent: guest, tool });
      return [...changed, { type: "notice", text: plainText(why), reason: why }];
    },
    inquired(fact) {
      const { key, at } = fact;
      if (fact.type === "inquiry.replied") {
        const item = inquiries.get(withoutEnd(key));
        inquiries.delete(withoutEnd(key));
        return item ? tell(item, { reply: { ...fact.data, at } }) : [];
      }
      const asked = requests.get(fact.data.requestId)?.asked;
      if (!asked) return [];
      const { request } = asked;
      (asked.inquiries ??= []).push({ made: fact.data });
      const within = placeOfKey(key)?.within ?? [];
      const item: InquiryItem = { type: "inquiry", key, at, within, request, made: fact.data };
      inquiries.set(key, item);
      return [item];
    },
  };
}

/** The input a person put in the place of the model's. */
function editOf(resolution: Resolution): (InputResponse & { type: "granted" })["input"] {
  if (resolution.outcome === "superseded") return resolution.edited?.input;
  const response = "response" in resolution ? resolution.response : undefined;
  return response?.type === "granted" ? response.input : undefined;
}
