import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import type { Host, SharedAnswer } from "../../src/protocol/host/host.ts";
import { panelTexts } from "../../src/texts/surfaces/terminal-panels.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { readKey, type Key } from "../../src/surfaces/terminal/widgets/key.ts";
import { permissionModel } from "../../src/surfaces/terminal/panels/permission.ts";
import { alikeTo, codeOfList, groupsOf, likenessOf } from "../../src/view/request/alike.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

const two: Rule = { behavior: "ask", text: "Bash(cargo test d)", source: "user", consent: { approvals: 2 } };
const plainAsk: Rule = { behavior: "ask", text: "Bash(cargo test e)", source: "user" };
const commands = ["a", "b", "c", "d", "e"].map((name) => `cargo test ${name}`);
const calls = [...commands, "rm -r dist", "git fetch"].map(bash);

async function open() {
  const here = workspace();
  const sage = await sageWith({ script: [{ calls }, { text: "over" }], dir: here.dir, rules: [two, plainAsk] });
  await sage.say("go");
  const requests = (await sage.open(calls.length)) as PermissionRequest[];
  return { here, sage, requests };
}

const commandOf = ({ input }: PermissionRequest) => String(input["command"]);
const sendAll = (host: Host, requestIds: string[], answer: SharedAnswer = { type: "granted" }) =>
  host.send({ type: "respondAll", requestIds, answer, by: "Lin", surface: "test" });

suite("many at once", () => {
  test("alike are calls that the same rule would cover; what only a person may allow is answered by itself", async () => {
    const { here, sage, requests } = await open();
    using _ = here;
    await using __ = sage;
    const [first] = requests as [PermissionRequest];
    assert.deepEqual(alikeTo(first, requests).map(commandOf), ["cargo test a", "cargo test b", "cargo test c"]);
    const groups = groupsOf(requests.map((request) => ({ request }))).map((group) => group.length);
    assert.deepEqual(groups, [3, 1, 1, 1, 1]);
    const alone = requests.filter((one) => likenessOf(one) === undefined).map(commandOf);
    assert.deepEqual(alone.toSorted(), ["cargo test d", "cargo test e", "rm -r dist"]);
    assert.notEqual(codeOfList(requests.slice(0, 3)), codeOfList(requests.slice(0, 2)));
    for (const odd of requests.slice(3)) {
      const before = sage.facts().length;
      const reply = await sendAll(sage.host, [first.id, odd.id]);
      assert.ok(!reply.ok && reply.code === "request-invalid" && reply.reason?.code === "answered-by-itself");
      assert.equal(sage.facts().length, before, "nothing was written");
    }
  });

  test("one answer ends all of them in one commit; one that somebody was faster with says so by itself", async () => {
    const { here, sage, requests } = await open();
    using _ = here;
    await using __ = sage;
    const ids = requests.slice(0, 3).map(({ id }) => id) as [string, string, string];
    await sage.answer({ type: "denied", requestId: ids[1] }, "Wang");
    const reply = await sendAll(sage.host, [...ids, ids[0]]);
    assert.ok(reply.ok);
    assert.deepEqual(
      reply.results.map((one) => [one.requestId, one.ok ? "ok" : one.code, one.resolution?.by]),
      [
        [ids[0], "ok", "Lin"],
        [ids[1], "request-resolved", "Wang"],
        [ids[2], "ok", "Lin"],
      ],
    );
    const ends = sage.facts().flatMap((fact) => (fact.type === "input.resolved" ? [fact] : []));
    assert.equal(ends.length, 3);
    assert.equal(ends[2]!.seq, ends[1]!.seq + 1, "side by side in the journal");
    assert.ok(!(await sendAll(sage.host, ["nowhere/t0/0/0/permit0"])).ok);
    for (const { id } of sage.store.pending(sage.session)) await sage.answer({ type: "denied", requestId: id });
    await sage.outcome();
  });

  test("on the screen the list is read to its end before it can be allowed, and stays the list that was read", async () => {
    const { here, sage, requests } = await open();
    using _ = here;
    await using __ = sage;
    const [first] = requests as [PermissionRequest];
    let listed = alikeTo(first, requests);
    const words = { wording: panelTexts("en"), t: texts("en"), cwd: here.dir, alike: () => listed };
    const model = permissionModel({ request: first }, words);
    const key = (data: string) => readKey(data) as Key;
    let state = model.press(model.start, key("\u001B[A"), { seenEnd: true }).state;
    state = model.press(state, key("\r"), { seenEnd: true }).state;
    assert.equal(state.stage, "together");
    assert.equal(model.reads(state), "together", "another text has to be read");
    listed = requests;
    assert.equal(model.press(state, key("\r"), { seenEnd: true }).respondAll, undefined, "no answer stands ready");
    state = model.press(state, key("1"), { seenEnd: false }).state;
    const early = model.press(state, key("\r"), { seenEnd: false });
    assert.deepEqual([early.respondAll, early.state.note], [undefined, panelTexts("en").locked]);
    const sent = model.press(state, key("\r"), { seenEnd: true }).respondAll;
    assert.deepEqual(sent, { requestIds: requests.slice(0, 3).map(({ id }) => id), answer: { type: "granted" } });
  });
});
