import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openSurfaceStores, shareFile } from "../../../src/host/surface-store.ts";
import { createDevices } from "../../../src/surfaces/web/devices.ts";
import { createEntrance } from "../../../src/surfaces/web/entrance.ts";
import { createPairLimits } from "../../../src/surfaces/web/index.ts";
import { workspace } from "../../support/sage.ts";
import { until } from "../../support/until.ts";

const DAY = 86_400_000;
const phone = { name: "phone", from: "10.0.0.7" };

/** Devices on a real file, and a clock that tests move. */
function machine() {
  const here = workspace();
  let time = 1_800_000_000_000;
  const now = () => time;
  const stores = openSurfaceStores(here.path("surfaces.db"), now);
  return {
    devices: createDevices(shareFile(stores.of("web")), now),
    /** As another process sees them. */
    others: createDevices(shareFile(stores.of("web")), now),
    wait: (ms: number) => void (time += ms),
    bytes: () => ["", "-wal"].map((end) => readFileSync(here.path(`surfaces.db${end}`), "latin1")).join(""),
    [Symbol.dispose]() {
      stores.close();
      here[Symbol.dispose]();
    },
  };
}

test("a link lets one device in, once, for ten minutes; only hashes are kept", async () => {
  using at = machine();
  const { key } = await at.devices.invite({ owner: "account:lin" });
  const taken = await at.others.take({ key }, phone);
  assert.ok(taken?.state === "paired");
  assert.equal(await at.devices.take({ key }, phone), undefined);
  assert.equal(at.devices.find(taken.paired.key)?.name, "phone");
  assert.equal(at.devices.find(key), undefined, "a link is no key");
  const bytes = at.bytes();
  for (const secret of [key, taken.paired.key]) assert.ok(!bytes.includes(secret.slice(-20)));
  const late = await at.devices.invite({ owner: "account:lin" });
  at.wait(10 * 60_000);
  assert.equal(await at.devices.take({ key: late.key }, phone), undefined);
});

test("a device that was once on this machine is no proof from elsewhere, wherever its key comes from later", async () => {
  using at = machine();
  const entrance = createEntrance({
    devices: at.devices,
    visitorOf: () => ({ by: "Lin", person: "account:lin", may: ["approve"] }),
  });
  const pair = async (from: string) => {
    const { key } = await at.devices.invite({ owner: "account:lin" });
    const taken = await at.devices.take({ key }, { name: "x", from });
    assert.ok(taken?.state === "paired");
    return taken.paired.key;
  };
  const isElsewhere = async (key: string, address: string) => {
    const entered = await entrance.enter(key, { address });
    assert.ok(typeof entered === "object");
    entered.leave();
    return entered.elsewhere;
  };
  const [laptop, phone] = [await pair("127.0.0.1"), await pair("10.0.0.7")];
  // A container on this machine has an address of its own.
  assert.deepEqual([await isElsewhere(laptop, "172.17.0.2"), await isElsewhere(phone, "10.0.0.8")], [false, true]);
  assert.equal(await isElsewhere(phone, "::1"), false);
  await until(() => at.devices.find(phone)?.here === true);
  assert.equal(await isElsewhere(phone, "10.0.0.8"), false, "its key has been here");
});

test("a key lasts ninety days from its last use, and not longer", async () => {
  using at = machine();
  const { key } = await at.devices.invite({ owner: "account:lin" });
  const taken = await at.devices.take({ key }, phone);
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

test("a code stands for its link for two minutes, in any spelling; after five wrong ones none counts", async () => {
  using at = machine();
  const first = await at.devices.invite({ owner: "account:lin" });
  const code = await at.devices.code(first.id);
  assert.match(code, /^[a-hjkmnp-z2-9]{4}-[a-hjkmnp-z2-9]{4}$/);
  assert.ok(await at.devices.take({ code: code.toUpperCase().replace("-", " ") }, phone));
  assert.equal(await at.devices.take({ code }, phone), undefined);
  const second = await at.devices.code((await at.devices.invite({ owner: "account:lin" })).id);
  for (let n = 0; n < 4; n++) assert.equal(await at.devices.take({ code: "wrong123" }, phone), undefined);
  assert.ok(await at.devices.take({ code: second }, phone), "four were allowed");
  const third = await at.devices.code((await at.devices.invite({ owner: "account:lin" })).id);
  for (let n = 0; n < 5; n++) await at.devices.take({ code: "wrong123" }, phone);
  assert.equal(await at.devices.take({ code: third }, phone), undefined);
  const fourth = await at.devices.code((await at.devices.invite({ owner: "account:lin" })).id);
  at.wait(2 * 60_000);
  assert.equal(await at.devices.take({ code: fourth }, phone), undefined);
});

test("where somebody has to say yes, there is no key before it, one after it, and none after a no", async () => {
  using at = machine();
  for (const yes of [true, false]) {
    const { id, key } = await at.devices.invite({ owner: "person:Mei", name: "Mei's phone", confirm: true });
    assert.equal(at.devices.applicant(id), undefined);
    assert.equal(await at.devices.admit(id, true), false, "nobody is there yet");
    const taken = await at.others.take({ key }, { name: "evil\u001b[2J\nname", from: "10.0.0.9" });
    assert.ok(taken?.state === "waiting");
    assert.equal(await at.others.take({ key }, phone), undefined, "and nobody else comes in between");
    assert.deepEqual(at.devices.applicant(id), { name: "evil [2J name", from: "10.0.0.9" });
    assert.equal(await taken.look(), "waiting");
    assert.deepEqual(
      at.devices.list().map(({ name }) => name),
      yes ? [] : ["Mei's phone"],
    );
    assert.equal(await at.devices.admit(id, yes), true);
    assert.equal(await at.devices.admit(id, !yes), false, "the first word counts");
    const verdict = await taken.look();
    if (yes) assert.ok(typeof verdict === "object" && verdict.device.owner === "person:Mei");
    else assert.equal(verdict, "refused");
    assert.equal(await taken.look(), "refused", "a key is given once");
  }
});

test("removed devices are gone for every process; the others stay", async () => {
  using at = machine();
  const keys = await Promise.all(
    ["a", "b"].map(async (name) => {
      const taken = await at.devices.take(
        { key: (await at.devices.invite({ owner: "account:lin" })).key },
        { name, from: "" },
      );
      assert.ok(taken?.state === "paired");
      return taken.paired;
    }),
  );
  const [first, second] = keys;
  assert.ok(first && second);
  assert.equal(await at.others.remove(first.device.id), true);
  assert.equal(await at.others.remove(first.device.id), false);
  assert.equal(at.devices.find(first.key), undefined);
  assert.deepEqual(
    at.devices.list().map(({ id }) => id),
    [second.device.id],
  );
});

test("a link that a device has made is worth nothing once that device is removed, also where somebody has still to say yes", async () => {
  using at = machine();
  const lost = await at.devices.take({ key: (await at.devices.invite({ owner: "account:lin" })).key }, phone);
  assert.ok(lost?.state === "paired");
  const { id: device } = lost.paired.device;
  const [plain, coded] = await Promise.all([1, 2].map(() => at.devices.invite({ owner: "account:lin", device })));
  const asked = await at.devices.invite({ owner: "account:lin", device, confirm: true });
  const waits = await at.devices.take({ key: asked.key }, phone);
  const code = await at.devices.code(coded?.id ?? "");
  assert.ok(await at.others.remove(device));
  assert.equal(await at.devices.take({ key: plain?.key ?? "" }, phone), undefined);
  assert.equal(await at.devices.take({ code }, phone), undefined);
  assert.equal(await at.devices.admit(asked.id, true), false);
  assert.ok(waits?.state === "waiting" && (await waits.look()) === "refused");
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
