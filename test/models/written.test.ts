import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../support/properties.ts";
import { createWrittenBytes, joinBody, joinList } from "../../src/models/wire/written.ts";
import type { Message } from "../../src/protocol/facts/message.ts";

const said = (text: string): Message => ({ role: "user", text });
const write = (message: Message) => (message.role === "user" && message.text !== "" ? [{ said: message.text }] : []);

/** As it was before bytes were kept: everything anew. */
const anew = (messages: readonly Message[]) => JSON.stringify(messages.flatMap(write));

const textOf = (parts: readonly (string | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string))).toString();

test("a conversation that grows, forks or shrinks is sent as if it were written anew, and what was given away stays as it was", () => {
  const pool = ["first", "", "文件 ü", "x".repeat(5_000), 'a "quoted" line\n', "last"].map(said);
  // Each request keeps some of the one before, as steps, side questions and compactions do.
  const change = fc.record({ keep: fc.double({ min: 0, max: 1, noNaN: true }), more: fc.array(fc.nat({ max: 5 })) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), (changes) => {
      const bytesOf = createWrittenBytes(write);
      const sent: { bytes: Uint8Array; text: string }[] = [];
      let messages: Message[] = [];
      for (const { keep, more } of changes) {
        messages = [...messages.slice(0, Math.round(messages.length * keep)), ...more.map((n) => pool[n]!)];
        const bytes = bytesOf({ messages });
        sent.push({ bytes, text: anew(messages) });
      }
      for (const { bytes, text } of sent) assert.equal(textOf(joinList(undefined, bytes)), text);
    }),
    { numRuns: 200 },
  );
});

test("two conversations that begin with equal words share no bytes", () => {
  const bytesOf = createWrittenBytes(write);
  const [one, other] = [[said("go")], [said("go")]];
  for (let n = 0; n < 20; n++) {
    one.push(said(`one ${n}`));
    other.push(said(`other ${n}`));
    assert.equal(textOf(joinList(undefined, bytesOf({ messages: one }))), anew(one));
    assert.equal(textOf(joinList(undefined, bytesOf({ messages: other }))), anew(other));
  }
});

test("a body is its fields, then what is JSON already, whichever of them there are", () => {
  const bytes = createWrittenBytes(write)({ messages: [said("a"), said("b")] });
  const list = [{ said: "a" }, { said: "b" }];
  const all = joinBody({ model: "m" }, { messages: joinList('"first"', bytes), none: undefined, tools: "[1]" });
  assert.deepEqual(JSON.parse(textOf(all)), { model: "m", messages: ["first", ...list], tools: [1] });
  assert.equal(textOf(joinBody({}, { messages: joinList(undefined, bytes) })), JSON.stringify({ messages: list }));
  assert.equal(textOf(joinBody({}, { messages: joinList(undefined, new Uint8Array()) })), '{"messages":[]}');
  assert.equal(textOf(joinBody({ a: 1 }, {})), '{"a":1}');
});
