// A yes that a passkey signed: what is accepted as one, and what comes of it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { suite, test } from "node:test";
import { silenceOptions } from "../../src/config/settings/silence.ts";
import { challengeOf, siteOf, verifyAssertion, verifyAttestation } from "../../src/input/passkey.ts";
import type { PermissionRequest, Resolution } from "../../src/protocol/facts/request.ts";
import type { PasskeyProof } from "../../src/protocol/sender.ts";
import { headline } from "../../src/texts/shared/resolution.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { served } from "../support/served.ts";
import { bash, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { b64, softPasskey, UP, UV, type Told } from "../support/soft-passkey.ts";

const origin = "https://sage.example.org";
const request = { id: "s/t0/0/0/permit0", digest: "3:abc" } as PermissionRequest;
const yes = { type: "granted", requestId: request.id } as const;
const nonce = "n1";
const challenge = challengeOf(request, yes, nonce);
const passkey = softPasskey();
const good = (): Told => ({ origin, challenge });
const megabyte = "A".repeat(1024 * 1024);

suite("a signature of a passkey", () => {
  const { publicKey } = passkey;
  const check = (signed: ReturnType<typeof passkey.assert>, expected: object = {}) =>
    verifyAssertion(signed, { publicKey, challenge, origin, ...expected });

  test("for this answer to this request counts, with its counter", () => {
    assert.equal(check(passkey.assert(good())), 0);
    assert.equal(check(passkey.assert({ ...good(), counter: 77 })), 77);
    const local = { origin: "http://localhost:8787" };
    assert.equal(check(passkey.assert({ ...good(), ...local }), local), 0);
  });

  const foreign: Record<string, string> = {
    "another nonce": challengeOf(request, yes, "n2"),
    "another request": challengeOf({ ...request, id: "s/t0/0/1/permit0" }, yes, nonce),
    "another digest": challengeOf({ ...request, digest: "3:abd" }, yes, nonce),
    "another answer": challengeOf(request, { ...yes, input: { command: "rm -rf /" } }, nonce),
    "an answer with a rule": challengeOf(
      request,
      { ...yes, rules: [{ rule: "Bash", behavior: "allow", destination: "user" }] },
      nonce,
    ),
  };
  for (const [name, text] of Object.entries(foreign))
    test(`for ${name} does not`, () => {
      assert.equal(check(passkey.assert({ ...good(), challenge: text })), undefined);
      assert.equal(check(passkey.assert(good()), { challenge: text }), undefined);
    });

  const wrong: Record<string, Partial<Told>> = {
    "another origin": { origin: "https://evil.example.org", site: "sage.example.org" },
    "another site": { site: "example.org" },
    "nobody verified": { flags: UP },
    "nobody present": { flags: UV },
    "no flag at all": { flags: 0 },
    "a passkey that was made, not used": { type: "webauthn.create" },
  };
  for (const [name, told] of Object.entries(wrong))
    test(`with ${name} does not`, () => assert.equal(check(passkey.assert({ ...good(), ...told })), undefined));

  test("of another key, or with anything changed, does not", () => {
    const signed = passkey.assert(good());
    assert.equal(check(softPasskey().assert(good())), undefined);
    for (const field of ["client", "authenticator", "signature"] as const) {
      const bytes = Buffer.from(signed[field], "base64url");
      bytes[bytes.length - 1]! ^= 1;
      const shorter = bytes.subarray(0, 20).toString("base64url");
      for (const text of [b64(bytes), shorter, "", "!!", "é", "AAAA", b64("null"), b64("[]"), b64("{"), megabyte])
        assert.equal(check({ ...signed, [field]: text }), undefined, `${field}: ${text.slice(0, 20)}`);
      assert.equal(check({ ...signed, [field]: 7 as never }), undefined);
    }
    for (const key of ["", "AAAA", b64(Buffer.alloc(64)), megabyte])
      assert.equal(check(signed, { publicKey: key }), undefined, key.slice(0, 20));
  });

  test("is made for https and for localhost alone", () => {
    const sites = [
      origin,
      "http://localhost:1",
      "http://127.0.0.1:1",
      "http://sage.example.org",
      "localhost",
      "",
      "null",
    ];
    assert.deepEqual(sites.map(siteOf), ["sage.example.org", "localhost", ...Array(5).fill(undefined)]);
    const plain = { origin: "http://sage.example.org" };
    assert.equal(check(passkey.assert({ ...good(), ...plain }), plain), undefined);
  });
});

suite("a passkey that is made", () => {
  const check = (made: ReturnType<typeof passkey.attest>) => verifyAttestation(made, { challenge, origin });
  test("is kept with its id and key", () => {
    const { credential, publicKey } = passkey;
    assert.deepEqual(check(passkey.attest({ ...good(), counter: 3 })), { credential, publicKey, counter: 3 });
  });
  const key = Buffer.from(passkey.publicKey, "base64url");
  const es256 = (x: Buffer, y: Buffer, head = "a5010203262001215820") =>
    Buffer.concat([Buffer.from(head, "hex"), x, Buffer.from("225820", "hex"), y]);
  const [x, y] = [key.subarray(0, 32), key.subarray(32)];
  const wrong: Record<string, [Partial<Told>, Buffer?]> = {
    "for another challenge": [{ challenge: "other" }],
    "at another origin": [{ origin: "https://evil.example.org", site: "sage.example.org" }],
    "for another site": [{ site: "example.org" }],
    "without a verified person": [{ flags: UP }],
    "without a person": [{ flags: UV }],
    "by signing": [{ type: "webauthn.get" }],
    "with no key": [{}, Buffer.alloc(0)],
    "with a key cut short": [{}, es256(x, y).subarray(0, 70)],
    "with a point that is not on the curve": [{}, es256(x, Buffer.alloc(32, 1))],
    "with an RSA key": [{}, es256(x, y, "a5010303262001215820")],
    "with garbage for a key": [{}, Buffer.alloc(77, 0xff)],
  };
  for (const [name, [told, cose]] of Object.entries(wrong))
    test(`${name} is not`, () => assert.equal(check(passkey.attest({ ...good(), ...told }, cose)), undefined));
  test("with garbage is not", () => {
    const made = passkey.attest(good());
    for (const field of ["client", "authenticator"] as const)
      for (const text of ["", "!!", "AAAA", b64("{"), b64("null"), megabyte, b64(Buffer.alloc(60, 0xff))])
        assert.equal(check({ ...made, [field]: text }), undefined, `${field}: ${text.slice(0, 20)}`);
  });
});

suite("the page's server", () => {
  const hard = { behavior: "ask", text: "Bash(touch hard*)", source: "user" } as const;

  async function open(dir: string, script: number) {
    const sage = await sageWith({
      dir,
      rules: [hard],
      options: silenceOptions({ signed: ["hard"] }),
      script: [{ calls: Array.from({ length: script }, (_, n) => bash(`touch hard${n}`)) }, { text: "over" }],
    });
    const server = await served(sage, dir, {
      settings: {
        people: {
          Lin: { ids: ["account:lin"], roles: ["approver"] },
          Kai: { ids: ["account:kai"], roles: ["approver"] },
          Tom: { ids: ["account:tom"], roles: ["talker"] },
        },
      },
    });
    const at = server.url.replace("127.0.0.1", "localhost");
    const host = new URL(at).host;
    const caller =
      ({ key }: { key: string }, from = at) =>
      async (act: string, body: unknown) => {
        const headers = { authorization: `Bearer ${key}`, origin: from, host };
        const { status, body: text } = await server.json(`/v1/passkeys/${act}`, body, headers);
        const reply = JSON.parse(text || "{}");
        return { status, why: reply.reason?.code as string | undefined, ...reply };
      };
    /** A passkey made on this device. */
    const made = async (call: ReturnType<typeof caller>, own = softPasskey()) => {
      const { challenge: asked } = await call("begin", {});
      return { own, reply: await call("add", own.attest({ origin: at, challenge: asked ?? "" })) };
    };
    return {
      ...{ sage, server, at, caller, made },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await sage[Symbol.asyncDispose]();
      },
    };
  }
  const granted = (requestId: string, more: object = {}) => ({ type: "granted", requestId, ...more }) as const;
  const endOf = (sage: TestSage, id: string) => sage.store.resolution(id);

  test("takes a yes that the same machine's browser signs, once and as it was signed; the loop checks it again", async () => {
    using here = workspace();
    await using at = await open(here.dir, 2);
    const { sage, server } = at;
    await sage.say("go");
    const [first, second] = (await sage.open(2)) as [PermissionRequest, PermissionRequest];
    const lin = await at.server.pair();
    const call = at.caller(lin);
    assert.equal(
      (await server.send(lin.key, { type: "respond", response: granted(first.id), by: "", surface: "web" })).status,
      403,
    );
    assert.deepEqual((await call("ask", { response: granted(first.id) })).credentials, []);
    const { own, reply } = await at.made(call);
    assert.equal(reply.status, 200, JSON.stringify(reply));

    const signs = async (response: object, counter: number, by = own) => {
      const asked = await call("ask", { response });
      return by.assert({ origin: at.at, challenge: asked.challenge, counter });
    };
    const assertion = await signs(granted(first.id), 5);
    // Whatever is not what was signed: the challenge is used up by the attempt.
    for (const response of [granted(second.id), granted(first.id, { comment: "more" })])
      assert.equal(
        (await call("answer", { response, assertion: await signs(granted(first.id), 5) })).why,
        "passkey-unfit",
      );
    for (const wrong of [
      { response: granted(first.id), assertion: await signs(granted(first.id), 5, softPasskey()) },
      { response: granted(first.id), assertion: { ...assertion, extra: 1 } },
      { response: { type: "denied", requestId: first.id }, assertion },
    ])
      assert.equal((await call("answer", wrong)).ok, false);
    const other = at.caller(await server.pair());
    assert.equal(
      (await other("answer", { response: granted(first.id), assertion: await signs(granted(first.id), 5) })).ok,
      false,
    );
    assert.equal(endOf(sage, first.id), undefined);

    const done = await call("answer", { response: granted(first.id), assertion });
    assert.equal(done.status, 200, JSON.stringify(done));
    assert.equal((await call("answer", { response: granted(second.id), assertion })).why, "passkey-unfit", "replayed");
    const end = endOf(sage, first.id) as Resolution & { signed: PasskeyProof };
    assert.deepEqual([end.by, end.signed.credential, end.device], ["Lin", own.credential, "phone"]);
    assert.match(headline(end, texts("en")), /allowed, signed with a passkey/);

    const back = await call("answer", { response: granted(second.id), assertion: await signs(granted(second.id), 5) });
    assert.equal(back.why, "passkey-unfit", "a counter that does not grow is a copy's");
    const next = await call("answer", { response: granted(second.id), assertion: await signs(granted(second.id), 6) });
    assert.equal(next.status, 200);
    await sage.outcome();
    for (const file of ["hard0", "hard1"]) assert.ok(existsSync(here.path(file)), file);
  });

  test("makes passkeys for approvers, at an address that has them, and takes the first alone on trust", async () => {
    using here = workspace();
    await using at = await open(here.dir, 1);
    const { sage, server } = at;
    await sage.say("go");
    const [asked] = await sage.open();
    const call = at.caller(await server.pair());
    assert.equal((await at.made(at.caller(await server.pair("account:tom")))).reply.status, 403);
    const plain = at.caller(await server.pair(), server.url);
    assert.equal((await plain("begin", {})).why, "passkey-not-here");
    // A challenge is used once, by the device that it was given to, and for nothing else.
    const begun = await call("begin", {});
    const made = softPasskey().attest({ origin: at.at, challenge: begun.challenge });
    assert.equal((await at.caller(await server.pair())("add", made)).ok, false);
    assert.equal((await call("add", made)).ok, false);
    const { own, reply } = await at.made(call);
    assert.equal(reply.status, 200);
    // The agent's own code pairs a browser of its own, and plays an authenticator.
    const thief = at.caller(await server.pair("account:lin", "thief"));
    assert.equal((await at.made(thief)).reply.why, "passkey-elsewhere");
    assert.equal((await at.made(call)).reply.why, "passkey-elsewhere");
    // Another person's passkey is none of Lin's.
    const kai = at.caller(await server.pair("account:kai"));
    assert.equal((await at.made(kai, own)).reply.ok, false, "a known passkey is made again");
    assert.deepEqual((await kai("ask", { response: granted(asked!.id) })).credentials, []);
    const { challenge: text } = await call("ask", { response: granted(asked!.id) });
    const [device] = server.devices.list().filter(({ passkeys }) => passkeys);
    await server.devices.remove(device!.id);
    assert.equal((await call("ask", { response: granted(asked!.id) })).status, 401);
    const left = at.caller(await server.pair());
    assert.deepEqual((await left("ask", { response: granted(asked!.id) })).credentials, [], "removed with its device");
    const assertion = own.assert({ origin: at.at, challenge: text });
    assert.equal((await left("answer", { response: granted(asked!.id), assertion })).why, "passkey-unfit");
    for (const act of ["begin", "add", "ask", "answer", "nothing"])
      for (const body of [null, 7, [], {}, { response: {} }, { response: granted("none"), assertion: {} }])
        if (act !== "begin") assert.equal((await left(act, body)).ok, false, `${act} ${JSON.stringify(body)}`);
  });

  test("a proof that belongs to another answer, written into the journal, does not count", async () => {
    using here = workspace();
    await using at = await open(here.dir, 1);
    const { sage } = at;
    await sage.say("go");
    const [{ id, digest }] = (await sage.open()) as [PermissionRequest];
    const own = softPasskey();
    const asked = { id, digest } as PermissionRequest;
    const signed = own.assert({ origin, challenge: challengeOf(asked, granted(id, { comment: "another" }), nonce) });
    const proof: PasskeyProof = { ...signed, device: "k3f9", publicKey: own.publicKey, nonce, origin };
    sage.store.append(sage.session, {
      ...{ key: `${id.slice(sage.session.length + 1)}.resolved`, type: "input.resolved", at: 1 },
      data: {
        requestId: id,
        by: "Lin",
        surface: "web",
        at: 1,
        outcome: "answered",
        response: granted(id),
        signed: proof,
      },
    });
    const [again] = await sage.open();
    assert.notEqual(again!.id, id);
    assert.equal(existsSync(here.path("hard0")), false);
  });
});
