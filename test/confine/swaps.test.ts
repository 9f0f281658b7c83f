import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cannotConfine, confinedPlace, own, runInside, type Seen } from "../support/confine.ts";

const skip = await cannotConfine();
const place = confinedPlace();
const { dir, root, home, state } = place;
const sockets = [createServer(() => {}), createServer(() => {})] as const;

const dials = (path: string) =>
  `node -e 'require("net").connect(${JSON.stringify(path)}).on("connect",()=>console.log("ESCAPED")).on("error",()=>{})'`;
const evil = (folder: string) => `git init -q ${folder} && git -C ${folder} config core.fsmonitor ./evil`;

/** Each depends on what those before it left behind. */
const commands = {
  replaced: `mv packages p2 && mkdir -p packages/a && echo evil > packages/a/CLAUDE.md
    mv nested n2 && mkdir -p nested/lib && ${evil("nested/lib")}
    mv docs d2 && mkdir docs && echo evil > docs/agents.md
    echo evil > later.md`,
  staged: `mkdir -p node_modules/pkg && ${evil("node_modules/pkg")}; echo evil > node_modules/pkg/AGENTS.md
    mkdir -p gh/instructions; echo evil > gh/instructions/x.md; sleep 0.1`,
  moved: "mv node_modules/pkg pkg; mv gh .github",
  closed: `mkdir u v && echo evil > u/AGENTS.md && chmod 311 u; echo evil > v/AGENTS.md && chmod 555 v
    echo evil > .mcp.json; long=$(printf '%0200d' 0); echo evil > .aider.$long; chmod 555 .`,
  hidden: "mv secrets s2 && echo ESCAPED",
  sockets: `${dials(join(root, "my dir/a b.sock"))}; ${dials(join(root, "relative.sock"))}
    python3 -c 'import socket; socket.socket(40, 1); print("ESCAPED")'`,
  home: `mv ~/.cargo ~/c2 && echo ESCAPED; ln -s /oldroot${home}/.ssh ~/.rustup; true`,
  afterwards: "test -d ~/.rustup && echo fine",
};
const seen = {} as Record<keyof typeof commands, Seen>;

before(async () => {
  if (skip !== false) return;
  const files: Record<string, string> = {
    [`${root}/packages/a/CLAUDE.md`]: "x",
    [`${root}/docs/agents.md`]: "x",
    [`${root}/secrets/hidden.env`]: "x",
    [`${root}/my dir/x`]: "x",
    [`${home}/.cargo/bin/tool`]: "x",
    [`${home}/.ssh/id`]: "x",
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
  }
  symlinkSync("docs/agents.md", join(root, "AGENTS.md"));
  symlinkSync("later.md", join(root, "GEMINI.md"));
  execFileSync("git", ["init", "-q", join(root, "nested/lib")]);
  const cwd = process.cwd();
  process.chdir(root);
  const [whole, relative] = sockets;
  await Promise.all([
    once(whole.listen(join(root, "my dir/a b.sock")), "listening"),
    once(relative.listen("relative.sock"), "listening"),
  ]);
  process.chdir(cwd);
  const all = readdirSync(dir, { recursive: true, withFileTypes: true });
  for (const entry of all) if (!entry.isSymbolicLink()) own(join(entry.parentPath, entry.name));
  const names = Object.keys(commands) as (keyof typeof commands)[];
  const run = (some: typeof names) =>
    runInside({ root, home, state, commands: some.map((name) => ({ line: commands[name] })) });
  const told = await run(names.slice(0, -1));
  // Tools that came to the home folder after a command had put a link at their place in its own.
  mkdirSync(join(home, ".rustup"));
  own(join(home, ".rustup"));
  for (const [at, one] of [...told, ...(await run(["afterwards"]))].entries()) seen[names[at]!] = one;
});
after(() => {
  for (const one of sockets) one.close();
  place[Symbol.dispose]();
});

const movedBy = (name: keyof typeof commands) =>
  seen[name].blocked.flatMap((one) => (one.kind === "aside" ? [one.path.slice(root.length + 1)] : []));
const isGone = (...names: string[]) => {
  for (const name of names) assert.ok(!existsSync(join(root, name)), name);
};

test("what stands in for a guarded file, by its folder or where its link leads, is moved aside", { skip }, () => {
  const moved = movedBy("replaced");
  for (const name of ["packages/a/CLAUDE.md", "nested/lib/.git", "AGENTS.md", "GEMINI.md"])
    assert.ok(moved.includes(name), `${name}: ${moved.join()}`);
  isGone("packages/a/CLAUDE.md", "nested/lib/.git");
});

test("so is what an earlier command made elsewhere, and its folder brought to its name", { skip }, () => {
  assert.deepEqual(movedBy("staged"), []);
  assert.deepEqual(movedBy("moved").toSorted(), [".github/instructions", "pkg/.git", "pkg/AGENTS.md"]);
  isGone("pkg/.git", "pkg/AGENTS.md", ".github/instructions");
});

test("folders that were closed, and long names, keep nothing in its place", { skip }, () => {
  const moved = movedBy("closed");
  assert.equal(moved.length, 4, moved.join());
  isGone("u/AGENTS.md", "v/AGENTS.md", ".mcp.json");
});

test("a file that must not be read does not get another name with its folder", { skip }, () => {
  assert.doesNotMatch(seen.hidden.said, /ESCAPED/);
});

test(
  "sockets are covered however their owner called them, and others than the network's are not made",
  { skip },
  () => {
    assert.doesNotMatch(seen.sockets.said, /ESCAPED/);
  },
);

test("links in the sandbox's own home lead nowhere, and do not stop later commands", { skip }, () => {
  assert.doesNotMatch(seen.home.said, /ESCAPED/);
  assert.deepEqual(readdirSync(join(home, ".ssh")), ["id"]);
  assert.match(seen.afterwards.said, /fine/, seen.afterwards.failed);
});
