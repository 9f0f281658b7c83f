import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { signalGroup } from "../processes/group.ts";
import { isAllowed, remoteOf, type Remote } from "../config/remote-repository.ts";
import { untilWritten } from "../journal/store/retry.ts";
import type { Store } from "../journal/store/store.ts";
import { oneLine } from "../base/visible.ts";
import type { Fact } from "../protocol/facts/fact.ts";
import { workspaceKey } from "../protocol/key.ts";
import { reason, messageOf, SageError } from "../protocol/reasons/reason.ts";

const LIMIT_MINUTES = 10;
const MAX_WORDS = 300;

type CloneOptions = {
  /** Holds a folder for each clone. */
  folder: string;
  allowed: readonly string[];
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  limitMs?: number;
};

/**
 * Makes the folder of a session that was opened on a remote, and records it; the session is this process's. A clone has a name of its own
 * and counts once the fact names it: one that was cut short, or made by a process that has lost the session, is nobody's, and goes when
 * another one is recorded.
 */
export async function makeWorkspace(
  store: Store,
  session: string,
  from: string,
  options: CloneOptions,
): Promise<string> {
  const { folder, allowed, signal } = options;
  const remote = remoteOf(from);
  if (!isAllowed(remote, allowed)) throw new SageError("not-permitted", reason("remote-not-allowed", { remote: from }));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `${session}-${randomBytes(3).toString("hex")}`;
  const cwd = join(folder, name);
  let mayBeRecorded = false;
  try {
    mkdirSync(cwd, { mode: 0o700 });
    const commit = await clone(remote, cwd, options);
    const fact: Fact<"workspace.made"> = {
      session,
      seq: 0,
      key: workspaceKey,
      type: "workspace.made",
      at: Date.now(),
      data: { cwd, from, commit },
    };
    const [facts, epoch] = [[fact], store.claim(session)];
    const failed = () => void (mayBeRecorded = true); // the database may have written it, and the reply was lost
    await untilWritten(() => store.commit(session, epoch, facts), { signal, failed });
  } catch (error) {
    if (!mayBeRecorded) rmSync(cwd, { recursive: true, force: true });
    throw error;
  }
  for (const other of readdirSync(folder))
    if (other !== name && isCloneOf(session, other)) rmSync(join(folder, other), { recursive: true, force: true });
  return cwd;
}

/** True for the name of a folder that holds a clone of this session. */
export function isCloneOf(session: string, name: string): boolean {
  return name.startsWith(`${session}-`) && /^-[0-9a-f]{6}$/.test(name.slice(session.length));
}

/** Clones into an empty folder and returns the commit that is checked out. */
async function clone({ name, scheme, url, branch }: Remote, cwd: string, options: CloneOptions): Promise<string> {
  const { env, signal, limitMs = LIMIT_MINUTES * 60_000 } = options;
  const late = AbortSignal.timeout(limitMs);
  const config = [
    "protocol.allow=never",
    `protocol.${scheme}.allow=always`,
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "submodule.recurse=false",
    "transfer.fsckObjects=true",
    "gc.auto=0",
    "http.followRedirects=false",
  ].flatMap((setting) => ["-c", setting]);
  const from = branch === undefined ? [] : [`--branch=${branch}`];
  const args = [...config, "clone", "--quiet", "--template=", "--no-recurse-submodules", ...from, "--", url, cwd];
  const ended = await git(args, { cwd, env, signal: AbortSignal.any([signal, late]) }).catch((error: unknown) => {
    throw failed(name, messageOf(error)); // there is no git
  });
  if (signal.aborted) throw signal.reason;
  if (late.aborted)
    throw new SageError(
      "config-invalid",
      reason("clone-too-slow", { remote: name, minutes: Math.ceil(limitMs / 60_000) }),
    );
  if (ended.code !== 0) throw failed(name, ended.text);
  const head = await git([...config, "rev-parse", "HEAD"], { cwd, env, signal });
  if (head.code !== 0) throw failed(name, "it has no commit to begin from");
  return head.text;
}

const failed = (remote: string, problem: string) =>
  new SageError(
    "config-invalid",
    reason("clone-failed", {
      remote,
      problem: oneLine(problem.replaceAll(/\s+/g, " ").replace(/\.$/, "")).slice(0, MAX_WORDS),
    }),
  );

/** Runs git without anybody to ask, and without settings of it from this process's environment. */
export function git(
  args: readonly string[],
  { cwd, env, signal }: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<{ code: number | null; text: string }> {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !/^(GIT_|SSH_ASKPASS|SAGE_)/.test(name)));
  const quiet = {
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    GIT_LFS_SKIP_SMUDGE: "1",
    LC_ALL: "C.UTF-8",
    GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes",
  };
  return new Promise((resolve, reject) => {
    // A group of its own: what git has started ends with it.
    const child = spawn("git", args, {
      cwd,
      env: { ...own, ...quiet },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const end = () => void signalGroup(child.pid, "SIGKILL");
    let text = "";
    const hear = (some: string) => void (text = `${text}${some}`.slice(-64 * 1024));
    child.stdout.setEncoding("utf8").on("data", hear);
    child.stderr.setEncoding("utf8").on("data", hear);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    const over = () => signal.removeEventListener("abort", end);
    child.once("error", (error) => (over(), reject(error)));
    child.once("close", (code) => (over(), resolve({ code, text: text.trim() })));
  });
}
