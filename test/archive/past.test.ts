import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { suite, test } from "node:test";
import { pastCalls, statsOf } from "../../src/archive/past.ts";
import { readPast } from "../../src/archive/trials.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { PastCall } from "../../src/protocol/host/past.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

/** A session in which Lin decides about each call, in their order. */
async function decided(dir: string, commands: readonly (readonly [string, "yes" | "no"])[]) {
  const store = sqliteStore(`${dir}/journal.db`);
  const script = [{ calls: commands.map(([command]) => bash(command)) }, { text: "done" }];
  const sage = await sageWith({ script, dir, store });
  await sage.say("go");
  const asked = await sage.open(commands.length);
  for (const request of asked) {
    const command = request.kind === "permission" ? request.input["command"] : "";
    const yes = commands.find(([one]) => one === command)?.[1] === "yes";
    const requestId = request.id;
    await sage.answer(yes ? { type: "granted", requestId } : { type: "denied", requestId, reason: "no" }, "Lin");
  }
  await sage.outcome();
  return { store, sage };
}

const said = ({ input, asked }: PastCall) => `${asked?.answer} ${String(input["command"])}`;

suite("a rule and the past", () => {
  test("an allow rule tells how many questions it would have spared, and which of them a person had refused", async () => {
    using here = workspace();
    const { store, sage } = await decided(here.dir, [
      ["node -p 1", "yes"],
      ["node -p 2", "no"],
      ["make all", "yes"],
    ]);
    await using _ = sage;
    const { trials, calls } = await readPast(store, here.dir, { rules: [] });
    assert.deepEqual(calls.map(said), ["yes node -p 1", "no node -p 2", "yes make all"]);
    const trial = trials.of({ text: "Bash(node -p:*)", behavior: "allow" });
    assert.deepEqual([trial.calls, trial.changed, trial.against], [3, 2, 1]);
    assert.deepEqual(trial.surprising.map(said), ["no node -p 2", "yes node -p 1"], "the contrary one comes first");
    assert.equal(trials.of({ text: "Bash(cargo build:*)", behavior: "allow" }).changed, 0);
    const denied = trials.of({ text: "Bash(node:*)", behavior: "deny" });
    assert.deepEqual([denied.changed, denied.against], [1, 1], "a deny would have stopped the one that ran");
  });

  test("a host tells the past of rules that are offered with a request, and of others", async () => {
    using here = workspace();
    const { sage } = await decided(here.dir, [
      ["cargo test a", "yes"],
      ["cargo test b", "no"],
    ]);
    await using _ = sage;
    const [request] = sage.facts().flatMap(({ type, data }) => (type === "input.requested" ? [data] : []));
    const past = async (rules?: string[]) => {
      const reply = await sage.host.send({ type: "past", requestId: request!.id, ...(rules && { rules }) });
      return reply.ok && reply.trials.map(({ rule, calls, changed, against }) => [rule, calls, changed, against]);
    };
    assert.deepEqual(await past(), [["Bash(cargo test:*)", 2, 2, 1]]);
    assert.deepEqual(await past(["Bash(cargo test a)", "Bash(make:*)"]), [["Bash(cargo test a)", 2, 1, 0]]);
    const unknown = await sage.host.send({ type: "past", requestId: "nobody/t0/0/0/permit0" });
    assert.equal(!unknown.ok && unknown.code, "request-unknown");
  });

  test("a rule that is in force already, or that a deny rule overrides, spares nothing", async () => {
    using here = workspace();
    const { store, sage } = await decided(here.dir, [["node -p 1", "yes"]]);
    await using _ = sage;
    const wide: Rule = { text: "Bash(node:*)", behavior: "allow", source: "user" };
    const deny: Rule = { text: "Bash(node -p:*)", behavior: "deny", source: "user" };
    const changed = async (rules: Rule[], text: string) =>
      (await readPast(store, here.dir, { rules })).trials.of({ text, behavior: "allow" }).changed;
    assert.equal(await changed([wide], "Bash(node:*)"), 1, "tried as if it were not there yet");
    assert.equal(await changed([deny], "Bash(node:*)"), 0);
  });

  test("suggested rules spare the most questions and never allow what was refused", async () => {
    using here = workspace();
    const { store, sage } = await decided(here.dir, [
      ["make test", "yes"],
      ["make test -k", "yes"],
      ["make test 中文", "yes"],
      ["git push origin a", "yes"],
      ["git push origin b", "yes"],
      ["git push --force origin main", "no"],
    ]);
    await using _ = sage;
    const { trials, offers } = await readPast(store, here.dir, { rules: [] });
    const ideas = trials.ideas(offers);
    assert.deepEqual(
      ideas.map(({ rules, spared }) => [rules, spared]),
      [[["Bash(make test:*)"], 3]],
      "git push:* would have allowed the push that was refused",
    );
  });

  test("other folders, deleted sessions and answers that nobody gave in person do not count", async () => {
    using here = workspace();
    mkdirSync(here.path("deeper"));
    const { store, sage } = await decided(here.dir, [["node -p 1", "yes"]]);
    await using _ = sage;
    assert.equal((await pastCalls(store, { folder: here.dir })).length, 1);
    assert.equal((await pastCalls(store, { folder: here.path("deeper") })).length, 0);
    assert.equal(
      (await pastCalls(store, { folder: here.dir.slice(0, -1) })).length,
      0,
      "a folder is no beginning of a name",
    );
    assert.equal((await pastCalls(store, { since: Date.now() + 1_000 })).length, 0);
    await using auto = await sageWith({
      script: [{ calls: [bash("node -p 7")] }, { text: "done" }],
      dir: here.dir,
      store,
      options: { mode: { type: "nonInteractive", autoResponse: "alwaysAllow" } },
    });
    await auto.say("go");
    await auto.outcome();
    const [call] = await pastCalls(store, { session: auto.session });
    assert.deepEqual([call?.decision, call?.asked], ["asked", { answer: "none" }]);
  });

  test("stats tell how often people were asked, by what, how long they took, and which rules spared them", async () => {
    using here = workspace();
    const rule: Rule = { text: "Bash(node -p 3)", behavior: "allow", source: "user" };
    const store = sqliteStore(here.path("journal.db"));
    const script = [{ calls: [bash("node -p 1"), bash("node -p 2"), bash("node -p 3")] }, { text: "done" }];
    await using sage = await sageWith({ script, dir: here.dir, store, rules: [rule] });
    await sage.say("go");
    const [first, second] = await sage.open(2);
    await sage.answer({ type: "granted", requestId: first!.id }, "Lin");
    const { yes, none, open } = await statsOf(store, { folder: here.dir });
    assert.deepEqual({ yes, none, open }, { yes: 1, none: 0, open: 1 }, "an open request is not one without an answer");
    await sage.answer({ type: "denied", requestId: second!.id }, "Bo");
    await sage.outcome();
    const { medianMs, p90Ms, since, tools, people, ...counts } = await statsOf(store, { folder: here.dir });
    assert.deepEqual(counts, {
      ...{ calls: 3, sessions: 1, asked: 2, yes: 1, no: 1, none: 0, open: 0 },
      rules: [{ rule: "Bash(node -p 3)", spared: 1 }],
    });
    assert.ok(medianMs !== undefined && p90Ms !== undefined && p90Ms >= medianMs && since !== undefined);
    assert.deepEqual(
      tools.map((one) => [one.tool, one.asked, one.yes, one.no]),
      [["Bash", 2, 1, 1]],
    );
    assert.deepEqual(
      people.map((one) => `${one.by} ${one.yes} ${one.no}`).toSorted((a, b) => a.localeCompare(b)),
      ["Bo 0 1", "Lin 1 0"],
    );
  });
});
