// Commands for what surfaces used to read past the host.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { bash, sageWith, workspace } from "../support/sage.ts";

const me = { by: "Lin", surface: "test" };

test("a session is renamed, forked, read page by page, and its files are found", async () => {
  using here = workspace();
  writeFileSync(here.path("main.ts"), "");
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("touch made")] }, { text: "Done." }] });
  const { host, session } = sage;
  await sage.say("go");
  const [request] = await sage.open();
  await sage.answer({ type: "granted", requestId: request?.id ?? "" });
  await sage.outcome();
  assert.deepEqual(await host.send({ type: "rename", session, title: "  a\nname 名 ", ...me }), { ok: true });
  const listed = await host.send({ type: "sessions", session });
  assert.equal(listed.ok && listed.sessions[0]?.title, "a name 名");

  const all = sage.facts();
  const first = await host.send({ type: "facts", session, limit: 3 });
  const rest = await host.send({ type: "facts", session, after: all[2]!.seq });
  const last = await host.send({ type: "facts", session, before: all.at(-1)!.seq, limit: 2 });
  assert.ok(first.ok && rest.ok && last.ok);
  assert.deepEqual([[...first.facts, ...rest.facts], first.more, rest.more], [all, true, false]);
  assert.deepEqual([last.facts, last.more], [all.slice(-3, -1), true]);

  const files = await host.send({ type: "files", session, query: "main" });
  assert.deepEqual(files, { ok: true, files: ["main.ts"] });
  const forked = await host.send({ type: "fork", session, ...me });
  assert.ok(forked.ok);
  const copy = await host.send({ type: "facts", session: forked.session });
  assert.equal(copy.ok && copy.facts.some(({ type }) => type === "input.resolved"), false, "no grant goes along");
  const stats = await host.send({ type: "stats", session });
  assert.deepEqual(stats.ok && [stats.stats.calls, stats.stats.asked, stats.stats.yes], [1, 1, 1]);
  const nowhere = await host.send({ type: "facts", session: "none" });
  assert.equal(!nowhere.ok && nowhere.code, "session-unknown");
});

test("a host that knows nothing about folders and models says so, and a rule that cannot be read is not given", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [] });
  const { host, session } = sage;
  const told = await host.send({ type: "about", session });
  const chosen = await host.send({ type: "choose", session, model: "a/b", ...me });
  assert.deepEqual([!told.ok && told.reason?.code, !chosen.ok && chosen.reason?.code], ["not-here", "not-here"]);
  const rule = { type: "addRule", session, behavior: "allow", destination: "session", ...me } as const;
  const bad = await host.send({ ...rule, rule: "Bash(" });
  assert.equal(!bad.ok && bad.reason?.code, "rule-not-read");
  assert.equal(sage.facts().filter(({ type }) => type === "rule.added" || type === "model.chosen").length, 0);
});
