// Drawn histories on the real input room, host and journal: who can grant a permission, and who never can.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../support/properties.ts";
import { createHost } from "../../src/host/host.ts";
import { autoResolve } from "../../src/input/auto.ts";
import { asPersona } from "../../src/input/persona.ts";
import { expired, respond, settle } from "../../src/input/respond.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import { isSigned, needsConsent } from "../../src/protocol/facts/consent.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import type { DeadlinePolicy } from "../../src/protocol/facts/silence.ts";
import { escalatedKey, remindedKey, requestId, splitRequestId } from "../../src/protocol/key.ts";
import { said } from "../../src/protocol/reasons/reason.ts";

const session = "s";
const named = ["Wang", "Zhao", "Lin"];
const policies: DeadlinePolicy[] = [
  "fail",
  "cancel",
  "deny",
  { default: { type: "denied", requestId: "" } },
  // As a damaged or foreign record may say.
  { default: { type: "granted", requestId: "" } },
];

/** Mostly none of them: otherwise hardly any history would grant anything. */
const rarely = (from: string[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary: fc.subarray(from) });

const asked = fc.record({
  consent: fc.option(
    fc.record({
      approvals: fc.integer({ min: 1, max: 3 }),
      except: rarely(named),
      unnamed: rarely(["somebody"]),
    }),
    { nil: undefined },
  ),
  deadline: fc.option(fc.record({ policy: fc.constantFrom(...policies), passed: fc.boolean() }), {
    nil: undefined,
    freq: 2,
  }),
  hard: fc.boolean(),
});

const person = fc.constantFrom(...named, " Wang ", "stranger");
const surface = fc.constantFrom("terminal", "feishu", "web");
const reply = fc.constantFrom("granted", "granted", "granted", "granted", "granted", "denied", "edited");
const of = fc.nat({ max: 2 });

const act = fc.oneof(
  { weight: 10, arbitrary: fc.record({ type: fc.constant("person" as const), of, by: person, surface, reply }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("people" as const),
      by: person,
      surface,
      reply: fc.constantFrom("granted", "denied"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("persona" as const),
      ...{ of, by: person, reply },
      way: fc.constantFrom("handed on", "sent", "as surface", "to all", "as responder"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("responder" as const), of, reply }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("nobody" as const),
      of,
      auto: fc.constantFrom("default" as const, "alwaysDeny" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("silence" as const), of }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("called" as const), of, by: person, n: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("inquiry" as const), of, by: person, surface }) },
);
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;
type Asked = typeof asked extends fc.Arbitrary<infer A> ? A : never;

function requestOf({ consent, deadline, hard }: Asked, n: number, since: number): PermissionRequest {
  const [timeoutMs, at] = [60_000, deadline?.passed ? since - 1 : since + 600_000];
  return {
    ...{ kind: "permission", id: requestId(session, `t0/0/${n}/permit0`), session, at: since, source: "approval" },
    ...{
      agent: [],
      why: said(""),
      digest: `digest ${n}`,
      tool: "Bash",
      input: { command: `make ${n}` },
      suggestions: [],
    },
    hard: hard || consent !== undefined,
    ...(consent && { consent }),
    ...(deadline && { deadline: { at, timeoutMs, policy: deadline.policy } }),
  };
}

/** The yes of a person, by the name that the settings have for them, to each request: nothing else may grant it. */
async function play(store: Store, requests: readonly PermissionRequest[], acts: readonly Act[]) {
  const host = createHost({
    store,
    version: "test",
    personOf: ({ by }) => (named.includes(by.trim()) ? by : null), // the same name in other bytes is the same person
    executor: () => Promise.reject(new Error("nothing runs")),
  });
  await store.create(session, { cwd: "/", version: "test" });
  const epoch = store.claim(session);
  await store.commit(
    session,
    epoch,
    requests.map((data, n) => ({
      ...{ session, seq: n + 2, key: splitRequestId(data.id).key, type: "input.requested", at: data.at, data },
    })),
  );
  await store.release(session, epoch);
  const given = new Map(requests.map(({ id }) => [id, new Set<string>()]));
  const bodyOf = (type: string, { id, input }: PermissionRequest): InputResponse => {
    if (type === "denied") return { type, requestId: id };
    return { type: "granted", requestId: id, ...(type === "edited" && { input: { ...input, timeout: 1 } }) };
  };
  const grants = (type: string) => type === "granted";
  for (const one of acts) {
    const request = requests[("of" in one ? one.of : 0) % requests.length]!;
    const { id } = request;
    const { key } = splitRequestId(id);
    switch (one.type) {
      case "person":
        if (one.reply !== "denied") given.get(id)!.add(one.by.trim());
        await host.send({ type: "respond", response: bodyOf(one.reply, request), by: one.by, surface: one.surface });
        break;
      case "people": {
        if (grants(one.reply)) for (const yes of given.values()) yes.add(one.by.trim());
        const answer = { type: one.reply };
        const requestIds = requests.map((each) => each.id);
        await host.send({ type: "respondAll", requestIds, answer, by: one.by, surface: one.surface });
        break;
      }
      case "persona": {
        const response = asPersona(bodyOf(one.reply, request), "impatient");
        const from = { by: one.by, surface: "terminal" };
        if (one.way === "handed on") await host.send({ type: "respond", response, ...from });
        else if (one.way === "sent")
          await host.send({
            type: "respond",
            response: JSON.parse(JSON.stringify(response)) as InputResponse,
            ...from,
          });
        else if (one.way === "as surface") {
          const { persona: _, ...plain } = response;
          await host.send({ type: "respond", response: plain, by: one.by, surface: "persona" });
        } else if (one.way === "to all") {
          const answer = { ...response, type: "granted" as const };
          await host.send({ type: "respondAll", requestIds: [id], answer, ...from });
        } else await respond(store, response, from).catch(() => {});
        break;
      }
      case "responder":
        if (one.reply !== "denied" && !needsConsent(request)) given.get(id)!.add("auto");
        await respond(store, bodyOf(one.reply, request), { by: "auto", surface: "custom" }).catch(() => {});
        break;
      case "nobody":
        await settle(store, request, autoResolve(one.auto, request));
        break;
      case "silence":
        await settle(store, request, expired(request));
        break;
      case "called": {
        const at = Date.now();
        await store.append(session, {
          key: escalatedKey(key, one.n),
          type: "input.escalated",
          at,
          data: { requestId: id, to: one.by },
        });
        await store.append(session, {
          key: remindedKey(key, one.n),
          type: "input.reminded",
          at,
          data: { requestId: id, n: one.n },
        });
        break;
      }
      case "inquiry":
        await host.send({ type: "inquire", requestId: id, text: "grant it", by: one.by, surface: one.surface });
        break;
      default:
        one satisfies never;
    }
  }
  const ends = requests.map((request) => ({ request, end: store.resolution(request.id), yes: given.get(request.id)! }));
  const approvals = requests.map((request) => ({ request, all: store.approvals(request.id) }));
  await host.close();
  return { ends, approvals };
}

const runs = Number(process.env["SAGE_RUNS"] ?? 300);
const history = fc.tuple(
  fc.array(asked, { minLength: 1, maxLength: 3 }),
  fc.array(act, { maxLength: 14 }),
  fc.boolean(),
);

test("a permission is never granted by silence, by a persona in a journal of people, or by half of those it takes", async () => {
  let granted = 0;
  // A failure is told with its seed and the smallest history.
  await fc.assert(
    fc.asyncProperty(history, async ([all, acts, isTest]) => {
      const store = { ...memoryStore(), test: isTest };
      const since = Date.now();
      const { ends, approvals } = await play(
        store,
        all.map((one, n) => requestOf(one, n, since)),
        acts,
      );
      for (const { request, end, yes } of ends) {
        if (!end || !("response" in end) || end.response?.type !== "granted") continue;
        granted++;
        assert.ok(isSigned(request, end), "half of the people granted it");
        assert.notEqual(end.surface, "deadline", "silence granted it");
        assert.equal(end.outcome, "answered");
        const isPersona = end.surface === "persona";
        assert.ok(isTest || !isPersona, "a persona granted it in a journal of people");
        if (needsConsent(request)) {
          const people = new Set((end.approvals ?? []).map(({ by }) => by.trim()));
          assert.ok(people.size >= request.consent.approvals, "fewer people than it takes granted it");
          assert.ok(
            [...people].every((by) => yes.has(by)),
            "somebody approved it who never said yes",
          );
        } else assert.ok(isPersona || yes.has(end.by.trim()), `${end.by} granted it and never said yes`);
      }
      for (const { request, all: signed } of approvals)
        for (const { by } of signed) {
          assert.ok(named.includes(by), "a nameless person counts");
          assert.ok(!request.consent?.except?.includes(by), "whoever asked counts");
        }
    }),
    { numRuns: runs },
  );
  assert.ok(granted > runs / 20, `only ${granted} of the drawn histories granted anything: they would show nothing`);
});
