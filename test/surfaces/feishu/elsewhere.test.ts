// Somebody is called to a request of a session that speaks elsewhere, in a terminal on the same journal.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../../src/journal/sqlite/sqlite.ts";
import { escalatedKey, splitRequestId } from "../../../src/protocol/key.ts";
import { createHost } from "../../../src/host/host.ts";
import { bash, sageWith } from "../../support/sage.ts";
import { said, team, until } from "./team.ts";

const silence = { promptTimeout: 600_000, timeoutPolicy: { escalate: ["Wang", "Zhao"], end: "deny" as const } };

/** A team with Wang and Zhao, and a terminal of another process whose turn waits. */
async function waiting({ calls = [bash("touch ran.txt")] } = {}) {
  const sage = await team({ script: [{ text: "?" }] });
  const { lin, feishu, cwd } = sage;
  const [wang, zhao] = [feishu.user("Wang"), feishu.user("Zhao")];
  const names = { [lin.openId]: "Lin", [wang.openId]: "Wang", [zhao.openId]: "Zhao" };
  sage.set({ people: { ...sage.people, approve: Object.keys(names), names } });
  const store = sqliteStore(join(sage.dir, "journal.db"));
  const script = [{ calls }, { text: "done in the terminal" }];
  const terminal = await sageWith({ script, dir: cwd, store, options: silence });
  await terminal.say("clean up");
  const requests = await terminal.open(calls.length);
  /** As whoever measures the time writes it. */
  const escalate = (n: 0 | 1, of = 0) => {
    const { id: requestId } = requests[of]!;
    const { session, key } = splitRequestId(requestId);
    const data = { requestId, to: silence.timeoutPolicy.escalate[n]! };
    return store.append(session, { key: escalatedKey(key, n), type: "input.escalated", at: Date.now(), data });
  };
  const disposable = {
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      await sage[Symbol.asyncDispose]();
    },
  };
  return { ...disposable, sage, terminal, wang, zhao, lin, feishu, cwd, requests, escalate };
}

test("the person who is called gets a card in their own chat, once over restarts, and their answer counts in the terminal", async () => {
  await using here = await waiting();
  const { sage, terminal, wang, zhao, lin, feishu, cwd } = here;
  assert.deepEqual(
    [wang, zhao, lin].flatMap(({ chat }) => said(feishu, chat)),
    [],
    "nobody is called before their time",
  );
  here.escalate(0);
  const card = await sage.card(wang.chat, "Allow once");
  assert.match(card.text, /touch ran\.txt/);
  assert.match(card.text, /Task from Lin/);
  await sage.restart();
  await sage.surface.settled();
  here.escalate(0);
  here.escalate(1);
  const other = await sage.card(zhao.chat, "Allow once");
  await sage.restart();
  await sage.surface.settled();
  assert.deepEqual(
    [wang, zhao, lin].map(({ chat }) => said(feishu, chat).length),
    [1, 1, 0],
  );
  assert.equal((await lin.click(card.id, "allow_once")).toast?.type, "error", "the card is another's");
  assert.equal((await wang.click(card.id, "allow_once")).toast?.content, "Allowed once");
  assert.equal((await terminal.outcome()).text, "done in the terminal");
  assert.ok(existsSync(join(cwd, "ran.txt")));
  await feishu.until(zhao.chat, ({ id, text }) => id === other.id && /Answered by Wang in Feishu/.test(text));
  await sage.surface.settled();
  assert.deepEqual(
    [wang, zhao, lin].map(({ chat }) => said(feishu, chat).length),
    [1, 1, 0],
    "nothing else of it is told",
  );
});

test("the card folds when it is answered in the terminal, also while no bot ran; a second request has a card of its own", async () => {
  await using here = await waiting({ calls: [bash("touch a.txt"), bash("mv b.txt c.txt")] });
  const { sage, terminal, wang, feishu, requests } = here;
  here.escalate(0);
  const card = await sage.card(wang.chat, "Allow once");
  assert.equal(said(feishu, wang.chat).length, 1, "nobody was called to the other");
  await terminal.answer({ type: "denied", requestId: requests[0]!.id });
  await feishu.until(wang.chat, ({ id, text }) => id === card.id && /denied/.test(text));
  here.escalate(0, 1);
  const second = await feishu.until(wang.chat, ({ id, buttons }) => id !== card.id && buttons.includes("Allow once"));
  await sage.crash();
  await terminal.answer({ type: "denied", requestId: requests[1]!.id });
  await terminal.outcome();
  await sage.restart();
  await feishu.until(wang.chat, ({ id, text }) => id === second.id && /denied/.test(text));
  assert.equal(said(feishu, wang.chat).length, 2);
});

test("called while no bot ran, and answered in words: both are made up for, and nothing else reaches the terminal's session", async () => {
  await using here = await waiting();
  const { sage, terminal, wang, feishu } = here;
  await sage.crash();
  here.escalate(0);
  await sage.restart();
  const card = await sage.card(wang.chat, "Allow once");
  wang.say("/deny 不行", { replyTo: card.id });
  assert.equal((await terminal.outcome()).text, "done in the terminal");
  await feishu.until(wang.chat, ({ id, text }) => id === card.id && /denied/.test(text));
  wang.say("and now?", { replyTo: card.id });
  await until(() => sage.store.sessions().length === 2);
  assert.ok(!terminal.facts().some((fact) => fact.type === "user.said" && fact.data.surface === "feishu"));
});

test("an agent outside of Sage asks: the person of this account gets a card, once over restarts, which folds when the agent's own terminal was faster", async () => {
  await using sage = await team({ script: [{ text: "?" }], options: { account: () => "Lin" } });
  const { lin, mei, feishu, cwd } = sage;
  sage.set({ people: { ...sage.people, names: { [lin.openId]: "Lin" } } });
  const store = sqliteStore(join(sage.dir, "journal.db"));
  const executor = () => Promise.reject(new Error("nothing runs here"));
  const hook = createHost({ store, version: "test", executor });
  const body = { kind: "permission", tool: "Bash", input: { command: "make deploy 部署" } } as const;
  const ask = async (id: string) => {
    const reply = await hook.send({ type: "ask", agent: ["claude"], conversation: "c1", cwd, id, body });
    assert.ok(reply.ok);
    return reply.request.id;
  };
  const first = await ask("one");
  const card = await sage.card(lin.chat, "Allow once");
  assert.match(card.text, /make deploy 部署/);
  assert.match(card.text, /Asked by claude/);
  await sage.restart();
  await sage.surface.settled();
  assert.equal(said(feishu, lin.chat).length, 1, "it was asked once");
  await lin.click(card.id, "allow_once");
  const resolution = await until(() => store.resolution(first));
  assert.match(resolution.by, /林|Lin/);

  const second = await ask("two");
  const next = await feishu.until(lin.chat, ({ id, buttons }) => id !== card.id && buttons.includes("Allow once"));
  await hook.send({ type: "unask", requestId: second, end: { type: "answered" }, by: "Lin", surface: "claude" });
  await feishu.until(lin.chat, ({ id, buttons }) => id === next.id && !buttons.includes("Allow once"));
  assert.deepEqual(said(feishu, mei.chat), []);
  await hook.close();
});
