import assert from "node:assert/strict";
import * as fc from "../../support/properties.ts";
import { test } from "node:test";
import { readClick, readEnvelope, readMessage } from "../../../src/surfaces/feishu/transport/incoming/event.ts";
import { verify } from "../../../src/surfaces/feishu/transport/incoming/webhook.ts";

const keys = { appId: "cli_a1b2c3d4e5f60718", encryptKey: "key", verificationToken: "token" };

test("no bytes and no headers of a stranger are genuine, and none of them is too much", () => {
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    fc.base64String({ maxLength: 300 }).map((encrypt) => Buffer.from(JSON.stringify({ encrypt }))),
  );
  const bytes = fc.uint8Array({ maxLength: 40 }).map((some) => Buffer.from(some).toString("latin1"));
  const header = fc.option(bytes, { nil: undefined });
  const headers = fc.record({
    "x-lark-request-timestamp": fc.oneof(header, fc.constant(String(Math.floor(Date.now() / 1_000)))),
    "x-lark-request-nonce": header,
    "x-lark-signature": header,
  });
  fc.assert(
    fc.property(body, headers, (sent, given) => {
      const verdict = verify({ headers: given, body: sent }, keys, Date.now());
      assert.ok(!verdict.genuine && verdict.status >= 400 && verdict.status < 500);
    }),
    { numRuns: 200 },
  );
});

test("whatever an event holds, reading it does not fail", () => {
  const anything = fc.anything({ maxDepth: 4, withNullPrototype: true });
  const message = fc.record({
    sender: fc.record({ sender_id: fc.record({ open_id: fc.string() }), sender_type: fc.constant("user") }),
    message: fc.record({
      message_id: fc.string({ minLength: 1 }),
      create_time: fc.string(),
      chat_id: fc.string({ minLength: 1 }),
      chat_type: fc.constantFrom("p2p", "group", "other"),
      message_type: fc.constantFrom("text", "post", "image", "file", "media", "other"),
      content: fc.oneof(
        fc.string(),
        fc.json(),
        fc.record({ title: anything, content: fc.array(fc.array(anything)) }).map((one) => JSON.stringify(one) ?? ""),
      ),
    }),
  });
  fc.assert(
    fc.property(fc.oneof(anything, message), anything, (event, header) => {
      readEnvelope(event);
      const read = readMessage(event, "ou_bot");
      for (const { key } of read?.attachments ?? []) assert.match(key, /^[\w-]+$/);
      const envelope = readEnvelope({ header, event });
      if (envelope) readClick(envelope);
    }),
    { numRuns: 200 },
  );
});
