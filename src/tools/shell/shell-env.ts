import type { ToolScope } from "../definition/tool.ts";

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
