// docs/adding.md, done: its lines are written into a copy of the repository, which must compile and do what the page says.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { Machine } from "../support/cli.ts";
import { workspace } from "../support/sage.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const copy = workspace();
after(() => copy[Symbol.dispose]());

type Edit = { file: string; isNew: boolean; lines: string[] };

/** Diffs of a page: a file, and lines with ` ` or `+` before them. */
function readEdits(page: string): Edit[] {
  return [...page.matchAll(/^```diff\n(---|\+\+\+) (\S+)\n([^]*?)\n```$/gm)].map(([, sign, file = "", body = ""]) => ({
    ...{ file, isNew: sign === "+++", lines: body.split("\n") },
  }));
}

/** Adds the lines of a diff where its other lines stand, which must be in one place. */
function added(text: string, { file, lines }: Edit): string {
  const without = lines.filter((line) => !line.startsWith("+")).map((line) => line.slice(1));
  const found = text.split(`${without.join("\n")}\n`);
  assert.equal(found.length, 2, `${file} should have this once:\n${without.join("\n")}`);
  return found.join(`${lines.map((line) => line.slice(1)).join("\n")}\n`);
}

before(() => {
  for (const folder of ["src", "test/support"]) cpSync(join(root, folder), copy.path(folder), { recursive: true });
  symlinkSync(join(root, "node_modules"), copy.path("node_modules"));
  for (const file of ["package.json", "tsconfig.json"]) cpSync(join(root, file), copy.path(file));
  for (const edit of readEdits(readFileSync(join(root, "docs/adding.md"), "utf8"))) {
    const path = copy.path(edit.file);
    assert.equal(existsSync(path), !edit.isNew, edit.file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, added(edit.isNew ? "\n" : readFileSync(path, "utf8"), edit).trimStart());
  }
});

test("the page adds to every door that it names", () => {
  const page = readFileSync(join(root, "docs/adding.md"), "utf8");
  const doors = page.split(/^## /m).slice(1);
  assert.deepEqual(
    doors.map((door) => [/^.*/.exec(door)?.[0], readEdits(door).length > 0]),
    ["A slash command", "A reason", "A tool", "A setting", "A surface"].map((name) => [name, true]),
  );
});

test("everything together compiles", async () => {
  const only = { extends: "./tsconfig.json", include: ["src"], exclude: ["src/surfaces/web/page"] };
  writeFileSync(copy.path("only.json"), JSON.stringify(only));
  const tsc = join(root, "node_modules/.bin/tsc");
  const problems = await run(tsc, ["-p", copy.path("only.json"), "--checkers", "1"]).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
  assert.equal(problems, "");
});

test("the command is helped with, completed and done, the reason is a sentence, and the surface draws", async () => {
  writeFileSync(
    copy.path("try.ts"),
    `import { attachBrief } from "./src/surfaces/brief/index.ts";
    import { sentence } from "./src/texts/shared/sentence.ts";
    import { slashTexts } from "./src/texts/surfaces/slash.ts";
    import { completeSlash, helpLines, readTypedSlash } from "./src/view/slash/read.ts";
    import { runSlash } from "./src/view/slash/run.ts";
    import { slashPlaces } from "./src/view/slash/table.ts";
    import { askUser, question, sageWith } from "./test/support/sage.ts";
    import { joined, slashWords } from "./test/support/slash.ts";
    import { until } from "./test/support/until.ts";

    const script = [{ text: "Let me ask.", calls: [askUser(question("Which colour?"))] }, { text: "Blue it is." }];
    const sage = await sageWith({ script, dir: process.cwd() });
    const left = new AbortController();
    const drawn: string[] = [];
    attachBrief(sage.host, { session: sage.session, lang: "en", print: (line) => drawn.push(line), signal: left.signal });
    await sage.say("go");
    const [request] = await sage.open();
    await sage.answer({ type: "answers", requestId: request!.id, answers: { "Which colour?": { selected: ["Blue"] } } });
    await sage.outcome();
    await until(() => drawn.includes("success"));
    const typist = { session: await joined(sage.host, sage.session), sender: { by: "Lin", surface: "acp" } };
    const hand = { own: (name: never) => name, say: (reply) => reply(slashWords("en")), speak: (text) => [text] };
    const told = await Promise.all(
      slashPlaces.map(async (place) => [
        helpLines({ place }, slashTexts("zh")).find((line) => line.startsWith("/folder ")),
        completeSlash("/fold", { place }, slashTexts("en"))[0]?.hint,
        await runSlash(readTypedSlash("/folder", { place })!, { ...typist, offer: { place } }, hand),
      ]),
    );
    const why = { code: "reads-clock", args: { zone: "UTC" } };
    console.log(JSON.stringify({ told, drawn, said: [sentence(why, "en"), sentence(why, "zh")] }));
    left.abort();
    await sage.host.close();
    `,
  );
  const { stdout } = await run(process.execPath, [copy.path("try.ts")], { cwd: copy.dir });
  const { told, drawn, said } = JSON.parse(stdout) as Record<"told" | "drawn" | "said", unknown[]>;
  const atEach = ["/folder            显示会话的目录", "show the folder of the session", [copy.dir]];
  assert.deepEqual(told, [atEach, atEach, atEach, atEach, atEach]);
  assert.deepEqual(said, ["it only looks at the clock (UTC)", "只看时钟（UTC）"]);
  assert.deepEqual(drawn, ["Let me ask.", "? Which colour?", "Blue it is.", "success"]);
});

test("the model gets the tool with the setting alone", async () => {
  using machine = new Machine();
  const clock = { calls: [{ tool: "Clock", input: {} }] };
  const settings = join(machine.env["SAGE_HOME"] ?? "", "settings.json");
  mkdirSync(dirname(settings));
  const results: string[] = [];
  for (const given of [{}, { clock: "Asia/Shanghai" }]) {
    writeFileSync(settings, JSON.stringify(given));
    const model = machine.script(clock, { text: "That late!" });
    const args = [copy.path("src/cli/main.ts"), "-p", "What time is it?", "--model", model];
    const { stdout } = await run(process.execPath, args, { cwd: machine.cwd, env: machine.env });
    assert.match(stdout, /That late!/);
    const store = sqliteStore(join(machine.env["SAGE_HOME"] ?? "", "journal.db"));
    for (const { id } of store.sessions())
      for (const { type, data } of store.load(id))
        if (type === "call.finished" && !results.includes(data.text)) results.push(data.text);
    store.close();
  }
  assert.match(results[0] ?? "", /there is no tool "Clock"/);
  assert.match(results[1] ?? "", /^\d+\/\d+\/\d+.* GMT\+8$/);
});
