import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { accountHasRole, hasRole, liveSettings } from "../../src/config/settings/people.ts";
import { readSettings, roles } from "../../src/config/settings/settings.ts";
import { workspace } from "../support/sage.ts";
import { worded } from "../support/worded.ts";

const lin = { ids: ["feishu:ou_1", "account:lin"], roles: ["approver" as const] };
const mei = { ids: ["account:mei"], roles: ["talker" as const] };
const guest = { ids: ["account:guest"], roles: [] };

test("roles are what the list says: every role may talk, approvers administer while nobody else does", () => {
  const held = (people: Parameters<typeof hasRole>[0]["people"], id: string) =>
    roles.filter((role) => hasRole({ people }, id, role));
  const people = { Lin: lin, Mei: mei, Guest: guest };
  for (const id of ["feishu:ou_1", "account:lin"])
    assert.deepEqual(held(people, id), ["talker", "approver", "administrator"], id);
  assert.deepEqual(held(people, "account:mei"), ["talker"]);
  assert.deepEqual(held(people, "account:guest"), []);
  assert.deepEqual(held(people, "account:nobody"), []);
  assert.deepEqual(held(undefined, "account:lin"), []);
  const administered = { ...people, Boss: { ids: ["account:boss"], roles: ["administrator" as const] } };
  assert.deepEqual(held(administered, "account:lin"), ["talker", "approver"]);
  assert.deepEqual(held(administered, "account:boss"), ["talker", "administrator"], "and no approver");
});

test("whoever is to be asked when nobody answers has to be in the list; a name that is not there is told", () => {
  using here = workspace();
  using state = workspace();
  const env = { SAGE_HOME: state.dir };
  const home = sageHome(env, here.dir);
  const escalate = (...names: string[]) => ({ after: "1m", policy: { escalate: names } });
  const ask = [{ rule: "Bash(make:*)", silence: escalate("Ai") }, "Bash(date)"];
  const silence = { ...escalate("Lin", "Bo"), tools: { Bash: escalate("Cao", "Bo") } };
  writeFileSync(home.settings, JSON.stringify({ people: { Lin: lin }, silence, permissions: { ask } }));
  const { warnings } = loadConfig(home, here.dir, env);
  assert.deepEqual(
    warnings.map(({ args }) => args),
    ["Bo", "Cao", "Ai"].map((name) => ({ name })),
  );
});

test("an account may do everything until the list names one; then only what the list gives it", () => {
  const inChats = { Lin: { ids: ["feishu:ou_1"], roles: ["approver" as const] } };
  for (const people of [undefined, {}, inChats])
    assert.deepEqual(
      roles.filter((role) => accountHasRole({ people }, "mei", role)),
      [...roles],
    );
  const people = { ...inChats, Mei: mei };
  assert.deepEqual(
    roles.filter((role) => accountHasRole({ people }, "mei", role)),
    ["talker"],
  );
  assert.deepEqual(
    roles.filter((role) => accountHasRole({ people }, "root", role)),
    [],
  );
});

test("an id belongs to one person: a list that says otherwise is not used", () => {
  using here = workspace();
  const file = here.path("settings.json");
  writeFileSync(file, JSON.stringify({ people: { Lin: lin, Wang: { ids: ["account:lin"], roles: [] } } }));
  assert.throws(() => readSettings(file), worded(/account:lin belongs to both Lin and Wang/));
});

test("a list that changes counts at once; one that cannot be used leaves the last one standing", () => {
  using here = workspace();
  const file = here.path("settings.json");
  const put = (text: string) => {
    rmSync(file, { force: true });
    writeFileSync(file, text);
  };
  put(JSON.stringify({ people: { Mei: mei } }));
  const problems: unknown[] = [];
  const settings = liveSettings(file, (error) => problems.push(error));
  assert.equal(accountHasRole(settings(), "mei", "approver"), false);
  put("{ half");
  assert.equal(accountHasRole(settings(), "mei", "approver"), false, "no list is not an empty list");
  assert.equal(problems.length, 1);
  put(JSON.stringify({ people: { Mei: { ...mei, roles: ["talker", "approver"] } } }));
  assert.equal(accountHasRole(settings(), "mei", "approver"), true);
});
