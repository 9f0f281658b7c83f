import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { after, before, test } from "node:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHooks } from "../../src/hooks/hooks.ts";
import { createConfining } from "../../src/host/assembly/confining.ts";
import { receiptsOf } from "../../src/archive/receipts.ts";
import { describeRequest } from "../../src/view/request/describe.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import { cannotConfine, confinedPlace } from "../support/confine.ts";
import { allow, bash, sageWith } from "../support/sage.ts";

const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;
const skip = (await cannotConfine()) || (address === undefined && "this machine has no address but its loopback");
const server = createServer((_, answer) => answer.end("fetched"));
let fetch = "";

before(async () => {
  await once(server.listen(0, "0.0.0.0"), "listening");
  fetch = `echo "[$SAGE_CONFINED]"; curl -sf http://${address}:${(server.address() as AddressInfo).port}/`;
});
after(() => server.close().closeAllConnections());

/** A session whose commands run confined. */
function confined(place: ReturnType<typeof confinedPlace>, mode: "contain" | "autoAllow") {
  const sandbox = { mode, writable: [], readable: [], git: "read", outside: [] } as const;
  const confining = createConfining(sandbox, { apart: false })({
    ...{ root: place.root, home: place.home, state: place.state, session: "s", kept: [] },
    mayRead: () => () => true,
  });
  return { dir: place.root, home: place.home, confining };
}

const rules: Rule[] = [allow("Bash(echo:*)"), allow("Bash(curl:*)")];

test(
  "blocked, asked for, given once, blocked again, kept as a rule: each a fact, each in the receipts",
  { skip },
  async () => {
    using place = confinedPlace({ mine: true });
    const kept: Rule[] = [];
    await using sage = await sageWith({
      ...confined(place, "contain"),
      rules,
      saveRule: ({ rule }) => (kept.push(allow(rule)), "settings"),
      script: [...Array.from({ length: 5 }, () => ({ calls: [bash(fetch)] })), { text: "done" }],
    });
    await sage.say("fetch it");
    const [first] = (await sage.open()) as [PermissionRequest];
    assert.match(
      sage.result(0, 0),
      /\[1\][^]*Blocked by confinement: [\d.]+:\d+ \(host\)\. To ask the person for it, run the same command again/,
    );
    assert.deepEqual([first.why.code, first.mayLeave, first.hard], ["confined-blocked", true, false]);
    assert.equal(describeRequest(first).runs?.code, "will-run-confined");
    const rule = `Network(domain:${address})`;
    assert.ok(first.suggestions.some((one) => one.rule === rule));
    await sage.answer({ type: "granted", requestId: first.id });
    const second = ((await sage.open()) as [PermissionRequest])[0];
    assert.match(sage.result(1, 0), /\[1\]\nfetched/, "confined, and with the host this once");
    await sage.answer({
      type: "granted",
      requestId: second.id,
      rules: [{ rule, behavior: "allow", destination: "session" }],
    });
    assert.equal((await sage.outcome()).status, "success");
    assert.match(sage.result(2, 0), /Blocked by confinement/, "once was once");
    for (const step of [3, 4]) assert.match(sage.result(step, 0), /\[1\]\nfetched/);
    const receipts = receiptsOf(sage.facts(), () => undefined);
    assert.deepEqual(
      receipts.map(({ runs }) => runs[0]?.confined?.hosts),
      [[], [address], [], [], []],
    );
    assert.equal(receipts[0]?.blocked?.length, 1);
  },
);

test(
  "a person may let a command out once; the answer is refused where the request does not offer it",
  { skip },
  async () => {
    using place = confinedPlace({ mine: true });
    await using sage = await sageWith({
      ...confined(place, "autoAllow"),
      script: [{ calls: [bash(fetch)] }, { calls: [bash(fetch), bash("git push")] }, { text: "done" }],
    });
    await sage.say("fetch it");
    const open = (await sage.open(2)) as PermissionRequest[];
    const [blocked, other] = [open.find(({ mayLeave }) => mayLeave)!, open.find(({ mayLeave }) => !mayLeave)!];
    assert.equal(other.confined, "outside");
    const refused = await sage.answer({ type: "granted", requestId: other.id, outside: true });
    assert.equal(refused.ok, false);
    await sage.answer({ type: "denied", requestId: other.id });
    await sage.answer({ type: "granted", requestId: blocked.id, outside: true });
    await sage.outcome();
    assert.match(sage.result(1, 0), /\[\]\nfetched/);
    const started = sage.facts().filter((fact) => fact.type === "call.started");
    assert.deepEqual(
      started.map(({ data }) => data.confined !== undefined),
      [true, false],
    );
  },
);

test("a command that cannot be confined is refused with the reason, and nothing runs", { skip }, async () => {
  using place = confinedPlace({ mine: true });
  const given = confined(place, "autoAllow");
  const home = { ...given, home: place.root };
  const sandbox = { mode: "contain", writable: [], readable: [], git: "read", outside: [] } as const;
  const wide = createConfining(sandbox, { apart: false })({
    ...{ root: place.root, home: place.root, state: place.state, session: "s", kept: [] },
    mayRead: () => () => true,
  });
  await using sage = await sageWith({
    ...home,
    confining: wide,
    rules: [allow("Bash")],
    script: [{ calls: [bash("touch made")] }, { text: "done" }],
  });
  await sage.say("go");
  await sage.outcome();
  assert.match(sage.result(0, 0), /Not run: Commands run only confined .* holds your home folder/);
  assert.ok(!existsSync(join(place.root, "made")));
});

test("a background command runs confined, and tells in its output what was blocked", { skip }, async () => {
  using place = confinedPlace({ mine: true });
  const line = `${fetch}; echo over`;
  await using sage = await sageWith({
    ...confined(place, "autoAllow"),
    script: [{ calls: [{ tool: "Bash", input: { command: line, background: true } }] }, { text: "done" }],
  });
  await sage.say("go");
  await sage.outcome();
  const started = sage.facts().find((fact) => fact.type === "call.finished");
  const { file } = (started?.type === "call.finished" && started.data.background) || assert.fail("it did not start");
  while (!/Blocked/.test(readFileSync(file, "utf8"))) await new Promise((resolve) => setTimeout(resolve, 20));
  const said = readFileSync(file, "utf8");
  assert.match(said, /^\[1\]\nover\nBlocked by confinement: /);
  assert.equal(readFileSync(`${file}.end`, "utf8").trim(), "0");
});

test(
  "hooks of the folder run confined, the person's own do not; one that cannot be confined does not run",
  { skip },
  async () => {
    using place = confinedPlace({ mine: true });
    const { confining } = confined(place, "contain");
    const says = `cat >/dev/null; echo x >${place.dir}/\${SAGE_CONFINED:-own} 2>/dev/null; printf '{"context":"[%s]"}' "$SAGE_CONFINED"`;
    const hook = { matcher: "*", command: says, timeoutMs: 20_000 };
    const hooks = createHooks({ beforeCall: [{ ...hook, confined: true }, hook] }, { PATH: process.env["PATH"] });
    const event = { session: "s", cwd: place.root, tool: "Bash", input: { command: "ls" } };
    const signal = new AbortController().signal;
    const { context, problems } = await hooks.within!(confining.start).run("beforeCall", event, signal);
    assert.deepEqual([context, problems], [["[1]", "[]"], []]);
    assert.ok(existsSync(join(place.dir, "own")) && !existsSync(join(place.dir, "1")));
    const failing = hooks.within!(async () => assert.fail("no sandbox today"));
    const outcome = await failing.run("beforeCall", event, signal);
    assert.deepEqual([outcome.context, outcome.problems.length], [["[]"], 1]);
  },
);

test("what Sage wrote with the person's yes stays, whichever turn it was, also after a kill", { skip }, async () => {
  using place = confinedPlace({ mine: true });
  const { confining: first } = confined(place, "contain");
  const { confining: later } = confined(place, "contain"); // a daemon makes it anew for every turn
  const path = join(place.root, "AGENTS.md");
  const command = { cwd: place.root, env: {}, as: { repository: "read", hosts: [], writable: [] } } as const;
  const launch = await first.launch({ ...command, reach: () => ({ allowed: false }) });
  const written = await later.writes(path);
  writeFileSync(path, "written");
  written();
  await new Promise((resolve) => setImmediate(resolve));
  const [folder = ""] = readdirSync(join(place.state, "confine")).filter((name) => !name.endsWith(".filter"));
  const runs = join(place.state, "confine", folder, "runs");
  const [note = ""] = readdirSync(runs).filter((name) => name.endsWith(".json"));
  assert.ok(readFileSync(join(runs, note), "utf8").includes(path));
  assert.deepEqual((await launch.over()).blocked, []);
  assert.equal(readFileSync(path, "utf8"), "written");
});
