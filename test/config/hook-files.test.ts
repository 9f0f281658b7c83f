import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { changedScript, filesIn, rulesFor, scriptsIn } from "../../src/config/files/hook-files.ts";

function project() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sage-hooks-")));
  for (const name of ["checks/a.sh", "checks/deep/b.sh", "src/a.ts", "scripts/one.sh", "lib.sh"]) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), `# ${name}\n`);
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

test("F3 a folder whose files a hook runs is part of what is trusted", () => {
  for (const command of [
    "run-parts checks",
    "for f in checks/*.sh; do sh $f; done",
    "node checks",
    "bash -e checks/*",
  ]) {
    using here = project();
    const { folder } = here;
    const trusted = scriptsIn([command], folder);
    assert.ok(
      trusted.some(({ path }) => path === join(folder, "checks")),
      command,
    );
    assert.equal(changedScript(trusted, folder), undefined, command);
    writeFileSync(join(folder, "checks/deep/b.sh"), "evil\n");
    assert.equal(changedScript(trusted, folder), join(folder, "checks"), command);
    const [before] = scriptsIn([command], folder);
    writeFileSync(join(folder, "checks/new.sh"), "evil\n");
    assert.equal(changedScript([before!], folder), join(folder, "checks"), `${command}, a new file`);
    const rules = rulesFor(filesIn(command, folder), "project").map(({ text }) => text);
    assert.ok(rules.includes(`Edit(${join(folder, "checks")})`), command);
  }
});

test("F3 a link in such a folder that leads out is told as one", () => {
  using here = project();
  symlinkSync("/etc/hostname", join(here.folder, "checks/link.sh"));
  const trusted = scriptsIn(["run-parts checks"], here.folder);
  rmSync(join(here.folder, "checks/link.sh"));
  assert.equal(changedScript(trusted, here.folder), join(here.folder, "checks"));
});

test("F3 a folder that a hook works on is not bound: each edit in it would ask", () => {
  using here = project();
  for (const command of ["npx prettier --write src", "eslint src", "tsc -p src"])
    assert.deepEqual(filesIn(command, here.folder), [], command);
  assert.deepEqual(filesIn("sh scripts/one.sh src", here.folder), [join(here.folder, "scripts/one.sh")]);
});
