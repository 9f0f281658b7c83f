// Longer than the suite has time for: the gateway that holds the bot is frozen and thawed, with devices let in from a terminal meanwhile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { answered, onGateways } from "./gateways.ts";

test(
  "a gateway that was frozen past its time stops its bot when it wakes, and takes it up again when the other one leaves",
  { skip: !hasPostgres && "no PostgreSQL is installed" },
  () =>
    onGateways(async ({ feishu, machine, lin, group, env, serve, work }) => {
      const a = serve();
      await a.until(/speaking for bot/);
      const b = serve();
      const worker = work("all done");
      await Promise.all([b.until(/#k=\S+/), b.until(/is held by another gateway/), worker.until(/works at here/)]);
      const [atA = "", atB = ""] = [a, b].map((one) => /listening on (http:\/\/[\d.:]+)/.exec(one.errors())?.[1]);
      lin.say("go", { chat: group, mentionBot: true });
      const card = await feishu.until(group, ({ buttons }) => buttons.includes("Allow once"));

      a.kill("SIGSTOP");
      await b.until(/speaking for bot/);
      await until(async () => (await answered(`${atB}/ready`)).state === "connected", "the other does not connect", {
        everyMs: 200,
      });
      // The platform has two connections now, and one of them says nothing: a click that goes there fails, and is made again.
      await until(async () => (await lin.click(card.id, "Allow once")).error === undefined, "no click comes through");
      await feishu.until(group, ({ text }) => /all done/.test(text));
      a.kill("SIGCONT");
      await a.until(/no longer speaking for bot/);
      await until(() => feishu.sockets.count() === 1, "both are connected");
      await until(async () => (await answered(`${atA}/ready`)).state === "elsewhere", "it does not say so", {
        everyMs: 200,
      });

      const terminal = machine.terminal(["devices", "add", "phone"], { env });
      await terminal.until(/#k=\S+/);
      const key = /#k=(\S+)/.exec(terminal.screen())?.[1] ?? "";
      const pairing = fetch(`${atA}/v1/pair`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key, name: "phone" }),
      });
      await terminal.answer("(y/N)", "y");
      assert.equal((await pairing).status, 200);
      assert.equal(await terminal.code, 0);

      const told = await machine.sage(["workers"], { env });
      const holder = new RegExp(`^gateway  \\w{8}  \\S+  since .*  holds feishu/${feishu.appId}$`, "m");
      assert.match(told.out, holder, told.err);
      const { key: own } = (await (await pairing).json()) as { key: string };
      const status = async () =>
        (await fetch(`${atB}/v1/devices`, { headers: { authorization: `Bearer ${own}` } })).status;
      assert.equal(await status(), 200);
      const removed = await machine.sage(["devices", "remove", "--all"], { env });
      assert.equal(removed.code, 0, removed.err);
      await until(async () => (await status()) === 401, "a removed device comes in", { everyMs: 200 });

      const seen = a.errors().length;
      b.kill("SIGTERM");
      assert.equal((await b.ended).code, 0);
      await until(() => /speaking for bot/.test(a.errors().slice(seen)), "nobody takes it up again");
      await until(async () => (await answered(`${atA}/ready`)).state === "connected", "it does not connect", {
        everyMs: 200,
      });
      lin.say("once more", { chat: group, mentionBot: true });
      const again = await feishu.until(group, ({ buttons }) => buttons.includes("Allow once"));
      await lin.click(again.id, "Allow once");
      const ended = () => feishu.seen(group).filter(({ text }) => /all done/.test(text)).length;
      await until(() => ended() === 2, "the second task does not end");
      assert.equal(machine.file("ran.txt"), "ran\nran\n");
      assert.doesNotMatch(a.errors(), /unexpected:/);
      a.kill("SIGTERM");
      assert.equal((await a.ended).code, 0);
      worker.kill("SIGTERM");
      await worker.ended;
    }),
);
