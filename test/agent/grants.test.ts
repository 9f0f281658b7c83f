// A consent is a change: what a yes adds, removes and narrows holds, is told whole, and has one way back.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { blockedBy } from "../../src/agent/state/memory.ts";
import { receiptsOf } from "../../src/archive/receipts.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { InputResponse, RuleGrant, RuleRemoval } from "../../src/protocol/facts/answer.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import { undoable } from "../../src/protocol/facts/session.ts";
import { ending } from "../../src/texts/shared/resolution.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { ruleInTheWay, rulesFor, withoutAsking } from "../../src/view/request/answering.ts";
import { allow, bash, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { surroundings } from "../support/slash.ts";

const asks: Rule = { behavior: "ask", text: "Bash(touch:*)", source: "user" };
const sender = { by: "Mei", surface: "test" } as const;
const undo = ({ host, session }: TestSage) => host.send({ type: "undo", session, ...sender });
const touch = (...names: string[]) => ({ calls: names.map((name) => bash(`touch ${name}`)) });
const inputOf = ({ input }: PermissionRequest) => String(input["command"]);

/** Settings files, as a list. */
function files(given: Rule[]) {
  const rules = [...given];
  return {
    rules,
    saveRule({ rule: text, behavior, destination: source }: RuleGrant) {
      rules.push({ text, behavior, source });
      return `${source}.json`;
    },
    dropRule(text: string, source: Rule["source"], behavior?: Rule["behavior"]) {
      const at = rules.findIndex(
        (rule) => rule.text === text && rule.source === source && rule.behavior === (behavior ?? rule.behavior),
      );
      if (at < 0) return undefined;
      rules.splice(at, 1);
      return `${source}.json`;
    },
  };
}

const besides = (kept: ReturnType<typeof files>) => ({
  ...surroundings,
  saveRule: (_: unknown, grant: RuleGrant) => kept.saveRule(grant),
  dropRule: (_: unknown, { rule, destination, behavior }: RuleRemoval) => kept.dropRule(rule, destination, behavior),
});

suite("a grant", () => {
  test("an ask rule in the way may be removed: its twins are answered, it asks no more, and undo brings it back", async () => {
    using here = workspace();
    const kept = files([asks, allow("Bash(touch:*)"), allow("Edit(./**)")]);
    await using sage = await sageWith({
      dir: here.dir,
      ...kept,
      surroundings: besides(kept),
      script: [touch("a", "b"), touch("c"), touch("d"), { text: "done" }],
    });
    await sage.say("go");
    const [first, second] = (await sage.open(2)) as [PermissionRequest, PermissionRequest];
    assert.deepEqual(rulesFor(first), [], "no allow rule helps against it");
    assert.deepEqual(
      first.suggestions.map(({ type, rule, behavior, destination }) => [type, rule, behavior, destination]),
      [
        ["removeRule", asks.text, "ask", "user"],
        ["modifyRule", asks.text, "ask", "user"],
      ],
    );
    assert.ok((await sage.answer(withoutAsking(first))).ok);
    await sage.outcome();
    const twin = sage.facts().flatMap((fact) => (fact.type === "input.resolved" ? [fact.data] : []));
    assert.equal(
      ending(
        twin.find(({ requestId }) => requestId === second.id)!,
        texts("en"),
      ),
      `no longer needed (the rule ${asks.text} asks no more)`,
    );
    assert.equal(sage.facts().filter(({ type }) => type === "input.requested").length, 2, "c and d asked nobody");
    const [receipt] = receiptsOf(sage.facts(), () => undefined);
    assert.deepEqual(
      receipt?.rulesRemoved?.map(({ rule, destination, by, saved, was }) => [rule, destination, by, saved, was]),
      [[asks.text, "user", "Lin", "user.json", "ask"]],
    );
    assert.match(ending(receipt.asked[0]!.resolution!, texts("zh")), /并删除规则 Bash\(touch:\*\)/);

    const undone = await undo(sage);
    assert.deepEqual(undone, { ok: true, removed: [], restored: [asks.text] });
    assert.ok(kept.rules.some(({ behavior, text }) => behavior === "ask" && text === asks.text));
    const again = receiptsOf(sage.facts(), () => undefined)[0]?.undone;
    assert.deepEqual([again?.by, again?.surface], ["Mei", "test"]);
    const nothing = await undo(sage);
    assert.ok(!nothing.ok && nothing.reason?.code === "nothing-to-undo");
  });

  test("a narrower rule in its place asks only for what it names", async () => {
    using here = workspace();
    const kept = files([asks, allow("Bash(touch:*)"), allow("Edit(./**)")]);
    const script = [touch("a"), touch("b", "danger"), { text: "done" }];
    await using sage = await sageWith({ dir: here.dir, ...kept, surroundings: besides(kept), script });
    await sage.say("go");
    const [first] = (await sage.open()) as [PermissionRequest];
    await sage.answer(withoutAsking(first, " Bash(touch danger) "));
    const [second] = (await sage.open()) as [PermissionRequest];
    assert.equal(inputOf(second), "touch danger");
    assert.equal(ruleInTheWay(second)?.rule, "Bash(touch danger)");
    await sage.answer({ type: "denied", requestId: second.id });
    assert.deepEqual(await undo(sage), { ok: true, removed: ["Bash(touch danger)"], restored: [asks.text] });
    assert.deepEqual(
      kept.rules.filter(({ behavior }) => behavior === "ask").map(({ text }) => text),
      [asks.text],
    );
  });

  test("a rule that a program gave stands in no file: removed, it means nothing in this session, also after a restart", async () => {
    using here = workspace();
    const store = memoryStore();
    const rules = [asks, allow("Bash(touch:*)"), allow("Edit(./**)")];
    const begun = await sageWith({ dir: here.dir, store, rules, script: [touch("a"), touch("b"), { text: "one" }] });
    await begun.say("go");
    const [first] = (await begun.open()) as [PermissionRequest];
    await begun.answer(withoutAsking(first));
    await begun.outcome();
    const { session } = begun;
    await begun[Symbol.asyncDispose]();
    await using sage = await sageWith({
      ...{ dir: here.dir, store, session, rules, script: [touch("c"), { text: "two" }, touch("d"), { text: "three" }] },
    });
    await sage.say("more");
    await sage.outcome();
    const asked = () => store.load(session).filter(({ type }) => type === "input.requested").length;
    assert.equal(asked(), 1);
    await using other = await sageWith({ dir: here.dir, store, rules, script: [touch("e"), { text: "four" }] });
    await other.say("go");
    const [open] = await other.open();
    await other.answer({ type: "denied", requestId: open!.id });
  });

  test("a rule that demands more than its text says, and one nobody gave, are not offered to be removed", async () => {
    using here = workspace();
    const two: Rule = { ...asks, consent: { approvals: 2 } };
    await using sage = await sageWith({ dir: here.dir, rules: [two], script: [touch("a"), { text: "done" }] });
    await sage.say("go");
    const [request] = (await sage.open()) as [PermissionRequest];
    assert.deepEqual(request.suggestions, []);
    await sage.answer({ type: "denied", requestId: request.id });
  });

  /** Each kind of change, and what its way back is. */
  const ways: [string, Partial<InputResponse & { type: "granted" }>, { removed: string[]; restored: string[] }][] = [
    ["once", {}, { removed: [], restored: [] }],
    [
      "a rule of the session",
      { rules: [{ rule: "Bash(touch:*)", behavior: "allow", destination: "session" }] },
      { removed: ["Bash(touch:*)"], restored: [] },
    ],
    [
      "several rules, in a file",
      {
        rules: [
          { rule: "Bash(touch:*)", behavior: "allow", destination: "project" },
          { rule: "Network(domain:example.org)", behavior: "allow", destination: "project" },
        ],
      },
      { removed: ["Network(domain:example.org)", "Bash(touch:*)"], restored: [] },
    ],
    [
      "a rule in the place of another",
      {
        removeRules: [{ rule: "Bash(old)", destination: "local" }],
        rules: [{ rule: "Bash(new)", behavior: "deny", destination: "local" }],
      },
      { removed: ["Bash(new)"], restored: ["Bash(old)"] },
    ],
    ["an edited input", { input: { command: "touch edited" } }, { removed: [], restored: [] }],
  ];
  for (const [name, more, back] of ways)
    test(`${name}: one answer, one way back, by one of two who undo it at once`, async () => {
      using here = workspace();
      const old: Rule = { behavior: "allow", text: "Bash(old)", source: "local" };
      const kept = files([old]);
      const before = structuredClone(kept.rules);
      const script = [touch("a"), { text: "done" }];
      await using sage = await sageWith({ dir: here.dir, ...kept, surroundings: besides(kept), script });
      await sage.say("go");
      const [request] = await sage.open();
      assert.ok((await sage.answer({ type: "granted", requestId: request!.id, ...more })).ok);
      await sage.outcome();
      const undoes = back.removed.length + back.restored.length > 0;
      assert.equal(undoable(sage.facts()) !== undefined, undoes);
      const [one, two] = await Promise.all([undo(sage), undo(sage)]);
      if (undoes) assert.deepEqual(one, { ok: true, ...back });
      else assert.equal(one.ok, false);
      assert.ok(!two.ok || JSON.stringify(two) === JSON.stringify(one));
      assert.deepEqual(kept.rules, before);
      assert.equal((await undo(sage)).ok, false, "once");
    });

  test("accepting edits is undone to the mode before, and what was done by hand as well, the newest first", async () => {
    using here = workspace();
    await using sage = await sageWith({ dir: here.dir, script: [{ text: "done" }] });
    const { host, session } = sage;
    await host.send({ type: "chooseMode", session, mode: "plan", ...sender });
    await host.send({ type: "chooseMode", session, mode: "acceptEdits", ...sender });
    const rule = { rule: "Bash(x)", behavior: "allow", destination: "session" } as const;
    await host.send({ type: "addRule", session, ...rule, ...sender });
    assert.deepEqual(await undo(sage), { ok: true, removed: ["Bash(x)"], restored: [] });
    assert.deepEqual(await undo(sage), { ok: true, removed: [], restored: [], mode: "plan" });
    assert.equal((await undo(sage)).ok, false);
  });

  test("what the listener refused is asked about, whatever the exit code was; a path in the output only where it failed", () => {
    const command = "curl -sS http://a; true";
    const call = { type: "call", id: "1", tool: "Bash", input: { command } } as const;
    const host = { kind: "host", host: "a", port: 80 } as const;
    const known = (ok: boolean, blocked: NonNullable<Parameters<typeof blockedBy>[2]>["blocked"]) =>
      blockedBy(undefined, call, { ok, text: "", ...(blocked && { blocked }) })?.get(command);
    assert.deepEqual(known(true, [host]), [host]);
    assert.deepEqual(known(false, [host]), [host]);
    assert.equal(known(true, [{ ...host, final: true }]), undefined, "nobody could give it");
    assert.equal(known(true, [{ kind: "write", path: "/etc/x" }]), undefined);
    assert.deepEqual(known(false, [{ kind: "write", path: "/etc/x" }]), [{ kind: "write", path: "/etc/x" }]);
  });
});
