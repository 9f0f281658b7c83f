import assert from "node:assert/strict";
import { test } from "node:test";
import { domainOf, feishuConfig, portOf } from "../../src/cli/commands/feishu/config.ts";
import { SageError } from "../../src/protocol/index.ts";
import { feishuSetupTexts } from "../../src/texts/feishu-setup.ts";
import { workspace } from "../support/sage.ts";

const t = feishuSetupTexts("en");
const appId = "cli_a1b2c3d4e5f60718";
const good = { FEISHU_APP_ID: appId, FEISHU_APP_SECRET: "secret", FEISHU_APPROVERS: "ou_1" };

test("nobody who has not mentioned Feishu hears of it", () => {
  assert.equal(feishuConfig(undefined, {}, { cwd: "/", t }), undefined);
});

test("the environment wins over the settings, and the rest is as usual", () => {
  using here = workspace();
  const settings = { appId: "cli_ffffffffffffffff", approvers: ["ou_2"], allowedUsers: ["ou_3"], domain: "lark" };
  assert.deepEqual(feishuConfig(settings, { ...good, FEISHU_ALLOWED_USERS: "ou_4, ou_5" }, { cwd: here.dir, t }), {
    appId,
    appSecret: "secret",
    domain: "https://open.larksuite.com",
    mode: "socket",
    people: { talk: ["ou_4", "ou_5"], approve: ["ou_1"] },
    cwd: here.dir,
    folders: [],
    models: [],
    warnings: [],
  });
});

test("everything that is wrong is told at once, in plain words", () => {
  const wrong = (env: Record<string, string>, settings = {}): string[] => {
    try {
      feishuConfig(settings, env, { cwd: "/", t });
      return [];
    } catch (error) {
      assert.ok(error instanceof SageError && error.code === "config-invalid");
      return error.message
        .split("\n")
        .slice(1)
        .map((line) => line.slice(4));
    }
  };
  assert.deepEqual(
    wrong(
      {
        FEISHU_APP_ID: "app",
        FEISHU_DOMAIN: "http://example.com",
        FEISHU_MODE: "webhook",
        FEISHU_APPROVERS: "ou_1, lin",
      },
      { folders: ["/no/such/folder"] },
    ),
    [
      t.badAppId("app"),
      t.noSecret,
      t.badDomain("http://example.com"),
      t.noEncryptKey,
      t.noVerificationToken,
      t.badUser("FEISHU_APPROVERS", "lin"),
      t.noFolder("/no/such/folder"),
    ],
  );
  assert.deepEqual(wrong({}), [t.noAppId, t.noSecret, t.nobody]);
  assert.deepEqual(wrong({ ...good, FEISHU_MODE: "carrier pigeon" }), [t.badMode("carrier pigeon")]);
});

test("what is risky is told, and allowed", () => {
  const open = feishuConfig({}, { ...good, FEISHU_APPROVERS: "", FEISHU_ALLOWED_USERS: "*" }, { cwd: "/", t });
  assert.deepEqual([open?.people, open?.warnings], [{ talk: "anyone", approve: [] }, [t.noApprovers, t.anyone]]);
});

test("a secret goes to an origin over TLS, or stays on this machine", () => {
  const origins = ["Feishu", "LARK", "https://open.example.com/", "http://127.0.0.1:4010", "http://localhost:1"];
  assert.deepEqual(origins.map(domainOf), [
    "https://open.feishu.cn",
    "https://open.larksuite.com",
    "https://open.example.com",
    "http://127.0.0.1:4010",
    "http://localhost:1",
  ]);
  const bad = [
    "http://open.feishu.cn",
    "https://a.com/x",
    "https://u:p@a.com",
    "https://a.com?x",
    "ftp://a.com",
    "example",
  ];
  assert.deepEqual(
    bad.map(domainOf),
    bad.map(() => undefined),
  );
});

test("a port is a number that ports can have", () => {
  assert.deepEqual(
    ["0", "80", "65535"].map((text) => portOf(text, "--port", t)),
    [0, 80, 65_535],
  );
  for (const text of ["", "eighty", "65536", "-1", "8.5"])
    assert.throws(() => portOf(text, "--port", t), /--port should be/);
});
