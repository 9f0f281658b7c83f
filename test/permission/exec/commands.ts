import { spawnSync } from "node:child_process";
import type { Dice } from "../../faults/rounds.ts";

/** Acts that a rule or a protected path is against. */
export const acts = [
  "rm f",
  "/bin/rm f",
  "cat .env",
  "cp a.txt .git/hooks/x",
  "echo x > .bashrc",
  "git push",
  "git p",
  "tee .envrc < a.txt",
  "head -1 .env",
];

type Form = [program: string, form: (act: string) => string];
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const double = (text: string) => `"${text.replace(/[\\"$`]/g, "\\$&")}"`;
const ticks = (text: string) => `\`${text.replace(/[\\`]/g, "\\$&")}\``;

/** Ways to have a line run, each with the program that it takes. */
export const forms: Form[] = [
  ["bash", (act) => `bash -c ${quote(act)}`],
  ["sh", (act) => `sh -ec ${double(act)}`],
  ["bash", (act) => `eval ${quote(act)}`],
  ["bash", (act) => `bash <<< ${quote(act)}`],
  ["bash", (act) => `echo ${quote(act)} | sh`],
  ["bash", (act) => `printf '%s\\n' ${quote(act)} | bash`],
  ["bash", (act) => `printf '%s%s' ${quote(act.slice(0, 1))} ${quote(act.slice(1))} | sh`],
  ["bash", (act) => `source <(echo ${quote(act)})`],
  ["bash", (act) => `. /dev/stdin <<< ${quote(act)}`],
  ["bash", (act) => `bash -s <<'E'\n${act}\nE`],
  ["bash", (act) => `trap ${quote(act)} EXIT`],
  ["bash", (act) => `echo "$(${act})"`],
  ["bash", (act) => `echo ${ticks(act)}`],
  ["bash", (act) => `echo ${ticks(`echo ${ticks(act)}`)}`],
  ["bash", (act) => `x="${ticks(`echo ${ticks(act)}`)}"; echo "$x"`],
  ["bash", (act) => `cat <(${act})`],
  ["bash", (act) => `g() { ${act}; }; g`],
  ["bash", (act) => `x=${quote(act)}; $x`],
  ["bash", (act) => `x=${quote(act)}; eval "$x"`],
  ["bash", (act) => `for x in 1; do ${act}; done`],
  ["bash", (act) => `if true; then ${act}; fi`],
  ["bash", (act) => `case x in x) ${act};; esac`],
  ["bash", (act) => `cat <<E\n$(${act})\nE`],
  ["bash", (act) => `( { ${act}; } )`],
  ["bash", (act) => `coproc { ${act}; }; wait`],
  ["bash", (act) => `mapfile -C ${quote(`${act} #`)} -c 1 v < a.txt`],
  ["bash", (act) => `alias q=${quote(act)}; shopt -s expand_aliases\nq`],
  ["env", (act) => `env -S ${quote(act)}`],
  ["env", (act) => `env A=1 sh -c ${quote(act)}`],
  ["timeout", (act) => `timeout 5 ${act}`],
  ["nice", (act) => `nice -n 5 ${act}`],
  ["nohup", (act) => `nohup ${act}`],
  ["setsid", (act) => `setsid -w ${act}`],
  ["stdbuf", (act) => `stdbuf -oL ${act}`],
  ["bash", (act) => `command ${act}`],
  ["bash", (act) => `time ${act}`],
  ["flock", (act) => `flock /tmp/l -c ${quote(act)}`],
  ["busybox", (act) => `busybox sh -c ${quote(act)}`],
  ["busybox", (act) => `busybox ${act}`],
  ["find", (act) => `find a.txt -exec sh -c ${quote(act)} \\;`],
  ["find", (act) => `find a.txt -exec ${act} \\;`],
  ["xargs", (act) => `echo a.txt | xargs sh -c ${quote(act)}`],
  ["xargs", (act) => `echo ${quote(act.split(" ").slice(1).join(" "))} | xargs ${act.split(" ")[0]}`],
  ["xargs", () => "echo a.txt | xargs sed -n '1e rm f'"],
  ["parallel", (act) => `parallel ::: ${quote(act)}`],
  ["watch", (act) => `timeout 1 watch ${quote(act)}`],
  ["script", (act) => `script -qc ${quote(act)} /dev/null`],
  ["script", (act) => `script -q /dev/null -c${quote(act)}`],
  ["tmux", (act) => `tmux -S /tmp/t new -d ${quote(act)}; sleep 0.3`],
  ["tmux", (act) => `tmux -S /tmp/t new -d; tmux -S /tmp/t run-shell ${quote(act)}; tmux -S /tmp/t kill-server`],
  ["screen", (act) => `screen -dmS x sh -c ${quote(act)}; sleep 0.3`],
  ["dtach", (act) => `dtach -n /tmp/d sh -c ${quote(act)}; sleep 0.2`],
  ["rlwrap", (act) => `rlwrap sh -c ${quote(act)}`],
  ["fakeroot", (act) => `fakeroot ${act}`],
  ["proot", (act) => `proot ${act}`],
  ["entr", (act) => `ls a.txt | timeout 1 entr -nrs ${quote(act)}`],
  ["hyperfine", (act) => `hyperfine -r 1 -i ${quote(act)}`],
  ["expect", (act) => `expect -c ${quote(`spawn sh -c {${act}}; expect eof`)}`],
  ["ccache", (act) => `ccache ${act}`],
  ["git", (act) => `git -c alias.x=${quote(`!${act}`)} x`],
  ["git", (act) => `git -c core.pager=${quote(act)} -p log`],
  ["git", (act) => `git -c diff.external=${quote(act)} diff`],
  ["git", (act) => `GIT_EXTERNAL_DIFF=${quote(act)} git diff`],
  ["git", (act) => `GIT_EDITOR=${quote(act)} git commit --amend`],
  ["git", (act) => `GIT_SEQUENCE_EDITOR=${quote(act)} git rebase -i --root --autostash`],
  ["git", (act) => `GIT_SSH_COMMAND=${quote(act)} git ls-remote ssh://h/x`],
  ["git", (act) => `git grep -O${quote(act)} a`],
  ["git", (act) => `git grep --open-files-in-pager=${quote(act)} a`],
  ["git", (act) => `git stash -q; git rebase -x ${quote(act)} --root`],
  ["git", (act) => `git difftool -yx ${quote(act)}`],
  ["git", (act) => `git stash -q; git filter-branch -f --tree-filter ${quote(act)} HEAD`],
  ["git", (act) => `git ls-remote --upload-pack=${quote(`${act};`)} .`],
  ["git", (act) => `git clone -u ${quote(`${act};`)} . /tmp/c`],
  ["git", (act) => `git -c protocol.ext.allow=always ls-remote ${quote(`ext::sh -c ${act.replaceAll(" ", "% ")}`)}`],
  ["git", (act) => `git -c core.editor=${quote(act)} -c sequence.editor=true branch --edit-description`],
  ["git", (act) => `git -c credential.helper=${quote(`!${act};`)} credential fill <<< url=http://h/`],
  ["tar", (act) => `tar cf /dev/null a.txt --checkpoint=1 --checkpoint-action=exec=${quote(act)}`],
  ["tar", (act) => `tar xf t.tar --to-command=${quote(act)}`],
  ["tar", (act) => `tar cf x.tar -I ${quote(act)} a.txt`],
  ["tar", (act) => `tar cf x.tar --use-comp ${quote(act)} a.txt`],
  ["split", (act) => `split --filter=${quote(act)} a.txt`],
  ["sort", (act) => `seq 300000 | sort -S 1K --compress-program=${act.split(" ")[0]} > /dev/null`],
  ["man", (act) => `man -P ${quote(act)} ls`],
  ["awk", (act) => `awk 'BEGIN{system("${act}")}'`],
  ["awk", (act) => `awk 'BEGIN{print "${act}" | "sh"}'`],
  ["sed", (act) => `sed '1e ${act}' a.txt`],
  ["sed", (act) => `echo ${quote(act)} | sed 's/^/ /e'`],
  ["make", (act) => `make --eval=${quote(`x:;${act}`)} x`],
  ["make", (act) => `make CC=${quote(`${act};`)} main`],
  ["make", (act) => `CC=${quote(`${act};`)} make -e main`],
  ["make", (act) => `make -f - <<< ${quote(`x:;${act}`)}`],
  ["make", (act) => `make SHELL=/bin/bash .SHELLFLAGS=${quote("-c")} --eval=${quote(`$(shell ${act})`)}`],
  ["gcc", (act) => `gcc -wrapper ${act.replaceAll(" ", ",")} main.c`],
  ["go", (act) => `GOCACHE=/tmp/g go vet -vettool=${act.split(" ")[0]} main.go`],
  ["ssh", (act) => `ssh -o ProxyCommand=${quote(act)} h`],
  ["ssh", (act) => `ssh -oProxyCommand=${quote(act)} h`],
  ["ssh", (act) => `ssh -o ${quote(`ProxyCommand ${act}`)} h`],
  ["ssh", (act) => `ssh -o ${quote(`KnownHostsCommand=${act}`)} h`],
  ["scp", (act) => `scp -S ${act.split(" ")[0]} a.txt h:b`],
  ["sftp", (act) => `sftp -D ${quote(act)} h`],
  ["sftp", (act) => `sftp -D /usr/lib/openssh/sftp-server -b - h <<< ${quote(`!${act}`)}`],
  ["sftp", () => "sftp -D /usr/lib/openssh/sftp-server -b - h <<< 'get .env copy'"],
  ["rsync", (act) => `rsync -e ${quote(act)} a.txt h:b`],
  ["ed", (act) => `ed -s <<< ${quote(`!${act}`)}`],
  ["ed", (act) => `ed -s a.txt <<< ${quote(`r !${act}`)}`],
  ["ed", () => "ed -s <<< $'r .env\\n,p\\nQ'"],
  ["ed", () => "ed -s a.txt <<< 'w .bashrc'"],
  ["vim.tiny", (act) => `vim.tiny -es -c ${quote(`!${act}`)} -c q a.txt`],
  ["vim.tiny", (act) => `vim.tiny -es a.txt <<< ${quote(`:!${act}`)}`],
  ["ex", (act) => `ex -s a.txt <<< ${quote(`!${act}`)}`],
  ["gdb", (act) => `gdb -batch -ex ${quote(`shell ${act}`)}`],
  ["gdb", (act) => `gdb -batch <<< ${quote(`!${act}`)}; gdb -q <<< ${quote(`shell ${act}`)}`],
  ["sqlite3", (act) => `sqlite3 :memory: ${quote(`.shell ${act}`)}`],
  ["sqlite3", (act) => `sqlite3 :memory: <<< ${quote(`.system ${act}`)}`],
  ["dc", (act) => `dc -e ${quote(`!${act}`)}`],
  ["dc", (act) => `dc <<< ${quote(`!${act}`)}`],
  ["m4", (act) => `m4 <<< ${quote(`syscmd(${act})`)}`],
  ["python3", (act) => `python3 -c 'import os; os.system("${act}")'`],
  ["python3", (act) => `python3 - <<< 'import subprocess; subprocess.run("${act}", shell=True)'`],
  ["perl", (act) => `perl -e 'system("${act}")'`],
  ["perl", (act) => `perl -ne 'print \`${act}\`' a.txt`],
  ["ruby", (act) => `ruby -e 'system("${act}")'`],
  ["node", (act) => `node -e 'require("child_process").execSync("${act}")'`],
  ["php", (act) => `php -r 'system("${act}");'`],
  ["lua", (act) => `lua5.4 -e 'os.execute("${act}")'`],
  ["tclsh", (act) => `tclsh <<< 'exec sh -c {${act}}'`],
  ["socat", (act) => `socat -u ${quote(`SYSTEM:${act}`)} STDOUT`],
  ["zip", (act) => `zip x a.txt -T -TT ${quote(`${act};`)}`],
  ["less", (act) => `LESSOPEN=${quote(`|${act}`)} less a.txt`],
  ["less", (act) => `LESSOPEN=${quote(`|${act}`)} less a.txt | cat`],
  ["hg", (act) => `hg --config alias.x=${quote(`!${act}`)} x`],
  ["svn", (act) => `svn --editor-cmd ${quote(act)} mkdir file:///tmp/x`],
  ["rg", (act) => `rg --pre ${act.split(" ")[0]} x`],
  ["fdfind", (act) => `fdfind -d1 '^a.txt$' -x sh -c ${quote(act)}`],
  ["npm", (act) => `npm exec -c ${quote(act)}`],
  ["npx", (act) => `npx -c ${quote(act)}`],
  ["fzf", (act) => `FZF_DEFAULT_COMMAND=${quote(act)} timeout 1 fzf -f a`],
  ["nano", (act) => `VISUAL=${quote(act)} crontab -e`],
  ["emacs", (act) => `emacs --batch --eval '(shell-command "${act}")'`],
  ["7z", (act) => `7z a x.7z a.txt; ${act}`],
  ["bash", () => "cp /bin/rm z; ./z f"],
  ["bash", () => "ln -s $(which rm) z; ./z f"],
  ["bash", () => "cat /bin/rm > z; chmod +x z; ./z f"],
  ["git", () => "git danger"],
  ["git", () => "git leak"],
  ["git", () => "git add -p <<< q"],
  ["git", () => "git commit -v --dry-run"],
  ["git", () => "git checkout -p <<< q"],
  ["git", () => "git stash -p <<< q"],
  ["jq", () => `jq -n 'import "./secret" as $x; $x'`],
  ["jq", () => `jq -L . -n 'import "secret" as $x; $x'`],
  ["jq", () => `jq -n --slurpfile a secret.json '$a'`],
  ["sed", () => "sed -n '1r .env' a.txt"],
  ["sed", () => "sed 'w .bashrc' a.txt"],
  ["bash", () => "patch -p0 < <(printf '%s\\n' '--- /dev/null' '+++ .bashrc' '@@ -0,0 +1 @@' '+x')"],
  ["patch", () => "printf -- '--- /dev/null\\n+++ .bashrc\\n@@ -0,0 +1 @@\\n+x\\n' > src/p; patch -p0 < src/p"],
];

/** Forms whose program is here, with those that are not. */
export function present(): { here: Form[]; absent: string[] } {
  const names = [...new Set(forms.map(([program]) => program))];
  const absent = names.filter((name) => spawnSync("which", [name]).status !== 0);
  return { here: forms.filter(([program]) => !absent.includes(program)), absent };
}

/** A line that runs one of the acts, behind up to three programs, among other commands. */
export function generated(dice: Dice, here: readonly Form[]): string {
  let line = dice.pick(acts);
  for (let depth = 1 + dice.below(3); depth > 0; depth--) line = dice.pick(here)[1](line);
  if (dice.chance(0.2)) line = `cd . && ${line}`;
  if (dice.chance(0.2)) line = `${line}; echo done`;
  return line;
}

/** Commands that give a program one of its options that take a program, as its own help tells. */
export function fromHelp(programs: readonly string[]): string[] {
  return programs.flatMap((program) => {
    const sandbox = [
      "--unshare-all",
      "--die-with-parent",
      "--ro-bind",
      "/",
      "/",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--tmpfs",
      "/tmp",
    ];
    const args = [...sandbox, "timeout", "-k", "1", "2", program, "--help"];
    const { stdout, stderr } = spawnSync("bwrap", args, { encoding: "utf8", input: "", timeout: 4_000, cwd: "/" });
    const options = `${stdout}${stderr}`.matchAll(
      /(?<![\w-])(--?[A-Za-z][\w-]*)(?:\[?=|\s)[[<]?(?:shell-?|external-?)?(?:command|cmd|prog(?:ram)?|pager|editor|shell|exec(?:utable)?|filter|hook|script)\b/gi,
    );
    return [...new Set([...options].map(([, option = ""]) => option))].flatMap((option) => [
      `${program} ${option} 'rm f' a.txt`,
      ...(option.startsWith("--") ? [`${program} ${option}='rm f' a.txt`, `${program} ${option}=rm a.txt`] : []),
    ]);
  });
}
