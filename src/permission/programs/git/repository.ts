import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { reason, type Reason, messageOf } from "../../../protocol/reasons/reason.ts";
import { statOf } from "../../paths/canonical.ts";
import { literalWord } from "../../shell/read/word.ts";
import { gitUse } from "./git.ts";

/** Why git may run programs that the repository names, even to look; its configuration need not be this person's. Undefined: it cannot. */
export function troubleInRepository(
  from: string,
  session: string,
  { tree, except }: { tree: boolean; except?: string },
): Reason | undefined {
  try {
    const found = repositoryOf(from);
    if (found === undefined) return undefined;
    if (found.bare) return reason("repository-bare", { path: found.root });
    if (repositoryOf(session)?.root !== found.root) return reason("repository-other", { path: found.root });
    const { gitDir, common } = gitDirOf(found.root);
    // Git passes over one that is not whole, and looks further up.
    if (statOf(join(gitDir, "HEAD")) === undefined) return reason("repository-incomplete", { path: gitDir });
    if (statOf(join(common, "hooks", "post-index-change")) !== undefined) return reason("repository-hook", {});
    for (const name of new Set([
      join(common, "config"),
      join(common, "config.worktree"),
      join(gitDir, "config.worktree"),
    ])) {
      const key = programKeyIn(readText(name) ?? "", except);
      if (key !== undefined) return reason("repository-program", { file: name, key });
    }
    return tree ? nestedIn(gitDir) : undefined;
  } catch (error) {
    return error instanceof UnreadableFile
      ? reason("repository-unreadable", { path: error.path })
      : reason("path-error", { error: messageOf(error) });
  }
}

/** Why no rule for git covers this folder: a rule is given for the session's repository, not for another that came to lie there. */
export function troubleElsewhere(from: string, session: string): Reason | undefined {
  const found = repositoryOf(from);
  if (found === undefined) return undefined;
  // A repository without `.git` consists of files that anybody may write who may write to the workspace, the session's own folder too.
  const isLoose = found.bare && statOf(join(found.root, ".git")) === undefined;
  if (!isLoose && repositoryOf(session)?.root === found.root) return undefined;
  return troubleInRepository(from, from, { tree: false });
}

/** Looks as git does: in this folder and every one above. */
export function repositoryOf(from: string): { root: string; bare: boolean } | undefined {
  for (let here = from; ; here = dirname(here)) {
    // Objects and refs may be kept elsewhere, so that HEAD alone is enough to be wary.
    if (statOf(join(here, "HEAD")) !== undefined) return { root: here, bare: true };
    if (statOf(join(here, ".git")) !== undefined) return { root: here, bare: false };
    if (dirname(here) === here) return undefined;
  }
}

export function gitDirOf(root: string): { gitDir: string; common: string } {
  const own = join(root, ".git");
  let gitDir = own;
  if (!statSync(own).isDirectory()) {
    const link = /^gitdir: (.+)$/.exec((readText(own) ?? "").trim())?.[1];
    if (link === undefined) throw new UnreadableFile(own);
    gitDir = resolve(root, link);
  }
  const common = readText(join(gitDir, "commondir"))?.trim();
  return { gitDir, common: common === undefined ? gitDir : resolve(gitDir, common) };
}

const largest = 256 * 1024;

class UnreadableFile extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`${path} cannot be read`);
    this.path = path;
  }
}

function readText(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (!stat.isFile() || stat.size > largest) throw new UnreadableFile(path);
  return readFileSync(path, "utf8");
}

/** The first key not known to be harmless, or `except`. Not a full parser: what it cannot read is not harmless. */
export function programKeyIn(config: string, except?: string): string | undefined {
  let section = "";
  for (const line of config.split(/\r?\n/)) {
    if (line.endsWith("\\")) return "a line that goes on in the next one"; // the next may look like something else
    const header = /^\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:\\.|[^"\\])*)")?\s*\](.*)$/.exec(line);
    if (header !== null) section = header[1]!.toLowerCase() + (header[2] === undefined ? "" : ".*");
    const rest = (header?.[3] ?? line).trim();
    if (rest === "" || rest.startsWith("#") || rest.startsWith(";")) continue;
    const pair = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(rest);
    if (pair === null) return JSON.stringify(rest.slice(0, 40));
    const key = pair[1]!.toLowerCase();
    if (`${section}.${key}` === except) continue;
    if (!isHarmless(section, key, (pair[2] ?? "true").trim())) return `${section}.${key}`;
  }
  return undefined;
}

/** A setting that names no program; a section with a part in quotes is `section.*`. */
export function isHarmless(section: string, key: string, value: string): boolean {
  if (section === "core" && key === "fsmonitor") return value === "false";
  // It runs only where somebody types it, and is judged there as if it were written out. Git passes over one for a command of its own.
  if (section === "alias" || (section === "alias.*" && key === "command")) return isPlainAlias(value);
  const keys = harmless.get(section);
  return keys === undefined ? false : keys.size === 0 || keys.has(key);
}

/** Another name for a command of git that looks, or for one without options. */
function isPlainAlias(value: string): boolean {
  if (!/^[a-z][\w .=/@{}^~:-]*$/i.test(value)) return false;
  const words = value.split(/ +/);
  return words.length === 1 || gitUse(["git", ...words].map((word) => literalWord(word))) !== undefined;
}

/** Sections with the keys that count as harmless; none named: all of them, since none can name a program. */
const harmless = new Map(
  Object.entries({
    core:
      "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode protecthfs protectntfs symlinks " +
      "autocrlf eol safecrlf whitespace quotepath trustctime checkstat compression loosecompression bigfilethreshold " +
      "untrackedcache preloadindex commitgraph multipackindex sparsecheckout sparsecheckoutcone abbrev longpaths fscache " +
      "packedgitlimit packedgitwindowsize deltabasecachelimit",
    remote: "pushdefault",
    "remote.*": "url pushurl fetch push prune prunetags tagopt mirror skipdefaultupdate skipfetchall gh-resolved",
    "branch.*": "",
    branch: "",
    user: "",
    author: "",
    committer: "",
    color: "",
    "color.*": "",
    advice: "",
    init: "defaultbranch",
    pull: "",
    push: "",
    fetch: "",
    status: "",
    gc: "",
    rerere: "",
    index: "",
    pack: "",
    feature: "",
    maintenance: "",
    "maintenance.*": "",
    i18n: "",
    commit: "gpgsign verbose status",
    tag: "gpgsign sort forcesignannotated",
    merge: "ff conflictstyle renames renamelimit log stat autostash",
    rebase: "autosquash autostash updaterefs stat",
    diff:
      "algorithm renames renamelimit colormoved colormovedws mnemonicprefix noprefix context interhunkcontext " +
      "wserrorhighlight statgraphwidth relative ignoresubmodules indentheuristic suppressblankempty",
    "diff.*": "xfuncname funcname binary wordregex algorithm",
    log: "date abbrevcommit decorate follow showroot mailmap diffmerges graphcolors",
    extensions: "worktreeconfig objectformat refstorage noop preciousobjects relativeworktrees",
    "submodule.*": "url active branch ignore shallow path fetchrecursesubmodules",
    submodule: "active",
    "gitbutler.*": "",
    gitbutler: "",
    "git-town": "",
    "gitflow.*": "",
    "lfs.*": "access locksverify",
    lfs: "repositoryformatversion",
  }).map(([section, keys]) => [section, new Set(keys.split(" ").filter((key) => key !== ""))] as const),
);

/** Looking at the work tree, git looks into repositories inside of it as well, with their own configuration. */
function nestedIn(gitDir: string): Reason | undefined {
  if (readdirSync(gitDir).some((name) => name.startsWith("sharedindex."))) return reason("repository-split-index", {});
  const path = join(gitDir, "index");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.size > 32 * 1024 * 1024) return reason("repository-index-huge", {});
  // The mode of a nested repository. Found by chance elsewhere it costs a question, no more.
  return readFileSync(path).includes(Buffer.from([0, 0, 0xe0, 0])) ? reason("repository-nested", {}) : undefined;
}
