// The page is built without the sentences of `reasons/start.ts`: no room that answers a surface may make one of these reasons.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startReasons } from "../../src/texts/reasons/start.ts";

const root = join(import.meta.dirname, "../..");

/** Commands, embedders and settings; and files that run before there is a host, or for a command alone. */
const makers = [
  /^src\/(?:cli|sdk|config)\//,
  /^src\/journal\/(?:database\/open-database|postgres\/tables|sqlite\/sqlite|store\/own-store)\.ts$/,
  /^src\/host\/(?:assembly\/search-engine|cluster\/prepare-engine|socket\/connect-web)\.ts$/,
  /^src\/(?:agent\/turn\/check|archive\/recording|protocol\/reasons\/misfit)\.ts$/,
];

test("reasons that the page cannot say are made where no surface hears them", () => {
  const codes = Object.keys(startReasons.en);
  const files = globSync("src/**/*.{ts,tsx}", { cwd: root }).map((file) => file.replaceAll("\\", "/"));
  const made = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return codes.filter((code) => text.includes(`reason("${code}"`)).map((code) => ({ file, code }));
  });
  assert.ok(made.length >= codes.length, `${made.length} places for ${codes.length} codes`);
  assert.deepEqual(
    made.filter(({ file }) => !makers.some((maker) => maker.test(file))),
    [],
  );
});
