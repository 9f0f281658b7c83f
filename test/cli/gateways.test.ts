// Two real gateways and a worker on one PostgreSQL, with a bot and a page: one of the gateways is killed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { answered, onGateways } from "./gateways.ts";

const ask = async (url: string, key: string | undefined, method: string, body?: object) => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body && { "content-type": "application/json" }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test(
  "the gateway that holds the bot is killed: the other goes on with its card, hears no message twice, and knows its devices",
  { skip: !hasPostgres && "no PostgreSQL is installed" },
  () =>
    onGateways(async ({ feishu, machine, lin, group, serve, work }) => {
      const both = [serve(), serve()] as const;
      const worker = work("done");
      const holds = ({ errors }: (typeof both)[number]) => /speaking for bot/.test(errors());
      const a = await until(() => both.find(holds), "nobody takes the bot", { everyMs: 50 });
      const b = both.find((one) => one !== a) ?? assert.fail();
      await Promise.all([
        ...[a.until(/#k=\S+/), b.until(/#k=\S+/), b.until(/is held by another gateway/), worker.until(/works at here/)],
        until(() => feishu.sockets.count() > 0, "it does not connect", { everyMs: 50 }),
      ]);
      const [atA = "", atB = ""] = [a, b].map((one) => /listening on (http:\/\/[\d.:]+)/.exec(one.errors())?.[1]);
      assert.equal(feishu.sockets.count(), 1, "one of them is connected");
      assert.equal((await ask(`${atB}/ready`, undefined, "GET")).status, 200, "and the other is ready for people");

      const said = lin.say("go", { chat: group, mentionBot: true });
      const card = await feishu.until(group, ({ buttons }) => buttons.includes("Allow once"));
      const link = /#k=(\S+)/.exec(a.output())?.[1] ?? "";
      const paired = await Promise.all(
        [atB, atA, atB].map((at) => ask(`${at}/v1/pair`, undefined, "POST", { key: link, name: "phone" })),
      );
      assert.deepEqual(
        paired.map(({ status }) => status).toSorted((one, other) => one - other),
        [200, 401, 401],
      );
      const key = String(paired.find(({ status }) => status === 200)?.body["key"]);
      for (const at of [atA, atB])
        assert.equal((await ask(`${at}/v1/send`, key, "POST", { type: "pending" })).status, 200);

      a.kill("SIGKILL");
      await b.until(/speaking for bot/);
      await until(async () => (await answered(`${atB}/ready`)).state === "connected", "the other does not connect", {
        everyMs: 200,
      });
      const before = feishu.delivery.attempts.find(({ message }) => message === said)?.eventId ?? "";
      assert.ok(
        await feishu.delivery.redeliver(before, { newEventId: true }),
        "it was heard before, and is acknowledged",
      );
      await lin.click(card.id, "Allow once");
      await feishu.until(group, ({ text }) => /done/.test(text));
      assert.equal(machine.file("ran.txt"), "ran\n");
      const asked = feishu.seen(group).filter(({ from, text }) => from === "bot" && /Run this command\?/.test(text));
      assert.equal(asked.length, 1, "the request has one card, and no second session was begun");

      b.kill("SIGTERM");
      assert.equal((await b.ended).code, 0);
      assert.match(b.errors(), /no longer speaking for bot/);
      worker.kill("SIGTERM");
      await worker.ended;
    }),
);
