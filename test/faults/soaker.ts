// One process of the soak. argv: <dir> <name> <slots>. It keeps so many sessions going, each with several turns that ask a person,
// until <dir>/stop is there; then it ends what is open and leaves. Sessions that a killed process of its name left open come first.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { createHost } from "../../src/host/host.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Model } from "../../src/models/model.ts";
import { noUsage, type Message, type Part } from "../../src/protocol/facts/message.ts";
import { askUser, bash, config, question } from "../support/sage.ts";

const [dir = "", name = "", slots = "1"] = process.argv.slice(2);
const TURNS = 3;
process.on("disconnect", () => process.exit(1)); // whoever answers is gone

const store = sqliteStore(join(dir, "journal.db"));
const host = createHost({
  store,
  version: "soak",
  sleepAfterMs: 500,
  executor: async ({ id }) =>
    new TurnExecutor(config({ script: [], dir, store, wrap: () => marking(id) }), { workingDirectory: dir }),
});
const stopping = () => existsSync(join(dir, "stop"));
const leftOpen = store
  .sessions()
  .filter(({ id, open, unheard, owned }) => id.startsWith(`${name}-`) && (open || unheard) && !owned)
  .map(({ id }) => id);

await Promise.all(Array.from({ length: Number(slots) }, (_, slot) => keepGoing(slot)));
await host.close();
process.disconnect();

async function keepGoing(slot: number): Promise<void> {
  for (let left = leftOpen.shift(); left !== undefined; left = leftOpen.shift()) {
    await host.send({ type: "resume", session: left });
    await host.run(left);
  }
  for (let cycle = 0; !stopping(); cycle++) {
    const session = `${name}-${process.pid}-${slot}-${cycle}`;
    await host.send({ type: "open", session, cwd: dir });
    for (let turn = 0; turn < TURNS; turn++) {
      const said = await host.send({ type: "say", session, text: "go", by: "soak", surface: "soak" });
      if (!said.ok) throw new Error(said.message);
      await host.run(session);
    }
  }
}

/** In each turn: a command that leaves a mark of its own and a question, then a reply. */
function marking(session: string): Model {
  return {
    id: "soak",
    async reply({ messages }) {
      const turn = messages.filter(({ role }) => role === "user").length;
      const frame = { usage: noUsage, model: "soak" };
      if (messages.at(-1)?.role === "tool")
        return { ...frame, parts: [{ type: "text", text: "done" }], finish: "stop" as const };
      const calls = [
        bash(`echo ${session}.${turn}.${stepsIn(messages)} >> witness`),
        askUser(question("Which colour?")),
      ];
      const parts = calls.map((call, n): Part => ({ type: "call", id: `${turn}-${n}`, ...call }));
      return { ...frame, parts, finish: "calls" as const };
    },
  };
}

function stepsIn(messages: readonly Message[]): number {
  return messages.filter(({ role }) => role === "assistant").length;
}
