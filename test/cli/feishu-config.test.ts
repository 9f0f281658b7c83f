import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { domainOf, feishuBots, portOf } from "../../src/cli/connect/feishu/config.ts";
import { liveTeam } from "../../src/cli/serve/feishu/bot.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { readSettings, type Settings } from "../../src/config/settings/settings.ts";
import { defaultLimits } from "../../src/surfaces/feishu/index.ts";
import { folderOf } from "../../src/surfaces/feishu/bot/team.ts";
import { SageError } from "../../src/protocol/reasons/reason.ts";
import { feishuSetupTexts } from "../../src/texts/serve/feishu-setup.ts";
import { workspace } from "../support/sage.ts";

const t = feishuSetupTexts("en");
const appId = "cli_a1b2c3d4e5f60718";
const good = { FEISHU_APP_ID: appId, FEISHU_APP_SECRET: "secret", FEISHU_APPROVERS: "ou_1" };

const nothing: Settings = { permissions: { deny: [], ask: [], allow: [] }, hooks: {}, providers: {}, prices: {} };
const bots = (settings: Partial<Settings>, env: Record<string, string>, cwd = "/") =>
  feishuBots({ ...nothing, ...settings }, env, { cwd, lang: "en", t });

test("nobody who has not mentioned Feishu hears of it", () => {
  assert.deepEqual(bots({}, {}), []);
});

test("the environment wins over the settings, and the rest is as usual", () => {
  using here = workspace();
  const feishu = { appId: "cli_ffffffffffffffff", approvers: ["ou_2"], allowedUsers: ["ou_3"], domain: "lark" };
  assert.deepEqual(bots({ feishu }, { ...good, FEISHU_ALLOWED_USERS: "ou_4, ou_5" }, here.dir), [
    {
      name: "",
      app: { appId, appSecret: "secret", domain: "https://open.larksuite.com", mode: "socket" },
      team: {
        people: { talk: ["ou_4", "ou_5"], approve: ["ou_1"] },
        cwd: here.dir,
        agents: [],
        folders: [],
        workspaces: {},
        models: [],
        lang: "en",
        limits: defaultLimits,
        chats: {},
      },
      warnings: [],
    },
  ]);
});

test("several bots: each with its app, its secret, its chats and its folder; people have one name and their roles in all of them", () => {
  using here = workspace();
  mkdirSync(here.path("web"));
  const settings = {
    people: {
      林: { ids: ["feishu:ou_lin", "feishu:ou_linops", "account:lin"], roles: ["administrator", "approver"] },
      Mei: { ids: ["feishu:ou_mei"], roles: ["talker"] },
    },
    workspaces: { web: here.path("web") },
    feishu: {
      appId,
      chats: { oc_1: { workspace: "web", promptTimeout: "2h", timeoutPolicy: "fail", lang: "zh" } },
      bots: { ops: { appId: "cli_ffffffffffffffff", taskLimit: "3h", approvers: ["ou_x"] } },
    },
  } as Partial<Settings>;
  const env = { FEISHU_APP_SECRET: "one", FEISHU_APP_SECRET_OPS: "two" };
  const [first, ops] = bots(settings, env, here.dir);
  assert.ok(first && ops);
  assert.deepEqual(first.team.people, {
    talk: ["ou_mei"],
    approve: ["ou_lin", "ou_linops"],
    administer: ["ou_lin", "ou_linops"],
    names: { ou_lin: "林", ou_linops: "林", ou_mei: "Mei" },
  });
  assert.deepEqual(first.team.chats, {
    oc_1: { workspace: "web", lang: "zh", limits: { promptTimeout: 7_200_000, timeoutPolicy: "fail" } },
  });
  assert.equal(folderOf(first.team, "oc_1"), here.path("web"));
  assert.equal(folderOf(first.team, "oc_2"), here.dir);
  assert.deepEqual(
    [ops.name, ops.app.appSecret, ops.team.limits.taskLimit, ops.team.people.approve],
    ["ops", "two", 10_800_000, ["ou_x", "ou_lin", "ou_linops"]],
  );
});

test("everything that is wrong is told at once, in plain words", () => {
  const wrong = (env: Record<string, string>, settings: Partial<Settings> = {}): string[] => {
    try {
      bots(settings, env);
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
      { feishu: { folders: ["/no/such/folder"], chats: { oc_1: { workspace: "web" } }, bots: { ops: { appId } } } },
    ),
    [
      t.badAppId("app"),
      t.noSecret,
      t.badDomain("http://example.com"),
      t.noEncryptKey,
      t.noVerificationToken,
      t.noWorkspace("oc_1", "web"),
      t.badUser("FEISHU_APPROVERS", "lin"),
      t.noFolder("/no/such/folder"),
      `ops: ${t.noSecret}`,
      `ops: ${t.nobody}`,
    ],
  );
  assert.deepEqual(wrong({}, { feishu: { mode: "socket" } }), [t.noAppId, t.noSecret, t.nobody]);
  assert.deepEqual(wrong({ ...good, FEISHU_MODE: "carrier pigeon" }), [t.badMode("carrier pigeon")]);
  assert.deepEqual(
    wrong({ ...good, FEISHU_APP_SECRET_OPS: "s" }, { feishu: { bots: { ops: { appId, approvers: ["ou_1"] } } } }),
    [t.sameApp(appId)],
  );
});

test("what is risky is told, and allowed", () => {
  const [open] = bots({}, { ...good, FEISHU_APPROVERS: "", FEISHU_ALLOWED_USERS: "*" });
  assert.deepEqual([open?.team.people, open?.warnings], [{ talk: "anyone", approve: [] }, [t.noApprovers, t.anyone]]);
});

test("people, chats and folders change without a restart; settings that cannot be used change nothing", async () => {
  using here = workspace();
  mkdirSync(here.path("web"));
  const home = sageHome({ SAGE_HOME: here.path("home") });
  const write = (settings: object) => writeFileSync(home.settings, JSON.stringify(settings));
  const feishu = { appId, approvers: ["ou_1"] };
  write({ feishu, workspaces: { web: here.path("web") } });
  const config = { cwd: here.dir, lang: "en" as const, t };
  const [bot] = feishuBots(readSettings(home.settings), { FEISHU_APP_SECRET: "s" }, config);
  const warned: string[] = [];
  assert.ok(bot);
  const live = liveTeam(bot, { home, env: {}, config, warn: (text) => void warned.push(text) });
  await live.changeTeam({
    type: "chat",
    chat: "oc_1",
    settings: { workspace: "web", limits: { promptTimeout: 5_400_000 } },
  });
  await live.changeTeam({ type: "person", openId: "ou_2", name: "Mei", role: "talker" });
  await live.changeTeam({ type: "person", openId: "ou_2", name: "Mei again", role: "approver" });
  await live.changeTeam({ type: "person", openId: "ou_3", name: "Mei", role: "talker" });
  assert.deepEqual(readSettings(home.settings).people, {
    Mei: { ids: ["feishu:ou_2"], roles: ["talker", "approver"] },
    "Mei (2)": { ids: ["feishu:ou_3"], roles: ["talker"] },
  });
  assert.deepEqual(readSettings(home.settings).feishu?.chats, { oc_1: { workspace: "web", promptTimeout: "90m" } });
  assert.deepEqual(live.team().people.approve, ["ou_1", "ou_2"]);
  assert.equal(folderOf(live.team(), "oc_1"), here.path("web"));
  write({ feishu: { ...feishu, approvers: ["ou_9"], cwd: "/no/such/folder" } });
  assert.deepEqual(live.team().people.approve, ["ou_1", "ou_2"]);
  assert.match(warned.join(), /no such folder: \/no\/such\/folder/);
  write({ feishu: { ...feishu, approvers: ["ou_9", "ou_10"] } });
  assert.deepEqual(live.team().people.approve, ["ou_9", "ou_10"]);
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
