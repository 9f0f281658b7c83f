// The person's own status line, the branch that ours names, and files that git does not show.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { branchOf, createFolderLabel, customStatusLine } from "../../src/cli/open/terminal/status-line.ts";
import { exportsIn, keepFromGit } from "../../src/config/files/git-ignore.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const info = {
  ...({ session: "s", model: "a/m", mode: "ask", title: "标题", contextTokens: 500, contextWindow: 1_000 } as const),
  ...{ usd: 0.5, unpriced: false, folder: "~/p", branch: "main" },
};

suite("a status line of one's own", () => {
  test("gets the state as JSON, and its first line is shown without colours", async () => {
    using here = workspace();
    const status = customStatusLine(`cat > got.json; printf '\\033[31mred\\033[0m line\\nsecond'`, {
      cwd: here.dir,
      env: process.env,
    });
    let changes = 0;
    assert.equal(
      status(info, () => void changes++),
      undefined,
    );
    await until(() => changes === 1, "the command to end");
    assert.equal(
      status(info, () => void changes++),
      "red line",
    );
    const got = JSON.parse(readFileSync(here.path("got.json"), "utf8")) as Record<string, unknown>;
    assert.deepEqual([got["session_id"], got["cwd"], got["cost"]], ["s", here.dir, { total_cost_usd: 0.5 }]);
    assert.deepEqual(got["context_window"], { context_window_size: 1_000, used_tokens: 500, used_percentage: 50 });
    assert.deepEqual(got["model"], { id: "a/m", display_name: "m" });
  });

  test("that hangs is ended with what it started, and ours is shown; a change meanwhile is asked about afterwards", async () => {
    using here = workspace();
    const command = `grep -q '"mode":"plan"' && { echo plan; exit; }; (sleep 1000 & echo $! > pid; wait)`;
    const status = customStatusLine(command, { cwd: here.dir, env: process.env, timeoutMs: 500 });
    const asked = () => status({ ...info, mode: "plan" }, asked);
    status(info, asked);
    assert.equal(asked(), undefined);
    await until(() => asked() === "plan", "the second run");
    const pid = Number(readFileSync(here.path("pid"), "utf8"));
    await until(() => !existsSync(`/proc/${pid}`) || /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
  });

  test("that fails or cannot read its input leaves ours", async () => {
    using here = workspace();
    for (const command of ["exit 3", "exec 0<&-; exit 1", "no-such-program-here 2>/dev/null"]) {
      const status = customStatusLine(command, { cwd: here.dir, env: process.env });
      status(info, () => {});
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(
        status(info, () => {}),
        undefined,
        command,
      );
    }
  });
});

test("the branch is read from git's files, in a worktree and on no branch too", () => {
  using here = workspace();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: here.dir, stdio: "pipe" });
  assert.equal(branchOf(here.dir), undefined);
  git("init", "-q", "-b", "feature/颜色");
  assert.deepEqual(createFolderLabel(here.dir, "/home/lin")(), { folder: here.dir, branch: "feature/颜色" });
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x");
  git("worktree", "add", "-q", "-b", "other", here.path("tree"));
  assert.equal(branchOf(here.path("tree")), "other");
  git("checkout", "-q", "--detach");
  assert.match(branchOf(here.dir) ?? "", /^[0-9a-f]{7}$/);
  assert.equal(createFolderLabel(here.dir, here.dir)().folder, "~");
});

test("settings of this machine and exports are not untracked files; a .gitignore of one's own stays", () => {
  using here = workspace();
  execFileSync("git", ["init", "-q"], { cwd: here.dir });
  mkdirSync(here.path(".sage"));
  writeFileSync(here.path(".sage/settings.local.json"), "{}");
  const status = () => execFileSync("git", ["status", "--porcelain", "-uall"], { cwd: here.dir, encoding: "utf8" });
  assert.equal(status(), "?? .sage/settings.local.json\n");
  writeFileSync(`${exportsIn(here.dir)}/sage-a.html`, "x");
  assert.equal(status(), "");
  writeFileSync(here.path(".sage/settings.json"), "{}");
  assert.equal(status(), "?? .sage/settings.json\n");
  writeFileSync(here.path(".sage/.gitignore"), "own\n");
  keepFromGit(here.dir);
  assert.equal(readFileSync(here.path(".sage/.gitignore"), "utf8"), "own\n");
});
