import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { constants, accessSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { isInside, planMounts, type Place, trustedPath } from "../../src/confine/plan.ts";
import { fixedPaths, surveyOf } from "../../src/confine/survey.ts";
import { confinedPlace } from "../support/confine.ts";

const onLinux = { skip: process.platform !== "linux" };
const hiding = () => (path: string) => !path.endsWith(".env");

async function placeOf(
  { root, home, state }: { root: string; home: string; state: string },
  more: Partial<Place> = {},
) {
  const survey = await surveyOf([root], hiding);
  const place: Place = {
    roots: [root],
    home,
    sageHome: state,
    privateHome: join(state, "private-home"),
    privateTmp: join(state, "private-tmp"),
    path: "/usr/bin",
    readable: [],
    writable: [],
    guarded: fixedPaths(survey, [root]),
    hidden: survey.hidden,
    sockets: [],
    kept: [],
    repository: "read",
    ...more,
  };
  return planMounts(place).map(({ words }) => words.join(" "));
}

test(
  "a secret of the system is hidden from whoever could open it, and costs nobody else a mount",
  onLinux,
  async () => {
    using place = confinedPlace();
    const mounts = await placeOf(place);
    const mayOpen = (path: string) => {
      try {
        return (accessSync(path, constants.R_OK), true);
      } catch {
        return false;
      }
    };
    for (const path of ["/etc/shadow", "/etc/gshadow", "/proc/kcore", "/proc/keys"])
      assert.equal(mounts.includes(`--ro-bind /dev/null ${path}`), mayOpen(path), path);
  },
);

test(
  "files that other programs obey are bound read-only over themselves, at any depth; secrets read as empty",
  onLinux,
  async () => {
    using place = confinedPlace();
    const { root } = place;
    mkdirSync(join(root, "packages/a/.vscode"), { recursive: true });
    for (const name of ["AGENTS.md", "packages/a/CLAUDE.md", "packages/a/.vscode/tasks.json", ".env"])
      writeFileSync(join(root, name), "x");
    const mounts = await placeOf(place);
    for (const name of ["AGENTS.md", "packages/a/CLAUDE.md", "packages/a/.vscode"])
      assert.ok(mounts.includes(`--ro-bind ${root}/${name} ${root}/${name}`), name);
    assert.ok(mounts.includes(`--ro-bind /dev/null ${root}/.env`));
    const order = ["/tmp", place.home, root, join(root, "AGENTS.md")].map((to) =>
      mounts.findIndex((one) => one.endsWith(` ${to}`)),
    );
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
      "a root lies over /tmp and home, its guards over the root",
    );
  },
);

test("a link is never bound: what it names would be seen", onLinux, async () => {
  using place = confinedPlace();
  const { root, home } = place;
  mkdirSync(join(home, ".ssh"));
  writeFileSync(join(home, ".ssh/id"), "key");
  writeFileSync(join(root, "notes.md"), "x");
  symlinkSync(join(home, ".ssh/id"), join(root, "AGENTS.md"));
  symlinkSync("notes.md", join(root, "CLAUDE.md"));
  symlinkSync(join(home, ".ssh"), join(root, ".git"));
  const mounts = await placeOf(place);
  assert.ok(!mounts.some((one) => one.includes(".ssh") || one.includes("AGENTS.md") || one.includes("/.git")));
  assert.ok(mounts.includes(`--ro-bind ${root}/notes.md ${root}/notes.md`), "of a link inside, the file itself");
});

/** Lists of a plan, and how each names a folder. */
const lists: Record<string, (place: ReturnType<typeof confinedPlace>) => { path: string; more: Partial<Place> }> = {
  "folders to read": ({ root }) => named(join(root, "a/read"), (path) => ({ readable: [path] })),
  "folders to write": ({ root }) => named(join(root, "a/write"), (path) => ({ writable: [path] })),
  "guarded paths": ({ root }) => named(join(root, "a/guard"), (path) => ({ guarded: [path] })),
  "hidden paths": ({ root }) => named(join(root, "a/hide"), (path) => ({ hidden: [path] })),
  "what may be read of Sage's state": ({ state }) => named(join(state, "a/kept"), (path) => ({ kept: [path] })),
  "folders of tools": ({ home }) => named(join(home, ".cargo/bin"), () => ({})),
  PATH: ({ home }) => named(join(home, "a/bin"), (path) => ({ path: `/usr/bin:${path}` })),
  "git's settings": ({ root }) => named(join(root, ".git/hooks"), () => ({ repository: "write" })),
};

function named(path: string, more: (path: string) => Partial<Place>) {
  return { path, more: more(path) };
}

for (const [name, list] of Object.entries(lists))
  test(`${name}: a folder is mounted, and neither a link in its place nor one above it`, onLinux, async () => {
    const isMounted = async (make: (path: string, secret: string) => void) => {
      using place = confinedPlace();
      const { path, more } = list(place);
      const secret = join(place.dir, "secret");
      mkdirSync(join(secret, basename(path)), { recursive: true });
      make(path, secret);
      return (await placeOf(place, more)).some((words) => words.split(" ").includes(path));
    };
    assert.equal(await isMounted((path) => mkdirSync(path, { recursive: true })), true);
    const inPlace = await isMounted((path, secret) => {
      mkdirSync(dirname(path));
      symlinkSync(secret, path);
    });
    const above = await isMounted((path, secret) => symlinkSync(secret, dirname(path)));
    assert.deepEqual({ inPlace, above }, { inPlace: false, above: false });
  });

test(
  "git's folder is read-only, and with a command of git writable but for its settings and hooks",
  onLinux,
  async () => {
    using place = confinedPlace();
    const { root } = place;
    execFileSync("git", ["init", "-q"], { cwd: root });
    const git = join(root, ".git");
    const reads = await placeOf(place);
    assert.ok(reads.includes(`--ro-bind ${git} ${git}`));
    const writes = await placeOf(place, { repository: "write" });
    const at = writes.indexOf(`--bind ${git} ${git}`);
    for (const name of ["config", "hooks", "info"])
      assert.ok(writes.indexOf(`--ro-bind ${git}/${name} ${git}/${name}`) > at && at > 0, name);
  },
);

test("a linked worktree brings its repository along only if that knows the worktree", onLinux, async () => {
  using place = confinedPlace();
  const { root, dir } = place;
  const common = join(dir, "other/.git");
  mkdirSync(join(common, "worktrees/w"), { recursive: true });
  writeFileSync(join(common, "worktrees/w/commondir"), "../..\n");
  writeFileSync(join(root, ".git"), `gitdir: ${common}/worktrees/w\n`);
  const gitdir = join(common, "worktrees/w/gitdir");
  const isMounted = async () => (await placeOf(place)).includes(`--ro-bind ${common} ${common}`);
  mkdirSync(join(dir, "elsewhere"));
  writeFileSync(join(dir, "elsewhere/.git"), `gitdir: ${common}/worktrees/w\n`);
  writeFileSync(gitdir, `${dir}/elsewhere/.git\n`);
  assert.equal(await isMounted(), false, "a file in a repository may name any folder: this one is another's");
  writeFileSync(gitdir, `${root}/.git\n`);
  assert.equal(await isMounted(), true);
  // A folder beside the repository that says the same: its worktrees are not where git keeps them.
  writeFileSync(join(common, "worktrees/w/commondir"), "../../..\n");
  assert.ok(!(await placeOf(place)).some((words) => words.includes(join(dir, "other"))));
});

test("the sandbox itself is started from no folder that a command could have put a program in", () => {
  using place = confinedPlace();
  const [bin, packages] = [join(place.root, "bin"), join(place.home, "node_modules/.bin")];
  for (const folder of [bin, packages]) mkdirSync(folder, { recursive: true });
  symlinkSync(bin, join(place.home, "link"));
  const path = `${bin}:${packages}:${place.home}/link:relative::/usr/bin:/bin`;
  assert.equal(trustedPath(path, [place.root]), "/usr/bin:/bin");
});

test(
  "no folder of this machine is bound that is neither the system's, a tool's, a root nor private",
  onLinux,
  async () => {
    using place = confinedPlace();
    mkdirSync(join(place.home, ".cargo/bin"), { recursive: true });
    mkdirSync(join(place.home, "bin"));
    const mounts = await placeOf(place, { path: `/usr/bin:${place.home}/bin:${place.home}:/:relative` });
    const sources = mounts.filter((one) => /^--(ro-)?bind/.test(one)).map((one) => one.split(" ")[1]!);
    const known =
      /^\/(bin|etc|gnu|lib\w*|nix|opt|sbin|snap|sys|usr|proc\/\w+|dev\/null|var\/(lib|cache)\/[\w-]+|run\/[\w./-]+)/;
    const own = [
      place.root,
      `${place.state}/private-home`,
      `${place.state}/private-tmp`,
      `${place.home}/.cargo/bin`,
      `${place.home}/bin`,
    ];
    assert.deepEqual(
      sources.filter((path) => !known.test(path) && !own.includes(path) && !path.startsWith(`${place.state}/private-`)),
      [],
    );
    assert.ok(
      isInside("/a", "/a/b") && !isInside("/a", "/ab") && !isInside("/a", "/a/../b") && isInside("/a", "/a/..b"),
    );
  },
);
