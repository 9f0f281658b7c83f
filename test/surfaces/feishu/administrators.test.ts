import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bash } from "../../support/sage.ts";
import { team } from "./team.ts";

test("an administrator admits people from a chat, and they may at once what they are admitted for", async () => {
  await using sage = await team({
    script: [{ calls: [bash("echo ran >> ran.txt")] }, { text: "the end" }],
  });
  const { lin, mei, stranger, feishu } = sage;
  const group = feishu.group("dev", [lin, mei, stranger]);
  stranger.say("hi", { chat: group, mentionBot: true });
  await sage.sees(group, /You may not give tasks/);
  mei.say("/invite @", { chat: group, mentionBot: true, mention: [stranger] });
  await sage.sees(group, /Only an administrator/);
  lin.say("/invite", { chat: group, mentionBot: true });
  await sage.sees(group, /Mention the person: \/invite @name/);
  lin.say("/invite @", { chat: group, mentionBot: true, mention: [stranger] });
  await sage.sees(group, /Stranger can now give tasks\./);
  lin.say("/approver @", { chat: group, mentionBot: true, mention: [mei] });
  await sage.sees(group, /Mei can now give tasks and approve/);
  assert.deepEqual(sage.changes, [
    { type: "person", openId: stranger.openId, name: "Stranger", role: "talker" },
    { type: "person", openId: mei.openId, name: "Mei", role: "approver" },
  ]);
  stranger.say("run it", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  assert.deepEqual(card.pings, [lin.openId, mei.openId]);
  assert.equal((await mei.click(card.id, "allow_once")).toast?.content, "Allowed once");
  await sage.sees(group, /the end/);
});

test("where administrators are named, an approver is none", async () => {
  await using sage = await team({ script: [] });
  const { lin, mei } = sage;
  sage.set({ people: { ...sage.people, administer: [mei.openId] } });
  lin.say("/doctor");
  await sage.sees(lin.chat, /Only an administrator/);
  mei.say("/doctor");
  await sage.sees(mei.chat, /Nothing is missing/);
});

test("/bind gives a chat its folder: the next session works there, and no other chat's does", async () => {
  await using sage = await team({ script: [{ text: "one" }] });
  const { lin, mei, feishu, dir, cwd } = sage;
  const web = join(dir, "web");
  mkdirSync(web);
  const group = feishu.group("web", [lin, mei]);
  lin.say("/bind web", { chat: group, mentionBot: true });
  await sage.sees(group, /Unknown workspace web\. The settings name none/);
  sage.set({ workspaces: { web } });
  mei.say("/bind web", { chat: group, mentionBot: true });
  await sage.sees(group, /Only an administrator/);
  lin.say("/bind web", { chat: group, mentionBot: true });
  await sage.sees(group, /this chat works in web/);
  mei.say("go", { chat: group, mentionBot: true });
  await sage.sees(group, /one/);
  lin.say("go");
  await sage.sees(lin.chat, /one/);
  assert.deepEqual(
    sage.store
      .sessions()
      .map((row) => row.cwd)
      .toSorted(),
    [cwd, web].toSorted(),
  );
  // The bot's own folder is no longer this chat's.
  mei.say(`/cd ${cwd}`, { chat: group, mentionBot: true });
  await sage.sees(group, /not one of this bot's folders/);
});

test("/sessions in a group shows that group's sessions alone, also to an approver", async () => {
  await using sage = await team({ script: [{ text: "one" }] });
  const { lin, mei, feishu } = sage;
  const group = feishu.group("dev", [lin, mei]);
  lin.say("my private task");
  await sage.sees(lin.chat, /one/);
  mei.say("the task of the group", { chat: group, mentionBot: true });
  await sage.sees(group, /one/);
  lin.say("/sessions", { chat: group, mentionBot: true });
  const list = await sage.sees(group, /Sessions\n/);
  assert.match(list.text, /the task of the group/);
  assert.doesNotMatch(list.text, /my private task/);
  lin.say("/sessions");
  const own = await sage.sees(lin.chat, /Sessions\n/);
  for (const title of ["my private task", "the task of the group"]) assert.ok(own.text.includes(title));
});

test("people of another organisation do not count, also where the settings name none", async () => {
  await using sage = await team({ script: [{ text: "hello" }] });
  const { lin, mei, feishu } = sage;
  const { tenant: _none, ...people } = sage.people;
  sage.set({ people: { ...people, talk: "anyone" } });
  lin.say("hi");
  await sage.sees(lin.chat, /hello/);
  const person = feishu.world.people.get(mei.openId);
  if (person) person.tenantKey = "another";
  mei.say("hi");
  await sage.sees(mei.chat, /You may not give tasks/);
});

test("/doctor tells in the reader's language what is missing", async () => {
  await using sage = await team({
    script: [],
    options: { examine: async () => (lang) => [lang === "zh" ? "✗ 缺少权限" : "✗ a permission is missing"] },
  });
  const { lin, feishu } = sage;
  lin.say("/doctor");
  const told = await sage.sees(lin.chat, /✗ a permission is missing/);
  assert.match(feishu.seen(lin.chat, "zh_cn").find(({ id }) => id === told.id)?.text ?? "", /缺少权限/);
});
