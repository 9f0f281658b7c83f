import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Machine, asks, bash } from "../support/cli.ts";

type Told = { intact: boolean; receipts: Record<string, unknown>[] };

test("sage why: who allowed what, from where and by which rule of which file; for a file, who changed it", async () => {
  using here = new Machine();
  const settings = join(here.env["SAGE_HOME"] ?? "", "settings.json");
  mkdirSync(here.env["SAGE_HOME"] ?? "", { mode: 0o700 });
  writeFileSync(settings, JSON.stringify({ permissions: { allow: ["Write(b.txt)"], deny: ["Bash(rm:*)"] } }));
  const write = (name: string, content: string) => ({ tool: "Write", input: { file_path: name, content } });
  const token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].join("");
  const model = here.script(
    {
      calls: [
        write("a.txt", "one\n"),
        write("b.txt", "two\n"),
        bash("rm -r x"),
        bash(`echo ${token} > c.txt`),
        asks({ question: "Sure?", labels: ["Yes", "No"] }),
        { tool: "Glob", input: { pattern: "*" } },
      ],
    },
    { text: "done" },
  );
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 3);
  const answers: Record<string, string[]> = {
    permission: ["--yes", "--comment", "fine by me"],
    question: ["--choose", "Yes"],
  };
  for (const { id, kind } of await here.pending()) await here.sage(["answer", id, ...(answers[kind] ?? [])]);
  assert.equal((await here.sage(["-p", "--continue"])).code, 0);

  const { out, err } = await here.sage(["why"]);
  assert.match(out, /Session \w{8} in .*project: go/);
  assert.match(
    out,
    /Write\n\s+a\.txt\n\s+allowed\n.*asked .*\n\s+In .* · Task of .*: go\n\s+Answered .* on the command line.*: allowed — “fine by me”\n\s+ran/,
  );
  assert.match(out, new RegExp(`Write\\n\\s+b\\.txt\\n\\s+allowed by a rule: Write\\(b\\.txt\\) \\(${settings}\\)`));
  assert.match(out, /rm -r x\n\s+refused by a rule: Bash\(rm:\*\)/);
  assert.match(out, /AskUserQuestion[^]*answered[^]*Sure\? → Yes/);
  assert.match(out, /1 read-only call not shown \(--all\)\nRecord of session \w{8} intact/);
  assert.doesNotMatch(out, /16C7e42F/);
  assert.match(err, /removed/);
  assert.match((await here.sage(["why", "--all", "--lang", "zh"])).out, /已允许[^]*Glob[^]*记录完好/);

  const { out: ofFile } = await here.sage(["why", "a.txt"]);
  assert.match(
    ofFile,
    /a\.txt was changed by:\n\w{8}\/t0\/0\/0 [^]*Unchanged since the last of them\.\nRecord of session \w{8} intact/,
  );
  writeFileSync(join(here.cwd, "a.txt"), "somebody else\n");
  assert.match((await here.sage(["why", "./a.txt"])).out, /Changed since then by something outside Sage/);
  assert.match((await here.sage(["why", "c.txt"])).out, /changed by:\n[^]*Bash/);
  writeFileSync(join(here.cwd, "never.txt"), "");
  assert.match((await here.sage(["why", "never.txt"])).out, /No recorded call changed .*never\.txt/);

  const json = JSON.parse((await here.sage(["why", "--json"])).out) as Told;
  assert.equal(json.intact, true);
  assert.deepEqual(
    json.receipts.map(({ tool, decision }) => `${String(tool)} ${String(decision)}`),
    ["Write allowed", "Write allowed", "Bash refused", "Bash allowed", "AskUserQuestion answered", "Glob allowed"],
  );
  assert.doesNotMatch(JSON.stringify(json), /16C7e42F/);
  const [first] = json.receipts as { id: string; digest: string }[];
  assert.match((await here.sage(["why", first?.id ?? ""])).out, new RegExp(`│ a\\.txt\n[^]*digest ${first?.digest}`));
  assert.equal((await here.sage(["why", "nothing-like-this"])).code, 2);

  // A record that somebody changed by hand is told.
  const { DatabaseSync } = await import("node:sqlite");
  const journal = join(here.env["SAGE_HOME"] ?? "", "journal.db");
  assert.ok(existsSync(journal));
  using db = new DatabaseSync(journal);
  db.exec("UPDATE fact SET data=replace(data, 'fine by me', 'fine by us') WHERE type='input.resolved'");
  assert.match((await here.sage(["why"])).out, /was changed or damaged at \d+/);
  const { code, out: checked } = await here.sage(["doctor"]);
  assert.equal(code, 1);
  assert.match(checked, /✗ the record of session \w+ was changed or damaged/);
});
