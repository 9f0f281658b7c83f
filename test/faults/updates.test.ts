// An update is a kill point: everything that a version left open goes on under its ids, no yes is lost, and nobody is asked twice.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { cannotConfine } from "../support/confine.ts";
import { bash, sageWith } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { read } from "./fixture.ts";
import { reply } from "./story.ts";
import { leavePlace, PLACE, restoreFiles, sessions, takePlace, updates } from "./update-fixture.ts";

const folder = join(import.meta.dirname, "../fixtures/journals");
const kept = globSync("*-update-*.jsonl", { cwd: folder }).sort();
const path = (name: string) => join(PLACE, name);

/** The facts of a fixture as a journal here, and its files. */
function restored(file: string, change = (text: string) => text): { store: LocalStore; facts: Fact[] } {
  const { recorded, facts } = read(change(readFileSync(join(folder, file), "utf8")));
  for (const name of ["made", "ran", "more", "granted", "fresh.txt", "replaced", "work", "log.txt", "journal.db"])
    rmSync(path(name), { recursive: true, force: true });
  restoreFiles(recorded.files ?? {});
  rmSync(path("journal.db-wal"), { force: true });
  const store = sqliteStore(path("journal.db"));
  const [opened, ...rest] = facts as [Fact<"session.opened">, ...Fact[]];
  store.create("s", opened.data);
  const epoch = store.claim("s");
  store.commit("s", epoch, rest);
  store.release("s", epoch);
  return { store, facts };
}

const newest = kept.filter((name) => name.includes("approving")).at(-1)!;
const text = (name: string) => (existsSync(path(name)) ? readFileSync(path(name), "utf8") : undefined);
const asked = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.type === "input.requested" ? [`${fact.data.source} ${fact.key}`] : []));

suite("what a version left open when it was updated", { skip: process.platform !== "linux" }, async () => {
  const unconfined = await cannotConfine();
  before(takePlace);
  after(leavePlace);

  test("each kind is kept of each version that has it", () => {
    for (const kind of updates) assert.ok(kept.includes(`0.2.0-update-${kind}.jsonl`), kind);
    assert.ok(kept.includes("0.1.0-update-approving.jsonl"));
  });

  for (const file of kept) {
    const kind = updates.find((name) => file.endsWith(`-${name}.jsonl`));
    if (!kind) throw new Error(`nobody knows what ${file} is`);
    test(`${file} goes on`, { skip: kind === "confined" && unconfined }, async () => {
      const { store, facts: left } = restored(file);
      await using sage = await sessions[kind](store);
      if (kind === "rewind") {
        await sage.say("go on");
        assert.equal((await sage.outcome()).status, "success");
        assert.deepEqual([text("old.txt"), text("fresh.txt")], ["old\n", undefined]);
        assert.equal(store.load("s").filter(({ type }) => type === "rewind.ended").length, 1);
        return;
      }
      const ids = store.pending("s").map(({ id }) => id);
      if (kind !== "form") for (const request of store.pending("s")) await sage.answer(reply(request, "done"));
      const ending = sage.outcome();
      // The call that its server asked in has gone with it: the form is void, and what became of the call is asked, once.
      if (kind === "form") {
        const open = () => store.pending("s").find(({ source }) => source === "recovery");
        const [lost] = [await until(open, "the lost call was not asked about")];
        assert.deepEqual(ids, ["s/t0/0/0/elicit0_0"]);
        assert.equal(store.resolution(ids[0]!)?.outcome, "superseded");
        await sage.answer(reply(lost, "done"));
      }
      assert.equal((await ending).text, "all done");
      const facts = store.load("s");
      assert.deepEqual(asked(facts), [...asked(left), ...(kind === "form" ? ["recovery t0/0/0/lost0"] : [])]);
      const digests = new Map(
        facts.flatMap((fact) =>
          fact.type === "input.requested" ? [[fact.key.split("/permit")[0], fact.data.digest]] : [],
        ),
      );
      for (const fact of facts)
        if (fact.type === "call.started" && digests.has(fact.key.split("/run")[0]) && kind !== "form")
          assert.equal(fact.data.digest, digests.get(fact.key.split("/run")[0]), "what runs is what was approved");
      if (kind === "confined") assert.ok(existsSync(path("work/made")));
      if (kind === "guest") assert.equal(text("made"), "a\n");
      if (kind !== "approving") return;
      for (const name of ["made", "ran", "granted"]) assert.ok(existsSync(path(name)), name);
      assert.deepEqual([text("old.txt"), text("fresh.txt")], ["new old.txt\n", "new fresh.txt\n"]);
      assert.match(text("edited.txt") ?? "", /THREE/);
    });
  }

  test("a journal of a newer version on this one: a yes whose digest nobody here can check is asked for again, and the request says why", async () => {
    const { store } = restored(newest, (text) => text.replaceAll('"digest":"2:', '"digest":"3:'));
    await using sage = await sessions.approving(store);
    for (const request of store.pending("s")) await sage.answer(reply(request, "done"));
    const ending = sage.outcome();
    for (const _ of ["made", "ran", "old", "fresh", "edited", "granted"]) {
      const [request] = await sage.open();
      assert.match(sentence(request!.why, "en"), /a newer version of Sage asked/);
      await sage.answer({ type: "denied", requestId: request!.id });
    }
    assert.equal((await ending).status, "paused"); // five times no
    for (const name of ["made", "ran", "granted", "fresh.txt"]) assert.equal(existsSync(path(name)), false, name);
  });

  test("two versions at one journal: sessions of each lie beside each other, and answers of either count for both", async () => {
    const { store } = restored("0.2.0-update-approving.jsonl");
    const [theirs] = store.pending("s");
    await using sage = await sageWith({
      dir: PLACE,
      store,
      session: "own",
      script: [{ calls: [bash("touch more")] }, { text: "ok" }],
    });
    await sage.say("go");
    const [own] = await sage.open();
    assert.match(own!.digest, /^2:/);
    assert.doesNotMatch(theirs!.digest, /:/);
    // As another process would: it writes the answer, and whoever runs the session takes it from there.
    await using other = await sessions.approving(store);
    for (const request of [...store.pending("s"), own!]) assert.ok((await other.answer(reply(request, "done"))).ok);
    assert.deepEqual([(await sage.outcome()).text, (await other.outcome()).text], ["ok", "all done"]);
    assert.deepEqual([existsSync(path("more")), existsSync(path("made"))], [true, true]);
  });

  for (const file of kept.filter((name) => name.includes("approving")))
    test(`${file}: what had changed is asked about again, by the rule of its version`, async () => {
      const { store, facts: left } = restored(file);
      for (const { id: requestId } of store.pending("s")) {
        const yes = { type: "granted", requestId } as const;
        const data = { requestId, by: "Lin", surface: "test", at: 1, outcome: "answered", response: yes } as const;
        store.append("s", { key: `${requestId.slice(2)}.resolved`, type: "input.resolved", at: 1, data });
      }
      writeFileSync(path("old.txt"), "somebody else's\n");
      writeFileSync(path("run.sh"), "touch ran; touch more\n");
      await using sage = await sessions.approving(store);
      const ending = sage.outcome();
      const changed = file.startsWith("0.1.0") ? [] : ["sh run.sh"]; // 0.1.0 bound nobody's yes to a script
      for (const command of changed) {
        const [request] = await sage.open();
        assert.equal(request?.kind === "permission" && request.input["command"], command);
        await sage.answer({ type: "denied", requestId: request!.id });
      }
      assert.equal((await ending).text, "all done");
      assert.equal(asked(store.load("s")).length, asked(left).length + changed.length);
      // As it is now, nobody has read it.
      assert.equal(text("old.txt"), "somebody else's\n");
      assert.equal(existsSync(path("more")), file.startsWith("0.1.0"));
    });
});
