import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { answer, rulesOf } from "./asking.ts";

/** The examples that explain the rules to people: what they say has to stay true. */
test("the worked examples", (t) => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "sage-examples-")));
  t.after(() => rmSync(cwd, { recursive: true }));
  for (const folder of ["lib", "env", "crates", ".git"]) mkdirSync(join(cwd, folder));
  writeFileSync(join(cwd, "ns"), "default");
  symlinkSync(join(cwd, ".git"), join(cwd, "lib/gen"));
  const ask = (tool: string, input: object, rules: string[], mode: "default" | "bypass" = "default") =>
    answer(rulesOf(...rules), tool, input, { cwd, roots: [cwd], mode }).behavior;
  const bash = (command: string, rules: string[], mode?: "bypass") => ask("Bash", { command }, rules, mode);

  const test = "+ Bash(cargo test:*)";
  assert.equal(bash("cargo test --all -- --nocapture", [test]), "allow");
  assert.equal(bash("cargo test-all", [test]), "ask");
  const go = ["+ Bash(go vet:*)", "+ Bash(go test:*)"];
  assert.equal(bash("go vet ./... && go test ./... 2>&1 | tail -3", go), "allow");
  assert.equal(bash("go test ./... > cover.txt", go), "ask");
  assert.equal(bash("go test ./... > cover.txt", [...go, "+ Edit(./cover.txt)"]), "allow");
  const kubectl = ["+ Bash(kubectl get:*)"];
  assert.equal(bash('kubectl get pods -n "$(cat ns)"', kubectl), "allow");
  assert.equal(bash("kubectl get pods; kubectl delete pod a", kubectl), "ask");
  assert.equal(bash("cd env && TF_VAR_a=1 terraform destroy", ["- Bash(terraform destroy:*)"], "bypass"), "deny");
  assert.equal(bash("UV_INDEX_URL=http://h uv run pytest", ["+ Bash(uv run pytest:*)"]), "ask");
  const lib = ["+ Edit(./lib/**)"];
  assert.equal(ask("Write", { file_path: `${cwd}/lib/../vendor/a.js`, content: "" }, lib), "ask");
  assert.equal(ask("Write", { file_path: `${cwd}/lib/gen/config`, content: "" }, lib), "ask");
  assert.equal(ask("Write", { file_path: `${cwd}/lib/a.js`, content: "" }, lib), "allow");
  const docker = ["? Bash(docker push:*)", "+ Bash(docker *)"];
  assert.equal(bash("docker build . && docker push r/i", docker), "ask");
  assert.equal(
    ask("WebFetch", { url: "https://doc.rust-lang.org/std" }, ["+ WebFetch(domain:*.rust-lang.org)"]),
    "allow",
  );
  assert.equal(ask("mcp__jira2__search", {}, ["+ mcp__jira"]), "ask");
  assert.equal(bash("fd -e rs . crates -x wc -l", []), "ask");
});
