// A rule that a person gives with an answer, broken off before and after every commit.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Script } from "../../src/models/scripted.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { workspace } from "../support/sage.ts";
import { check, show } from "./checker.ts";
import { eventsOf, type History } from "./history.ts";
import { seed, thorough } from "./rounds.ts";
import { reply } from "./story.ts";
import { createWorld, type Fault } from "./world.ts";

const act = (mark: string) => ({ tool: "Act", input: { mark } });
/** The rule that comes with the first answer decides the second request, and the call after it. */
const script: Script = [{ calls: [act("rule-0"), act("rule-1")] }, { calls: [act("rule-2")] }, { text: "done" }];
const rules = [{ rule: "Act", behavior: "allow", destination: "session" } as const];

async function told(fault?: Fault): Promise<{ commits: number; history: History; facts: Fact[] }> {
  using here = workspace();
  using world = createWorld({ dir: here.dir, script: () => script });
  for (let n = 0; ; n++) {
    const process = world.boot({ fault: n === 0 ? fault : undefined });
    await process.send({ type: "open", session: "s", cwd: world.dir });
    const said = await process.send({ type: "say", session: "s", text: "go", id: "first", by: "Lin", surface: "a" });
    if (said?.ok !== false) world.observe(process.name, { type: "said", session: "s" });
    const state = { over: false };
    const run = process.host.run("s").then(
      () => (state.over = true),
      () => undefined,
    );
    while (!state.over && !process.dead) {
      const [request] = process.dead ? [] : process.store.pending("s");
      if (request?.kind === "permission")
        await process.answer("a", { type: "granted", requestId: request.id, rules }, "Wang");
      else if (request) await process.answer("a", reply(request, "done"));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.race([run, process.died]);
    const { dead, passed } = process;
    await process.bury();
    if (!dead) return { commits: passed.commit, history: world.history(), facts: world.facts("s") };
  }
}

test("killed before and after every commit, a rule given with an answer is added once, and nothing that it decides runs twice", async () => {
  const clean = await told();
  const all = Array.from({ length: clean.commits }, (_, n) =>
    (["before", "after"] as const).map((side): Fault => ({ point: "commit", nth: n + 1, side })),
  ).flat();
  for (const fault of [undefined, ...(thorough ? all : all.filter((_, n) => (n + seed) % 3 === 0))]) {
    const { history, facts } = fault ? await told(fault) : clean;
    const where = JSON.stringify(fault);
    assert.deepEqual(show(check(history)), "", where);
    const added = facts.flatMap(({ type, key, data }) => (type === "rule.added" ? [[key, data.rule, data.by]] : []));
    assert.deepEqual(added, [["t0/0/0/rule0.0", "Act", "Wang"]], where);
    const asked = facts.filter(({ type, key }) => type === "input.requested" && !key.includes("lost"));
    assert.deepEqual(
      asked.map(({ key }) => key),
      ["t0/0/0/permit0", "t0/0/1/permit0"],
      `${where}: the rule decides the third`,
    );
    const marks = eventsOf(history, "executed").map(({ mark }) => mark);
    assert.deepEqual([...new Set(marks)], marks, where);
    if (!fault) assert.deepEqual(marks.toSorted(), ["rule-0", "rule-1", "rule-2"]);
  }
});
