/** Facts about programs, for allow, deny, paths and protected files alike. `npm run test:exec` holds it against what really runs. */
type Facts = {
  /** Subcommands that mean the same, read as the first of their group. Some are two words: `image+push`. */
  same?: string;
  /** Subcommands may be shortened as long as they are unique. */
  shortens?: true;
  /** Letter case of a subcommand does not count. */
  caseless?: true;
  /** Names of one option, in groups. `+` and `:` are operands that begin so. With a subcommand before it: of that alone. */
  options?: string;
  /** Options whose value is run as a command, wherever they stand. */
  runs?: string;
  /** Options whose value is `name=command`, with a name that tells. */
  sets?: string;
  /** Subcommands after which the words of another command come; with none, it is any of the words. */
  carries?: string;
  /** Language of its standard input and of `scripts`. */
  input?: "editor" | "console" | "transfer" | "words";
  /** Options whose value is in that language. */
  scripts?: string;
  /** Other programs that it starts by itself. */
  starts?: string;
  /** Operands that may stand before a subcommand and change nothing about it; `+` begins any such, `_` is any word after the one named. */
  before?: string;
  /** Each of its operands is a subcommand of its own: goals, targets, tasks. */
  goals?: true;
  /** A subcommand that nobody knows is the word after this one. */
  otherwise?: string;
  /** Variables whose words it reads as its own. */
  variables?: string;
};

export function programFacts(program: string): Facts {
  return table.get(program) ?? table.get(program.replace(/(?<=[a-z])[\d.]+$/, "")) ?? nothing;
}

const nothing: Facts = {};

/** Names of the same option, by program or by program and subcommand. */
export function aliasesOf(program: string, subcommand: string): readonly (readonly string[])[] {
  return [...(groups.get(program) ?? []), ...(groups.get(`${program} ${subcommand}`) ?? [])];
}

/** Programs of one kind. A version number behind the name does not count. */
export function isA(kind: Kind, program: string): boolean {
  const name = program.toLowerCase();
  return kinds[kind].has(name) || (/\d$/.test(name) && kinds[kind].has(name.replace(/(?<=[a-z+])[\d.]+$/, "")));
}

/** Programs that read their words from this variable too. */
export function programsReading(variable: string): string[] {
  return [...table].flatMap(([name, { variables = "" }]) => (variables.split(" ").includes(variable) ? [name] : []));
}

const table = new Map<string, Facts>();
function facts(names: string, how: Facts): void {
  for (const name of names.split(" ")) table.set(name, { ...table.get(name), ...how });
}

// Package managers
const npmVerbs =
  "install i in ins inst insta instal isnt isnta isntal isntall add|ci ic clean-install install-clean isntall-clean|" +
  "uninstall un unlink remove rm r|update up upgrade udpate|publish|unpublish|run run-script rum urn|exec x|test t tst|" +
  "login adduser add-user|logout|owner author|dist-tag dist-tags|view info show v|version verison|list ls la ll|config c|" +
  "link ln|search s se find|init create innit|install-test it|install-ci-test cit|dedupe ddp|explain why|rebuild rb|access|" +
  "audit|bugs issues|cache|completion|deprecate|diff|docs home|doctor|edit|explore|fund|get|help hlep|hook|org ogr|outdated|" +
  "pack|ping|pkg|prefix|profile|prune|query|repo|restart|root|sbom|set|shrinkwrap|star|stars|start|stop|team|token|undeprecate|" +
  "unstar|whoami";
facts("npm", {
  same: npmVerbs,
  shortens: true,
  options: "-g --global --location=global|-D --save-dev|-f --force|-w --workspace|-y --yes",
  runs: "-c --call --script-shell --shell --editor --viewer --browser --git",
  carries: "exec x",
  starts: "node sh git",
});
facts("pnpm", {
  same:
    "install i|add|publish|remove rm uninstall un|update up upgrade|run run-script|exec|link ln|list ls|test t|approve-builds|audit|bin|bugs|cache|cat-file|cat-index|config c|create|dedupe|deploy|deprecate|dist-tag|dlx|doctor|env|fetch|find-hash|" +
    "import|init|licenses|login|logout|ls|multi|outdated|owner|pack|patch|patch-commit|patch-remove|ping|prune|rebuild rb|recursive|" +
    "root|search|self-update|server|setup|start|store|unpublish|version|view|whoami|why",
  options: "-g --global|-D --save-dev|-r --recursive",
  runs: "-c --script-shell --shell",
  carries: "exec dlx",
  otherwise: "run",
});
facts("yarn", {
  same:
    "publish npm+publish|access|add|audit|autoclean|bin|cache|check|config|constraints|create|dedupe|dlx|exec|explain|" +
    "generate-lock-entry|global|help|import|info|init|install|licenses|link|list|login|logout|node|npm|outdated|owner|pack|patch|" +
    "patch-commit|plugin|policies|prune|rebuild|remove|run|search|set|stage|tag|team|unlink|unplug|up|upgrade|upgrade-interactive|" +
    "version|versions|why|workspace|workspaces",
  options: "-D --dev",
  carries: "exec dlx",
  runs: "--script-shell",
  before: "workspace _",
  otherwise: "run",
});
facts("bun", {
  same:
    "install i|add a|remove rm|run|x|publish|audit|build|c create|completions|exec|help|info|init|link|outdated|patch|pm|repl|" +
    "test|unlink|update|upgrade|why",
  carries: "x",
  otherwise: "run",
});
facts("cargo rustc rustdoc", { before: "+" });
facts("gcloud", { before: "alpha beta preview" });
facts("git", { before: "for-each-repo" });

// Programs whose operands are goals, each of them to be reached
facts("make gmake mvn gradle ant rake just task nox invoke mage sbt ninja grunt gulp buck2 run-s run-p npm-run-all", {
  goals: true,
});
facts("make gmake", { variables: "MAKEFLAGS GNUMAKEFLAGS" });
facts("mvn", { variables: "MAVEN_ARGS MAVEN_CMD_LINE_ARGS" });
facts("terraform tofu", { variables: "TF_CLI_ARGS TF_CLI_ARGS_" });
facts("go", { variables: "GOFLAGS" });
facts("node", { variables: "NODE_OPTIONS" });
facts("ruby", { variables: "RUBYOPT" });
facts("perl", { variables: "PERL5OPT" });
facts("ansible", { variables: "ANSIBLE_ARGS" });
facts("npx bunx", { runs: "-c --call --script-shell --shell", starts: "node sh git" });
facts("pip", { options: "-e --editable|-r --requirement|-U --upgrade" });
facts("cargo", {
  same: "build b|check c|test t|run r|doc d|remove rm|publish|install|add",
  sets: "--config -C --codegen",
});
facts("rustc", { sets: "-C --codegen" });
facts("cargo rustc", { variables: "RUSTFLAGS CARGO_BUILD_RUSTFLAGS RUSTDOCFLAGS" });
facts("gem", { same: "push|install|uninstall|yank|update|list|fetch|build|owner|signin|sources|cert", shortens: true });
facts("brew", { same: "uninstall remove rm|install|upgrade" });
facts("apt apt-get dpkg", { sets: "-o --option" });
facts("conda mamba micromamba", { same: "remove uninstall", carries: "run" });
facts("helm", { same: "uninstall un delete del|install|upgrade|push|list ls" });
facts("gh", { same: "pr+create pr+new", options: "-f --field --raw-field|-X --method|-R --repo" });

// Containers and services
facts("docker podman nerdctl", {
  same:
    "run container+run|create container+create|exec container+exec|rm container+rm|kill container+kill|stop container+stop|" +
    "cp container+cp|commit container+commit|export container+export|start container+start|restart container+restart|" +
    "ps container+ls container+ps container+list|logs container+logs|push image+push compose+push build+--push|pull image+pull|rmi image+rm image+remove|" +
    "build image+build buildx+build builder+build|images image+ls image+list|save image+save|load image+load|" +
    "tag image+tag|import image+import",
  options: "-v --volume|-f --force|-e --env|-p --publish|-t --tag|-u --user",
});
facts("kubectl", { options: "-n --namespace|-f --filename|-A --all-namespaces|-l --selector" });
facts("terraform tofu", { same: "destroy apply+-destroy apply+--destroy", options: "-auto-approve --auto-approve" });
facts("redis-cli valkey-cli", {
  caseless: true,
  same: "flushall|flushdb|shutdown|eval|config|debug|del",
  input: "words",
});
facts("ansible", { runs: "-a --args" });

// git and its like
facts("git", {
  options:
    "push: -f --force + --mirror|push: -d --delete : --mirror --prune|push: -n --dry-run|push: --no-verify|branch: -d -D --delete|branch: -f --force|" +
    "branch: -m -M --move|tag: -d --delete|tag: -f --force|commit: -n --no-verify|commit: -a --all|commit: -m --message|" +
    "clean: -f --force|checkout: -f --force|switch: -f --force --discard-changes|switch: -c -C --create|reset: --hard|" +
    "add: -A --all --no-ignore-removal|add: -f --force|add: -u --update|fetch: -f --force|rebase: -i --interactive|" +
    "rebase: -x --exec|stash: -u --include-untracked|stash: -a --all",
  runs:
    "grep: -O --open-files-in-pager|rebase: -x --exec|difftool: -x --extcmd|mergetool: --tool|clone: -u|" +
    "instaweb: -d --httpd -b --browser|daemon: --access-hook|" +
    "--upload-pack --receive-pack --exec --sendmail-cmd --to-cmd --cc-cmd --header-cmd --smtp-server",
  sets: "-c --config",
  carries: "foreach run merge-index",
  starts: "ssh gpg sh less rm sed cat sleep",
});
facts("hg", {
  same: "push|commit ci|update checkout co up|remove rm|rename mv move|pull|clone|strip|config",
  shortens: true,
  sets: "--config",
  runs: "-e --ssh --remotecmd",
});
facts("svn", {
  same: "commit ci|delete del remove rm|checkout co|update up|switch sw|propset pset ps",
  runs: "--editor-cmd --diff-cmd --diff3-cmd",
  sets: "--config-option",
});

// Files
facts("rm", { options: "-r -R --recursive|-f --force|-d --dir" });
facts("cp", { options: "-r -R --recursive|-f --force|-a --archive" });
facts("mv", { options: "-f --force" });
facts("ln", { options: "-s --symbolic|-f --force" });
facts("chmod chown", { options: "-R --recursive" });
facts("sed gsed", { options: "-i --in-place|-e --expression|-f --file" });
facts("find", { options: "-delete" });
facts("kill killall pkill", { options: "-9 -KILL -SIGKILL" });
facts("rg", { runs: "--pre --hostname-bin" });
facts("fd fdfind", { runs: "-x -X --exec --exec-batch" });
facts("sort gsort", { runs: "--compress-program" });
facts("split gsplit", { runs: "--filter" });
facts("man", {
  runs: "-P --pager -H --html",
  starts: "less col preconv locale troff grotty groff nroff tbl zsoelim manconv gzip cat",
});
facts("bat batcat delta", { runs: "--pager" });
facts("nano", { runs: "-s --speller" });
facts("tar gtar bsdtar", {
  options: "-x --extract --get|-c --create|-C --directory|-f --file|-P --absolute-names",
  runs: "-I --use-compress-program --to-command -F --info-script --new-volume-script --rsh-command --rmt-command",
  sets: "--checkpoint-action",
});
facts("zip", { runs: "-TT --unzip-command", variables: "ZIPOPT" });
facts("cpio", { runs: "--rsh-command" });
facts("ed red", { input: "editor" });
facts("ex vi vim nvim vimdiff gvim rvim vim.tiny vim.basic", { input: "editor", scripts: "-c --cmd +" });
facts("less more", { scripts: "+", input: "console" });
facts("m4 mail mailx s-nail telnet gnuplot", { input: "console" });
facts("dc", { input: "console", scripts: "-e --expression" });

// Other machines
facts("ssh scp sftp slogin", { sets: "-o", options: "-o", starts: "ssh" });
facts("scp sftp", { runs: "-S -D" });
facts("sftp", { input: "transfer" });
facts("ftp lftp", { input: "transfer", scripts: "-c -e" });
facts("rsync", { runs: "-e --rsh", starts: "ssh rsync" });
facts("curl", {
  options:
    "-X --request|-d --data|-F --form|-T --upload-file|-o --output|-O --remote-name|-k --insecure|-L --location|-u --user|-K --config|-x --proxy",
});
facts("wget", {
  options: "-O --output-document|-P --directory-prefix|-r --recursive|-i --input-file",
  runs: "--use-askpass",
});
facts("nc ncat netcat", { runs: "-e -c --exec --sh-exec" });
facts("gpg gpg2", { runs: "--photo-viewer --agent-program --dirmngr-program --pinentry-program" });

// Builders and languages
facts("make gmake", {
  options: "-f --file --makefile|-C --directory|-B --always-make",
  runs: "--eval",
  starts: "sh cc gcc g++ ld as",
});
facts("go", { runs: "-exec --exec -toolexec --toolexec -vettool --vettool", sets: "-ldflags --ldflags -gccgoflags" });
facts("gcc g++ cc c++ clang clang++", { runs: "-wrapper", starts: "cc1 cc1plus as ld collect2" });
facts("node", { options: "-e --eval|-p --print|-r --require" });
facts("gdb lldb", {
  input: "console",
  scripts: "-ex -iex -o --eval-command --init-eval-command --one-line",
  starts: "iconv",
});
facts("psql", { input: "console", scripts: "-c --command" });
facts("mysql mariadb", { input: "console", scripts: "-e --execute", runs: "--pager" });
facts("sqlite3 sqlite duckdb", { input: "console", scripts: "-cmd -c" });

// Terminals, and programs that run another
facts("script", { runs: "-c --command" });
facts("su runuser flock env", { runs: "-c --command -S --split-string" });
facts("sudo", { options: "-u --user|-i --login|-s --shell" });
facts("nix-shell nix", { runs: "--run --command", carries: "" });
facts("nodemon watchexec", { runs: "-x --exec" });
facts("xdg-open open", { runs: "-a" });
facts("fzf sk", { runs: "--preview", sets: "--bind" });
for (const line of [
  "uv run|poetry run|pipenv run|bundle exec|direnv exec|rr run record|perf stat record trace|aws-vault exec|doppler run",
  "infisical run|chamber exec|op run|pixi run|hatch run|pdm run|rye run|pyenv exec|rbenv exec|asdf exec|mise exec x|ip exec",
  "volta run|apptainer exec|singularity exec|npx|bunx|uvx|script|systemd-run|entr|numactl|proxychains|proxychains4|torsocks",
  "faketime|valgrind|screen|tmux|dotenv|xvfb-run|firejail|pkexec|bwrap|proot|fakeroot|dbus-run-session|concurrently",
  "hyperfine|setarch|linux32|linux64|setpriv|cgexec|gosu|chpst|tini|dumb-init|eatmydata|ld.so|ld-linux-x86-64.so.2",
  "ld-linux-aarch64.so.1|ld-musl-x86_64.so.1|cpulimit|tsocks|trickle|envdir|cross-env|env-cmd|watchexec|nodemon|retry",
  "runuser|nsenter|rlwrap|unbuffer|prlimit|gdb|expect|at|batch|ccache|distcc|dtach|nq",
])
  for (const row of line.split("|")) {
    const [name = "", ...verbs] = row.split(" ");
    facts(name, { carries: verbs.join(" ") });
  }

facts("parallel", { starts: "perl sh echo hostname lscpu false rm sleep ps" });
facts("tmux screen", { starts: "utempter id" });
facts("fakeroot", { starts: "getopt sed cut faked faked-sysv" });

const groups = new Map<string, string[][]>();
for (const [name, { options = "" }] of table)
  for (const group of options.split("|").filter((text) => text !== "")) {
    const [, subcommand, names] = /^(?:([a-z-]+): )?(.+)$/.exec(group)!;
    const key = subcommand === undefined ? name : `${name} ${subcommand}`;
    groups.set(key, [...(groups.get(key) ?? []), names!.split(" ")]);
  }

type Kind = keyof typeof kindNames;
const kindNames = {
  shell: "sh bash zsh dash ksh ash mksh rbash fish csh tcsh yash posh",
  /** Their arguments are themselves a command. */
  wrapper:
    "sudo doas su env timeout time nice nohup stdbuf command builtin exec eval trap xargs parallel watch setsid ionice chrt taskset " +
    "flock faketime chroot unshare strace ltrace busybox toybox caffeinate sh bash zsh dash ksh fish bwrap firejail proot " +
    "setpriv nsenter numactl systemd-run runuser runcon choom cgexec prlimit pkexec gosu chpst softlimit setuidgid s6-setuidgid " +
    "fakeroot fakechroot minijail0 nsjail sandbox-exec schroot setarch cpulimit daemonize start-stop-daemon timelimit lockf sem " +
    "chronic ifne dtach abduco nq tsp coreutils ccache distcc unbuffer rlwrap",
  /** Languages in which a program can be given on the command line, or else on standard input. */
  interpreter:
    "python pypy node nodejs deno bun ruby perl php lua luajit rscript julia osascript pwsh powershell tsx ts-node jshell groovy " +
    "scala elixir tclsh guile racket",
  /** Take code of their own kind among their words. */
  language:
    "awk gawk mawk nawk sqlite3 sqlite psql mysql mariadb ed ex vim vi nvim emacs bc gdb expect make gmake duckdb m4 jq gojq jaq gnuplot octave",
  /** Run the script they are given. */
  runner:
    "sh bash zsh dash ksh fish python pypy node nodejs deno bun tsx ts-node ruby perl php lua luajit rscript julia osascript pwsh " +
    "java groovy elixir tclsh expect make gmake source . xargs npx bunx uvx uv pipx",
  /** Take code from their standard input when they are given none. */
  stdin:
    "sh bash zsh dash ksh ash fish python pypy node nodejs deno bun tsx ts-node ruby perl php lua luajit rscript julia osascript " +
    "pwsh tclsh guile irb ghci iex psql mysql mariadb sqlite xargs parallel at batch crontab ssh docker kubectl",
  /** Run the files they are given, or do what those say. */
  obedient:
    "sh bash dash zsh ksh ash csh tcsh fish nu . source python pypy node nodejs deno bun bunx tsx ts-node vite-node zx ruby perl php lua " +
    "luajit rscript julia octave pwsh osascript tclsh expect awk gawk groovy scala java kotlin clojure bb elixir dart swift go guile racket " +
    "sbcl make gmake just uv pytest mocha jest patch psql mysql mariadb sqlite duckdb ansible-playbook kubectl docker podman at crontab " +
    "vim nvim emacs gdb",
  /** Any of their operands, or all of them together, may be a line for a shell. */
  lines:
    "tmux screen watch parallel expect at batch entr concurrently hyperfine nodemon watchexec dtach nq ts tsp fzf sk pee mispipe sg",
  /** Scripts in their operands are seen by their looks. */
  texts:
    "tmux screen script nix-shell expect gdb at batch entr vim vi nvim ex less sqlite3 concurrently hyperfine nodemon watchexec",
  container: "docker podman nerdctl",
  unpacker: "tar gtar bsdtar unzip 7z 7za cpio pax jar rsync",
  packer: "tar gtar bsdtar zip 7z 7za rsync scp cpio pax",
  /** Put other bytes of a program under another name. */
  copier:
    "cp mv ln link install dd rsync cat tee scp gcp gmv gln ginstall patchelf objcopy strip tar zip cpio pax 7z gzip bzip2 xz zstd " +
    "base64 xxd sed awk head tail tac",
  /** Their commands run in another place than this one. */
  elsewhere: "ssh docker nerdctl docker-compose kubectl helm minikube heroku fly vercel netlify",
  /** Their words are known to be no commands. */
  known:
    "cd pushd popd export unset set local declare readonly typeset alias read wait kill return exit : [ [[ test true false " +
    "git hub gh glab npm pnpm yarn bun deno pipx uv poetry pipenv conda cargo rustup go mvn gradle gem bundle composer dotnet " +
    "mix brew apt apt-get dnf yum apk pacman snap flatpak choco winget podman " +
    "terraform aws gcloud az systemctl service journalctl make gmake cmake ninja bazel rake tox nox " +
    "tsc eslint prettier jest vitest mocha pytest mypy ruff black flake8 pylint playwright cypress turbo nx lerna psql mysql sqlite3 " +
    "redis-cli mongosh scp sftp rsync curl wget tar unzip gzip man tldr which whereis type hash code open xdg-open less more " +
    "vim vi nvim nano emacs jj hg svn sl gt pass op tmux screen useradd usermod groupadd adduser python pip node ruby perl php",
};
const kinds = Object.fromEntries(
  Object.entries(kindNames).map(([kind, names]) => [kind, new Set(names.split(" "))]),
) as unknown as Record<Kind, ReadonlySet<string>>;

/** Variables that programs run as a command, or take one from. */
export function runsVariable(name: string): boolean {
  return variables.test(name);
}

const variables =
  /^(GIT_(EXTERNAL_DIFF|SSH|SSH_COMMAND|PAGER|EDITOR|SEQUENCE_EDITOR|ASKPASS|PROXY_COMMAND)|SSH_ASKPASS|VISUAL|EDITOR|FCEDIT|PAGER|BROWSER|LESSOPEN|LESSCLOSE|LESSEDIT|SHELL|SUDO_(EDITOR|ASKPASS)|SYSTEMD_(EDITOR|PAGER)|SVN_(EDITOR|SSH)|HG(EDITOR|MERGE)|(RSYNC|CVS)_(RSH|CONNECT_PROG)|CC|CXX|CPP|LD|AR|AS|FC|PKG_CONFIG|RUSTC|RUSTDOC|RUSTC_(WORKSPACE_)?WRAPPER|CARGO_BUILD_RUSTC\w*|CARGO_TARGET_\w+_(RUNNER|LINKER)|CMAKE_\w+_LAUNCHER|CCACHE_PREFIX\w*|MAKE|YACC|LEX|PROMPT_COMMAND|TAR_OPTIONS|FZF_DEFAULT_(COMMAND|OPTS)|\w+_(EDITOR|PAGER|BROWSER|ASKPASS|RSH)|(npm_config|NPM_CONFIG)_(script_shell|shell|editor|git)|MAN_?PAGER|KUBE_EDITOR|TEXEDIT|XTERM_SHELL)$/;
