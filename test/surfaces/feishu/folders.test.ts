import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { team, until } from "./team.ts";

test("a session that an approver brings from elsewhere opens its folder to nobody else", async () => {
  await using sage = await team({ script: Array.from({ length: 4 }, (_, n) => ({ text: `answer ${n}` })) });
  const { lin, mei, feishu, host, dir, cwd } = sage;
  const apart = join(dir, "private");
  mkdirSync(apart);
  const opened = await host.send({ type: "open", cwd: apart });
  const session = opened.ok ? opened.session : "";
  await host.send({ type: "say", session, text: "from the terminal", by: "Ada", surface: "plain" });
  await until(() => sage.facts("turn.ended").length === 1);
  const group = feishu.group("dev", [lin, mei]);
  lin.say(`/resume ${session}`, { chat: group, mentionBot: true });
  const taken = await sage.sees(group, /continues session/);
  mei.say("/new", { chat: group, replyTo: taken.id, mentionBot: true });
  await sage.sees(group, /New session in/);
  const begun = sage.facts("session.opened").filter((fact) => fact.session !== session);
  assert.deepEqual(
    begun.map(({ data }) => data.cwd),
    [cwd],
  );
});
