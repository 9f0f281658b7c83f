// Files that a confined command leaves so that something else obeys them later: none of them stays where it is obeyed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { statfsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { before, test } from "node:test";
import { cannotConfine, confinedPlace, ordinary } from "../support/confine.ts";
import { roundsOf, seed } from "../faults/rounds.ts";
import type { Planted, Planting, Round } from "./planting.ts";
import { storiesOf } from "./plant-fuzzer.ts";

const skip = await cannotConfine();

/** The workspace of a story, as it is when a person begins: those parts of it that its commands name. */
const workspace: Record<string, string> = {
  sub: "mkdir sub",
  envrc: "mkdir tools; echo fine > tools/envrc; ln -s tools/envrc .envrc",
  later: "ln -s later.md GEMINI.md",
  docs: "mkdir docs packages; echo fine > docs/guide.md; ln -s docs/guide.md packages/CLAUDE.md",
  packages: "mkdir -p packages/a; echo fine > packages/a/CLAUDE.md",
  "lib ": "git init -q lib",
  "store ": "git init -q --bare store",
  half: "bare half; harmless half/config",
  vscode: "mkdir .vscode; echo fine > .vscode/tasks.json",
};

function setUpFor(commands: readonly string[]): string {
  return Object.entries(workspace)
    .flatMap(([part, line]) => (commands.some((command) => command.includes(part)) ? [line] : []))
    .join("\n");
}

const x = (path: string) => `mkdir -p "$(dirname ${path})" && echo EVIL > ${path}`;
const exchange = (a: string, b: string) =>
  `python3 -c 'import ctypes; ctypes.CDLL(None).syscall(316,-100,b"${a}",-100,b"${b}",2)'`;

const plants: Record<string, readonly string[]> = {
  "the inode number of a removed link": [
    `i=$(stat -c %i .envrc); rm .envrc; for n in $(seq 100); do echo EVIL > c$n; test $(stat -c %i c$n) = $i && mv c$n sub/AGENTS.md && break; done; test -e sub/AGENTS.md || echo EVIL > sub/AGENTS.md`,
  ],
  "the inode number of a removed link, in its place": ["rm .envrc; echo EVIL > .envrc"],
  "a link moved beside a folder": [`${x("sub/tools/envrc")}; mv .envrc sub/`],
  "a link moved, and its folder afterwards": ["mv .envrc sub/", x("sub/tools/envrc")],
  "a link moved away and another file at its end": [`mv .envrc e; mv tools t2; ${x("tools/envrc")}; mv e .envrc`],
  "a link that leads elsewhere": [`${x("other")}; ln -sfn other .envrc`],
  "a link that leads elsewhere, exchanged": [`${x("other")}; ln -s other l; ${exchange("l", ".envrc")}`],
  "a folder at the end of a link": [`mv tools t2; ${x("tools/envrc")}`],
  "a link in the place of that folder": [`${x("t3/envrc")}; mv tools t2; ln -s t3 tools`],
  "a link in the place of that folder, later": ["mkdir t3; mv tools t2; ln -s t3 tools", x("t3/envrc")],
  "the end of a link that led nowhere": [x("later.md")],
  "the end of a link that led nowhere, as a link": [`${x("y")}; ln -s y later.md`],
  "the end of a link that led nowhere, in two": ["ln -s y later.md", x("y")],
  "the file behind a link in another folder": [`mv docs d2; ${x("docs/guide.md")}`],
  "a new file": [x(".mcp.json")],
  "a new file in a new folder": [x("a/b/c/d/AGENTS.md")],
  "a new file with an old date": [`${x(".mcp.json")}; touch -d 2001-01-01 .mcp.json .`],
  "other letters": [x("sub/Agents.MD")],
  "a name with a line break above it": [x("$'a\\nb'/AGENTS.md")],
  "a folder whose name is no text": [`mkdir $'\\xff\\xfe'; echo EVIL > $'\\xff\\xfe/AGENTS.md'`],
  "a repository in a folder whose name is no text": [`mkdir $'\\xff'; cd $'\\xff'; git init -q r; evil r/.git/config`],
  "a folder whose name is no text, in two": ["mkdir -p $'\\xff/in'", "echo EVIL > $'\\xff/in/.envrc'"],
  "a hard link": ["echo EVIL > e; ln e sub/AGENTS.md"],
  "a file without a name, linked": [
    `python3 -c 'import os; f=os.open(".",os.O_TMPFILE|os.O_RDWR); os.write(f,b"EVIL"); os.link("/proc/self/fd/%d"%f,".mcp.json",follow_symlinks=True)'`,
  ],
  "a process that is left": [
    "(sleep 0.05; echo EVIL > .mcp.json) & disown; (setsid sh -c 'sleep 0.1; echo EVIL > sub/.envrc' &)",
  ],
  "the last act": ["trap 'echo EVIL > .mcp.json' EXIT"],
  "a folder in the place of another": [`mv packages p2; ${x("packages/a/CLAUDE.md")}`],
  "a folder in the place of another, exchanged": [`${x("p/a/CLAUDE.md")}; ${exchange("p", "packages")}`],
  "a folder moved into one": [`${x("y/CLAUDE.md")}; mv y packages/b`],
  "a folder that gets a name": [x("v/tasks.json"), "mv v sub/.vscode"],
  "a folder that gets a name by parts": [x("gh/instructions/x.md"), "mv gh .github"],
  "a link that gives a folder a name": [`${x("gh/instructions/x.md")}; ln -s gh .github`],
  "a link that gives a folder a name, first": ["mkdir gh; ln -s gh .github", x("gh/instructions/x.md")],
  "a link that gives a folder a name, in three": ["mkdir gh", "ln -s gh .github", x("gh/instructions/x.md")],
  "a link that gives this very folder a name": [`ln -s . .github; ${x("instructions/x.md")}`],
  "a link to a link": [`ln -s b .config; ln -s c b; mkdir c; ln -s g c/git; ${x("g/config")}`],
  "a link whose folder is replaced": ["mkdir -p c/x; ln -s c/x .cargo", `mv c c2; ${x("c/x/config.toml")}`],
  "installed packages, moved": [x("node_modules/p/.envrc"), "sleep 0.05; mv node_modules/p p"],
  "installed packages under another name": [x("node_modules/p/.envrc"), "mv node_modules modules"],
  "installed packages, in three": [x("node_modules/p/.envrc"), "mkdir q", "mv node_modules/p q/"],
  "a link into installed packages": [`${x("node_modules/p/.envrc")}; ln -s node_modules/p app`],
  "a link into installed packages, first": [
    "mkdir -p node_modules/p; ln -s node_modules/p app",
    x("node_modules/p/.envrc"),
  ],
  "two links into installed packages": [
    "mkdir -p node_modules/p/q; ln -s b app; ln -s node_modules/p b",
    x("node_modules/p/q/.envrc"),
  ],
  "a protected link into installed packages": [
    `${x("node_modules/v/tasks.json")}; ln -s ../node_modules/v sub/.vscode`,
  ],
  "a closed folder": [`${x("s/.mcp.json")}; chmod 000 s`, "true", "chmod 755 s"],
  "a folder that can only be entered": [`${x("s/.mcp.json")}; chmod 311 s`],
  "a folder that cannot be written": [`${x("s/.mcp.json")}; chmod 555 s .`],
  "a deep folder": [`d=$(printf 'd/%.0s' {1..60}); mkdir -p $d; echo EVIL > $d/.envrc`, "mv d/d/d/d top"],
  "a folder that is moved to and fro": [
    "(while :; do mv q r; mv r q; done) 2>/dev/null & mkdir -p q; echo EVIL > q/.envrc; sleep 0.1",
  ],
  "a setuid bit": ["cp /bin/true t; chmod u+s t; chmod g+s t; install -m 6755 /bin/true t3"],
  "a repository": ["git init -q r; evil r/.git/config"],
  "a repository with a hook": ["git init -q r; hook r/.git/hooks/pre-commit"],
  "a repository with hooks elsewhere": [
    "git init -q r; git -C r config core.hooksPath ../h; hook h/pre-commit",
    "hook h/post-commit",
  ],
  "a repository that includes": ["git init -q r; git -C r config include.path ../../inc; touch inc", "evil inc"],
  "a repository whose settings are a link": [
    "git init -q r; mv r/.git/config c; ln -s ../../c r/.git/config",
    "evil c",
  ],
  "a repository whose hooks are a link": [
    "git init -q r; rm -r r/.git/hooks; ln -s ../../h r/.git/hooks",
    "hook h/pre-commit",
  ],
  "a repository copied": ["cp -r lib lib2; evil lib2/.git/config"],
  "a repository in the place of another": ["mv lib l2; mkdir lib; cp -r l2/.git lib/; evil lib/.git/config"],
  "a repository exchanged": [`cp -r lib l2; evil l2/.git/config; ${exchange("l2", "lib")}`],
  "a repository with a worktree's settings": [
    "git init -q r; git -C r config extensions.worktreeConfig true; evil r/.git/config.worktree",
  ],
  "a repository in two": [
    "git init -q r",
    "evil r/.git/config; hook r/.git/hooks/pre-commit; mv r r2; evil r2/.git/config",
  ],
  "a link to a repository": [
    "git init -q g; mv g/.git store2; mkdir r; ln -s ../store2 r/.git",
    "evil store2/config; rm store2/config; evil store2/config",
  ],
  "a link to a repository among packages": [
    "mkdir node_modules; git init -q g; mv g/.git node_modules/g; ln -s ../node_modules/g sub/.git",
    "mv node_modules/g node_modules/g2; cp -r node_modules/g2 node_modules/g; evil node_modules/g/config",
  ],
  "a file that names a repository": [
    "git init -q g; evil g/.git/config; mv g/.git store2; echo 'gitdir: ../store2' > sub/.git",
  ],
  "a file that names a repository in a detour": [
    "git init -q g; evil g/.git/config; mv g/.git store2; mkdir -p m/.git/modules; echo 'gitdir: ../m/.git/modules/../../../store2' > sub/.git",
  ],
  "a submodule's repository": [
    "git init -q r; git init -q m; evil m/.git/config; mkdir -p r/.git/modules r/sub; mv m/.git r/.git/modules/m; echo 'gitdir: ../.git/modules/m' > r/sub/.git",
  ],
  "a submodule's repository, its file first": [
    "mkdir -p r/sub; echo 'gitdir: ../.git/modules/m/n' > r/sub/.git",
    "git init -q m; evil m/.git/config; mkdir -p q; git init -q q; mkdir -p q/.git/modules/m; mv m/.git q/.git/modules/m/n; mv q/.git r/",
  ],
  "another worktree": [
    "git init -q r; mkdir -p r/.git/worktrees/w r/w c; bare c; evil c/config; echo ref: refs/heads/x > r/.git/worktrees/w/HEAD; echo $PWD/c > r/.git/worktrees/w/commondir; echo 'gitdir: ../.git/worktrees/w' > r/w/.git",
  ],
  "a bare repository": ["git init -q --bare b; evil b/config"],
  "a bare repository in two": ["bare b", "evil b/config"],
  "a bare repository, its settings first": ["mkdir b; evil b/config", "bare b"],
  "a bare repository, its head last": [
    "mkdir -p b/objects b/refs; evil b/config",
    "true",
    "echo 'ref: refs/heads/x' > b/HEAD",
  ],
  "a bare repository, its objects last": [
    "mkdir -p b/refs; echo 'ref: refs/heads/x' > b/HEAD; evil b/config",
    "mkdir b/objects",
  ],
  "a bare repository with links": [
    "mkdir -p b o r; ln -s refs/heads/x b/HEAD; ln -s ../o b/objects; ln -s ../r b/refs; evil b/config",
  ],
  "a bare repository whose parts lead nowhere yet": [
    "mkdir b; ln -s refs/heads/x b/HEAD; ln -s ../o b/objects; ln -s ../r b/refs; evil b/config",
    "mkdir o r",
  ],
  "a bare repository whose settings are a link": ["bare b; harmless c; ln -s ../c b/config", "evil c"],
  "a bare repository with a hook": [
    "bare b; harmless b/config",
    "hook b/hooks/pre-commit; printf '[core]\\nbare=false\\nworktree=..' > b/config",
  ],
  "a bare repository that has its settings elsewhere": [
    "mkdir w; echo ref: refs/heads/x > w/HEAD; echo ../c > w/commondir",
    "bare c; evil c/config",
  ],
  "a bare repository that was there": ["mv store s2; cp -r s2 store; evil store/config"],
  "a bare repository without a setting": [
    "rm half/config; evil half/config.worktree; printf '[extensions]\\nworktreeConfig=true' > half/config",
  ],
  "a bare repository that gets another common folder": ["bare c; evil c/config; echo ../c > half/commondir"],
  "a bare repository with a hook, where it was": ["hook half/hooks/pre-commit; hook store/hooks/post-index-change"],
  "a bare repository among packages": [
    "git init -q --bare node_modules/b; ln -s node_modules/b b",
    "evil node_modules/b/config",
  ],
  "settings that are a pipe": ["git init -q r; rm r/.git/config; mkfifo r/.git/config; mkfifo sub/.git"],
  "settings that are too long": ["git init -q r; yes '# x' | head -c 400000 >> r/.git/config; evil r/.git/config"],
};

/** By an attacker who had read the table above. */
const further: Record<string, readonly string[]> = {
  "letters that fold to others": [x("sub/\u212aelvin/.cur\u017for/rules"), x("sub/CLAUDE.MD")],
  "a name in another form of Unicode": [x("sub/cafe\u0301/AGENTS.md"), "mv sub/cafe* x"],
  "a name with blanks and signs": [x("'a b;$(c)'/.mcp.json")],
  "a name that looks like an option": ["mkdir -- -rf; echo EVIL > ./-rf/CLAUDE.md"],
  "a fifo that is a file later": ["mkfifo .envrc.new; mkdir q; mkfifo q/.envrc", "rm q/.envrc; echo EVIL > q/.envrc"],
  "a fifo in the place of a link": ["rm .envrc; mkfifo .envrc", "rm .envrc; echo EVIL > .envrc"],
  "attributes with a filter": ["echo '* filter=EVIL' > .gitattributes"],
  "attributes further down": ["mkdir -p a/b; echo '* diff=EVIL' > a/b/.gitattributes", "mv a top"],
  "a list of submodules": [`git init -q r; printf '[submodule "m"]\\nupdate = !EVIL\\n' > r/.gitmodules`],
  "husky and its like": [`${x(".husky/pre-commit")}; ${x(".pre-commit-config.yaml")}`],
  "an include by condition": [
    "git init -q r; git -C r config includeIf.gitdir:/.path ../../inc; touch inc",
    "evil inc; evil r/.git/config",
  ],
  "settings that are put together": ["git init -q r", "cat r/.git/config > c; evil c; cp c r/.git/config"],
  "settings by rename": ["git init -q r; cp r/.git/config c; evil c", "mv c r/.git/config"],
  "settings through a hard link": ["git init -q r; ln r/.git/config c", "evil c"],
  "settings through a descriptor": [
    "git init -q r; exec 7>> r/.git/config; mv r r2; printf '[core]\\n\\tfsmonitor = \"touch %s; false\"\\n' $PWN >&7",
  ],
  "a hook through a link": [
    "git init -q r; hook h; mv h r/.git/hooks/post-commit 2>/dev/null || ln -s ../../../h r/.git/hooks/post-commit",
  ],
  "a hook in a template": ["mkdir -p t/hooks; hook t/hooks/pre-commit; git init -q --template=t r"],
  "a repository in a worktree": [
    "git init -q r; git -C r -c user.name=a -c user.email=b commit -qm x --allow-empty; git -C r worktree add -q ../wt; evil r/.git/worktrees/wt/config.worktree; git -C r config extensions.worktreeConfig true",
  ],
  "a worktree that belongs to another repository": [
    "bare c; git init -q r; git -C r -c user.name=a -c user.email=b commit -qm x --allow-empty; git -C r worktree add -q ../wt",
    'evil c/config; echo ref: refs/heads/x > c/HEAD; echo "gitdir: $PWD/c" > wt/.git',
  ],
  "a separate folder for git": ["git init -q --separate-git-dir=store9 r; evil store9/config"],
  "a bundle that is cloned": [
    "git init -q r; git -C r -c user.name=a -c user.email=b commit -qm x --allow-empty; git clone -q --bare r b.git",
    "hook b.git/hooks/post-index-change; evil b.git/config",
  ],
  "a rebase that is under way": [
    "git init -q r; mkdir r/.git/rebase-merge; echo 'exec touch '$PWN > r/.git/rebase-merge/git-rebase-todo; hook r/.git/hooks/post-index-change",
  ],
  "sparse, and there again": ["mkdir -p s/t; echo EVIL > s/t/AGENTS.md; mv s/t/AGENTS.md s/x", "mv s/x s/t/AGENTS.md"],
  "a link in a loop beside it": [`ln -s loop loop; ln -s . l; ${x("l/l/sub/.envrc")}`],
  "many at once": ["for n in $(seq 300); do mkdir -p m/$n; done; for n in 1 150 300; do echo EVIL > m/$n/.envrc; done"],
  "by way of a mount point": [
    "mv .vscode v2 2>/dev/null; mkdir -p .vscode; echo EVIL > .vscode/launch.json; cp -r .vscode sub/.vscode",
  ],
  "as the shell that ends it": ["exec -a x bash -c 'trap \"echo EVIL > sub/.envrc\" EXIT; kill -TERM $$'"],
  "killed amid it": ["(for n in $(seq 200); do echo EVIL > sub/.envrc; done) & kill -9 $!; echo EVIL > sub/CLAUDE.md"],
  "an archive that brings it": [
    "mkdir -p p/sub; echo EVIL > p/sub/AGENTS.md; tar cf a.tar -C p sub; rm -r p; tar xf a.tar",
  ],
  "a patch that brings it": [
    "printf -- '--- /dev/null\\n+++ b/sub/.envrc\\n@@ -0,0 +1 @@\\n+EVIL\\n' > p; git apply p || patch -p1 < p",
  ],
};

/** Harmless work that looks like it. */
const stays: Record<string, { commands: readonly string[]; there: string }> = {
  "a new repository": { commands: ["git init -q r && echo x > r/f && git -C r add f"], there: "r/.git/config" },
  "a new bare repository": { commands: ["git init -q --bare b"], there: "b/config" },
  "a folder that was moved with what it holds": {
    commands: ["mv packages/a packages/b"],
    there: "packages/b/CLAUDE.md",
  },
  "a link that was there": { commands: ["touch x"], there: ".envrc" },
  "a link to a folder": { commands: ["mkdir src; ln -s src app; echo x > src/f"], there: "app/f" },
  "the program of a test": { commands: ["cp /bin/true t; chmod 755 t; chmod 1777 sub"], there: "t" },
};

let planted: Planted = {};

/** On a disk that uses numbers of inodes again: in memory each is new. */
const disk = skip === false && statfsSync("/var/tmp").type === 0xef53 ? "/var/tmp" : undefined;

/** In a sandbox each mount makes the next one slower: so not all of them at once. */
const AT_ONCE = 24;

before(async () => {
  if (skip !== false) return;
  const harmless = Object.entries(stays).map(
    ([name, { commands, there }]) => [name, [...commands, `test -e ${there} && echo STAYED`]] as const,
  );
  const stories = [...Object.entries({ ...plants, ...further }), ...harmless];
  const count = Math.ceil(stories.length / AT_ONCE);
  planted = await play(
    ...Array.from({ length: count }, (_, at) => roundFrom(stories.slice(at * AT_ONCE, (at + 1) * AT_ONCE))),
  );
});

function roundFrom(stories: readonly (readonly [string, readonly string[]])[]): Round {
  return Object.fromEntries(stories.map(([name, commands]) => [name, { setUp: setUpFor(commands), commands }]));
}

async function play(...rounds: Round[]): Promise<Planted> {
  using place = confinedPlace({ within: disk });
  const child = spawn(process.execPath, [new URL("planting.ts", import.meta.url).pathname], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: place.root,
    env: { PATH: process.env["PATH"], HOME: place.home },
    ...ordinary,
  });
  const planting: Planting = { root: place.root, home: place.home, state: place.state, rounds };
  child.stdin.end(JSON.stringify(planting));
  return JSON.parse(await text(child.stdout)) as Planted;
}

for (const name of Object.keys({ ...plants, ...further }))
  test(`does not stay: ${name}`, { skip }, () => {
    assert.deepEqual(planted[name]?.obeyed, [], JSON.stringify(planted[name]));
  });

for (const name of Object.keys(stays))
  test(`stays: ${name}`, { skip }, () => {
    assert.match(planted[name]?.said ?? "", /STAYED/);
    assert.deepEqual(planted[name]?.aside, []);
  });

test("of plants that were put together by chance none stays", { skip }, async () => {
  for (let at = 0; at < roundsOf(1); at++) {
    const stories = storiesOf(seed + at, AT_ONCE);
    const round = roundFrom(Object.entries(stories));
    const found = await play(round);
    const left = Object.entries(found).filter(([, { obeyed }]) => obeyed.length > 0);
    assert.deepEqual(
      left.map(([name, { obeyed }]) => ({ commands: stories[name], obeyed })),
      [],
      `seed ${seed + at}`,
    );
  }
});
