// Plays plants as the user that it was started by: all first commands of them in one sandbox, then all second ones, then all third ones.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { createConfining } from "../../src/host/assembly/confining.ts";
import { createSpawner } from "../../src/tools/process/spawner.ts";
import type { Blocked } from "../../src/protocol/confine.ts";

export type Planting = { root: string; home: string; state: string; rounds: Round[] };
/** Stories by name, each with its commands. All of a round are played side by side, in a folder each. */
export type Round = Record<string, { setUp: string; commands: readonly string[] }>;
/** For each story: names under which another program would obey what it planted; and what was moved aside. */
export type Planted = Record<string, { obeyed: string[]; aside: string[]; said: string }>;

const { root, home, state, rounds } = JSON.parse(await text(process.stdin)) as Planting;
const sandbox = { mode: "autoAllow", writable: [], readable: [], git: "read", outside: [] } as const;
const marks = join(home, "marks");
mkdirSync(marks, { recursive: true });
const helpers = `evil() { printf '[core]\\n\\tfsmonitor = "touch %s; false"\\n' "$PWN" >> "$1"; }
hook() { mkdir -p "\${1%/*}" && printf '#!/bin/sh\\ntouch %s\\n' "$PWN" > "$1" && chmod +x "$1"; }
bare() { mkdir -p "$1/objects" "$1/refs" && echo 'ref: refs/heads/x' > "$1/HEAD"; }
harmless() { printf '[core]\\n\\trepositoryformatversion = 0\\n' > "$1"; }`;
const obeyed =
  /(^|\/)(agents\.md|claude\.md|gemini\.md|\.envrc|\.mcp\.json|\.bashrc|\.vscode\/[^/]+|\.claude\/.+|\.cursor\/.+|\.github\/instructions\/.+|\.config\/git\/config|\.cargo\/config\.toml|\.gitattributes|\.gitmodules|\.husky\/.+|\.pre-commit-config\.yaml)$/i;
const spawn = createSpawner();
const planted: Planted = {};

for (const [at, round] of rounds.entries()) {
  const names = Object.keys(round);
  const folderOf = (name: string) => join(root, `s${names.indexOf(name)}`);
  const inEach = (line: (name: string) => string) =>
    [
      helpers,
      ...names.map((name) => {
        const mark = join(marks, `${at}-${names.indexOf(name)}`);
        return `echo "@@ ${names.indexOf(name)}"; ( cd ${folderOf(name)} && PWN=${mark} && { ${line(name)}\ntrue; } ) 2>&1 </dev/null`;
      }),
    ].join("\n");
  spawnSync("bash", ["-c", "chmod -R u+rwX . && rm -rf ./*"], { cwd: root });
  for (const name of names) mkdirSync(folderOf(name));
  execFileSync("bash", ["-c", inEach((name) => round[name]!.setUp)], { cwd: root });
  const place = { root, home, state, session: `round ${at}`, kept: [], mayRead: () => () => true };
  const confining = createConfining(sandbox, { apart: true })(place);
  const blocked: Blocked[] = [];
  let said = "";
  for (let step = 0; step < 3; step++) {
    if (!names.some((name) => round[name]!.commands[step] !== undefined)) break;
    const launch = await confining.launch({
      cwd: root,
      env: { PATH: process.env["PATH"], HOME: home },
      as: { repository: "read", hosts: [], writable: [] },
      reach: () => ({ allowed: false }),
    });
    const line = inEach((name) => round[name]!.commands[step] ?? "true");
    const started = await spawn({ line, cwd: root, env: launch.env, noted: async () => true, launch });
    said += await text(started.output);
    const end = await launch.over();
    if (end.failed !== undefined) throw new Error(`${end.failed}: ${said}`);
    blocked.push(...end.blocked);
  }
  for (const name of names) {
    const folder = folderOf(name);
    const aside = blocked.flatMap((one) => (one.kind === "aside" ? [relative(folder, one.path)] : []));
    const mark = join(marks, `${at}-${names.indexOf(name)}`);
    planted[name] = {
      obeyed: [...obeyedIn(folder), ...ranIn(folder, mark)],
      aside: aside.filter((path) => !path.startsWith("..")),
      said: said
        .split(`@@ ${names.indexOf(name)}\n`)
        .slice(1)
        .map((part) => part.split("@@ ")[0])
        .join("")
        .slice(0, 500),
    };
  }
}
process.stdout.write(JSON.stringify(planted), () => process.exit(0));

/** Knows nothing of Sage: files that other programs read by these names, through every link, with what an attacker wrote. */
function obeyedIn(story: string): string[] {
  const found: string[] = [];
  const walk = (folder: Buffer, name: string, above: readonly string[]) => {
    let real: string;
    try {
      real = realpathSync.native(folder, "latin1");
    } catch {
      return;
    }
    if (above.filter((other) => other === real).length > 1 || above.length > 12) return;
    for (const entry of names(folder)) {
      const path = Buffer.concat([folder, Buffer.from("/"), entry]);
      const inner = name === "" ? entry.toString("latin1") : `${name}/${entry.toString("latin1")}`;
      try {
        if (statSync(path).isDirectory()) {
          if (!/(^|\/)(node_modules|\.git)$/.test(inner)) walk(path, inner, [...above, real]);
        } else if (obeyed.test(inner) && statSync(path).isFile() && /EVIL/.test(readFileSync(path, "utf8")))
          found.push(inner);
        if ((lstatSync(path).mode & 0o6000) !== 0 && lstatSync(path).isFile()) found.push(`setuid ${inner}`);
      } catch {
        // It leads nowhere, or cannot be read.
      }
    }
  };
  walk(Buffer.from(story), "", []);
  return found;
}

function names(folder: Buffer): Buffer[] {
  try {
    return readdirSync(folder, { encoding: "buffer" });
  } catch {
    return [];
  }
}

/** For printf: a name may be no text. */
function escaped(path: Buffer): string {
  return [...path].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

/** Runs the real git wherever it would find a repository: the program that an attacker named leaves a mark. */
function ranIn(story: string, mark: string): string[] {
  const found: string[] = [];
  const env = {
    PATH: process.env["PATH"],
    HOME: join(home, "nobody"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CEILING_DIRECTORIES: root,
  };
  const look = (folder: Buffer, depth: number, above: readonly string[]) => {
    const inner = names(folder).map((name) => name.toString("latin1"));
    const isGit = inner.includes(".git") || inner.includes("HEAD");
    if (isGit) {
      for (const args of [
        ["status"],
        ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x", "--allow-empty"],
      ])
        spawnSync("bash", ["-c", 'cd "$(printf "$1")" && shift && git "$@"', "sh", escaped(folder), ...args], {
          env,
          stdio: "ignore",
          timeout: 5_000,
        });
      if (existsSync(mark)) found.push(`git in ${relative(story, folder.toString("latin1")) || "."}`);
      rmSync(mark, { force: true });
    }
    for (const name of names(folder)) {
      const path = Buffer.concat([folder, Buffer.from("/"), name]);
      const isSkipped = /^(\.git|node_modules|objects|refs)$/.test(name.toString());
      try {
        if (isSkipped || !statSync(path).isDirectory() || depth > 5) continue;
        const real = realpathSync.native(path, "latin1");
        if (!above.includes(real)) look(path, depth + 1, [...above, real]);
      } catch {
        // It leads nowhere.
      }
    }
  };
  look(Buffer.from(story), 0, [story]);
  return [...new Set(found)].filter((where) => basename(where) !== "");
}
