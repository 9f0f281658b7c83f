import type { ToolScope } from "../definition/tool.ts";
import type { Blocked } from "../../protocol/confine.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import type { Note, ToolProblem } from "../definition/result.ts";

const MAX_WRITES = 5;

/** The environment of commands: without pagers, editors and whatever makes a line mean something else than was judged. */
export function shellEnv(scope: Pick<ToolScope, "env" | "home">): NodeJS.ProcessEnv {
  // The same home in which `~` was judged.
  return { ...scope.env, HOME: scope.home, ...quiet };
}

const quiet: NodeJS.ProcessEnv = {
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  // Programs through which less would send what it shows.
  LESSOPEN: undefined,
  LESSCLOSE: undefined,
  LESS: undefined,
  GIT_TERMINAL_PROMPT: "0",
  // A text that an editor would open is taken as it is; git itself refuses a commit without a message.
  GIT_EDITOR: "true",
  DEBIAN_FRONTEND: "noninteractive",
  GIT_OPTIONAL_LOCKS: "0",
  // Looking at a repository starts nothing that keeps looking at it.
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "core.fsmonitor",
  GIT_CONFIG_VALUE_0: "false",
  BASH_ENV: undefined,
  ENV: undefined,
  RIPGREP_CONFIG_PATH: undefined,
  // Sage asks for it before it answers, trusts or changes rules: that is for people.
  SAGE_INSIDE: "1",
  // With these `cd sub` may lead anywhere, a line may be read otherwise, a pattern may stand for other files, and git may
  // look at another repository than the one that was judged.
  CDPATH: undefined,
  SHELLOPTS: undefined,
  BASHOPTS: undefined,
  BASH_COMPAT: undefined,
  POSIXLY_CORRECT: undefined,
  GLOBIGNORE: undefined,
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_COMMON_DIR: undefined,
  GIT_INDEX_FILE: undefined,
};

/** Remarks of a result on what a confined command was kept from. */
export function blockedNotes(blocked: readonly Blocked[]): Note[] {
  const missed = blocked.filter((entry) => entry.kind !== "aside");
  const moved = blocked.filter((entry) => entry.kind === "aside");
  const names = missed.map((entry) =>
    entry.kind === "host" ? `${entry.host}:${entry.port} (host)` : `${entry.path} (write)`,
  );
  const asides = moved.map(({ path, to }) => `${path} to ${to}`);
  const notes: Note[] = [];
  if (missed.length > 0)
    notes.push([
      `Blocked by confinement: ${names.join(", ")}. To ask the person for it, run the same command again.`,
      reason("was-blocked", { blocked: missed }),
    ]);
  if (moved.length > 0)
    notes.push([
      `Other programs obey files of these names, so they were moved aside: ${asides.join(", ")}. To make one, use Write, which asks.`,
      reason("moved-aside", { moved }),
    ]);
  return notes;
}

export function notConfined(problem: string): ToolProblem {
  return { text: `Not run: it could not be confined: ${problem}`, why: reason("not-confined", { problem }) };
}

/** Linux tells nobody about refused writes, so they are read from the output: a hint for words, never a reason to allow anything. */
export function withWrites(blocked: readonly Blocked[], output: string): Blocked[] {
  const found = new Set<string>();
  for (const line of output.split("\n").slice(-200)) {
    if (!/read-only file system|EROFS|Errno 30/i.test(line)) continue;
    for (const [, single, double, bare] of line.matchAll(/'(\/[^']+)'|"(\/[^"]+)"|(?:^|[\s:=(])(\/[^\s:'"),]+)/g)) {
      const path = single ?? double ?? bare ?? "";
      if (found.size < MAX_WRITES && path.length < 1_000) found.add(path.replace(/[.,:]+$/, ""));
    }
  }
  return [...blocked, ...[...found].map((path) => ({ kind: "write" as const, path }))];
}
