import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { botGuard } from "../../src/cli/serve/feishu/bot.ts";
import { createHost } from "../../src/host/host.ts";
import { parseCommand } from "../../src/host/socket/messages.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { People } from "../../src/surfaces/feishu/index.ts";
import { asks, bash, Machine } from "../support/cli.ts";

const account = `account:${userInfo().username}`;

function listed(here: Machine, people: Record<string, { ids: string[]; roles: string[] }>): void {
  const home = here.env["SAGE_HOME"] ?? "";
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "settings.json"), JSON.stringify({ people }));
}

test("a person has one name on the command line and in lines, and answers only with the role for it", async () => {
  using here = new Machine();
  const model = here.script(
    { calls: [bash("touch a")] },
    { calls: [asks({ question: "Which?", labels: ["A", "B"] })] },
    { text: "done" },
  );
  listed(here, { 林: { ids: [account, "feishu:ou_1"], roles: ["talker"] } });
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 3);
  assert.equal((await here.facts("user.said"))[0]?.data["by"], "林");
  const [permission] = await here.pending();
  for (const answer of [["--yes"], ["--no"], ["--yes", "--always"]]) {
    const refused = await here.sage(["answer", permission?.id ?? "", ...answer], { env: { SAGE_LANG: "zh" } });
    assert.deepEqual([refused.code, refused.err], [1, 'sage: 林 不是设置的 "people" 中的审批人\n']);
  }
  assert.deepEqual(await here.outcomes(), [], "the request is open as before");

  const typed = here.terminal(["--resume", permission?.session ?? "", "--model", model]);
  await typed.answer(/Allow\? .*> /, "y");
  await typed.until(/林 is not an approver/);
  typed.kill("SIGKILL");
  await typed.code;
  assert.deepEqual(await here.outcomes(), []);
  for (const flags of [["--yes"], ["--bypass"]])
    assert.match((await here.sage(["-p", "go", "--model", model, ...flags])).err, /林 is not an approver/);

  listed(here, { 林: { ids: [account], roles: ["approver"] } });
  assert.equal((await here.sage(["answer", permission?.id ?? "", "--yes", "--run"])).code, 3);
  listed(here, { 林: { ids: [account], roles: ["talker"] } });
  const [question] = await here.pending();
  const answered = await here.sage(["answer", question?.id ?? "", "--choose", "A", "--run"]);
  assert.equal(answered.code, 0, "a question lets nothing run");
  assert.deepEqual(
    (await here.facts("input.resolved")).map(({ data }) => [data["by"], data["surface"]]),
    [
      ["林", "cli"],
      ["林", "cli"],
    ],
  );
  assert.ok((await here.facts("input.resolved")).every(({ data }) => !("person" in data)));
});

test("from the first named account on, an account without a role may not even talk", async () => {
  using here = new Machine();
  const model = here.script({ text: "hello" });
  listed(here, { Lin: { ids: ["feishu:ou_1"], roles: ["approver"] } });
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 0, "the list speaks of chats alone");
  for (const people of [
    { Wang: { ids: ["account:somebody-else"], roles: ["approver"] } },
    { Wang: { ids: [account], roles: [] } },
  ]) {
    listed(here, people);
    const refused = await here.sage(["-p", "go", "--model", model]);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /has no role in "people"/);
  }
  assert.equal((await here.facts("user.said")).length, 1);
  listed(here, { Wang: { ids: [account], roles: ["nonsense"] } });
  assert.notEqual(
    (await here.sage(["-p", "go", "--model", model])).code,
    0,
    "a list that cannot be read opens nothing",
  );
});

test("in a daemon the host itself refuses whoever no bot lets, whatever a surface has let through", async () => {
  const people: People = { talk: ["ou_mei"], approve: ["ou_lin"], tenant: "here" };
  const guard = botGuard([{ team: () => ({ people }) as never }]);
  const store = memoryStore();
  const host = createHost({ store, version: "1", guard, executor: () => Promise.reject(new Error("not run")) });
  const opened = await host.send({ type: "open", cwd: "/" });
  assert.ok(opened.ok);
  const say = (person?: string) =>
    host.send({
      ...{ type: "say", session: opened.session, text: "go", by: "Lin", surface: "feishu" },
      ...(person !== undefined && { person }),
    } as const);
  for (const person of [undefined, "", "feishu:", "feishu:ou_other", "ou_mei", "account:ou_mei"]) {
    const reply = await say(person);
    assert.deepEqual([reply.ok, !reply.ok && reply.code], [false, "not-permitted"], person);
  }
  assert.deepEqual(
    store.load(opened.session).filter(({ type }) => type === "user.said"),
    [],
  );
  assert.equal((await say("feishu:ou_mei")).ok, true);
  const sender = { by: "Lin", surface: "feishu" };
  assert.deepEqual(
    ["feishu:ou_mei", "feishu:ou_lin"].map((person) => guard({ ...sender, person }, "approve")),
    [false, true],
  );
  await host.close();
});

test("nobody says through a socket which person they are", () => {
  const say = { type: "say", session: "s", text: "go", by: "Lin", surface: "web" } as const;
  assert.deepEqual(parseCommand(say), say);
  assert.throws(() => parseCommand({ ...say, person: "feishu:ou_lin" } as typeof say), /person/);
});

test("who may not approve changes no rule, trusts no folder and puts no file back", async () => {
  using here = new Machine();
  const model = here.script(
    { calls: [{ tool: "Write", input: { file_path: "a.txt", content: "a" } }] },
    { text: "done" },
  );
  assert.equal((await here.sage(["-p", "go", "--yes", "--model", model])).code, 0);
  const listing = (await here.sage(["sessions"])).out;
  const session = /\b[a-z2-9]{8}\b/.exec(listing)?.[0] ?? "";
  for (const folder of [".sage", ".claude"]) {
    mkdirSync(join(here.cwd, folder), { recursive: true });
    writeFileSync(join(here.cwd, folder, "settings.json"), JSON.stringify({ permissions: { allow: ["Bash(ls:*)"] } }));
  }
  await here.sage(["permissions", "add", "deny", "Bash(rm:*)", "--to", "user"]);
  const home = join(here.env["SAGE_HOME"] ?? "", "settings.json");
  const settings = JSON.parse(readFileSync(home, "utf8")) as object;
  writeFileSync(home, JSON.stringify({ ...settings, people: { 林: { ids: [account], roles: ["talker"] } } }));
  const before = readFileSync(home, "utf8");
  for (const args of [
    ["permissions", "add", "allow", "Bash", "--to", "user"],
    ["permissions", "remove", "Bash(rm:*)"],
    ["permissions", "import", join(here.cwd, ".claude", "settings.json"), "--to", "user", "--yes"],
    ["trust", "--yes"],
    ["rewind", session, "--to", "t0", "--yes"],
  ]) {
    const refused = await here.sage(args);
    assert.equal(refused.code, 1, args.join(" "));
    assert.match(refused.err, /林 is not an approver/, args.join(" "));
  }
  assert.equal(readFileSync(home, "utf8"), before);
  assert.equal(here.file("a.txt"), "a");
  assert.deepEqual(await here.facts("session.rewound"), []);
});
