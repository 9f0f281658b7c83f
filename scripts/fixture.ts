// npm run fixture   before a release: keeps journals of this version in test/fixtures/journals: finished, in the middle of a turn, waiting for people
// in several ways, and a whole database
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version as own } from "../src/config/version.ts";
import { dump, writeJournal } from "../test/faults/database-fixture.ts";
import { write } from "../test/faults/fixture.ts";
import { story, tell } from "../test/faults/story.ts";
import { PLACE, updates, writeUpdate } from "../test/faults/update-fixture.ts";
import { waitings, writeWaiting } from "../test/faults/waiting-fixture.ts";
import { createWorld } from "../test/faults/world.ts";

/** `-- next` keeps them under another name than that of a release, for a state between two. */
const [version = own] = process.argv.slice(2);
const folder = join(import.meta.dirname, "../test/fixtures/journals");
if (version === own) for (const name of globSync("next[-.]*", { cwd: folder })) rmSync(join(folder, name));
const dir = mkdtempSync(join(tmpdir(), "sage-fixture-"));
try {
  using world = createWorld({ dir, script: () => story });
  await tell(world, { faults: [{ point: "spawn", nth: 2, side: "after" }], lost: "rerun" });
  // Two runs write the same bytes: times and places of this machine say nothing about the version.
  const facts = world.facts("s").map((fact) => JSON.parse(plain(JSON.stringify(fact))));
  const middle = facts.findIndex(({ key }) => key === "t0/2/0/sub/0/1/permit0.resolved");
  for (const [name, kept] of [
    ["finished", facts],
    ["open", facts.slice(0, middle + 1)],
  ] as const)
    writeFileSync(join(folder, `${version}-${name}.jsonl`), write(version, kept));
  for (const name of waitings) {
    const home = mkdtempSync(join(dir, "waiting-"));
    writeFileSync(join(folder, `${version}-${name}.jsonl`), write(version, await writeWaiting(name, home)));
  }
  for (const name of updates) {
    mkdirSync(PLACE); // others of its name are being tested here
    const { facts: left, files } = await writeUpdate(name).finally(() => rmSync(PLACE, { recursive: true }));
    writeFileSync(join(folder, `${version}-update-${name}.jsonl`), write(version, left, files));
  }
  const whole = join(dir, "whole.db");
  writeJournal(whole);
  writeFileSync(join(folder, `${version}.sql`), dump(whole));
} finally {
  rmSync(dir, { recursive: true, force: true });
}

function plain(text: string): string {
  return text.replaceAll(dir, "/work").replaceAll(/("(?:at|durationMs)":)\d+(?:\.\d+)?/g, "$11");
}
