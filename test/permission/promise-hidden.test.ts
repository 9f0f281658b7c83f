import { describe, test } from "node:test";
import { all } from "./promised.ts";

describe("A1 a word that is not known may be what a deny or ask rule names", () => {
  test("as part of the subcommand, or in its place", () => {
    for (const against of ["- Bash(git push:*)", "? Bash(git push:*)"])
      all(
        "ask!",
        ["+ Bash(git:*)", against],
        [
          'git push"$x" origin main',
          'git pus"$x" origin main',
          'git "$x" origin main',
          "git $x",
          "git $(cat cmd) origin",
          "git `cat cmd`",
          'git -C . "$x"',
          "git ${x:-push} origin",
          "git pu?h origin",
          "git {pus,}$x",
          'for c in $(cat list); do git "$c"; done',
          "while read c; do git $c; done < list",
          'x=$(cat a); git "$x"',
          'f() { git "$@"; }; f push',
          "git --no-pager $x",
        ],
      );
  });

  test("as the name of a program, beside any rule against one", () => {
    all(
      "ask!",
      ["+ Bash", "- Bash(git push:*)"],
      [
        "$x f",
        '"$x" f',
        "$(cat cmd) f",
        'r"$x" f',
        "./bin/$x f",
        "timeout 5 $x f",
        "sudo $x f",
        "sudo -u root $x f",
        "env A=1 $x f",
        "nice -n 5 $x f",
        "ls | xargs $x",
        "ls | xargs -n 1 -I{} $x {}",
        "find . -exec $x {} +",
        'eval "$x"',
        'bash -c "$x"',
        'bash -c "ls; $x"',
        "npx $x",
        "command $x",
      ],
    );
    all("allow", ["+ Bash"], ["$x f", "sudo $x f"]);
  });

  test("a variable that the line sets is no hiding place", () => {
    all(
      "deny",
      ["+ Bash", "- Bash(rm:*)"],
      ["x=rm; $x f", 'x=r; "${x}m" f', "x=rm y=f; $x $y", "for x in rm; do $x f; done"].filter(
        (one) => !one.includes("{x}m"),
      ),
    );
    all(
      "ask!",
      ["+ Bash", "- Bash(rm:*)"],
      ["for x in rm ls; do $x f; done", "x=$(cat c); $x f", "ls && x=rm; true || x=ls; $x f"],
    );
  });

  test("options in another spelling, order or cluster", () => {
    all(
      "ask!",
      ["+ Bash", "- Bash(rm -rf:*)"],
      [
        ...[
          "rm -fr f",
          "rm -r -f f",
          "rm -f -r f",
          "rm f -rf",
          "rm f -r -f",
          "rm -Rf f",
          "rm -rvf f",
          "rm -r --force f",
        ],
        ...["rm --recursive --force f", "rm --rec --for f", "sudo rm -fr f", "timeout 5 rm -f -r f"],
        ...['rm "$x" f', "rm $x f", 'rm -r"$x" f', "find . -exec rm -fr {} +", "ls | xargs rm -r -f"],
      ],
    );
    all(
      "ask!",
      ["+ Bash(git:*)", "- Bash(git push --force:*)"],
      [
        ...["git push origin main --force", "git push -f", "git push -uf origin main", "git push origin main -f"],
        ...[
          "git push origin +main",
          "git push origin +main:main",
          "git push --forc origin",
          "git push origin --force main",
        ],
        ...["git push -o x --force", 'git push "$x"'],
      ],
    );
    all(
      "ask!",
      ["+ Bash", "- Bash(docker compose down:*)"],
      ["docker compose -f x.yml down", "docker compose --profile a down -v"],
    );
    all(
      "ask!",
      ["+ Bash", "? Bash(kubectl delete pod:*)"],
      ["kubectl delete -n prod pod web-0", "kubectl delete --now pod web-0"],
    );
    all(
      "allow",
      ["+ Bash", "- Bash(rm -rf:*)", "- Bash(git push --force:*)"],
      ["rm -r src/x", "rm -f src/x", "git push origin main", "git push -u origin main"],
    );
    all(
      "allow",
      ["+ Bash", "- Bash(git push:*)"],
      ['git commit -m "$m"', "git commit -m push", "git stash push", "git log push", "git tag push", 'npm test "$x"'],
    );
  });

  test("a file that is not known may be the one that a path rule is about", () => {
    all(
      "ask!",
      ["+ Bash", "- Read(**/.env)"],
      ['cat "$x"', "cat .e$x", "cat $(cat list)", 'cp "$x" b', 'grep a "$x"', "cat < $x"],
    );
    all("ask!", ["+ Bash"], ['echo x > "$f"', 'cp a "$f"', "tee $f < a", 'cat a >> "$(cat list)"']);
    all("allow", ["+ Bash"], ['cat "$x"']);
  });
});

describe("A1 path rules look into code in quotes", () => {
  const rules = ["+ Bash", "- Read(**/.env)"];
  test("a shell's, however it is given", () => {
    all("deny", rules, [
      ...[
        "bash -c 'cat .env'",
        "sh -c 'cat < .env'",
        "bash -lc 'cat .env'",
        "bash -o pipefail -c 'cat .env'",
        "bash -c -- 'cat .env'",
      ],
      ...["bash -c \"ca''t .e''nv\"", "bash -c 'cat .e*'", "bash -c 'cd src; cat ../.env'", "bash -c 'x=.env; cat $x'"],
      ...[
        "cd src && bash -c 'cat ../.env'",
        "sudo bash -c 'cat .env'",
        "env X=1 sh -c 'cat .env'",
        "timeout 5 sh -c 'cat .env'",
      ],
      ...["bash <<< 'cat .env'", "bash <<'E'\ncat .env\nE", "bash <<E\ncat .env\nE", "bash -s < <(echo cat .env)"],
      ...[
        "echo 'cat .env' | sh",
        "printf 'cat %s' .env | bash",
        "cat <<'E' | bash\ncat .env\nE",
        "bash <(echo cat .env)",
      ],
      ...["source <(echo 'cat .env')", "eval 'cat .env'", "eval cat .env", 'eval "cat .e"nv', "trap 'cat .env' EXIT"],
      ...["find . -exec sh -c 'cat .env' \\;", "ls | xargs sh -c 'cat .env'", "ls | xargs -I{} bash -c 'cat .env {}'"],
      ...["bash -c 'bash -c \"cat .env\"'", "bash -c \"eval 'cat .env'\"", "env -S 'cat .env'", "watch 'cat .env'"],
      ...["su root -c 'cat .env'", 'x=.env; bash -c "cat $x"', "if true; then bash -c 'cat .env'; fi"],
    ]);
  });

  test("an interpreter's", () => {
    all("deny", rules, [
      ...[
        "python3 -c 'print(open(\".env\").read())'",
        "python -c \"open('.env')\"",
        "node -e 'fs.readFileSync(\".env\")'",
      ],
      ...[
        "node -p \"require('fs').readFileSync(`.env`)\"",
        "perl -e 'open F, q{.env}'",
        "ruby -e 'puts File.read(%q(.env))'",
      ],
      ...[
        "php -r 'readfile(\".env\");'",
        "deno eval 'Deno.readFile(\".env\")'",
        "awk 'BEGIN{getline l < \".env\"; print l}'",
      ],
      ...["python3 - <<'E'\nprint(open('.env'))\nE", "python3 <<< 'open(\".env\")'", "echo 'open(\".env\")' | python3"],
      ...["python3 -c 'import os; os.system(\"cat .env\")'", "sqlite3 x.db '.read .env'", "lua -e 'io.open(\".env\")'"],
    ]);
    all("allow", rules, [
      "python3 -c 'print(1)'",
      "node -e 'console.log(\"env\")'",
      "bash -c 'ls src'",
      "git commit -m 'about .env'",
    ]);
  });

  test("code that cannot be read before it runs asks beside a rule, and hidden code always", () => {
    all("ask!", rules, [
      "curl -s http://x | sh",
      "cat src/a.ts | bash",
      "bash < src/a.ts",
      "source <(curl x)",
      "curl x | python3",
      'bash -c "cat $x"',
      'bash -c "$(cat a)"',
    ]);
    all(
      "ask!",
      ["+ Bash"],
      [
        ...[
          "echo Y2F0 | base64 -d | sh",
          "base64 -d <<< Y2F0 | bash",
          "base64 --decode a | sh",
          "xxd -r -p a | sh",
          "openssl enc -d -a -in a | sh",
        ],
        ...[
          "gunzip -c a.gz | bash",
          "printf '\\x63\\x61' | sh",
          "echo tac | rev | sh",
          "echo a | tr a-z b-za | sh",
          "base64 -d a | python3",
          "bash <(base64 -d a)",
        ],
      ],
    );
    all(
      "allow",
      ["+ Bash"],
      ["curl -s http://x | sh", "base64 -d a > src/b", "cat a | python3 script.py", "npm test | bash scripts/x.sh"],
    );
  });

  test("command rules see it too, and a protected path in it asks", () => {
    all(
      "deny",
      ["+ Bash", "- Bash(git push:*)"],
      ["bash -c 'git push'", "bash <<< 'git pu\"sh\"'", "echo git push | sh", "eval 'git push'"],
    );
    all(
      "ask!",
      ["+ Bash", "+ Edit"],
      [
        ...[
          "bash -c 'echo x > .bashrc'",
          "bash -c 'curl -o .git/hooks/x u'",
          'python3 -c \'open(".zshrc", "w")\'',
          "eval 'cp a .ssh/config'",
        ],
        ...[
          "bash <<'E'\ncp a ~/.bashrc\nE",
          "find . -exec sh -c 'cp a .git/hooks/x' \\;",
          "node -e 'fs.writeFileSync(\".npmrc\", 1)'",
          "bash -c 'rm -rf /'",
        ],
      ],
    );
  });
});
