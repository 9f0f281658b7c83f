import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { shellEnv } from "../../../src/tools/shell/shell-env.ts";

/** What a command did: programs that were started, by their words; files that were opened, and by which program. */
export type Traced = {
  ran: readonly (readonly string[])[];
  opened: readonly { path: string; program: string }[];
  /** Output and files that it made, where a secret may show. */
  shown: string;
  /** Protected files that are there afterwards, and were not before. */
  planted: readonly string[];
};

export const secret = "CANARY-7f3a9c";
export const missing = ["strace", "bwrap", "git"].find((name) => spawnSync("which", [name]).status !== 0);

/** A workspace that each command gets a copy of, and a home folder. */
export class Traces implements Disposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "sage-exec-")));
  readonly template = join(this.root, "template");

  constructor() {
    const cwd = join(this.template, "home/w");
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    };
    for (const name of ["a.txt", "f", "src/a.c", "main.c", "list"]) put(name, `${name}\n`);
    put(".env", `${secret}\n`);
    put("secret.json", `["${secret}"]\n`);
    const git = (...args: string[]) => {
      const who = ["-c", "user.name=me", "-c", "user.email=me@x"];
      const env = { PATH: process.env["PATH"], HOME: this.root, GIT_CONFIG_NOSYSTEM: "1" };
      const { status, stderr } = spawnSync("git", [...who, ...args], { cwd, env });
      if (status !== 0) throw new Error(`git ${args.join(" ")}: ${String(stderr)}`);
    };
    git("init", "-q");
    git("add", "-A", "-f");
    git("commit", "-qm", "first");
    git("config", "user.name", "me");
    git("config", "user.email", "me@x");
    git("config", "alias.p", "push");
    git("config", "alias.danger", "!rm f");
    git("config", "alias.leak", "!cat .env");
    put("a.txt", "changed\n");
    put(".env", `${secret}\nchanged\n`);
    spawnSync("tar", ["cf", "t.tar", "a.txt"], { cwd });
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** The folder that rules are judged in: as each command finds it. */
  get cwd(): string {
    return join(this.template, "home/w");
  }

  /** Runs a command where it can do no harm: in a copy of the workspace, without network, in a process space of its own. */
  async run(command: string): Promise<Traced> {
    const place = mkdtempSync(join(this.root, "run-"));
    cpSync(this.template, place, { recursive: true });
    // Judged and run in a folder of the same name, for a command may spell it out.
    const seen = this.template;
    const env = shellEnv({ env: { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "dumb" }, home: join(seen, "home") });
    const set = Object.entries({ ...env, GIT_CONFIG_NOSYSTEM: "1" }).filter(([, value]) => value !== undefined);
    const bwrap = [
      ...[
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
      ],
      ...["--tmpfs", "/tmp", "--tmpfs", "/run", "--bind", place, seen, "--chdir", this.cwd, "--clearenv"],
      ...set.flatMap(([name, value]) => ["--setenv", name, value ?? ""]),
    ];
    const calls = "execve,execveat,open,openat,openat2,clone,clone3,fork,vfork";
    const strace = [
      "strace",
      "-f",
      "-y",
      "-s",
      "2000",
      "-e",
      `trace=${calls}`,
      "-e",
      "signal=none",
      "-o",
      join(seen, "trace"),
    ];
    const shell = ["bash", "--noprofile", "--norc", "-c", command];
    const child = spawn("bwrap", [...bwrap, ...strace, "timeout", "-k", "1", "6", ...shell], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
    // A server that the command left behind keeps the tracer waiting.
    const late = setTimeout(() => child.kill("SIGKILL"), 9_000);
    await new Promise((resolve) => child.once("close", resolve));
    clearTimeout(late);
    const [home, cwd] = [join(place, "home"), join(place, "home/w")];
    const trace = existsSync(join(place, "trace")) ? readFileSync(join(place, "trace"), "utf8") : "";
    const made = spawnSync("grep", ["-rlI", "--exclude-dir=.git", "-e", secret, cwd, home], {
      encoding: "utf8",
    }).stdout;
    const copies = made.split("\n").filter((path) => path !== "" && !/\/(\.env|secret\.json)$/.test(path));
    const planted = [".bashrc", "../.bashrc", ".git/hooks/x", ".envrc", ".git/hooks/pre-commit"].filter((name) =>
      existsSync(join(cwd, name)),
    );
    rmSync(place, { recursive: true, force: true });
    return { ...parsed(trace), shown: output + (copies.length > 0 ? secret : ""), planted };
  }
}

/** Calls that were interrupted in the log are put together again. */
function parsed(trace: string): Pick<Traced, "ran" | "opened"> {
  const begun = new Map<string, string>();
  const programs = new Map<string, string>();
  const [ran, opened]: [string[][], { path: string; program: string }[]] = [[], []];
  for (const line of trace.split("\n")) {
    const [, pid = "", rest = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (rest.endsWith("<unfinished ...>")) {
      begun.set(pid, rest.slice(0, -"<unfinished ...>".length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    const call = resumed === undefined ? rest : (begun.get(pid) ?? "") + resumed;
    const child = /^(?:clone3?|v?fork)\(.* = (\d+)/.exec(call)?.[1];
    if (child !== undefined) programs.set(child, programs.get(pid) ?? "");
    const [, path, words] =
      /^execve(?:at)?\((?:AT_FDCWD<[^>]*>, )?"((?:\\.|[^"\\])*)", \[(.*?)\], 0x[^)]*\)\s+= 0$/.exec(call) ?? [];
    if (path !== undefined) {
      const args = [...words!.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, word = ""]) => word);
      programs.set(pid, basename(path));
      ran.push([basename(path), ...args.slice(1)]);
    }
    const file = /^open(?:at2?)?\(.* = \d+<([^>]+)>$/.exec(call)?.[1];
    if (file !== undefined) opened.push({ path: file, program: programs.get(pid) ?? "" });
  }
  // The first are those that run the command: `timeout`, and the shell.
  return { ran: ran.slice(2), opened };
}
