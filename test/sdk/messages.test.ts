// Embedders read messages. Inside Sage the message of an error is a code; in the process of an embedder it is an English sentence.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { noticeOf } from "../../src/protocol/reasons/reason.ts";
import { refusalOf } from "../../src/protocol/host/refusal.ts";
import { reason } from "../../src/sdk/entries/requests.ts";
import { SageAgentSDK, SageError, scripted, sentence, sqliteStore } from "../../src/sdk/index.ts";
import { everyReason } from "../support/every-reason.ts";
import { workspace } from "../support/sage.ts";

test("every error, refusal and notice of the SDK reads as an English sentence", () => {
  for (const why of everyReason()) {
    const error = new SageError("turn-failed", why);
    const expected = sentence(why, "en");
    assert.equal(error.message, expected);
    assert.ok(error.stack?.startsWith(`SageError: ${expected}`), why.code); // an error that nobody catches is printed so
    assert.equal(refusalOf(error).message, expected);
    assert.equal(noticeOf(why).text, expected);
  }
});

test("an option that does not fit, a journal that cannot be read, a refused command and a failed turn say why", async () => {
  using here = workspace();
  const options: object = { modle: "x" };
  assert.throws(() => new SageAgentSDK(options), /^SageError: options of SageAgentSDK: unknown: "modle"/);
  const folder = join(here.dir, "journal.db");
  mkdirSync(folder);
  assert.throws(() => sqliteStore(folder), /journal\.db is a directory; move it away/);

  await using sage = new SageAgentSDK({ model: scripted([]), workingDirectory: here.dir });
  const reply = await sage.host.send({ type: "resume", session: "s-none" });
  assert.deepEqual(!reply.ok && [reply.code, reply.message], [
    "session-unknown",
    "there is no session s-none; `sage sessions` lists them",
  ]);

  const failing = scripted([
    () => {
      throw new SageError("model-unavailable", reason("no-model", {}));
    },
  ]);
  await using other = new SageAgentSDK({ model: failing, workingDirectory: here.dir });
  const outcome = await other.run("go");
  assert.equal(outcome.status === "error" && outcome.error.message, sentence(reason("no-model", {}), "en"));
});

test("a process without the SDK makes no sentences: the message is the code, or the words of whoever threw", () => {
  const program = `
    import { reason, said, SageError } from "./src/protocol/reasons/reason.ts";
    const { message } = new SageError("config-invalid", reason("no-model", {}));
    console.log(message, new SageError("usage", said("own words")).message);`;
  const root = join(import.meta.dirname, "../..");
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(stdout, "no-model own words\n", stderr);
});
