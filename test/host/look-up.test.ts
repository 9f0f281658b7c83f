import assert from "node:assert/strict";
import { test } from "node:test";
import { askUser, question, sageWith, workspace } from "../support/sage.ts";

const lin = { by: "Lin", surface: "test" };

test("a request is found by its id, open with its draft or ended with its resolution, and a session by its own", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "ok" }];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  const [request] = await sage.open();
  assert.ok(request);
  const { id } = request;
  const { host, session } = sage;
  assert.deepEqual(await host.send({ type: "request", id }), { ok: true, request });
  await host.send({ type: "saveDraft", requestId: id, draft: { remark: "half" }, ...lin });
  assert.deepEqual(await host.send({ type: "request", id }), { ok: true, request, draft: { remark: "half" } });

  const answers = { "Sure?": { selected: ["Blue"] } };
  const reply = await host.send({ type: "respond", response: { type: "answers", requestId: id, answers }, ...lin });
  assert.ok(reply.ok);
  const ended = await host.send({ type: "request", id });
  assert.deepEqual(ended.ok && [ended.request, ended.resolution], [request, reply.resolution]);

  const unknown = await host.send({ type: "request", id: `${session}/t9/0/0/ask0` });
  assert.equal(!unknown.ok && unknown.code, "request-unknown");
  const found = await host.send({ type: "sessions", session });
  assert.deepEqual(found.ok && found.sessions.map((row) => row.id), [session]);
  const nobody = await host.send({ type: "sessions", session: "nobody" });
  assert.equal(!nobody.ok && nobody.code, "session-unknown");
});
