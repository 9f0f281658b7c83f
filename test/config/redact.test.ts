import assert from "node:assert/strict";
import { test } from "node:test";
import { createRedaction } from "../../src/config/secrets/redact.ts";
import { holdsSecret, secretPatterns } from "../../src/config/secrets/secret-patterns.ts";

const key = "s3cr3t/value+with=signs";
const env = { MY_API_KEY: key, HOME: "/home/lin", SHORT_TOKEN: "abc" };

// Put together here, so that nothing that searches for secrets finds one in this file.
const of = (...parts: string[]) => parts.join("");
/** Letters and digits as an issuer draws them, the same in every run. */
const drawn = (count: number, from = "aB3xQ7mZ9kR2wE5tY8uI1oP4sD6fG0hJ") =>
  Array.from({ length: count }, (_, n) => from[(n * 7 + 3) % from.length]).join("");
const hex = (count: number) => drawn(count, "0f1e2d3c4b5a6978");
const upper = (count: number) => drawn(count, "A3BX7QMZ9KR2WE5TY8UI");
const uuid = [8, 4, 4, 4, 12].map(hex).join("-");

/** Public facts about what tokens look like: one of each kind that scanners know. */
const kinds: Record<string, string> = {
  known: key,
  base64: Buffer.from(key).toString("base64"),
  url: encodeURIComponent(key),
  anthropic: of("sk-ant-", `api03-${drawn(40)}-${drawn(20)}AA`),
  openai: of("sk-", "proj4567890abcdefghij"),
  "openai project": of("sk-", `proj-${drawn(60)}`),
  "openai service": of("sk-", `svcacct-${drawn(60)}`),
  openrouter: of("sk-or-", `v1-${hex(64)}`),
  groq: of("gsk_", drawn(52)),
  xai: of("xai-", drawn(80)),
  perplexity: of("pplx-", drawn(48)),
  nvidia: of("nvapi-", drawn(64)),
  "hugging face": of("hf_", drawn(34)),
  replicate: of("r8_", drawn(37)),
  langsmith: of("lsv2_", `pt_${hex(32)}_${hex(10)}`),
  stripe: of("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"),
  "stripe restricted": of("rk_live_", drawn(24)),
  "stripe webhook": of("whsec_", drawn(32)),
  github: of("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"),
  "github app": of("ghs_", drawn(36)),
  "github oauth": of("gho_", drawn(36)),
  finegrained: of("github_pat_", "11ABCDEFG0abcdefghijkl"),
  gitlab: of("glpat-", "abcdefghijklm0pqrst"),
  "gitlab deploy": of("gldt-", drawn(20)),
  "gitlab runner": of("glrt-", drawn(20)),
  "gitlab job": of("glcbt-", `64_${drawn(20)}`),
  atlassian: of("ATATT3", `xFfGF0${drawn(60)}`),
  bitbucket: of("ATBB", drawn(32)),
  slack: of("xoxb-", "123456789012-abcdefghijkl"),
  "slack user": of("xoxp-", `${hex(12)}-${drawn(24)}`),
  "slack app": of("xapp-", `1-A01-${drawn(40)}`),
  telegram: of("123456789", `:AA${drawn(33)}`),
  discord: of("MTA", `${drawn(21)}.${drawn(6)}.${drawn(30)}`),
  twilio: of("SK", hex(32)),
  sendgrid: of("SG.", `${drawn(22)}.${drawn(43)}`),
  mailgun: of("key-", hex(32)),
  mailchimp: of(hex(32), "-us12"),
  brevo: of("xkeysib-", `${hex(64)}-${drawn(16)}`),
  resend: of("re_", `${drawn(8)}_${drawn(24)}`),
  aws: of("AKIA", "IOSFODNN7EXAMPLE"),
  "aws session": of("ASIA", upper(16)),
  google: of("AIza", "SyA1234567890abcdefghijklmnopqrstuv"),
  "google oauth secret": of("GOCSPX-", drawn(28)),
  "google access": of("ya29.", drawn(60)),
  "google refresh": of("1//0", drawn(40)),
  alibaba: of("LTAI", drawn(20)),
  tencent: of("AKID", drawn(32)),
  baidu: of("bce-v3/", `ALTAK-${drawn(21)}/${hex(40)}`),
  azure: of(drawn(3), `8Q~${drawn(34)}`),
  digitalocean: of("dop_v1_", hex(64)),
  heroku: of("HRKU-", uuid),
  fly: of("fm2_", drawn(60)),
  netlify: of("nfp_", drawn(40)),
  supabase: of("sbp_", hex(40)),
  planetscale: of("pscale_", `tkn_${drawn(43)}`),
  pulumi: of("pul-", hex(40)),
  cloudflare: of("v1.0-", `${hex(24)}-${hex(146)}`),
  databricks: of("dapi", hex(32)),
  tailscale: of("tskey-", `auth-${drawn(12)}-${drawn(24)}`),
  openshift: of("sha256~", drawn(43)),
  vault: of("hvs.", drawn(90)),
  terraform: of(drawn(14), `.atlasv1.${drawn(60)}`),
  doppler: of("dp.", `pt.${drawn(43)}`),
  age: of("AGE-SECRET-KEY-1", upper(58)),
  "1password": of("ops_eyJ", drawn(80)),
  npm: of("npm_", "abcdefghijklmnopqrstuvwxyz0123456789"),
  pypi: of("pypi-", `AgEIcHlwaS5vcmc${drawn(60)}`),
  rubygems: of("rubygems_", hex(48)),
  nuget: of("oy2", drawn(43, "a3bx7qmz9kr2we5ty8ui")),
  crates: of("cio", drawn(32)),
  docker: of("dckr_", `pat_${drawn(27)}`),
  buildkite: of("bkua_", hex(40)),
  circleci: of("CCIPAT_", `${drawn(22)}_${hex(40)}`),
  sentry: of("sntryu_", hex(64)),
  sourcegraph: of("sgp_", hex(40)),
  sonar: of("squ_", hex(40)),
  artifactory: of("AKCp", drawn(69)),
  postman: of("PMAK-", `${hex(24)}-${hex(34)}`),
  "new relic": of("NRAK-", upper(27)),
  grafana: of("glsa_", `${drawn(32)}_${hex(8)}`),
  dynatrace: of("dt0c01.", `${upper(24)}.${upper(64)}`),
  shopify: of("shpat_", hex(32)),
  square: of("sq0atp-", drawn(22)),
  easypost: of("EZAK", drawn(54)),
  linear: of("lin_api_", drawn(40)),
  notion: of("ntn_", drawn(46)),
  "notion of old": of("secret_", drawn(43)),
  figma: of("figd_", drawn(40)),
  airtable: of("pat", `${drawn(14)}.${hex(64)}`),
  contentful: of("CFPAT-", drawn(43)),
  dropbox: of("sl.", drawn(130)),
  typeform: of("tfp_", drawn(59)),
  jwt: of("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"),
  pem: of("-----BEGIN RSA PRIVATE", " KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE", " KEY-----"),
  openssh: of("-----BEGIN OPENSSH PRIVATE", " KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE", " KEY-----"),
  pgp: of("-----BEGIN PGP PRIVATE", " KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE", " KEY BLOCK-----"),
};
const around: Record<string, [string, string]> = {
  urlPassword: ["git clone https://lin:", "@example.com/x.git"],
  envFile: ["DB_PASSWORD=", "\nPORT=80"],
  flag: ["mysql --password ", " -h db"],
  header: ["curl -H 'Authorization: Bearer ", "' https://x"],
  json: ['{"client_secret": "', '", "id": 1}'],
  yaml: ["access_key: ", "\nregion: eu"],
  query: ["https://x.org/?api_key=", "&page=2"],
  redis: ["redis://:", "@cache:6379/0"],
  mongo: ["mongodb+srv://app:", "@cluster0.example.net/db?w=1"],
  sqlServer: ["Server=tcp:db,1433;User Id=sa;Password=", ";Encrypt=true"],
  azureStorage: ["DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", ";EndpointSuffix=core"],
  serviceBus: ["Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=", ";EntityPath=q"],
  sas: ["https://x.blob.core.windows.net/c?sv=2022&sig=", "&se=2030"],
  awsSecret: ["aws_secret_access_key = ", "\nregion = eu-west-1"],
  npmrc: ["//registry.npmjs.org/:_authToken=", "\nsave-exact=true"],
  netrc: ["machine example.com login lin password ", "\n"],
  curl: ["curl -s -u lin:", " https://example.com"],
  sshpass: ["sshpass -p ", " ssh host"],
  mysql: ["mysqldump -u root -p", " shop"],
  sql: ["ALTER USER lin IDENTIFIED BY '", "';"],
  apiKeyHeader: ["curl -H 'X-Api-Key: ", "' https://x"],
  authorization: ["Authorization: ApiKey ", "\nAccept: */*"],
  cookie: ["Cookie: ", "; theme=dark"],
  dbPass: ["DB_PASS: ", "\n"],
  wireguard: ["[Interface]\nPrivateKey = ", "\nAddress = 10.0.0.2"],
  kubeconfig: ["    client-key-data: ", "\n"],
  slackHook: ["https://hooks.slack.com/services/", " is where"],
  discordHook: ["https://discord.com/api/webhooks/123456/", " is where"],
  feishuHook: ["https://open.feishu.cn/open-apis/bot/v2/hook/", " is where"],
  wecomHook: ["https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", " is where"],
  putty: ["Private-Lines: 1\n", "\nPrivate-MAC: 00"],
  chinese: ["数据库密码：", "，请勿外传"],
};

test("E2: every kind of secret is taken out of text, and what stands around it stays", () => {
  assert.ok(Object.keys({ ...kinds, ...around }).length > 100);
  for (const [kind, secret] of Object.entries(kinds)) {
    const clean = createRedaction(env).text(`before ${secret} after`);
    assert.ok(!clean.includes(secret.slice(-12)), `${kind}: ${clean}`);
    assert.match(clean, /^before \[secret.*\] after$/, kind);
  }
  for (const [kind, [before, after]] of Object.entries(around)) {
    const clean = createRedaction({}).text(`${before}hunter2hunter2hunter2${after}`);
    assert.ok(!clean.includes("hunter2"), `${kind}: ${clean}`);
    assert.ok(clean.startsWith(before) && clean.endsWith(after), `${kind}: ${clean}`);
  }
});

test("E1: the short look at a value passes over nothing that the patterns would find", () => {
  const texts = [
    ...Object.values(kinds),
    ...Object.values(around).flatMap(([before, after]) =>
      ["hunter2hunter2hunter2", "hunterhunterhunter"].map((secret) => before + secret + after),
    ),
  ].flatMap((text) => [text, text.replaceAll(/\d/g, "x"), text.trim(), text.replaceAll(/\s/g, "")]);
  const found = texts.filter((text) =>
    secretPatterns.some(({ pattern, worth }) =>
      [...text.matchAll(pattern)].some(({ groups }) => worth?.(groups?.["secret"] ?? "") ?? true),
    ),
  );
  assert.ok(found.length > 200);
  assert.deepEqual(texts.filter(holdsSecret), found);
});

test("E2: a password with an at sign in it is taken out whole", () => {
  assert.match(createRedaction({}).text("postgres://app:p@ss@w0rd@db/x"), /^postgres:\/\/app:\[secret #\w+\]@db\/x$/);
});

test("ordinary text stays as it is", () => {
  const text = [
    "const token = readToken(file); // the token: see above",
    "password: string; key=value; keyboard=azerty",
    "export API_KEY=$MY_KEY && npm test --token-budget 5",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "https://example.com/path?page=2#top, SKIP-THIS, sk-short, 中文密码学",
    "basic structure, bearer of news",
    "PWD=/home/lin/project OLDPWD=~/x npm_lifecycle_event=test npm_config_registry",
    ".sk-loading-spinner-container, pk_of_the_table_column, re_render_everything_again_and_again, key-of-the-thing",
    "docker run -u 1000:1000 x; git@github.com:lin/x.git; http://localhost:8080/a@b; ssh://git@example.com/x",
    "https://example.com:443/@scope/name; a_token_that_is_long; secret_sharing_is_a_scheme; pass: 12 of 13",
    "550e8400-e29b-41d4-a716-446655440000, 4b825dc642cb6eb9a060e54bf8d69288fbee4904, ciphertext, oyster",
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
  for (const start of [
    "curl -s ",
    "mysql -h ",
    "authorization: a ",
    "login x ",
    "1//0",
    "sk-",
    "a.b-",
    "eyJ",
    "密码：",
    "Private-Lines: 1\nA",
  ])
    createRedaction(env).text(start.repeat(20_000));
});
