import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import type { Tool } from "../../src/tools/definition/tool.ts";
import type { Message } from "../../test/support/feishu/world.ts";
import { team, type Team } from "../../test/surfaces/feishu/team.ts";

export type Load = { chats: number; perSecond: number; seconds: number };

export type Loaded = {
  said: number;
  /** Clicks on permission cards, each answered with a toast and without an error. */
  clicked: number;
  finished: number;
  refused: string[];
  /** Turns that the journal has as ended, and calls that have run. */
  turns: number;
  ran: number;
  /** How long the client waited for the answer to each click, in ms. */
  waits: number[];
  /** Heap in use after a collection, every few seconds, in MB. */
  heap: number[];
};

const PATIENCE_MS = 60_000;
/** The stand-in forgets finished dialogues after this long: what grows with time must be Sage's. */
const FORGET_MS = 20_000;

/**
 * Each message is a task that asks for a permission; its author allows it, and the task ends. The real bridge, host, journal and client
 * library; the model is a script, and the platform a stand-in in this process.
 */
export async function load({ chats, perSecond, seconds }: Load): Promise<Loaded> {
  let ran = 0;
  const tick: Tool<Record<string, never>> = {
    name: "Tick",
    description: "Counts.",
    inputSchema: z.object({}),
    effect: "writes",
    checkPermissions: () => ({ behavior: "ask", reason: "" }),
    execute: async () => {
      ran++;
      return { ok: true, text: "counted" };
    },
  };
  const most = 2 * perSecond * seconds;
  const script = Array.from({ length: most }, (_, n) =>
    n % 2 === 0 ? { calls: [{ tool: "Tick", input: {} }] } : { text: "the end" },
  );
  await using sage = await team({ script, tools: [tick] });
  const users = Array.from({ length: chats }, (_, n) => sage.feishu.user(`user ${n}`));
  const approve = users.map(({ openId }) => openId);
  sage.set({ people: { talk: "anyone", approve } });
  const people = new Map(users.map((user) => [user.chat, user]));
  const result: Loaded = { said: 0, clicked: 0, finished: 0, refused: [], turns: 0, ran: 0, waits: [], heap: [] };
  const free = [...users];
  const gone = new Set<string>();
  const pressed = new Set<string>();
  const began = performance.now();
  let measured = 0;

  const press = async (message: Message) => {
    const shown = await people.get(message.chat)?.click(message.id, "allow_once");
    if (!shown?.toast || shown.error !== undefined) result.refused.push(shown?.why ?? `error ${shown?.error}`);
    else {
      result.clicked++;
      result.waits.push(shown.ms);
    }
  };
  const look = () => {
    for (const message of sage.feishu.world.messages.values()) {
      if (message.sender !== "bot" || !message.card || gone.has(message.id)) continue;
      const card = JSON.stringify(message.card);
      if (!pressed.has(message.id) && card.includes('"allow_once"')) {
        pressed.add(message.id);
        void press(message).catch((error: unknown) => result.refused.push(String(error)));
      }
      if (card.includes('"content":"Done"')) {
        gone.add(message.id);
        result.finished++;
        const user = people.get(message.chat);
        if (user) free.push(user);
      }
    }
  };

  for (;;) {
    const elapsed = (performance.now() - began) / 1_000;
    // Tasks that a slow machine could not take in time are not given later: what was given is finished.
    const due = elapsed < seconds ? Math.floor(elapsed * perSecond) : 0;
    while (result.said < due) {
      // Nobody gives the next task before the last one has ended: it would be an answer to its question, or a note.
      const user = free.shift();
      if (!user) break;
      user.say(`task ${result.said++}`);
    }
    look();
    if (elapsed - measured >= Math.max(1, seconds / 60)) {
      measured = elapsed;
      forget(sage, { pressed, gone });
      result.heap.push(heapAfterCollection());
    }
    if (elapsed >= seconds && result.finished >= result.said) break;
    if (elapsed * 1_000 > seconds * 1_000 + PATIENCE_MS) break;
    await sleep(20);
  }
  await sage.surface.settled();
  result.turns = sage.store.sessions().reduce((sum, { id }) => sum + endedIn(sage, id), 0);
  result.ran = ran;
  return result;
}

function endedIn({ store }: Team, session: string): number {
  return store.load(session).filter(({ type }) => type === "turn.ended").length;
}

/** The platform keeps messages elsewhere; in this process they would be taken for memory of ours. */
function forget({ feishu }: Team, seen: { pressed: Set<string>; gone: Set<string> }): void {
  const { world, delivery, clock } = feishu;
  const before = clock.now() - FORGET_MS;
  for (const [id, { at }] of world.messages)
    if (at < before) {
      world.messages.delete(id);
      seen.pressed.delete(id);
      seen.gone.delete(id);
    }
  for (const [uuid, { at }] of world.uuids) if (at < before) world.uuids.delete(uuid);
  for (const [token, { at }] of world.updateTokens) if (at < before) world.updateTokens.delete(token);
  const kept = [...world.entities.keys()].slice(0, -1_000);
  for (const id of kept) world.entities.delete(id);
  world.calls.length = world.shown.length = delivery.attempts.length = 0;
}

let collect: (() => void) | undefined;

function heapAfterCollection(): number {
  if (!collect) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
  return process.memoryUsage().heapUsed / 1e6;
}
