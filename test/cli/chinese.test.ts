// Scenes that a Chinese reader can meet in lines and with -p. The model speaks Chinese here, so every English sentence is Sage's.
import assert from "node:assert/strict";
import { writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import type { RequestFailure } from "../../src/protocol/reasons/model.ts";
import { reason, said, type Reason } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { bash, Machine } from "../support/cli.ts";
import { modelServer, type Play } from "../support/model-server.ts";
import { until } from "../support/until.ts";

const once = { "x-should-retry": "false" };

/** Commands, options and paths stay as they are typed; anything else of three English words is a sentence that nobody wrote in Chinese. */
function assertChinese(text: string): void {
  const plain = text
    .replace(/`[^`]*`/g, "")
    .replace(/^\s*│.*$/gm, "")
    .replace(/\bsage (-|[a-z]+\b).*$/gm, "");
  assert.match(plain, /\p{Script=Han}/u, text);
  assert.doesNotMatch(plain, /[a-z']{2,}(?:[ ,]+[a-z']{2,}){2,}/i, text);
}

/** A machine whose person reads Chinese, with these settings. */
function chinese(settings: object = {}): Machine {
  const machine = new Machine();
  machine.env["LANG"] = "zh_CN.UTF-8";
  mkdirSync(machine.env["SAGE_HOME"] ?? "");
  writeFileSync(join(machine.env["SAGE_HOME"] ?? "", "settings.json"), JSON.stringify(settings));
  return machine;
}

suite("a Chinese reader meets no English sentence", () => {
  const failures: [string, RegExp, ...Play[]][] = [
    ["a refused key", /服务器不接受这个密钥（401：密钥无效）/, { status: 401, message: "密钥无效" }],
    ["an unknown model", /服务器不认识这个模型或地址/, { status: 404, message: "没有" }],
    ["a failing server", /服务器出错（500：坏了）/, { status: 500, headers: once, message: "坏了" }],
    ["a conversation that is too long", /对话太长/, { status: 413, message: "太长" }],
    ["a limit of hours", /请在 2 小时后再试/, { status: 429, headers: { "retry-after": "7200" }, message: "慢" }],
  ];
  for (const [scene, expected, ...plays] of failures)
    test(`${scene}, with -p and in lines`, async () => {
      using machine = chinese();
      await using server = await modelServer(...plays, ...plays);
      machine.env["OPENAI_BASE_URL"] = server.openaiURL;
      const { code, err } = await machine.sage(["-p", "--model", "openai/m", "开始"]);
      assert.equal(code, 1, err);
      assert.match(err, expected);
      assertChinese(err);
      const talk = await machine.sage(["--model", "openai/m"], { input: "开始\n" });
      assertChinese(talk.out + talk.err);
    });

  test("a server that is tried again", async () => {
    using machine = chinese();
    await using server = await modelServer(
      { status: 429, headers: { "retry-after-ms": "1" }, message: "慢" },
      { text: "好了。" },
    );
    machine.env["OPENAI_BASE_URL"] = server.openaiURL;
    const { code, out, err } = await machine.sage(["-p", "--model", "openai/m", "开始"]);
    assert.deepEqual([code, out], [0, "好了。\n"]);
    assert.match(err, /已达服务器的用量限制（429：慢）。1 秒后重试（第 1 次，共 5 次）/);
    assertChinese(err);
  });

  test("a call that a rule refuses, one that waits for a person, and one that the person refuses", async () => {
    using machine = chinese({ permissions: { deny: ["Bash(rm *)"] } });
    const refused = machine.script({ calls: [bash("rm -r x")] }, { text: "好的。" });
    assertChinese((await machine.sage(["-p", "--model", refused, "开始"])).err);
    const waits = machine.script({ calls: [bash("printf x > y")] }, { text: "好的。" });
    const asked = await machine.sage(["-p", "--model", waits, "开始"]);
    assert.equal(asked.code, 3);
    assertChinese(asked.err);
    assertChinese((await machine.sage(["-p", "--deny", "--model", waits, "开始"])).err);
    assertChinese((await machine.sage(["inbox"])).out);
    const [request] = await machine.pending();
    assertChinese((await machine.sage(["inbox", request?.id ?? ""])).out);
  });

  test("an agent that repeats itself", async () => {
    using machine = chinese({ permissions: { allow: ["Bash(false)"] } });
    const again = { calls: [bash("false")] };
    const model = machine.script(again, again, again, again, again, { text: "好的。" });
    const { code, err } = await machine.sage(["-p", "--model", model, "开始"]);
    assert.equal(code, 3, err);
    assert.match(err, /智能体把同一件事做了 4 次/);
    assertChinese(err);
  });

  test("a call that a kill cut off", async () => {
    using machine = chinese({ permissions: { allow: ["Bash(sleep *)"] } });
    const model = machine.script({ calls: [bash("sleep 300")] }, { text: "好的。" });
    const running = machine.start(["-p", "--model", model, "开始"]);
    await until(async () => (await machine.facts("call.started").catch(() => [])).length > 0);
    running.kill("SIGKILL");
    await running.ended;
    const [session] = JSON.parse((await machine.sage(["sessions", "--json"])).out) as { id: string }[];
    const { err } = await machine.sage(["-p", "--model", model, "--resume", session?.id ?? ""]);
    assert.match(err, /被中断/);
    assertChinese(err);
    const group = /进程组 (\d+)/.exec(err)?.[1]; // the kill may come before the command has begun
    if (group !== undefined) process.kill(-Number(group), "SIGKILL");
  });

  test("a session that is damaged, one that is not there, and words that mean nothing", async () => {
    using machine = chinese();
    const model = machine.script({ text: "第一。" }, { text: "第二。" });
    await machine.sage(["-p", "--model", model, "开始"]);
    assertChinese((await machine.sage(["-p", "--model", model, "--resume", "nobody", "开始"])).err);
    const talk = await machine.sage(["--model", model], { input: "/nonsense\n/compact\n" });
    assertChinese(talk.out + talk.err);
    const journal = new DatabaseSync(join(machine.env["SAGE_HOME"] ?? "", "journal.db"));
    journal.exec("UPDATE fact SET data='{' WHERE type='model.replied'");
    journal.close();
    const session = (JSON.parse((await machine.sage(["sessions", "--json"])).out) as { id: string }[]).at(-1);
    const { code, err } = await machine.sage(["-p", "--model", model, "--resume", session?.id ?? "", "继续"]);
    assert.notEqual(code, 0);
    assertChinese(err);
  });

  test("a model, a home and a file that cannot be used", async () => {
    using machine = chinese();
    for (const model of ["nonsense", "nobody/x", "openai/", "openai/x"])
      assertChinese((await machine.sage(["-p", "--model", model, "开始"])).err);
    assertChinese((await machine.sage(["-p", "开始"], { env: { SAGE_HOME: "relative" } })).err);
    const env = { OPENAI_BASE_URL: "ftp://x" };
    assertChinese((await machine.sage(["-p", "--model", "openai/x", "开始"], { env })).err);
  });

  test("settings, rules and skills that do not fit", async () => {
    using machine = chinese({ permissions: { allow: ["Bash(ls", "Sleep"], deny: ["Read(/nowhere/x)"] } });
    const home = machine.env["SAGE_HOME"] ?? "";
    mkdirSync(join(home, "skills", "坏的"), { recursive: true });
    mkdirSync(join(home, "agents"));
    writeFileSync(join(home, "skills", "坏的", "SKILL.md"), "---\ndescription: 坏的\npriority: 高\n---\n做");
    writeFileSync(join(home, "agents", "空的.md"), "---\ndescription: 空的\n---\n");
    const model = machine.script({ text: "好的。" });
    const { code, err } = await machine.sage(["-p", "--model", model, "开始"]);
    assert.equal(code, 0, err);
    assert.match(err, /允许规则“Bash\(ls”：末尾缺少 \)/);
    assert.match(err, /规则“Sleep”说的工具“Sleep”不存在/);
    assert.match(err, /\/nowhere，而它不存在/);
    assert.match(err, /坏的\/SKILL\.md：priority 应是数，现在是字符串/);
    assert.match(err, /空的\.md：front matter 之下缺少给子智能体的说明/);
    assertChinese(err);
    assertChinese((await machine.sage(["permissions", "list"])).err);
    const settings = join(home, "settings.json");
    for (const [text, expected] of [
      ['{"permissions": {"deny": "Bash"}, "moed": 1}', /permissions\.deny 应是列表，现在是字符串[^]*不认识“moed”/],
      ['{"permissions": {"deny": ["Bash(rm"]}}', /个人设置的拒绝规则“Bash\(rm”读不懂：末尾缺少 \)/],
      ['{"feishu": {"approvers": ["lin"], "promptTimeout": "soon"}}', /approvers\[0\] 应是人员的 open id[^]*30m/],
    ] as const) {
      writeFileSync(settings, text);
      const refused = await machine.sage(["-p", "--model", model, "开始"]);
      assert.notEqual(refused.code, 0);
      assert.match(refused.err, expected);
      assertChinese(refused.err);
    }
  });

  test("everything that goes wrong between Sage, the model and the disk", () => {
    const kinds: Record<RequestFailure, true> = {
      silent: true,
      disconnected: true,
      unreachable: true,
      insecure: true,
      "cut-off": true,
      "not-sent": true,
      "key-refused": true,
      "proxy-refused": true,
      "access-refused": true,
      "unknown-model": true,
      "too-large": true,
      unpaid: true,
      "rate-limited": true,
      overloaded: true,
      "server-failed": true,
      refused: true,
    };
    const problems = (Object.keys(kinds) as RequestFailure[]).map((kind) =>
      reason("request-failed", { kind, status: 418, detail: "", silence: { host: "h", ms: 1_000 } }),
    );
    const model = "p/m";
    const told: Reason[] = problems.flatMap((problem) => [
      problem,
      reason("model-failed", { model, problem, again: true }),
      reason("model-failed", { model, problem, again: false }),
      reason("tries-again", { problem, waitMs: 1, attempt: 1, of: 5 }),
      reason("server-rests", { failures: 10, problem }),
      reason("fallback-goes-on", { problem, model }),
      reason("fallback-failed", { problem, fallback: problem }),
      reason("not-summarised", { problem }),
    ]);
    const full = reason("disk-full", { path: "/j", problem: "ENOSPC" });
    for (const why of [
      ...told,
      reason("server-answers-again", { model }),
      reason("waits-for-limit", { model, requestsPerMinute: 1, tokensPerMinute: 2 }),
      reason("makes-room", { tokens: 100_000 }),
      reason("empty-summary", {}),
      reason("not-recorded-yet", { problem: full }),
      reason("goes-on-after-mistake", { problem: "x", waitMs: 1_000, attempt: 3, of: 3 }),
      reason("file-left-out", { path: "/AGENTS.md", problem: reason("rule-against-reading", {}) }),
    ])
      assertChinese(sentence(why, "zh"));
    assert.throws(() => assertChinese(sentence(said("This is English."), "zh")));
  });
});
