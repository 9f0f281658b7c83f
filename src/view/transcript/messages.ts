import type { Fact } from "../../protocol/facts/fact.ts";
import { createMail } from "../../protocol/facts/unseen.ts";
import type { Item, SaidItem } from "./item.ts";

/** Messages of people, until a turn has read them or left them out. */
type Messages = {
  /** Every fact, before it is passed to the functions below. */
  note(fact: Fact): void;
  said(fact: Fact<"user.said">): Item[];
  withdrawn(fact: Fact<"message.withdrawn">): Item[];
  /** A request to the model has begun with messages up to this seq; 0 if none is under way any more. */
  asked(upTo: number): Item[];
  /** A fact has decided about messages: they were read, or left out because somebody had taken them back. */
  settled(at: number): Item[];
};

export function createMessages(): Messages {
  const mail = createMail();
  let unread: { seq: number; item: SaidItem }[] = [];
  return {
    note: mail.note,
    said({ key, at, seq, data: { by, surface, text, images = [] } }) {
      const item: SaidItem = { type: "said", key, at, sender: { by, surface }, text, images, read: false };
      unread.push({ seq, item });
      return [item];
    },
    withdrawn({ at, data: { message, by, surface } }) {
      const item = unread.find(({ seq }) => seq === message)?.item;
      if (!item) return [{ type: "withdrawn", at, text: "", late: true, by, surface }];
      item.withdrawn = { by, surface };
      return [item, { type: "withdrawn", at, text: item.text, late: false, by, surface }];
    },
    asked(upTo) {
      return unread.flatMap(({ seq, item }) => {
        const asked = seq <= upTo;
        if (asked === (item.asked === true)) return [];
        if (asked) item.asked = true;
        else delete item.asked;
        return [item];
      });
    },
    settled(at) {
      const settled = unread.filter(({ seq }) => seq <= mail.sawUpTo);
      unread = unread.filter(({ seq }) => seq > mail.sawUpTo);
      return settled.flatMap(({ seq, item }): Item[] => {
        if (mail.fateOf(seq) === "withdrawn") return [item];
        const { withdrawn: sender, text } = item;
        item.read = true;
        delete item.withdrawn;
        return sender ? [item, { type: "withdrawn", at, text, late: true, ...sender }] : [item];
      });
    },
  };
}
