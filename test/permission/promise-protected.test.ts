import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { DecisionInput } from "../../src/permission/decide.ts";
import { readFilter } from "../../src/permission/rules/filter.ts";
import { answer, pathInput, rulesOf } from "./asking.ts";
import { root, cwd, home, where, told, all } from "./promised.ts";

describe("A6 protected paths ask always, whatever program writes them and whatever mode or rule allows it", () => {
  test("by downloads, outputs, archives, editors, and commands that name no path", () => {
    all(
      "ask!",
      ["+ Bash", "+ Edit", "+ Bash(curl:*)", "+ Bash(git:*)", "+ Bash(tar:*)"],
      [
        ...[
          "curl -o .bashrc u",
          "curl -so.git/hooks/pre-commit u",
          "curl --output=.zshrc u",
          "curl -O http://x/.npmrc",
          "wget -O .profile u",
        ],
        ...[
          "wget -P .git/hooks u",
          "wget http://x/.bashrc",
          "sort -o .bashrc a",
          "sort --output=.git/config a",
          "tar -C .git -xf a.tar",
        ],
        ...[
          "tar xf a.tar -C ~",
          "tar xf a.tar -C /",
          "unzip a.zip -d .vscode",
          "rsync a .ssh/",
          "scp h:a .ssh/authorized_keys",
          "dd if=a of=.zshrc",
        ],
        ...[
          "tee .git/hooks/x < a",
          "vim .vimrc",
          "sed -i s/a/b/ .bashrc",
          "ln -s a .bashrc",
          "find . -fprint .bashrc",
          "openssl rand -out .netrc 3",
        ],
        ...[
          "git config core.hooksPath h",
          "git config --global alias.x '!ls'",
          "git config set core.pager x",
          "git config --add include.path x",
          "git config -e",
        ],
        ...[
          "git mv a .bashrc",
          "git archive -o .bashrc HEAD",
          "git checkout HEAD -- .husky/x",
          "git worktree add .vscode",
          "git clone u .vscode",
          "git lfs install",
        ],
        ...[
          "crontab a",
          "crontab -",
          "echo x | crontab",
          "npm config set ignore-scripts false",
          "npm login",
          "gh auth login",
          "ssh-keygen -f x",
          "pre-commit install",
        ],
        ...[
          "systemctl --user enable x",
          "direnv allow",
          "docker login",
          "aws configure",
          "sqlite3 ~/.sage/journal.db 'delete from fact'",
          "claude mcp add x y",
        ],
        ...[
          "f() { curl -o .bashrc u; }; f",
          "cat a | tee -a .bashrc",
          "echo x >> ~/.ssh/authorized_keys",
          "cp a .gitattributes",
          "echo x > AGENTS.md",
        ],
      ],
    );
    all(
      "allow",
      ["+ Bash", "+ Edit"],
      [
        "curl -o src/x u",
        "sort -o src/x a",
        "tar xf a.tar -C src",
        "git config --get core.hooksPath",
        "git config --list",
        "crontab -l",
        "git add .husky/x",
        "npm config get registry",
      ],
    );
  });

  test("start files, credentials, editor and agent settings, git attributes, Sage's own state, in any place and case", () => {
    const names =
      ".inputrc .tmux.conf .zshrc.local .config/fish/config.fish .xprofile .envrc .gitattributes .githooks/x lefthook.yml .kube/config " +
      ".docker/config.json .git-credentials .pgpass .config/gcloud/x .azure/x .cargo/credentials.toml .m2/settings.xml .claude.json .roo/x " +
      ".clinerules GEMINI.md .github/copilot-instructions.md .zed/settings.json .config/nvim/init.lua .emacs.d/init.el .exrc .curlrc .wgetrc " +
      ".psqlrc .gdbinit .config/autostart/x .sage/cache/x .cache/sage/x .mcp.json .BASHRC .Git/hooks/x .local/bin/x";
    for (const name of names.split(" "))
      for (const mode of ["default", "bypass"] as const)
        for (const path of [join(cwd, name), join(cwd, "sub", name), join(home, name)]) {
          const { behavior, hard } = answer(
            rulesOf("+ Edit", "+ Write"),
            "Write",
            pathInput("Write", path),
            where({ mode }),
          );
          assert.deepEqual([behavior, hard], ["ask", true], path);
        }
    const state = join(root, "state");
    const moved = answer(
      rulesOf("+ Edit"),
      "Write",
      { file_path: join(state, "journal.db") },
      where({ sageHome: state }),
    );
    assert.deepEqual([moved.behavior, moved.hard], ["ask", true]);
  });
});

describe("A10 a file that runs later is written only by a rule that names it", () => {
  const later =
    "package.json Makefile .github/workflows/ci.yml .gitlab-ci.yml jest.config.js vitest.config.ts conftest.py pyproject.toml node_modules/x/index.js .venv/bin/x build.gradle sub/package.json package-lock.json pnpm-lock.yaml Cargo.lock go.mod go.sum requirements.txt requirements-dev.txt requirements/dev.txt app/lint.gradle cmake/Find.cmake configure .rubocop.yml Dockerfile Dockerfile.dev api.Dockerfile Makefile.am";
  test("by a file tool or a known writer, and never in the way of bypass", () => {
    const broad = ["+ Edit(./**)", "+ Bash(cp:*)", "+ Bash(sed:*)", "+ Bash(tee:*)"];
    for (const name of later.split(" ")) {
      for (const tool of ["Write", "Edit"]) {
        const judge = (...rules: string[]) => answer(rulesOf(...rules), tool, { file_path: name }, where());
        assert.deepEqual([judge(...broad).behavior, judge(...broad).hard], ["ask", undefined], name);
        assert.equal(judge(...broad).reason.code, "runs-later", name);
        assert.equal(judge("+ Edit").behavior, "ask", name);
        assert.equal(judge(`+ Edit(./${name})`).behavior, "allow", name);
        const bypass = answer([], tool, { file_path: name }, where({ mode: "bypass" }));
        assert.equal(bypass.behavior, "allow", name);
      }
      for (const sessionMode of ["ask", "acceptEdits"] as const)
        assert.equal(
          answer([], "Write", { file_path: name }, where({ sessionMode })).behavior,
          "ask",
          `${name} in ${sessionMode}`,
        );
      for (const command of [`mv src/a.ts ${name}`, `git mv src/a.ts ${name}`])
        for (const sessionMode of ["ask", "acceptEdits"] as const)
          assert.equal(told(command, ["+ Bash", "+ Edit"], { sessionMode }), "ask", `${command} in ${sessionMode}`);
      for (const command of [`cp src/a.ts ${name}`, `echo x > ${name}`, `tee ${name} < src/a.ts`]) {
        assert.equal(told(command, broad), "ask", command);
        assert.equal(told(command, ["+ Bash"]), "ask", command);
        assert.equal(told(command, [...broad, `+ Edit(./${name})`]), "allow", command);
        assert.equal(told(command, [], { mode: "bypass" }), "allow", command);
      }
    }
    assert.equal(told("rm -rf node_modules", ["+ Bash(rm:*)", "+ Edit(./**)"]), "allow");
    assert.equal(told("mkdir -p node_modules/x", ["+ Bash(mkdir:*)", "+ Edit(./**)"]), "allow");
    assert.equal(told("cp -r src/. sub", ["+ Bash(cp:*)", "+ Edit(./**)"]), "allow");
  });
});

describe("A6 started in the home folder, keys and credentials are not free to read", () => {
  const atHome = (): Partial<DecisionInput> => ({ cwd: home, home, roots: [home] });
  test("by a tool or a command", () => {
    for (const path of ["~/.ssh/id", ".ssh/id", ".aws/credentials", ".sage/keys.json"]) {
      assert.equal(answer([], "Read", { file_path: path }, { ...where(), ...atHome() }).behavior, "ask", path);
      assert.equal(told(`cat ${path}`, [], atHome()), "ask", path);
    }
    assert.equal(answer([], "Read", { file_path: "notes/a.md" }, { ...where(), ...atHome() }).behavior, "allow");
    for (const command of ["grep -r x .", "rg x", "grep -r x ~", "cat .ssh/*", "ls -la .ssh"])
      assert.equal(told(command, [], atHome()), "ask", command);
    for (const command of ["ls", "grep -r x notes", "cat notes/a.md"])
      assert.equal(told(command, [], atHome()), "allow", command);
    assert.equal(told("cat .ssh/id", ["+ Read(~/.ssh/id)"], atHome()), "allow");
    assert.equal(told("cat .npmrc", [], { roots: [cwd] }), "allow");
  });

  test("nor does a search show them", () => {
    const filter = readFilter([], { cwd: home, home });
    assert.equal(filter?.(join(home, ".ssh/id"), home), false);
    assert.equal(filter?.(join(home, "notes/a.md"), home), true);
    assert.equal(filter?.(join(home, ".ssh/id"), join(home, ".ssh")), true);
    assert.equal(readFilter([], { cwd, home }), undefined);
  });
});
