// A story with questions about requests, broken off before and after every commit, effect and request to the model.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Script } from "../../src/models/scripted.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { workspace } from "../support/sage.ts";
import { check, show } from "./checker.ts";
import { seed, thorough } from "./rounds.ts";
import { reply } from "./story.ts";
import { createWorld, type Fault, type Process, type World } from "./world.ts";

const act = (mark: string) => ({ tool: "Act", input: { mark } });

/** One request is granted after a question about it; the agent takes the other one back. */
const script: Script = {
  "": [{ calls: [act("asked-0")] }, { calls: [act("withdrawn-0")] }, { text: "all done" }],
  inquiry: [
    ({ messages }) => {
      const last = messages.at(-1);
      return last?.role === "user" && last.text.includes("withdrawn-0")
        ? { text: "WITHDRAW: otherwise" }
        : { text: "because" };
    },
  ],
};

/** Asks about each request first, under the same id in every life, and then answers it. */
async function attend(process: Process, isOver: () => boolean): Promise<void> {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  try {
    for (; !process.dead && !isOver(); await turn()) {
      const [request] = process.store.pending("s");
      if (!request) continue;
      const { id } = request;
      if (request.source !== "recovery") {
        const asked = await process.send({
          type: "inquire",
          requestId: id,
          text: "why?",
          id: "q",
          by: "Ada",
          surface: "a",
        });
        if (!asked?.ok) continue;
        while (process.store.inquiries(id).length < 2) await turn();
      }
      if (!isWithdrawn(request)) await process.answer("a", reply(request, "done"));
      else while (process.store.resolution(id) === undefined) await turn();
    }
  } catch {
    // the process died
  }
}

function isWithdrawn(request: InputRequest): boolean {
  return request.kind === "permission" && request.input["mark"] === "withdrawn-0";
}

async function told(faults: readonly Fault[]): Promise<{ passed: Process["passed"]; facts: Fact[] }> {
  using here = workspace();
  using world: World = createWorld({ dir: here.dir, script: () => script });
  for (let n = 0; ; n++) {
    const process = world.boot({ fault: faults[n] });
    await process.send({ type: "open", session: "s", cwd: world.dir });
    await process.send({ type: "say", session: "s", text: "go", id: "first", by: "Ada", surface: "a" });
    let over = false;
    const ran = process.host.run("s").then(
      () => (over = true),
      () => (over = true),
    );
    const person = attend(process, () => over);
    await Promise.race([ran, process.died]);
    await person;
    await process.bury();
    if (process.dead) continue;
    const violations = check(world.history());
    assert.deepEqual(violations, [], `killed at ${JSON.stringify(faults)}\n${show(violations)}`);
    return { passed: process.passed, facts: world.facts("s") };
  }
}

/** Everything that people and the agent said, by key. */
const saidIn = (facts: readonly Fact[]) =>
  facts
    .filter(({ type }) => type.startsWith("inquiry.") || type === "input.requested" || type === "input.resolved")
    .filter(({ key }) => !key.includes("lost"))
    .map(({ key, type, data }) => {
      const { text, withdraws, outcome } = data as { text?: string; withdraws?: string; outcome?: string };
      return { key, type, text, withdraws, outcome };
    });

test("killed at every boundary, a question about a request is asked once, replied to once, and decides nothing but a withdrawal", async () => {
  const clean = await told([]);
  const expected = saidIn(clean.facts);
  assert.deepEqual(
    expected.map(({ key, type }) => `${key} ${type}`),
    [
      "t0/0/0/permit0 input.requested",
      "t0/0/0/permit0/inquiry/q inquiry.made",
      "t0/0/0/permit0/inquiry/q.replied inquiry.replied",
      "t0/0/0/permit0.resolved input.resolved",
      "t0/1/0/permit0 input.requested",
      "t0/1/0/permit0/inquiry/q inquiry.made",
      "t0/1/0/permit0/inquiry/q.replied inquiry.replied",
      "t0/1/0/permit0.resolved input.resolved",
    ],
  );
  assert.equal(expected.at(-1)?.outcome, "superseded");
  const all = (["commit", "model", "spawn"] as const).flatMap((point) =>
    Array.from({ length: clean.passed[point] }, (_, n) =>
      (["before", "after"] as const).map((side): Fault => ({ point, nth: n + 1, side })),
    ).flat(),
  );
  for (const fault of thorough ? all : all.filter((_, n) => (n + seed) % 5 === 0)) {
    const { facts } = await told([fault]);
    assert.deepEqual(saidIn(facts), expected, JSON.stringify(fault));
    const results = facts.flatMap((fact) => (fact.type === "call.finished" ? [fact.data.text] : []));
    assert.equal(results.filter((text) => text.includes('You replied: "because"')).length <= 1, true);
    assert.ok(
      results.some((text) => text.startsWith("Not run: you took this request back")),
      JSON.stringify(fault),
    );
  }
});
