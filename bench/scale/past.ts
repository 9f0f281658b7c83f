import type { Fact, FactData, FactType } from "../../src/protocol/facts/fact.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";

/** Sessions with so many facts of finished turns behind them, written the way they are always written, and some output in each. */
export function writePast(
  path: string,
  { sessions, facts, ending }: { sessions: number; facts: number; ending: "idle" | "waiting" },
): void {
  const store = sqliteStore(path);
  const fast = new DatabaseSync(path);
  fast.exec("PRAGMA synchronous=OFF");
  fast.close();
  for (let n = 0; n < sessions; n++) writeOne(store, `p${n}`, facts, ending);
  store.close();
}

function writeOne(store: LocalStore, session: string, facts: number, ending: "idle" | "waiting"): void {
  store.create(session, { cwd: "/", version: "bench" });
  const epoch = store.claim(session);
  const all: Fact[] = [];
  const add = <T extends FactType>(key: string, type: T, data: FactData[T]) =>
    all.push({ session, seq: 0, key, type, at: Date.now(), data } as Fact);
  const output = "a line of output that somebody once read\n".repeat(12);
  for (let turn = 0; all.length < facts - 2; turn++) {
    const t = `t${turn}`;
    add(t, "turn.begun", { loop: 1, maxSteps: 100, sawUpTo: 0 });
    for (let step = 0; step < 8 && all.length < facts - 4; step++) {
      const call = { type: "call", id: `c${step}`, tool: "shell", input: { command: `true ${step}` } } as const;
      add(`${t}/${step}/model`, "model.replied", {
        parts: [{ type: "text", text: "Now this." }, call],
        usage: noUsage,
        finish: "calls",
        model: "bench",
        sawUpTo: 0,
      });
      const verdict = { behavior: "allow", reason: said(""), effect: "writes", digest: "x".repeat(64) } as const;
      add(`${t}/${step}/judged`, "calls.judged", { verdicts: [verdict] });
      add(`${t}/${step}/0/run0.started`, "call.started", { tool: "shell", effect: "writes", digest: verdict.digest });
      add(`${t}/${step}/0/run0.finished`, "call.finished", { ok: true, text: output });
    }
    const stats = { steps: 8, modelCalls: 8, toolCalls: 8, durationMs: 1 };
    if (all.length < facts - 2 || ending === "idle")
      add(`${t}.ended`, "turn.ended", { status: "success", text: "done", usage: noUsage, stats });
  }
  if (ending === "waiting") {
    const id = `${session}/t999/0/0/ask0`;
    const request = { id, session, at: 0, source: "tool", agent: [], why: said(""), digest: "" } as const;
    add("t999/0/0/ask0", "input.requested", { ...request, kind: "text", prompt: "?" });
  }
  store.commit(session, epoch, all);
  store.release(session, epoch);
}
