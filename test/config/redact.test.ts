import assert from "node:assert/strict";
import { test } from "node:test";
import { createRedaction } from "../../src/config/redact.ts";

const key = "s3cr3t/value+with=signs";
const env = { MY_API_KEY: key, HOME: "/home/lin", SHORT_TOKEN: "abc" };

// Put together here, so that nothing that searches for secrets finds one in this file.
const of = (...parts: string[]) => parts.join("");
const kinds: Record<string, string> = {
  known: key,
  base64: Buffer.from(key).toString("base64"),
  url: encodeURIComponent(key),
  anthropic: of("sk-ant-", "api03-abcdefghijklmnop"),
  openai: of("sk-", "proj4567890abcdefghij"),
  stripe: of("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"),
  github: of("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"),
  finegrained: of("github_pat_", "11ABCDEFG0abcdefghijkl"),
  gitlab: of("glpat-", "abcdefghijklmnopqrst"),
  slack: of("xoxb-", "123456789012-abcdefghijkl"),
  aws: of("AKIA", "IOSFODNN7EXAMPLE"),
  google: of("AIza", "SyA1234567890abcdefghijklmnopqrstuv"),
  npm: of("npm_", "abcdefghijklmnopqrstuvwxyz0123456789"),
  jwt: of("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"),
  pem: of("-----BEGIN RSA PRIVATE", " KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE", " KEY-----"),
};
const around: Record<string, [string, string]> = {
  urlPassword: ["git clone https://lin:", "@example.com/x.git"],
  envFile: ["DB_PASSWORD=", "\nPORT=80"],
  flag: ["mysql --password ", " -h db"],
  header: ["curl -H 'Authorization: Bearer ", "' https://x"],
  json: ['{"client_secret": "', '", "id": 1}'],
  yaml: ["access_key: ", "\nregion: eu"],
  query: ["https://x.org/?api_key=", "&page=2"],
};

test("every kind of secret is taken out of text, and what stands around it stays", () => {
  for (const [kind, secret] of Object.entries(kinds)) {
    const clean = createRedaction(env).text(`before ${secret} after`);
    assert.ok(!clean.includes(secret.slice(-12)), `${kind}: ${clean}`);
    assert.match(clean, /^before \[secret.*\] after$/, kind);
  }
  for (const [kind, [before, after]] of Object.entries(around)) {
    const clean = createRedaction({}).text(`${before}hunter2hunter2${after}`);
    assert.ok(!clean.includes("hunter2"), `${kind}: ${clean}`);
    assert.ok(clean.startsWith(before) && clean.endsWith(after), `${kind}: ${clean}`);
  }
});

test("ordinary text stays as it is", () => {
  const text = [
    "const token = readToken(file); // the token: see above",
    "password: string; key=value; keyboard=azerty",
    "export API_KEY=$MY_KEY && npm test --token-budget 5",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "https://example.com/path?page=2#top, SKIP-THIS, sk-short, 中文密码学",
    "basic structure, bearer of news",
  ].join("\n");
  assert.equal(createRedaction(env).text(text), text);
});

test("plain data: every string, whatever it is called, and equal secrets look equal", () => {
  const redaction = createRedaction(env);
  const token = kinds["github"] as string;
  const clean = redaction.value({
    input: { command: `echo ${token}`, env: { PASSWORD: "correct horse" } },
    list: [token, 5, null, true],
    [token]: "as a name",
  });
  assert.doesNotMatch(JSON.stringify(clean), /16C7e42F|horse/);
  const [mark] = clean.list as [string];
  assert.equal(clean.input.command, `echo ${mark}`);
  assert.equal(redaction.removed(), 4);
});

test("a long text that begins like a secret over and over is read through in one go", () => {
  const text = `${"password = ".repeat(20_000)}${"://a:".repeat(20_000)}${"-----BEGIN PRIVATE KEY-----".repeat(300)}`;
  assert.match(createRedaction(env).text(text), /^password = password = /);
});
