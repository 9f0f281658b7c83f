// One list of consents over all surfaces: what a person agrees to is the same change wherever they say it, with one receipt and one way back.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { receiptsOf } from "../../src/archive/receipts.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import { modeOf, sessionRules } from "../../src/protocol/facts/session.ts";
import { ending } from "../../src/texts/shared/resolution.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { cannotConfine } from "../support/confine.ts";
import { until } from "../support/until.ts";
import { surfaces, type Hands, type Surface } from "./consent/hands.ts";
import { stories, type Place, type Story } from "./consent/stories.ts";

const t = texts("en");
const cannot = await cannotConfine();
const other = { by: "Wang", surface: "elsewhere" };

for (const surface of surfaces)
  suite(`consent on ${surface.name}`, { concurrency: 4 }, () => {
    for (const story of stories) {
      const reason = surface.lacks?.[story.name];
      if (reason === undefined) test(story.name, { skip: story.confined && cannot }, () => play(surface, story));
      else test(`no ${story.name}: ${reason}`, () => assert.ok(reason.length > 20));
    }
  });

test("what a surface lacks is a story of the list", () => {
  const names = ["undo", ...stories.map(({ name }) => name)];
  for (const { lacks = {} } of surfaces) for (const name of Object.keys(lacks)) assert.ok(names.includes(name), name);
});

async function play(surface: Surface, story: Story): Promise<void> {
  const again = story.calls.slice(1, story.plans || story.confined ? 3 : 2);
  const script: Script = [
    ...story.calls.map((call) => ({ calls: [call] })),
    { text: "done" },
    ...again.map((call) => ({ calls: [call] })),
    { text: "over" },
  ];
  await using hands = await surface.open(story, script);
  const before = filesOf(hands);
  await hands.say("go");
  const request = await nextRequest(hands);
  const shown = await hands.shown(request);
  for (const part of story.preview) assert.ok(flat(shown).includes(flat(part)), `${part} is not in ${shown}`);
  await hands.consent(request, story.consent);
  await untilEnded(hands, 1);
  assert.deepEqual(
    asked(hands),
    story.asks.map((n) => named(story.calls[n]!)),
    "asked about",
  );
  if (story.keeps) assert.deepEqual(filesOf(hands)[story.keeps.place], story.keeps.permissions);
  for (const place of ["local", "project", "user"] as const)
    if (place !== story.keeps?.place) assert.deepEqual(filesOf(hands)[place], before[place], place);
  if (story.holds || !story.keeps) assert.deepEqual(rulesOf(hands), story.holds ?? []);
  const { store, session } = hands;
  const receipt = receiptsOf(store.load(session), () => undefined).find(({ asked }) => asked.length > 0);
  assert.match(ending(receipt!.asked[0]!.resolution!, t), story.receipt);
  if (story.consent.type === "edited") assert.match(JSON.stringify(receipt!.input), /just b/);
  if (story.plans) assert.equal(modeOf(store.load(session)), "acceptEdits");
  if (!story.undo || surface.lacks?.["undo"] !== undefined) return;

  await hands.undo();
  await until(() => store.load(session).some(({ data }) => "undoes" in data && data.undoes !== undefined));
  assert.deepEqual([filesOf(hands), rulesOf(hands)], [before, []], "as it was");
  assert.ok(
    receiptsOf(store.load(session), () => undefined).some(({ undone }) => undone !== undefined),
    "its receipt says so",
  );
  await hands.say("once more");
  await untilEnded(hands, 2);
  assert.equal(asked(hands).at(-1), named(again[0]!), "asked about again");
  assert.equal(asked(hands).length, story.asks.length + 1);
}

function nextRequest(hands: Hands): Promise<PermissionRequest> {
  return until(() => hands.store.pending(hands.session)[0]) as Promise<PermissionRequest>;
}

/** Whatever else is asked, somebody elsewhere answers. */
async function untilEnded(hands: Hands, turns: number): Promise<void> {
  const answered = new Set<string>();
  await until(
    async () => {
      const { store, session, host } = hands;
      const facts = store.load(session);
      const first = facts.some(({ type }) => type === "input.resolved");
      for (const { id } of first ? store.pending(session) : [])
        if (!answered.has(id)) {
          answered.add(id);
          await host.send({ type: "respond", response: { type: "granted", requestId: id }, ...other });
        }
      return facts.filter(({ type }) => type === "turn.ended").length >= turns;
    },
    () => JSON.stringify(hands.store.load(hands.session).map(({ type }) => type)),
  );
}

function asked({ store, session }: Hands): string[] {
  return store.load(session).flatMap((fact) => {
    if (fact.type !== "input.requested" || fact.data.kind !== "permission") return [];
    return [named(fact.data)];
  });
}

const named = ({ tool, input }: { tool: string; input: Readonly<Record<string, unknown>> }) =>
  `${tool} ${String(input["command"] ?? input["url"] ?? input["plan"] ?? input["file_path"])}`;
const flat = (text: string) => text.replaceAll(/[\s\\│▏┃]/g, "");
const rulesOf = ({ store, session }: Hands) => sessionRules(store.load(session)).map(({ text }) => text);

type Settings = { permissions: Record<string, string[]> };

/** Rules of the settings files; an empty list is none. */
function filesOf({ home, cwd }: Hands): Record<Exclude<Place, "session">, unknown> {
  const read = (path: string) => {
    const { permissions } = existsSync(path)
      ? (JSON.parse(readFileSync(path, "utf8")) as Settings)
      : { permissions: {} };
    return Object.fromEntries(Object.entries(permissions).filter(([, rules]) => rules.length > 0));
  };
  return {
    user: read(join(home, "settings.json")),
    project: read(join(cwd, ".sage/settings.json")),
    local: read(join(cwd, ".sage/settings.local.json")),
  };
}
