// A yes that code of this account cannot give: `signed` in the settings.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { suite, test } from "node:test";
import { silenceOptions } from "../../src/config/settings/silence.ts";
import { guarded } from "../../src/host/person/guarded.ts";
import { parseCommand } from "../../src/host/socket/messages.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { PermissionRequest, Resolution } from "../../src/protocol/facts/request.ts";
import type { Command } from "../../src/protocol/host/host.ts";
import type { Sender } from "../../src/protocol/sender.ts";
import { isElsewhere } from "../../src/surfaces/web/address.ts";
import { headline } from "../../src/texts/shared/resolution.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { until } from "../support/until.ts";
import { allow, bash, sageWith, workspace, type TestSage } from "../support/sage.ts";

const hard = { behavior: "ask", text: "Bash(touch hard)", source: "user" } as const;
const two = { ...hard, text: "Bash(touch two)", consent: { approvals: 2 } };
const redaction = { text: (text: string) => text, value: <T>(value: T) => value, count: () => 0 } as never;

/** The host as somebody at a device may use it. */
const remote = (sage: TestSage, from: Partial<Sender>) =>
  guarded(sage.host, sage.store, {
    sender: { by: "Lin", surface: "web", person: "account:lin", ...from },
    may: () => true,
    folders: () => ({}),
    redaction,
    signal: new AbortController().signal,
  });

async function asked(dir: string, command: string, signed: ("hard" | "permission")[], more: object = {}) {
  const sage = await sageWith({
    dir,
    rules: [hard, two],
    options: { ...silenceOptions({ signed }), ...more },
    script: [{ calls: [bash(command)] }, { text: "over" }],
  });
  await sage.say("go");
  return sage;
}

const yes = (requestId: string) => ({ type: "granted", requestId }) as const;
const says = (requestId: string, from: object = {}): Command => ({
  ...{ type: "respond", response: yes(requestId), by: "Lin", surface: "web" },
  ...from,
});

suite("a request that takes a signed yes", () => {
  for (const [command, signed, takes] of [
    ["touch hard", ["hard"], true],
    ["touch soft", ["hard"], false],
    ["touch soft", ["permission"], true],
    ["touch hard", ["permission"], true],
    ["touch hard", [], false],
  ] as [string, ("hard" | "permission")[], boolean][])
    test(`${command}, where the settings say ${JSON.stringify(signed)}: ${takes ? "it does" : "it does not"}`, async () => {
      using here = workspace();
      await using sage = await asked(here.dir, command, signed);
      const [request] = (await sage.open()) as [PermissionRequest];
      assert.equal(request.signed === true, takes);
      const local = await sage.answer(yes(request.id));
      assert.equal(local.ok, !takes);
      if (!takes) return;
      assert.deepEqual(!local.ok && [local.code, local.reason?.code], ["not-permitted", "takes-signature"]);
      // The browser of the same account; it says of itself that it were elsewhere.
      const near = await remote(sage, { device: "laptop" }).send(says(request.id, { signed: "device" }));
      assert.equal(near.ok, false);
      const all = await remote(sage, { signed: "device" }).send({
        ...{ type: "respondAll", requestIds: [request.id], by: "Lin", surface: "web" },
        answer: { type: "granted" },
      });
      assert.ok(!all.ok || all.results.every(({ ok }) => !ok), "each is read by itself");
      const far = await remote(sage, { device: "phone", signed: "device" }).send(says(request.id));
      assert.equal(far.ok, true);
      await sage.outcome();
      assert.ok(existsSync(here.path(command.slice(6))));
      const end = sage.store.resolution(request.id)!;
      assert.deepEqual([end.device, end.signed], ["phone", "device"]);
      assert.match(headline(end, texts("en")), /signed by a device that is another machine/);
    });

  test("is refused from everywhere, and no standing order allows it", async () => {
    using here = workspace();
    await using sage = await asked(here.dir, "touch soft", ["permission"]);
    const [request] = await sage.open();
    assert.ok((await sage.answer({ type: "denied", requestId: request!.id })).ok);
    await sage.outcome();
    const mode = { type: "nonInteractive", autoResponse: "alwaysAllow" } as const;
    await using standing = await asked(here.dir, "touch soft", ["permission"], { mode });
    await standing.outcome();
    const code = { type: "nonInteractive", autoResponse: async () => ({ type: "granted" }) } as never;
    await using custom = await asked(here.dir, "touch soft", ["permission"], { mode: code });
    await custom.outcome();
    assert.equal(existsSync(here.path("soft")), false);
  });

  test("a yes that other code wrote into the journal without proof does not count: it is asked again", async () => {
    using here = workspace();
    await using sage = await asked(here.dir, "touch hard", ["hard"]);
    const [request] = await sage.open();
    const { id } = request!;
    const forged: Resolution = {
      ...{ requestId: id, by: "Lin", surface: "cli", at: 1, outcome: "answered", response: yes(id) },
    };
    sage.store.append(sage.session, {
      ...{ key: `${id.slice(sage.session.length + 1)}.resolved`, type: "input.resolved", at: 1, data: forged },
    });
    const [again] = await sage.open();
    assert.notEqual(again!.id, id);
    assert.equal(existsSync(here.path("hard")), false);
  });

  test("stays open when a yes without proof to another request takes away the rule that asks", async () => {
    using here = workspace();
    const rules: Rule[] = [hard, allow("Edit(./**)")];
    await using sage = await sageWith({
      dir: here.dir,
      rules,
      dropRule: () => (rules.splice(0, 1), "user.json"),
      options: silenceOptions({ signed: ["hard"] }),
      script: [{ calls: [bash("touch soft"), bash("touch hard")] }, { text: "over" }],
    });
    await sage.say("go");
    const [soft, other] = await sage.open(2);
    const removeRules = [{ rule: hard.text, destination: "user" as const, behavior: "ask" as const }];
    const added = [{ rule: "Bash(touch *)", destination: "session" as const, behavior: "allow" as const }];
    assert.ok((await sage.answer({ ...yes(soft!.id), removeRules, rules: added })).ok);
    await until(() => existsSync(here.path("soft")));
    assert.equal(sage.store.resolution(other!.id), undefined);
    assert.equal(existsSync(here.path("hard")), false);
    assert.ok((await remote(sage, { signed: "device" }).send(says(other!.id))).ok);
    await sage.outcome();
    assert.ok(existsSync(here.path("hard")) && existsSync(here.path("soft")));
  });

  test("that takes two people takes a proof of each", async () => {
    using here = workspace();
    await using sage = await asked(here.dir, "touch two", ["hard"]);
    const [request] = await sage.open();
    assert.equal((await sage.answer(yes(request!.id), "Ada")).ok, false);
    for (const by of ["Ada", "Bo"])
      assert.ok((await remote(sage, { by, signed: "device" }).send(says(request!.id, { by }))).ok, by);
    await sage.outcome();
    assert.ok(existsSync(here.path("two")));
    assert.deepEqual(
      sage.store.approvals(request!.id).map(({ signed }) => signed),
      ["device", "device"],
    );
  });
});

test("no process and no page may say of itself that it is elsewhere", () => {
  assert.throws(() => parseCommand(says("s/t0/0/0/permit0", { signed: "device" })));
  assert.ok(parseCommand(says("s/t0/0/0/permit0")));
});

test("another machine is one whose address is none of this one's", () => {
  const own = { eth0: [{ address: "192.168.1.5" }, { address: "fe80::1" }], lo: [{ address: "127.0.0.1" }] } as never;
  for (const [address, expected] of [
    ["192.168.1.9", true],
    ["::ffff:192.168.1.9", true],
    ["2001:db8::7", true],
    ["192.168.1.5", false],
    ["::ffff:192.168.1.5", false],
    ["fe80::1%eth0", false],
    ["127.0.0.1", false],
    ["127.0.0.2", false],
    ["::1", false],
    ["::ffff:127.0.0.1", false],
    ["", false],
    ["localhost", false],
  ] as const)
    assert.equal(isElsewhere(address, own), expected, address);
});
