import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { bashIn } from "./asking.ts";
import { everydayRules } from "./everyday.ts";

const questions = join(import.meta.dirname, "../../bench/questions");

const confine = { mode: "autoAllow", outside: [], git: "read", blocked: [] } as const;
/** Everything is allowed but some commands and files: whatever asks here asks because it may be one of those. */
const denials =
  "rm -rf /|git push --force|npm publish|npm install -g|docker run --privileged|docker push|sudo|redis-cli FLUSHALL|terraform destroy|curl * \\| sh";
const situations = {
  "without a rule": { rules: [], more: {} },
  "with everyday rules": { rules: everydayRules, more: {} },
  "with all allowed but a few": {
    rules: ["+ Bash", "+ Edit(./**)", "- Read(**/.env*)", ...denials.split("|").map((text) => `- Bash(${text}:*)`)],
    more: {},
  },
  "confined without asking": { rules: [], more: { confine } },
};

/** A hundred ordinary commands of each ecosystem, as READMEs and CI files have them: a change may not make more of them ask. */
test("ordinary commands of four ecosystems ask no more than they did", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-questions-")));
  try {
    const cwd = repositoryIn(root);
    const asked: Record<string, Record<string, number>> = {};
    for (const file of globSync("*.txt", { cwd: questions }).sort()) {
      const commands = readFileSync(join(questions, file), "utf8").trim().split("\n");
      assert.equal(new Set(commands).size, 100, `${file} has a hundred commands`);
      asked[basename(file, ".txt")] = Object.fromEntries(
        Object.entries(situations).map(([situation, { rules, more }]) => {
          const place = { cwd, home: join(root, "home"), roots: [cwd], ...more };
          return [situation, commands.filter((command) => bashIn(place, command, ...rules).behavior === "ask").length];
        }),
      );
    }
    // Lower these numbers when a change lowers the counts. They do not rise.
    assert.deepEqual(asked, JSON.parse(readFileSync(join(questions, "asked.json"), "utf8")));
  } finally {
    rmSync(root, { recursive: true });
  }
});

function repositoryIn(root: string): string {
  const cwd = join(root, "w");
  const names =
    "package.json src/app.ts src/index.js .env .env.example requirements.txt manage.py Cargo.toml src/main.rs go.mod cmd/app/main.go pom.xml mvnw gradlew docker-compose.yml Dockerfile target/app.jar k8s/api.yaml chart/values.yaml Makefile";
  for (const name of names.split(" ")) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), "x\n");
  }
  const env = { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", ["init", "-q"], { cwd, env });
  return cwd;
}
