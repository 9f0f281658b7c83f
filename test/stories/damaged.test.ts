// A session whose record was changed can be read, and nobody can go on with it: an answer would lead nowhere.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Machine, mark } from "../support/cli.ts";

test("an answer to a damaged session is refused and not recorded, in the reader's language, and the inbox says so", async () => {
  using here = new Machine();
  const model = here.script({ text: "May I?", calls: [mark] }, { text: "All done." });
  await here.sage(["-p", "go", "--model", model]);
  const healthy = (await here.sage(["inbox"])).out;
  assert.doesNotMatch(healthy, /damaged/);
  const [request] = await here.pending();
  {
    using db = new DatabaseSync(join(here.env["SAGE_HOME"] ?? "", "journal.db"));
    db.exec("UPDATE fact SET data=replace(data, 'May I?', 'I may!') WHERE type='model.replied'");
  }
  const id = request?.id ?? "";
  assert.match((await here.sage(["inbox"])).out, / {2}\(damaged\) Bash echo ran/);
  assert.match(
    (await here.sage(["inbox", id])).out,
    /damaged: it can be read and not continued, so it takes no answer/,
  );
  assert.match((await here.sage(["inbox", id, "--lang", "zh"])).out, /该会话的记录已损坏/);
  for (const [lang, said] of [
    ["en", /was changed after it was written; you can view the session, but not continue it/],
    ["zh", /与写入时不符；可以查看，不能继续/],
  ] as const) {
    const { code, out, err } = await here.sage(["answer", request?.id ?? "", "--yes", "--lang", lang]);
    assert.equal(code, 1, out);
    assert.match(err, said);
  }
  assert.deepEqual(await here.outcomes(), []);
  assert.equal(here.file("ran.txt"), undefined);
});
