import assert from "node:assert/strict";
import { test } from "node:test";
import { lastWords, startPeer, type Json } from "../../src/guest/peer.ts";
import { createRpc, RpcError } from "../../src/guest/rpc.ts";
import { untilGone } from "../support/until.ts";

const node = process.execPath;
const start = (script: string, spawned: (pid: number) => void = () => {}) =>
  startPeer(node, ["-e", script], { cwd: process.cwd(), env: process.env, spawned });

test("a child's messages come whole and in order, also cut inside of a character, and other lines are passed over", async () => {
  const peer = start(`
    const text = Buffer.from('warning: {no json}\\n{"n":1,"text":"甲乙"}\\n{"n":2}\\n{"n":3}');
    let at = 0;
    const next = () => { if (at < text.length) process.stdout.write(text.subarray(at, at += 7), () => setTimeout(next, 1)); };
    next();
  `);
  const heard: Json[] = [];
  for await (const message of peer.messages) heard.push(message);
  assert.deepEqual(heard, [{ n: 1, text: "甲乙" }, { n: 2 }, { n: 3 }]);
  assert.deepEqual(await peer.ended, { code: 0, signal: null, words: "" });
});

test("a child that does not listen is killed with what it started, and closing it twice is harmless", async () => {
  let group = 0;
  const peer = start(
    `process.on("SIGTERM", () => {}); process.stdin.on("end", () => {});
     const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
     child.on("spawn", () => console.log(JSON.stringify({ child: child.pid }))); setInterval(() => {}, 1000);`,
    (pid) => (group = pid),
  );
  let child = 0;
  for await (const message of peer.messages) {
    child = message["child"] as number;
    break;
  }
  await Promise.all([peer.close(10), peer.close(10)]);
  assert.equal((await peer.ended).signal, "SIGKILL");
  assert.ok(group > 0 && child > 0);
  await untilGone(child);
});

test("a child that was killed without a word is said to have been killed, and by which signal", async () => {
  const peer = start(`process.kill(process.pid, "SIGKILL")`);
  assert.equal(lastWords(await peer.ended), "it ended with SIGKILL");
  assert.equal(lastWords({ code: 3, signal: null, words: "" }), "it ended with code 3");
  assert.equal(lastWords({ code: null, signal: "SIGTERM", words: "no memory" }), "no memory");
});

test("a program that is not there has ended, with the reason", async () => {
  const peer = startPeer("no-such-program", [], { cwd: process.cwd(), env: process.env, spawned: () => {} });
  for await (const _ of peer.messages) assert.fail("it said something");
  const { code, words } = await peer.ended;
  assert.equal(code, 127);
  assert.match(words, /ENOENT/);
});

test("requests of both sides cross; a refusal and an end are errors", async () => {
  const peer = start(`
    process.stdin.setEncoding("utf8").on("data", (text) => {
      for (const line of text.split("\\n").filter(Boolean)) {
        const message = JSON.parse(line);
        const say = (more) => console.log(JSON.stringify(more));
        if (message.method === "ask") { say({ id: "a", method: "who", params: { n: 1 } }); say({ method: "note" }); }
        if (message.result) say({ id: 1, result: message.result });
        if (message.method === "no") say({ id: message.id, error: { code: -1, message: "not now" } });
        if (message.method === "die") process.exit(3);
      }
    });
  `);
  const rpc = createRpc(peer);
  const asked = rpc.request("ask", {});
  const heard: unknown[] = [];
  for await (const incoming of rpc.incoming) {
    heard.push(incoming);
    if (incoming.id !== undefined) rpc.reply(incoming.id, { name: "sage" });
    if (heard.length === 2) break;
  }
  assert.deepEqual(heard, [
    { method: "who", params: { n: 1 }, id: "a" },
    { method: "note", params: {} },
  ]);
  assert.deepEqual(await asked, { name: "sage" });
  await assert.rejects(rpc.request("no", {}), new RpcError("not now", -1));
  await assert.rejects(rpc.request("die", {}), new RpcError("it went away"));
  await assert.rejects(rpc.request("later", {}), new RpcError("it went away"));
});
