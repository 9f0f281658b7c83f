// Threats E1, E2: what the environment holds stays with the person.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRedaction } from "../../src/config/secrets/redact.ts";
import { childEnv, redactor } from "../../src/config/secrets/secrets.ts";
import { allow, bash, sageWith, workspace } from "../support/sage.ts";

// Put together here, so that nothing that searches for secrets finds one in this file.
const password = ["correct", "horse9"].join("-");
const token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].join("");

const given = {
  HOME: "/home/lin",
  SSH_AUTH_SOCK: "/run/agent.sock",
  EDITOR: "vim",
  DATABASE_URL: `postgres://app:${password}@db.example.com:5432/shop?sslmode=require`,
  REDIS_URL: `redis://:${password}@cache/0`,
  HTTPS_PROXY: `http://lin:${password}@proxy.example.com:3128`,
  NODES: `amqp://a:${password}@one,amqp://a:${password}@two`,
  PLAIN_URL: "https://example.com:8443/@scope",
  SQL_SERVER: `Server=tcp:db,1433;User Id=sa;Password=${password};Encrypt=true`,
  AZURE: `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${password}00==`,
  WHATEVER: token,
  CLONE: `https://${token}@github.com/lin/x.git`,
  DB_PASS: password,
  MYSQL_PWD: password,
  KEY_PASSPHRASE: password,
  NPM_AUTH: password,
  GITLAB_PAT: password,
};

test("E1: children get no password, neither by its name nor inside of an address or a connection string", () => {
  using here = workspace();
  const env = childEnv(given, here.dir);
  assert.deepEqual(env, {
    HOME: "/home/lin",
    SSH_AUTH_SOCK: "/run/agent.sock",
    EDITOR: "vim",
    DATABASE_URL: "postgres://app@db.example.com:5432/shop?sslmode=require",
    REDIS_URL: "redis://@cache/0",
    HTTPS_PROXY: "http://lin@proxy.example.com:3128",
    NODES: "amqp://a@one,amqp://a@two",
    PLAIN_URL: "https://example.com:8443/@scope",
  });
});

test("E2: a password that stands in an address of the environment is known wherever it appears", () => {
  const env = { DATABASE_URL: "postgres://app:corr%40ct-h0rse@db/shop" };
  for (const clean of [redactor(env), createRedaction(env).text]) {
    for (const spelling of ["corr%40ct-h0rse", "corr@ct-h0rse", Buffer.from("corr@ct-h0rse").toString("base64")]) {
      const text = clean(`the log says ${spelling} here`);
      assert.equal(text, "the log says [secret: DATABASE_URL] here");
    }
  }
  assert.equal(redactor({ URL: "redis://:short@h" })("a short word"), "a short word");
});

test("E1, E2: a command sees none of them, and what it prints of one is taken out before journal and model", async () => {
  using here = workspace();
  const env = { PATH: process.env["PATH"], DATABASE_URL: given.DATABASE_URL, WHATEVER: token };
  await using sage = await sageWith({
    dir: here.dir,
    env,
    script: [{ calls: [bash("env; echo corr''ect-horse9")] }, { text: "ok" }],
    rules: [allow("Bash")],
  });
  await sage.say("go");
  await sage.outcome();
  const told = JSON.stringify(sage.facts().filter(({ type }) => type === "call.finished"));
  assert.match(told, /DATABASE_URL=postgres:\/\/app@db/);
  assert.match(told, /\[secret: DATABASE_URL\]/);
  assert.ok(!told.includes(password) && !told.includes(token), told);
});
