import assert from "node:assert/strict";
import { test } from "node:test";
import { bash } from "./asking.ts";

const free = [
  "ls|ls -la src|ls --color=never -1|pwd|cat a b|cat -n a|head -20 a|head -n 5 a b|tail -f log|tail -n +3 a|wc -l a|nl a|tac a|rev a",
  "cut -d: -f1 a|tr a-z A-Z|tr -d '\\n'|paste a b|column -t a|comm -12 a b|cmp a b|sort a|sort -rn -k2 a",
  "sort -u a b|uniq a|uniq -c|grep x a|grep -rn --include='*.ts' x src|grep -E 'a|b' a|grep -e x -e y a|egrep x a|fgrep x a|grep -A3 -B 2 x a|grep -v '^#' a",
  "rg x|rg -n 'fn \\w+' src|rg --files|rg -tts x src|rg -l x|rg -g '*.ts' x|find . -name '*.ts'|find src -type f -not -path '*/x/*'|find . -maxdepth 2 -print0",
  "find . \\( -name a -o -name b \\) -newer c|find|fd x|fd -e ts . src|fd -H x|stat a|stat -c %s a|du -sh .|du -h --max-depth=1|file a|basename /etc/x .y",
  "dirname /a/b|realpath a|readlink -f a|echo hi|echo -n 'a b'|echo|printf '%s\\n' a|printf x|true|false|test -f a|test -d src -a -r a|test a = b|which npm",
  "type ls|command -v npm|seq 1 5|seq 5|sleep 1|date|date +%s|date -u +%F|date -Iseconds|uname -a|whoami|id|id -u|sha256sum a|md5sum a b|shasum -a 256 a",
  "jq . a|jq -r '.a[] | .b' a|jq --arg x y '.[$x]' a|tree|tree -L 2 src|sed -n '1,20p' a|sed -n 5p a|sed -n '/x/,/y/p' a|sed -n -e 1p -e '$p' a|sed -n '$=' a",
  'sort *.txt|echo $HOME|echo $(cat a)x|[ -f a ]|[[ -f a && -n x ]]|x=$(ls) && echo "$x"|set -eo pipefail; ls|: ${x:-y}|nproc',
  "cat *.md|ls src/*.ts|wc -l src/*|echo *|CI=1 ls|LC_ALL=C sort a|timeout 5 cat a|time ls|ls | head|cat a | grep x | sort | uniq -c | sort -rn | head -5",
  "awk '{print $1}' a|awk -F, '$3 > 1 {print $1}' a b|awk 'NR>=2 && NR<=4' a|awk -v n=1 '/x/ || n {s += $1} END {print s}'|ls | awk '{print $NF}'",
  "sed p a|sed 's/a/b/g; /^$/d' a|find . -exec ls {} +|find src -name '*.ts' -exec wc -l {} \\;|find . -exec grep -n x {} +|od -c a|xxd a|strings a|hexdump -C a",
  "node --version|python3 -V|npm -v|git --version|hostname|uptime|jobs|tee /dev/null",
  "cd src && ls|ls; pwd|(ls)|{ ls; }|! ls|ls && pwd || true|ls 2>/dev/null|ls 2>&1|cat <<'E'\nx\nE|cat < a|grep x <<< y",
];

const asked = [
  "ls /etc|ls ~|cat ../a|head /etc/passwd|find / -name x|find . -delete|find -L . -name x|fd -x ls|fd -L x|fd --base-directory / x",
  "rg --pre ls x|rg -z x|rg -L x|rg --follow x|ls -LR|ls -L|sort -o a b|sort -T /x a|sort --files0-from=a|uniq a b",
  "wc --files0-from=a|du --files0-from=a|du -L .|tree -o a|tree -l|tree -R -H . -L 1|date -s x|date 010100002020|date -f a|file -f a|file -m a b|file -z a",
  "sha256sum -c a|md5sum --check a|jq -n env|jq '$ENV' a|jq -f a b|jq --slurpfile x /etc/y . a|jq 'import \"a\" as x; .' a|jq -L /x . a|diff --from-file=/etc/x a",
  "sed -n 'w b' a|sed -n '1e ls' a|sed -i s/a/b/ a|sed -n -f a b|sed -n 'r /etc/passwd' a|printf -v x y|test -v x|test -f 'a[1]'|test -R x",
  'echo $API_TOKEN|echo $(env)|echo "$X"|cat $X|ls $(pwd)|cat {a,b}|cat ~bob/x|env|printenv|set|history|less +G a|less -o b a|more +1 a|less ../a|man ls|xargs ls|tee a',
  "curl http://x|ping x|dig x|python -c 1|node -e 1|bash -c ls|sh x|perl x|ruby x|npm test|make|kill 1|base64 a|source a|. a|[ -f /etc/a ]|[[ -v a ]]",
  "/bin/ls|./ls|~/bin/ls|LS|ls; make|ls | make|ls && make|ls > a|ls >> a|cat < /etc/passwd|PATH=x ls|FOO=1 ls|ls &> a|command ls /etc|column -n a /etc/x",
  "awk '{print > \"b\"}' a|awk '{print | \"sh\"}' a|awk 'BEGIN {system(\"ls\")}'|awk '{getline x < \"/etc/passwd\"; print x}' a|awk 'BEGIN {ARGV[1]=\"/etc/passwd\"; ARGC=2} {print}'",
  "awk 'BEGIN {print ENVIRON[\"API_TOKEN\"]}'|awk -f a b|awk '{print}' /etc/passwd|awk '{print}' -v /etc/passwd|awk '{print}' a -F /etc/passwd|awk '@load \"x\"' a|awk $X a|awk '{print}' $X",
  "awk 'BEGIN {SYMTAB[\"ARGV\"][1] = \"/etc/x\"}'|awk '/\"/ {print \"a\" > \"b\"}' a|sed 's/a/b/e' a|sed 's/a/b/w x' a|sed '$!N;P' a|sed w/x a|sed -s r/etc/x a",
  "find . -exec rm {} +|find . -exec sh -c ls {} \\;|find /etc -exec cat {} +|find . -exec cat /etc/passwd \\;|find . -exec cat {}x \\;|find . -exec cat {}|find $X -exec cat {} +|find . -execdir ls {} +",
  "find . -exec sort -o {} {} \\;|find . -exec find {} -delete \\;|find . -exec grep {} a \\;|find . -ok ls {} \\;|find . -exec ls {} + -delete|find . -exec awk '{print}' {} +",
  "make|make -v x|node|node --version x|cargo --version|yarn --version|go version|java|php|tee|tee a /dev/null|hostname x|jobs -x ls|xxd -r a b",
  "date -r /etc/passwd|stat /etc/passwd|readlink -f /etc/x|realpath ~/x|basename $X|type $X|git|cat -z a|ls --unknown|grep --unknown x a|rg --unknown x",
];

test("programs that only read need no rule, in the forms that are known", () => {
  for (const command of free.flatMap((line) => split(line))) assert.equal(bash(command), "allow", command);
});

test("what looks as if it only read is asked about", () => {
  for (const command of asked.flatMap((line) => split(line))) assert.equal(bash(command), "ask", command);
});

/** At every bar that is not part of a command, where it stands between blanks or letters inside of quotes. */
function split(line: string): string[] {
  const found: string[] = [""];
  let quoted = false;
  for (const [i, char] of [...line].entries()) {
    if (char === "'") quoted = !quoted;
    const between = line[i - 1] === " " || line[i - 1] === "|" || line[i + 1] === "|";
    if (char === "|" && !quoted && !between) found.push("");
    else found[found.length - 1] += char;
  }
  return found;
}
