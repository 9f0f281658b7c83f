import assert from "node:assert/strict";
import { test } from "node:test";
import { asTyped, startsAs } from "../../src/texts/command.ts";
import { programName, programNameAnywhere } from "../../src/cli/process/started-by.ts";

test("a hint is a command the person has", () => {
  const npm = { npm_lifecycle_event: "start", npm_execpath: "/npm-cli.js" };
  const source = { source: true, root: "/w/sage" };
  assert.equal(programName({}, source), "sage");
  assert.equal(programName({ ...npm, npm_lifecycle_event: "test" }, source), "sage");
  assert.equal(programName(npm, { ...source, source: false }), "sage");
  assert.equal(programName({ ...npm, INIT_CWD: "/w/sage" }, source), "npm start");
  assert.equal(programName({ ...npm, INIT_CWD: "/w/sage/src" }, source), "npm start");
  assert.equal(programName({ ...npm, INIT_CWD: "/w/other" }, source), "npm --prefix /w/sage start");
  assert.equal(programNameAnywhere({ ...npm, INIT_CWD: "/w/sage" }, source), "npm --prefix /w/sage start");
  assert.equal(programNameAnywhere({}, source), "sage");
  try {
    startsAs("npm start");
    assert.equal(
      asTyped("look with `sage trust`; `sage` is not it"),
      "look with `npm start -- trust`; `sage` is not it",
    );
  } finally {
    startsAs("sage");
  }
  assert.equal(programName({ ...npm, INIT_CWD: "/" }, { source: true, root: "/w/a b" }), 'npm --prefix "/w/a b" start');
});
