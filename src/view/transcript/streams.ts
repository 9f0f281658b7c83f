import type { Delta, Fact, FactData } from "../../protocol/facts/fact.ts";
import { textOf } from "../../protocol/facts/message.ts";
import { placeOfKey, stepKeys, stepOfKey } from "../../protocol/key.ts";
import type { Item, ReplyHead, TextItem, ThoughtItem } from "./item.ts";

type Streams = {
  delta(delta: Delta): Item[];
  replied(reply: ReplyHead, data: FactData["model.replied"]): Item[];
  /** A reply was interrupted, and the next one begins elsewhere. */
  interrupted(fact: Fact<"reply.interrupted">): Item[];
  /** The turn was interrupted: nothing continues where it stopped. */
  pause(): Item[];
  end(): Item[];
};

type Stream = { attempt: number; text?: TextItem; thoughts: ThoughtItem[] };

/** Texts and thoughts that are still coming in, by the key of their reply. */
export function createStreams(now: () => number): Streams {
  const streams = new Map<string, Stream>();

  const closeThoughts = ({ thoughts }: Stream): ThoughtItem[] => {
    const open = thoughts.filter(({ done }) => !done);
    for (const item of open) Object.assign(item, { done: true, until: now() });
    return open;
  };
  const restart = (stream: Stream): Item[] => {
    const { text, thoughts } = stream;
    stream.thoughts = [];
    if (text?.done) return []; // it was interrupted and told as it was
    if (text) Object.assign(text, { text: "", restarts: after(text) });
    for (const item of thoughts) Object.assign(item, { text: "", done: true });
    return [...(text ? [text] : []), ...thoughts];
  };
  const after = ({ text, restarts }: TextItem): number => restarts + (text === "" ? 0 : 1);
  const openText = (key: string, stream: Stream): TextItem => {
    const { text } = stream;
    if (text && !text.done) return text;
    const within = placeOfKey(key)?.within ?? [];
    return (stream.text = { type: "text", key, within, text: "", done: false, restarts: text ? after(text) : 0 });
  };

  const pause = (): Item[] =>
    [...streams.values()].flatMap((stream) => {
      const { text } = stream;
      return [...closeThoughts(stream), ...(text && !text.done ? [Object.assign(text, { done: true })] : [])];
    });

  return {
    delta({ key, attempt, kind, text: given, whole }) {
      let stream = streams.get(key);
      if (!stream) streams.set(key, (stream = { attempt, thoughts: [] }));
      if (attempt < stream.attempt) return [];
      const touched: Item[] = attempt > stream.attempt ? restart(stream) : [];
      stream.attempt = attempt;
      let text = given;
      if (whole) {
        const had =
          kind === "text" ? (stream.text?.text ?? "") : stream.thoughts.map((thought) => thought.text).join("");
        if (!given.startsWith(had)) touched.push(...restart(stream));
        else if (given === had) return touched;
        else text = given.slice(had.length);
      }
      if (kind === "text") {
        const item = openText(key, stream);
        item.text += text;
        return [...touched, ...closeThoughts(stream), item];
      }
      let thought = stream.thoughts.find(({ done }) => !done);
      if (!thought) {
        thought = { type: "thought", key, within: [], text: "", done: false, since: now() };
        stream.thoughts.push(thought);
      }
      thought.text += text;
      return [...touched, thought];
    },
    replied(reply, data) {
      const { key } = reply;
      const stream = streams.get(key) ?? { attempt: 0, thoughts: [] };
      streams.delete(key);
      const whole = textOf(data);
      const touched: Item[] = [];
      if (stream.text && !whole.startsWith(stream.text.text)) touched.push(...restart(stream));
      touched.push(...closeThoughts(stream));
      if (stream.thoughts.length === 0) stream.thoughts = thoughtsOf(reply, data);
      for (const thought of stream.thoughts) thought.reply = reply;
      touched.push(...stream.thoughts);
      if (whole !== "" || (stream.text && !stream.text.done))
        touched.push(Object.assign(openText(key, stream), { text: whole, done: true, reply }));
      return touched;
    },
    interrupted({ key, data: { text } }) {
      const reply = `${stepOfKey(key)}/${stepKeys.model}`;
      const stream = streams.get(reply) ?? { attempt: 0, thoughts: [] };
      streams.delete(reply);
      const item = stream.text ?? (text === "" ? undefined : openText(reply, stream));
      return [...closeThoughts(stream), ...(item ? [Object.assign(item, { text, done: true })] : [])];
    },
    pause,
    end() {
      const closed = pause();
      streams.clear();
      return closed;
    },
  };
}

function thoughtsOf(reply: ReplyHead, { parts }: FactData["model.replied"]): ThoughtItem[] {
  const within = placeOfKey(reply.key)?.within ?? [];
  return parts
    .filter((part) => part.type === "reasoning" && part.text.trim() !== "")
    .map((part) => ({ type: "thought", key: reply.key, within, text: (part as { text: string }).text, done: true }));
}
