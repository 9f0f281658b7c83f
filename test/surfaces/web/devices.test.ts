import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openSurfaceStores } from "../../../src/host/surface-store.ts";
import { createDevices } from "../../../src/surfaces/web/devices.ts";
import { createPairLimits } from "../../../src/surfaces/web/limits.ts";
import { workspace } from "../../support/sage.ts";

const DAY = 86_400_000;
const phone = { name: "phone", from: "10.0.0.7" };

/** Devices on a real file, and a clock that tests move. */
function machine() {
  const here = workspace();
  let time = 1_800_000_000_000;
  const now = () => time;
  const stores = openSurfaceStores(here.path("surfaces.db"), now);
  return {
    devices: createDevices(stores.of("web"), now),
    /** As another process sees them. */
    others: createDevices(stores.of("web"), now),
    wait: (ms: number) => void (time += ms),
    bytes: () => ["", "-wal"].map((end) => readFileSync(here.path(`surfaces.db${end}`), "latin1")).join(""),
    [Symbol.dispose]() {
      stores.close();
      here[Symbol.dispose]();
    },
  };
}

test("a link lets one device in, once, for ten minutes; only hashes are kept", () => {
  using at = machine();
  const { key } = at.devices.invite({ owner: "account:lin" });
  const taken = at.others.take({ key }, phone);
  assert.ok(taken?.state === "paired");
  assert.equal(at.devices.take({ key }, phone), undefined);
  assert.equal(at.devices.find(taken.paired.key)?.name, "phone");
  assert.equal(at.devices.find(key), undefined, "a link is no key");
  const bytes = at.bytes();
  for (const secret of [key, taken.paired.key]) assert.ok(!bytes.includes(secret.slice(-20)));
  const late = at.devices.invite({ owner: "account:lin" });
  at.wait(10 * 60_000);
  assert.equal(at.devices.take({ key: late.key }, phone), undefined);
});

test("a key lasts ninety days from its last use, and not longer", () => {
  using at = machine();
  const { key } = at.devices.invite({ owner: "account:lin" });
  const taken = at.devices.take({ key }, phone);
  assert.ok(taken?.state === "paired");
  const own = taken.paired.key;
  at.wait(80 * DAY);
  assert.equal(at.devices.find(own, "10.0.0.8")?.from, "10.0.0.8");
  at.wait(80 * DAY);
  assert.ok(at.devices.find(own), "looking at it is no use");
  at.wait(10 * DAY);
  assert.equal(at.devices.find(own), undefined);
  assert.deepEqual(at.devices.list(), []);
});

test("a code stands for its link for two minutes, in any spelling; after five wrong ones none counts", () => {
  using at = machine();
  const first = at.devices.invite({ owner: "account:lin" });
  const code = at.devices.code(first.id);
  assert.match(code, /^[a-hjkmnp-z2-9]{4}-[a-hjkmnp-z2-9]{4}$/);
  assert.ok(at.devices.take({ code: code.toUpperCase().replace("-", " ") }, phone));
  assert.equal(at.devices.take({ code }, phone), undefined);
  const second = at.devices.code(at.devices.invite({ owner: "account:lin" }).id);
  for (let n = 0; n < 4; n++) assert.equal(at.devices.take({ code: "wrong123" }, phone), undefined);
  assert.ok(at.devices.take({ code: second }, phone), "four were allowed");
  const third = at.devices.code(at.devices.invite({ owner: "account:lin" }).id);
  for (let n = 0; n < 5; n++) at.devices.take({ code: "wrong123" }, phone);
  assert.equal(at.devices.take({ code: third }, phone), undefined);
  const fourth = at.devices.code(at.devices.invite({ owner: "account:lin" }).id);
  at.wait(2 * 60_000);
  assert.equal(at.devices.take({ code: fourth }, phone), undefined);
});

test("where somebody has to say yes, there is no key before it, one after it, and none after a no", () => {
  using at = machine();
  for (const yes of [true, false]) {
    const { id, key } = at.devices.invite({ owner: "person:Mei", name: "Mei's phone", confirm: true });
    assert.equal(at.devices.applicant(id), undefined);
    assert.equal(at.devices.admit(id, true), false, "nobody is there yet");
    const taken = at.others.take({ key }, { name: "evil\u001b[2J\nname", from: "10.0.0.9" });
    assert.ok(taken?.state === "waiting");
    assert.equal(at.others.take({ key }, phone), undefined, "and nobody else comes in between");
    assert.deepEqual(at.devices.applicant(id), { name: "evil [2J name", from: "10.0.0.9" });
    assert.equal(taken.look(), "waiting");
    assert.deepEqual(
      at.devices.list().map(({ name }) => name),
      yes ? [] : ["Mei's phone"],
    );
    assert.equal(at.devices.admit(id, yes), true);
    assert.equal(at.devices.admit(id, !yes), false, "the first word counts");
    const verdict = taken.look();
    if (yes) assert.ok(typeof verdict === "object" && verdict.device.owner === "person:Mei");
    else assert.equal(verdict, "refused");
    assert.equal(taken.look(), "refused", "a key is given once");
  }
});

test("removed devices are gone for every process; the others stay", () => {
  using at = machine();
  const keys = ["a", "b"].map((name) => {
    const taken = at.devices.take({ key: at.devices.invite({ owner: "account:lin" }).key }, { name, from: "" });
    assert.ok(taken?.state === "paired");
    return taken.paired;
  });
  const [first, second] = keys;
  assert.ok(first && second);
  assert.equal(at.others.remove(first.device.id), true);
  assert.equal(at.others.remove(first.device.id), false);
  assert.equal(at.devices.find(first.key), undefined);
  assert.deepEqual(
    at.devices.list().map(({ id }) => id),
    [second.device.id],
  );
});

test("a link that a device has made is worth nothing once that device is removed, also where somebody has still to say yes", () => {
  using at = machine();
  const lost = at.devices.take({ key: at.devices.invite({ owner: "account:lin" }).key }, phone);
  assert.ok(lost?.state === "paired");
  const { id: device } = lost.paired.device;
  const [plain, coded] = [1, 2].map(() => at.devices.invite({ owner: "account:lin", device }));
  const asked = at.devices.invite({ owner: "account:lin", device, confirm: true });
  const waits = at.devices.take({ key: asked.key }, phone);
  const code = at.devices.code(coded?.id ?? "");
  assert.ok(at.others.remove(device));
  assert.equal(at.devices.take({ key: plain?.key ?? "" }, phone), undefined);
  assert.equal(at.devices.take({ code }, phone), undefined);
  assert.equal(at.devices.admit(asked.id, true), false);
  assert.ok(waits?.state === "waiting" && waits.look() === "refused");
  assert.deepEqual(at.devices.list(), []);
});

test("ten failed tries from one address and sixty together are allowed in a minute", () => {
  let time = 0;
  const limits = createPairLimits(() => time);
  for (let n = 0; n < 10; n++) limits.failed("a");
  assert.deepEqual([limits.may("a"), limits.may("b")], [false, true]);
  for (let n = 0; n < 50; n++) limits.failed(`c${n}`);
  assert.equal(limits.may("b"), false);
  time = 60_000;
  assert.equal(limits.may("a"), true);
});
