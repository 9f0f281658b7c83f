import { chunksOf, type Play, type RequestBody, type ServedReply } from "./model-server.ts";

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export type Wire = "anthropic" | "openai";

/** Harm that a server does to the reply that it should give: often nothing, otherwise one of everything that was ever seen. */
export function flaky(
  seed: number,
  wire: Wire,
  reply: (body: RequestBody) => ServedReply,
): { play: (body: RequestBody) => Play; done: string[] } {
  const random = seeded(seed);
  const below = (n: number) => Math.floor(random() * n);
  const done: string[] = [];
  const note = (what: string, play: Play) => {
    done.push(what);
    return play;
  };
  return {
    done,
    play(body) {
      const good = reply(body);
      const chunks = chunksOf(wire, good).length;
      const at = below(chunks);
      switch (below(16)) {
        case 0:
          return note("503", { status: 503, message: "Busy" });
        case 1:
          return note("500", { status: 500, message: "Oops" });
        case 2:
          return note("429", { status: 429, headers: { "retry-after-ms": "1" }, message: "Slow down" });
        case 3:
        case 4:
          return note(`cut at ${at}`, { reply: good, at, ending: "cut" });
        case 5:
          return note(`end at ${at}`, { reply: good, at, ending: "end" });
        case 6:
        case 7:
          return note(`chunk ${at} twice`, { reply: good, at: Infinity, twice: at, ending: "end" });
        case 8:
          return note(`hang at ${at}`, { reply: good, at, ending: "hang" });
        case 9:
          return note(
            "half the arguments",
            withCalls(good, ({ arguments: all, ...call }) => ({ ...call, arguments: all.slice(0, -3) })),
          );
        case 10:
          return note(
            "unknown tool",
            withCalls(good, (call) => ({ ...call, tool: "Murk" })),
          );
        default:
          return note("good", good);
      }
    },
  };
}

type Calls = NonNullable<ServedReply["calls"]>;

function withCalls(reply: ServedReply, change: (call: Calls[number]) => Calls[number]): ServedReply {
  return { ...reply, ...(reply.calls && { calls: reply.calls.map(change) }) };
}
