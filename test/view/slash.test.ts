import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { rightOf } from "../../src/host/guard.ts";
import type { Command, CommandReply } from "../../src/protocol/host/host.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { slashTexts } from "../../src/texts/surfaces/slash.ts";
import {
  completeSlash,
  helpLines,
  lackedRight,
  offeredAt,
  readTypedSlash,
  unknownSlash,
  type Offer,
} from "../../src/view/slash/read.ts";
import { runSlash, type Hand, type Reply } from "../../src/view/slash/run.ts";
import { slashNames, slashPlaces, type HostSlash, type SlashName } from "../../src/view/slash/table.ts";
import { sageWith, workspace } from "../support/sage.ts";
import { between, joined, slashWords, surroundings } from "../support/slash.ts";

const own = () => [
  { name: "git:tidy", description: "tidies up" },
  { name: "help", description: "mine" },
  { name: "undo", description: "mine" },
];

test("a command is read by its name, then one of the person's own, then an alias; anything else is a message", () => {
  const offer: Offer = { place: "terminal", own };
  const read = (text: string) => readTypedSlash(text, offer);
  assert.deepEqual(read(" /rename  一个 title "), { name: "rename", args: "一个 title" });
  assert.deepEqual(read("／Help"), { name: "help", args: "" });
  assert.deepEqual(read("/usage"), { name: "cost", args: "" });
  for (const message of ["/undo t0", "/git:tidy up", "/etc/hosts", "/cd src", "/nothing", "rename it"])
    assert.equal(read(message), undefined, message);
  assert.deepEqual(readTypedSlash("/undo t0", { place: "terminal" }), { name: "rewind", args: "t0" });
});

for (const lang of ["en", "zh"] as const) {
  const w = slashTexts(lang);

  test(`help lists what works at each surface and nothing else, ${lang}`, () => {
    for (const place of slashPlaces) {
      const lines = helpLines({ place, own }, w);
      const listed = lines.map((line) => /^\/(\S+)/.exec(line)?.[1]);
      const works = slashNames.filter((name) => readTypedSlash(`/${name} x`, { place })?.name === name);
      assert.deepEqual(listed, [...works, "git:tidy", ...(works.includes("help") ? [] : ["help"]), "undo"]);
      for (const name of works) {
        const line = lines.find((one) => one.startsWith(`/${name} `)) ?? "";
        assert.ok(line.endsWith(w.commands[name].does), line);
      }
    }
    const there = { place: "terminal", has: (name: SlashName) => name !== "tasks" } as const;
    assert.equal(offeredAt(there).includes("tasks"), false, "not where its processes are elsewhere");
    assert.equal(readTypedSlash("/ps", there), undefined);
  });

  test(`names and their words are completed, built-in ones first, ${lang}`, () => {
    const offer: Offer = { place: "terminal", own: () => [{ name: "reset-db", description: "mine" }, ...own()] };
    const labels = (typed: string) => completeSlash(typed, offer, w).map(({ label }) => label);
    for (const place of slashPlaces)
      for (const name of offeredAt({ place })) {
        const found = completeSlash(`/${name}`, { place }, w).find((one) => one.text === `/${name} `);
        assert.equal(found?.hint, w.commands[name].does, `${name} at ${place}`);
      }
    assert.deepEqual(labels("/re").slice(0, 5), ["/resume", "/rename", "/rewind", "/revoke", "/reset-db"]);
    assert.deepEqual(labels("/usa"), ["/cost"]);
    assert.deepEqual(labels("／MODE acc"), ["accept-edits"]);
    assert.deepEqual(completeSlash("/mode acc", offer, w)[0]?.text, "/mode accept-edits ");
    for (const none of ["/mode plan", "/rename a", "/plan see @s", "/etc/ho", "mode", "/git:tidy x"])
      assert.deepEqual(labels(none), [], none);
  });

  test(`an unknown command is answered with the nearest one that works there, ${lang}`, () => {
    const refused: CommandReply<"say"> = {
      ...{ ok: false, code: "input-invalid", message: "" },
      reason: reason("command-unknown", { command: "" }),
    };
    const told = (text: string, offer: Offer) => unknownSlash(refused, text, offer, w);
    assert.equal(told("/taks", { place: "terminal" }), w.unknown("taks", "tasks"));
    assert.equal(told("/taks", { place: "acp" }), w.unknown("taks", undefined));
    assert.equal(told("/git:tiddy", { place: "page", own }), w.unknown("git:tiddy", "git:tidy"));
    assert.equal(told("a message", { place: "page" }), undefined);
    assert.equal(
      unknownSlash({ ...refused, reason: reason("message-empty", {}) }, "/x", { place: "page" }, w),
      undefined,
    );
  });
}

/** Words after each command of the host, with which it does all that it can. There is nothing to withdraw here. */
const fully: Record<HostSlash, readonly string[]> = {
  ...{ help: [""], inbox: [""], status: [""], sessions: [""], resume: ["", "s"], fork: [""], rename: ["a title"] },
  ...{ model: ["", "other/one"], mode: ["", "plan", "accept-edits", "ask"], plan: ["", "a task"], compact: [""] },
  ...{
    rewind: ["", "t0"],
    withdraw: [],
    now: [""],
    revoke: [""],
    stop: [""],
    permissions: ["", "remove Bash(x)"],
    agents: [""],
  },
  ...{ skills: [""], cost: [""] },
};

test("a command demands the right of what it sends, and without that nothing is sent", async () => {
  using here = workspace();
  const sent: Command[] = [];
  await using sage = await sageWith({ dir: here.dir, script: [{ text: "one" }, { text: "two" }], surroundings });
  const { session } = sage;
  await sage.say("begin");
  await sage.outcome();
  const sender = { by: "Lin", surface: "tui" };
  const rule = { rule: "Bash(x)", behavior: "allow", destination: "session" } as const;
  assert.ok((await sage.host.send({ type: "addRule", session, ...rule, ...sender })).ok);
  const at = await joined(between(sent)(sage.host), session);
  const hand: Hand<"acp", string> = {
    own: (name: never) => name,
    say: (told: Reply) => told(slashWords("en")).join("\n"),
    done: () => "done",
    back: (words) => words,
    speak: (text) => text,
    go: (id) => id,
  };
  const ranks = ["look", "talk", "approve"] as const;
  // This host keeps no files to put back.
  assert.equal(
    lackedRight({ name: "rewind", args: "t0 files yes" }, "acp", () => false),
    "approve",
  );
  for (const [name, all] of Object.entries(fully) as [HostSlash, readonly string[]][])
    for (const args of all) {
      const typed = { name, args };
      const typist = { session: at, sender, offer: { place: "acp" as const } };
      sent.length = 0;
      const told = await runSlash(typed, typist, hand);
      const rank = Math.max(0, ...sent.map((command) => ranks.indexOf(rightOf(command, () => undefined) as "look")));
      assert.equal(lackedRight(typed, "acp", () => false) ?? "look", ranks[rank], `/${name} ${args}: ${told}`);
      sent.length = 0;
      const may = (right: string) => ranks.indexOf(right as "look") < rank;
      if (rank === 0) continue;
      assert.equal(await runSlash(typed, { ...typist, may }, hand), slashTexts("en").refused[ranks[rank] as "talk"]);
      assert.deepEqual(sent, []);
    }
});

test("what is not the host's says so: an argument that is missing, an answer to nothing, a refusal", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [] });
  const session = await joined(sage.host, sage.session);
  const typist = { session, sender: { by: "Lin", surface: "acp" }, offer: { place: "acp" as const } };
  const told = (name: SlashName, args = "") =>
    runSlash<"acp", string>({ name, args }, typist, {
      own: (own: never) => own,
      say: (lines, tone) => `${tone}: ${lines(slashWords("en")).join("\n")}`,
      speak: (text) => text,
    });
  assert.equal(await told("rename"), "danger: /rename needs a word after it.");
  assert.equal(await told("decline"), "dim: Nothing asks for an answer now.");
  assert.match(await told("mode", "nonsense"), /danger: There is no mode “nonsense”/);
  assert.match(await told("compact"), /danger: \/compact failed: /);
  assert.equal(await told("resume"), "dim: The turn continues.");
});

test("a message that nobody has read comes back with /withdraw", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ text: "one", delayMs: 600_000 }] });
  const { host, session } = sage;
  const sender = { by: "Lin", surface: "tui" };
  for (const [text, by] of [
    ["begin", "Lin"],
    ["mine", "Lin"],
    ["hers", "Mei"],
  ] as const)
    await host.send({ type: "say", session, text, by, surface: "tui" });
  const at = await joined(host, session);
  const typist = { session: at, sender, offer: { place: "terminal" as const } };
  const back = () =>
    runSlash<"terminal", string>({ name: "withdraw", args: "" }, typist, {
      own: (name) => name,
      say: (lines) => lines(slashWords("en")).join(),
      done: () => "done",
      back: (words) => `back: ${words}`,
      speak: (text) => text,
      go: (id) => id,
    });
  assert.equal(await back(), "back: mine");
  await host.send({ type: "interrupt", session, cancel: true, ...sender });
});

test("a missing text, a missing command, and one that a surface forgets do not compile", async () => {
  const root = new URL("../../", import.meta.url).pathname;
  using place = workspace();
  for (const room of ["base", "protocol", "texts", "view", "remote", "surfaces/acp", "surfaces/plain"])
    cpSync(join(root, "src", room), place.path(`src/${room}`), { recursive: true });
  cpSync(join(root, "tsconfig.json"), place.path("base.json"));
  writeFileSync(
    place.path("tsconfig.json"),
    JSON.stringify({
      extends: "./base.json",
      include: ["src/view/slash", "src/texts/surfaces/slash.ts", "src/surfaces"],
      exclude: [],
    }),
  );
  symlinkSync(join(root, "node_modules"), place.path("node_modules"));
  writeFileSync(place.path("package.json"), JSON.stringify({ type: "module" }));
  const compile = async (change?: { file: string; from: string; to: string }): Promise<string> => {
    const file = place.path(change?.file ?? "src/view/slash/table.ts");
    const text = readFileSync(file, "utf8");
    if (change) assert.ok(text.includes(change.from), change.from);
    writeFileSync(file, change ? text.replace(change.from, change.to) : text);
    const tsc = join(root, "node_modules/.bin/tsc");
    const found = await promisify(execFile)(tsc, ["-p", place.dir]).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    writeFileSync(file, text);
    return found;
  };
  assert.equal((await compile()).slice(0, 1_000), "");
  const texts = "src/texts/surfaces/slash.ts";
  const table = "src/view/slash/table.ts";
  const chinese = 'rename: { takes: "标题", does: "给会话另取标题" },';
  const english = 'rename: { takes: "title", does: "give the session another title" },';
  const entry = 'agents: { right: "look", on: everywhere },';
  assert.match(await compile({ file: texts, from: chinese, to: "" }), /slash\.ts.*'rename' is missing/s);
  assert.match(await compile({ file: texts, from: english, to: "" }), /rename/);
  assert.match(await compile({ file: table, from: entry, to: "" }), /agents/);
  assert.match(
    await compile({ file: table, from: entry, to: `${entry} brew: { right: "look", on: everywhere },` }),
    /brew/,
  );
  const forgotten = entry.replace("everywhere", '{ ...everywhere, lines: "own", acp: "own" }');
  const problems = await compile({ file: table, from: entry, to: forgotten });
  assert.match(problems, /surfaces\/acp\/session\.ts/);
  assert.match(problems, /surfaces\/plain\/talking\.ts/);
});
