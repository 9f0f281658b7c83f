// The owner of a session is frozen until another process takes the session, and thaws: it says so, and answers given there lead on.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Machine, mark } from "../support/cli.ts";

/** As if every process had been silent for longer than a living one ever is. */
function makeSilent(here: Machine): void {
  using db = new DatabaseSync(join(here.env["SAGE_HOME"] ?? "", "journal.db"), { timeout: 5_000 });
  db.exec("UPDATE process SET beat=0");
}

test("lines of text: an answer given to a thawed owner reaches the process that took its session, and it is told so", async () => {
  using here = new Machine();
  const { first, second } = await taken(here, {}, "Allow? (y/n/…) > ");
  first.type("y\r");
  await first.until(/taken over by another process/);
  await second.until("All done.");
  await first.until("All done.");
  assert.deepEqual([await here.outcomes(), here.file("ran.txt")], [["answered"], "ran\n"]);
});

test("a drawn screen: a thawed owner says at once that its session was taken, and an answer given there leads on", async () => {
  using here = new Machine();
  const { first, second } = await taken(here, { SAGE_PLAIN: "" }, "Run this command?");
  await first.until(/taken over by another process/);
  first.type("1");
  await first.until("❯ 1 Allow once");
  first.type("\r");
  await second.until("All done.");
  await first.until("All done.");
  assert.deepEqual([await here.outcomes(), here.file("ran.txt")], [["answered"], "ran\n"]);
});

/** The first process is frozen with an open request until a second one has taken the session, and thawed then. */
async function taken(here: Machine, env: Record<string, string>, asked: string) {
  const model = here.script({ calls: [mark] }, { text: "All done." });
  const first = here.terminal(["--model", model, "go"], { env });
  await first.until(asked);
  first.kill("SIGSTOP");
  makeSilent(here);
  const [session] = JSON.parse((await here.sage(["sessions", "--json"])).out) as { id: string }[];
  const second = here.terminal(["--resume", session?.id ?? "", "--model", model]);
  await second.until("Allow? (y/n/…) > ");
  first.kill("SIGCONT");
  return { first, second };
}
