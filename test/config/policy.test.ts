// Managed policy: what whoever runs the machine has settled is loosened by nobody, and a policy that cannot be relied on stops the start.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { readPolicy, underPolicy, type Policy } from "../../src/config/settings/policy.ts";
import { underPolicy as partsUnderPolicy } from "../../src/host/assembly/under-policy.ts";
import { readSettings } from "../../src/config/settings/settings.ts";
import { loadDecision } from "../../src/archive/decision.ts";
import { SageError } from "../../src/protocol/reasons/reason.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { allow, bash, sageWith, workspace } from "../support/sage.ts";

const owner = process.getuid?.() ?? 0;
const written = {
  permissions: { deny: ["Bash(curl:*)"], ask: ["Bash(touch:*)", { rule: "Bash(git push:*)", approvals: 2 }] },
  sandbox: { mode: "contain", hidden: ["/secret"] },
  retention: { receipts: "52w" },
};

function policyIn(here: ReturnType<typeof workspace>, content: unknown = written) {
  mkdirSync(here.path("etc"), { mode: 0o755, recursive: true });
  chmodSync(here.path("etc"), 0o755);
  const path = here.path("etc/policy.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  chmodSync(path, 0o644);
  return { path, owner };
}

test("its rules hold over every setting, answer and flag; nothing offers to remove them, and nothing does", async () => {
  using here = workspace();
  const policy = readPolicy(policyIn(here));
  using person = workspace();
  const env = { SAGE_HOME: person.path(".sage") };
  const home = sageHome(env, here.dir);
  writeFileSync(
    home.settings,
    JSON.stringify({
      permissions: { allow: ["Bash(curl:*)", "Bash(touch:*)", "Edit(./**)"] },
      sandbox: { mode: "off", writable: ["/srv"], hidden: ["/mine"] },
      retention: { sessions: "90d", receipts: "1h" },
    }),
  );
  const config = loadConfig(home, here.dir, env, readSettings(home.settings), policy);
  assert.equal(config.policy, policy?.path);
  assert.deepEqual([config.sandbox.mode, config.sandbox.writable], ["contain", []]);
  assert.deepEqual(config.settings.retention, { sessions: "90d", receipts: "52w" });
  assert.deepEqual(config.settings.sandbox?.hidden, ["/secret", "/mine"], "what tightens is kept");
  const { judge } = await loadDecision();
  const decide = (command: string, mode: "default" | "bypass") =>
    judge({
      ...{ rules: config.rules, mode, cwd: here.dir, home: here.dir, roots: [here.dir], tool: "Bash" },
      input: { command },
    }).result;
  for (const mode of ["default", "bypass"] as const) {
    const denied = decide("curl http://a", mode);
    assert.deepEqual([denied.behavior, denied.rule, denied.source], ["deny", "Bash(curl:*)", "managed"]);
    assert.match(sentence(denied.reason, "en"), /policy of this machine/);
    assert.deepEqual([decide("touch a", mode).behavior, decide("touch a", mode).hard], ["ask", true]);
    assert.deepEqual(decide("git push", mode).consent, { approvals: 2 });
  }
  for (const destination of ["user", "local", "project"] as const)
    assert.equal(config.dropRule("Bash(curl:*)", destination, "deny"), undefined);
  assert.equal(config.rules.filter(({ source }) => source === "managed").length, 4);
});

test("no policy loosens the sandbox that the person has chosen", () => {
  const mine = { mode: "contain", writable: ["/srv"], hidden: ["/mine"] } as const;
  const cases = [
    [mine, { hidden: ["/secret"] }, { ...mine, hidden: ["/secret", "/mine"] }],
    [mine, { mode: "off" }, mine],
    [mine, {}, mine],
    [mine, { mode: "autoAllow" }, { mode: "contain", hidden: ["/mine"] }],
    [{ mode: "autoAllow" }, { mode: "contain" }, { mode: "contain" }],
    [
      { mode: "autoAllow", outside: ["docker"] },
      { writable: ["/data"] },
      { mode: "autoAllow", outside: ["docker"], writable: ["/data"] },
    ],
    [undefined, { mode: "autoAllow" }, { mode: "autoAllow" }],
    [undefined, { mode: "off" }, { mode: "off" }],
  ] as const;
  for (const [n, [own, sandbox, expected]] of cases.entries()) {
    const settings = { ...readSettings("/nowhere/settings.json"), ...(own && { sandbox: structuredClone(own) }) };
    const policy = { path: "", rules: [], sandbox: structuredClone(sandbox) } as unknown as Policy;
    const under = underPolicy(settings as never, policy);
    assert.deepEqual(under.sandbox, expected, `case ${n}`);
    assert.deepEqual(underPolicy(under, policy), under, `case ${n}: read once more, it is the same`);
  }
});

test("an answer that would remove a rule of the policy removes nothing, where rules stand in files and where they do not", async () => {
  for (const inFiles of [true, false]) {
    using here = workspace();
    const { rules = [] } = readPolicy(policyIn(here)) ?? {};
    await using sage = await sageWith({
      dir: here.dir,
      rules: [...rules, allow("Bash(touch:*)"), allow("Edit(./**)")],
      ...(inFiles && { dropRule: () => undefined }),
      script: [{ calls: [bash("touch a")] }, { calls: [bash("touch b")] }, { text: "done" }],
    });
    await sage.say("go");
    const [first] = (await sage.open()) as [PermissionRequest];
    assert.deepEqual(first.suggestions, []);
    const removeRules = (["user", "session", "local"] as const).map((destination) => ({
      rule: "Bash(touch:*)",
      behavior: "ask" as const,
      destination,
    }));
    await sage.answer({ type: "granted", requestId: first.id, removeRules });
    const [second] = await sage.open();
    await sage.answer({ type: "denied", requestId: second!.id });
    const problems = sage.facts().flatMap(({ type, data }) => (type === "rule.removed" ? [data.problem?.code] : []));
    assert.deepEqual(problems, Array(3).fill("rule-not-there"));
  }
});

test("a policy that is malformed, a link, or somebody else's to write stops everything; without one nothing changes", () => {
  using here = workspace();
  assert.equal(readPolicy({ path: here.path("etc/policy.json"), owner }), undefined);
  const settings = readSettings(here.path("none.json"));
  assert.equal(underPolicy(settings, undefined), settings);
  const code = (content?: unknown, spoil: (path: string) => void = () => {}, who = owner) => {
    const { path } = policyIn(here, content);
    spoil(path);
    try {
      readPolicy({ path, owner: who });
      return "read";
    } catch (error) {
      assert.ok(error instanceof SageError);
      return error.reason.code;
    }
  };
  const cases: [string, string][] = [
    ["read", code()],
    ["file-not-json", code("{")],
    ["file-unfit", code({ permissions: { allow: ["Bash"] } })],
    ["file-unfit", code({ sandbox: { mode: "loose" } })],
    ["rule-not-read", code({ permissions: { deny: ["Bash("] } })],
    ["policy-unsafe", code(written, () => {}, owner + 1)],
    ["policy-unsafe", code(written, (path) => chmodSync(path, 0o666))],
    ["policy-unsafe", code(written, () => chmodSync(here.path("etc"), 0o777))],
    [
      "policy-unsafe",
      code(written, (path) => {
        renameSync(path, here.path("elsewhere.json"));
        symlinkSync(here.path("elsewhere.json"), path);
      }),
    ],
  ];
  for (const [n, [expected, found]] of cases.entries()) assert.equal(found, expected, `case ${n}`);
});

test("whatever parts a host is made of, the policy is over them; a live list that has its rules stays the same list", () => {
  using here = workspace();
  const policy = readPolicy(policyIn(here, { ...written, signed: ["hard"] }))!;
  const given = { rules: [allow("Bash(curl:*)")], permissionMode: "bypass", env: {}, output: here.dir } as const;
  const model = async () => ({ id: "none", reply: () => Promise.reject(new Error("nobody asks")) });
  const loose = { mode: "off", writable: ["/srv"], readable: [], git: "write", outside: ["docker"] } as const;
  const { parts, signed } = partsUnderPolicy({ ...given, model, sandbox: loose }, policy);
  assert.deepEqual(signed, ["hard"]);
  assert.deepEqual(
    parts.rules.map(({ behavior, text, source }) => [behavior, text, source]),
    [
      ["deny", "Bash(curl:*)", "managed"],
      ["ask", "Bash(touch:*)", "managed"],
      ["ask", "Bash(git push:*)", "managed"],
      ["deny", "Read(/secret)", "managed"],
      ["allow", "Bash(curl:*)", "user"],
    ],
  );
  assert.deepEqual(
    [parts.sandbox?.mode, parts.sandbox?.writable, parts.sandbox?.git, parts.sandbox?.outside],
    ["contain", [], "read", []],
  );
  const live = [...parts.rules];
  assert.equal(partsUnderPolicy({ ...given, model, rules: live }, policy).parts.rules, live);
  // A rule that only says to be the policy's is none.
  const faked = policy.rules.map((rule) => ({ ...rule, behavior: "allow" as const }));
  assert.equal(partsUnderPolicy({ ...given, model, rules: faked }, policy).parts.rules.length, 8);
});
