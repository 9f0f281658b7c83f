import assert from "node:assert/strict";
import { test } from "node:test";
import {
  callOfKey,
  parentCallOfKey,
  placeInConversation,
  placeOfKey,
  rootCallOfKey,
  withoutEnd,
} from "../../src/protocol/key.ts";

const places: Record<string, ReturnType<typeof placeOfKey>> = {
  t0: { turn: "t0", what: "turn", within: [] },
  "t12.ended": { turn: "t12", what: "turn", end: "ended", within: [] },
  "t0/3/model": { turn: "t0", step: "t0/3", what: "model", within: [] },
  "t0/3/judged": { turn: "t0", step: "t0/3", what: "judged", within: [] },
  "t0/3/1/judged1": { turn: "t0", step: "t0/3", call: "t0/3/1", what: "judged1", within: [] },
  "t0/3/1/permit0.resolved": { turn: "t0", step: "t0/3", call: "t0/3/1", what: "permit0", end: "resolved", within: [] },
  "t0/3/1/sub/0/model": { turn: "t0", step: "t0/3/1/sub/0", what: "model", within: ["t0/3/1"] },
  "t0/3/1/sub/0/2/sub/4/0/run0.finished": {
    turn: "t0",
    step: "t0/3/1/sub/0/2/sub/4",
    call: "t0/3/1/sub/0/2/sub/4/0",
    what: "run0",
    end: "finished",
    within: ["t0/3/1", "t0/3/1/sub/0/2"],
  },
  "said/0": undefined,
  "said/t0.carried": undefined,
  "draft/t0/3/1/permit0/1": undefined,
  "interrupt/t0": undefined,
  "": undefined,
};

test("a key is taken apart into turn, step, call and what stands there", () => {
  assert.deepEqual(Object.fromEntries(Object.keys(places).map((key) => [key, placeOfKey(key)])), places);
});

test("the root agent's conversation is its replies, its compactions and what stands right below its calls", () => {
  const inside = {
    "t0/3/model": {},
    "t0/3/compact": {},
    "t0/3/compact1": {},
    "t0/3/1/permit0.resolved": { call: 1 },
    "t0/3/12/run0.finished": { call: 12 },
    "t0/3/0/done": { call: 0 },
  };
  for (const [key, place] of Object.entries(inside)) assert.deepEqual(placeInConversation(key), place, key);
  const outside = [
    "t0",
    "t0.ended",
    "t0/3/judged",
    "t0/3/spin0.resolved",
    "t0/3/model.started",
    "t0/3/compact2",
    "t0/model",
  ];
  const deeper = ["t0/3/1/sub/0/model", "t0/3/1/sub/0/2/done", "t0/3/1/hook/model", "t0/3/hook/model", "t0/3/1/2/done"];
  const elsewhere = ["said/t0/3/model", "draft/t0/3/1/permit0/1", "t0/carried/0/done", ""];
  for (const key of [...outside, ...deeper, ...elsewhere]) assert.equal(placeInConversation(key), undefined, key);
});

test("calls of subagents know the call above them and the root's", () => {
  const key = "t0/3/1/sub/0/2/sub/4/0/run0.finished";
  assert.deepEqual(
    [callOfKey(key), parentCallOfKey(key), rootCallOfKey(key), withoutEnd(key)],
    ["t0/3/1/sub/0/2/sub/4/0", "t0/3/1/sub/0/2", "t0/3/1", "t0/3/1/sub/0/2/sub/4/0/run0"],
  );
  assert.deepEqual(["t0/3/1/lost0.running.resolved", "t0/3/1/lost0.running", "t0/3/1/lost0.ended"].map(withoutEnd), [
    "t0/3/1/lost0.running",
    "t0/3/1/lost0.running",
    "t0/3/1/lost0",
  ]);
  assert.deepEqual([rootCallOfKey("t0/3/1/done"), parentCallOfKey("t0/3/1/done")], ["t0/3/1", undefined]);
});
