import { gitUse } from "../../programs/git/git.ts";
import { subcommandAt } from "../../programs/git/git-words.ts";
import { isReader } from "../../programs/files/readers.ts";
import { baseName, keywords } from "../../text/tokens.ts";
import type { Word } from "../read/word.ts";
import type { CommandReading } from "./flow/command-reading.ts";

/** Programs of a line that can only work outside of a sandbox, git with its subcommand. */
export function outsidePrograms({ commands }: CommandReading, outside: readonly string[]): string[] {
  const programs = new Set([...needOutside, ...outside]);
  const found = commands
    .flatMap(({ possible }) => possible.filter(({ reworded }) => !reworded))
    .flatMap(({ words, anywhere }) => {
      if (anywhere) return words.map((_, at) => words.slice(at));
      return [words.slice(words.findIndex((word) => !keywords.has(word)))];
    })
    .flatMap(([name = "", ...args]) => {
      const program = baseName(name);
      if (programs.has(program)) return staysInside.has(`${program} ${args[0]}`) ? [] : [program];
      const subcommand = args[subcommandAt(args)] ?? "";
      return name === "git" && farGit.has(subcommand) && !onlyLooks([name, ...args]) ? [`git ${subcommand}`] : [];
    });
  return [...new Set(found)];
}

/** `write` only for a line that is wholly understood and runs git, and nothing else that could do more than look. */
export function repositoryUse(reading: CommandReading | undefined): "read" | "write" {
  if (reading?.script === undefined) return "read";
  let writes = false;
  for (const { possible } of reading.commands) {
    const [name = "", ...args] = possible[0]?.words ?? [];
    if (name === "git") {
      if (args.slice(0, subcommandAt(args)).some((word) => /^(-c|--config-env|--exec-path)/.test(word))) return "read";
      writes ||= !onlyLooks([name, ...args]);
    } else if (!isReader(name) && !/^(cd|echo|printf|true|test|\[|pwd|sleep)$/.test(name)) return "read";
  }
  return writes ? "write" : "read";
}

const staysInside = new Set(["terraform fmt", "terraform validate", "docker --version"]);

/** A command of git that changes nothing in the repository. In there it could not, so a wrong guess does no harm. */
function onlyLooks([, ...args]: readonly string[]): boolean {
  const at = subcommandAt(args);
  const [name = "", next = ""] = args.slice(at);
  if (lookingGit.has(name) || lookingGit.has(`${name} ${next}`)) return true;
  return gitUse(["git", ...args].map(wordOf)) !== undefined;
}

function wordOf(text: string): Word {
  return { text, lead: text, start: 0, end: 0, splits: false, glob: undefined, pieces: [], scripts: [] };
}

const lookingGit = new Set([
  ..."diff show log status grep blame shortlog rev-parse rev-list ls-files ls-tree cat-file describe reflog".split(" "),
  "submodule status",
  "stash show",
  "stash list",
  "remote -v",
  "worktree list",
]);

/** They need sockets, keys or credentials that are not there. */
const needOutside =
  "docker podman nerdctl kubectl helm gh glab ssh scp sftp rsync sudo doas su systemctl journalctl terraform aws gcloud az fly vercel heroku open xdg-open".split(
    " ",
  );

/** Commands of git that need keys, or change its settings. */
const farGit = new Set(
  "push pull fetch clone ls-remote submodule remote config worktree credential send-email lfs".split(" "),
);
