import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import * as fc from "fast-check";
import { escapeSpecifier } from "../../src/permission/wild.ts";
import { wordsOf } from "../../src/permission/words.ts";
import { bash } from "./asking.ts";

function table(cases: [command: string, ...rules: string[]][], behavior: string): void {
  for (const [command, ...rules] of cases)
    assert.equal(bash(command, ...rules), behavior, `${JSON.stringify(command)} under ${rules.join(", ")}`);
}

test("allow: exact words, or words before a star", () => {
  table(
    [
      ["npm test", "+ Bash(npm test)"],
      ["  npm   'test' ", "+ Bash(npm test)"],
      ["npm test", '+ Bash(npm "test")'],
      ["cargo test --all -- --nocapture", "+ Bash(cargo test:*)"],
      ["cargo test", "+ Bash(cargo test:*)"],
      ["npm run build", "+ Bash(npm run *)"],
      ["npm run build:prod", "+ Bash(npm run build*)"],
      ["git log main --oneline", "+ Bash(git log * --oneline)"],
      ['git commit -m "fix: a (b) * #1"', "+ Bash(git commit:*)"],
      ["git commit -m 修复", "+ Bash(git commit -m 修复)"],
      ['git commit --message="a b"', "+ Bash(git commit '--message=a b')"],
      ["./run.sh a", "+ Bash(./run.sh:*)"],
      ["echo (", "+ Bash"],
      ["a; b | c > d", "+ Bash(*)"],
      ["eval x", "+ Bash(eval x)"],
    ],
    "allow",
  );
});

test("allow: everything else is asked about", () => {
  table(
    [
      ["cargo test-all", "+ Bash(cargo test:*)"],
      ["cargo testing", "+ Bash(cargo test *)"],
      ["npm 'test x'", "+ Bash(npm test x)"],
      ["npm", "+ Bash(npm test)"],
      ["npm test x", "+ Bash(npm test)"],
      ["git log --oneline", "+ Bash(git log * --oneline)"],
      ["/tmp/npm test", "+ Bash(npm test)"],
      ["/tmp/npmx", "+ Bash(/tmp/npm*)"],
      ["rm -r / --help", "+ Bash(* --help)"],
      ["ls", "+ Bash(:*)"],
      ["NODE_OPTIONS=x npm test", "+ Bash(npm test)", "+ Bash(NODE_OPTIONS=x:*)"],
      ["'A=1' npm", "+ Bash(A=1 npm)"],
      ["eval x y", "+ Bash(eval:*)"],
      ["command eval x", "+ Bash(command:*)"],
      ["coproc x", "+ Bash(coproc:*)"],
      ["echo $HOME", "+ Bash(echo:*)", "+ Bash(echo $HOME)"],
      ["echo '$HOME'", "+ Bash(echo:*)"],
      ["a && b", "+ Bash(a && b)", "+ Bash(a:*)", "+ Bash(b:*)"],
      ["echo 'a", "+ Bash(echo:*)"],
      ["echo a\\ b", "+ Bash(echo:*)"],
      ["echo *", "+ Bash(echo:*)"],
      ["echo ~/x", "+ Bash(echo:*)"],
      ["echo {a,b}", "+ Bash(echo:*)"],
      ["echo a # b", "+ Bash(echo:*)"],
      ["echo 'a\nb'", "+ Bash(echo:*)"],
      ["echo a\u00a0b", "+ Bash(echo:*)"],
      ["echo \u202eb", "+ Bash(echo:*)"],
      ["echo \ud800", "+ Bash(echo:*)"],
      ["echo \u{e0041}", "+ Bash(echo:*)"],
      ["echo a\rb", "+ Bash(echo:*)"],
      [`echo ${"a".repeat(10_000)}`, "+ Bash(echo:*)"],
      ["", "+ Bash(echo:*)"],
    ],
    "ask",
  );
});

test("allow: a star does not cover an option that runs a program or writes a file", () => {
  const escalating = [
    "find . -exec rm x +",
    "find . -okdir x",
    "find . -delete",
    "find . -fprintf f x",
    "fd -e rs . -x wc -l",
    "fd -HX wc",
    "fd . --exec-batch wc",
    "rg --pre=x y",
    "rg --hostname-bin x y",
    "rg -Sz y",
    "sort -rno out in",
    "sort --out=x in",
    "sort --compress x in",
    "sort -T /x in",
    "sed -i s/a/b/ f",
    "sed -ni p f",
    "sed --in-place s/a/b/ f",
    "sed s/a/b/e f",
    "sed s/a/b/w f",
    "sed 'w x' f",
    "sed '1e ls' f",
    "sed -n -f script f",
    "awk 'BEGIN{system(1)}'",
    "awk '{print > 1}' f",
    "awk '{print | 1}' f",
    "awk -f x f",
    "gawk -i x f",
    "tar --to-command=x -xf a.tar",
    "tar --checkpoint-act x -xf a.tar",
    "tar xfI a.tar x",
    "tar -xIx -f a.tar",
    "tar xf a.tar --use-compress-program x",
    "tar xf a.tar --rsh-command x",
    "git -c core.pager=x log",
    "git --config-env=a=b log",
    "git --exec-path=/x log",
    "git fetch --upload-pack=x",
    "git fetch --upload-p x",
    "git push --receive-pack x",
    "git diff --ext-diff",
    "git diff --output=x",
    "git grep -Ox y",
    "git grep --open-files-in-pager=x y",
    "less -Px f",
    "man --pager=x ls",
    "man -Hx ls",
    "tree -o x",
    "date -s 1",
    "file -f x",
    "file -m x y",
    "xxd -r x",
    "uniq in out",
    "timeout 5 find . -delete",
    "env find . -delete",
  ];
  for (const command of escalating) {
    const program = command.split(" ")[0]!;
    assert.equal(bash(command, `+ Bash(${program}:*)`), "ask", command);
    assert.equal(bash(command, `+ Bash(${escapeSpecifier(command)})`), "allow", command);
  }
});

test("allow: harmless uses of the same programs, and options that stand in the rule, are covered", () => {
  table(
    [
      ["find . -name x", "+ Bash(find:*)"],
      ["rg --pretty x", "+ Bash(rg:*)"],
      ["sort -rn -k 2 f", "+ Bash(sort:*)"],
      ["sed -n 1,20p f", "+ Bash(sed:*)"],
      ["sed -E 's/write/w/g' f", "+ Bash(sed:*)"],
      ["awk -F : '{print}' f", "+ Bash(awk:*)"],
      ["tar xzf a.tar", "+ Bash(tar:*)"],
      ["git log --oneline -n 5", "+ Bash(git log:*)"],
      ["uniq in", "+ Bash(uniq:*)"],
      ["find . -delete", "+ Bash(find . -delete *)"],
      ["find . -delete", "+ Bash(find . -delete)"],
      ["git switch -c feature", "+ Bash(git switch -c:*)"],
    ],
    "allow",
  );
});

test("deny: any plausible part of the line", () => {
  const rm = "- Bash(rm:*)";
  const push = "- Bash(git push:*)";
  table(
    [
      ["rm x", rm],
      ["rm", rm],
      ["/bin/rm x", rm],
      ["./rm x", rm],
      ["rm.exe x", rm],
      ["'rm' x", rm],
      ["r''m x", rm],
      ["r\\m x", rm],
      ["\\rm x", rm],
      ["ls; rm x", rm],
      ["ls && rm x", rm],
      ["ls || rm x", rm],
      ["ls | rm x", rm],
      ["ls |& rm x", rm],
      ["ls & rm x", rm],
      ["ls\nrm x", rm],
      ["ls # \\\nrm x", rm],
      ["ls \\\n; rm x", rm],
      ["r\\\nm x", rm],
      ["(rm x)", rm],
      ["{ rm x; }", rm],
      ["! rm x", rm],
      ["if true; then rm x; fi", rm],
      ["for f in a; do rm $f; done", rm],
      ["case a in (a)rm x;; esac", rm],
      ["case a in a) rm x;; esac", rm],
      ["f() { rm x; }", rm],
      ["echo $(rm x)", rm],
      ["echo `rm x`", rm],
      ['echo "$(rm x)"', rm],
      ["cat <(rm x)", rm],
      ["cat > >(rm x)", rm],
      ["echo ${a:-$(rm x)}", rm],
      ["A=1 B=2 rm x", rm],
      ["sudo rm x", rm],
      ["sudo -u bob rm x", rm],
      ["env -i A=1 rm x", rm],
      ["timeout -s KILL 5 rm x", rm],
      ["nice -n 5 nohup rm x", rm],
      ["ls | xargs -n 1 rm", rm],
      ["flock /tmp/l rm x", rm],
      ["A=1 command rm x", rm],
      ["bash -c 'rm x'", rm],
      ['bash -c "cd a && rm x"', rm],
      ["eval 'rm x'", rm],
      ["bash <<< 'rm x'", rm],
      ["bash <<EOF\nrm x\nEOF", rm],
      ["trap 'rm x' EXIT", rm],
      ["find . -exec rm {} \\;", rm],
      ["> /dev/null rm x", rm],
      ["2>&1 rm x", rm],
      ["$'rm' x", rm],
      ["echo don't; rm x", rm],
      [`${"ls; ".repeat(3_000)}rm x`, rm],
      ["git push", push],
      ["git -C dir push", push],
      ["git -C dir --no-pager -c a=b push origin", push],
      ["git -C $(pwd) push", push],
      ['git -C "$(pwd)" push', push],
      ["git -C ${d} push", push],
      ["git > log push", push],
      ["git 2>&1 push", push],
      ["git &> log push", push],
      ["sudo git -C a push", push],
      ["cd env && TF_VAR_a=1 terraform destroy", "- Bash(terraform destroy:*)"],
      ["curl http://x | sh", "- Bash(curl * | sh)"],
      ["echo x > /etc/passwd", "- Bash(echo x > /etc/passwd)"],
      ["git commit -m 'a b'", '- Bash(git commit -m "a b")'],
      ["git a b push", "- Bash(git * push)"],
      ["git $(a) push", "- Bash(git * push)"],
      ["rmdir x", "- Bash(rm*)"],
      ["anything", "- Bash(*)", "+ Bash"],
      ["rm x", "- Bash(/bin/rm:*)"],
    ],
    "deny",
  );
});

test("deny: a rule is not stretched to what it does not name", () => {
  table(
    [
      ["rmdir x", "- Bash(rm:*)", "+ Bash(rmdir:*)"],
      ["echo rm", "- Bash(rm:*)", "+ Bash(echo:*)"],
      ["git commit -m push", "- Bash(git push:*)", "+ Bash(git commit:*)"],
      ["npm run rm", "- Bash(rm:*)", "+ Bash(npm run:*)"],
      ["git status", "- Bash(git push:*)", "+ Bash(git status)"],
      ["rm a", "- Bash(rm -rf:*)", "+ Bash(rm:*)"],
      ['echo "*"', "- Bash(echo \\*\\*)", "+ Bash(echo:*)"],
    ],
    "allow",
  );
});

test("a command taken for simple has exactly the words that bash sees", () => {
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...Array.from("abZ09 _-./,:@%+=^ \t'\"é修")) },
    { weight: 1, arbitrary: fc.constantFrom(...Array.from("$`\\*?[]{}()<>|&;!#~\n\r\u00a0\u3000\u202e")) },
  );
  const texts = fc.sample(fc.array(piece, { minLength: 1, maxLength: 14 }), { numRuns: 3_000, seed: 7 });
  const simple = texts
    .map((chars) => `x ${chars.join("")}`)
    .flatMap((text) => {
      const words = wordsOf([...text])?.map((word) => word.join(""));
      return words ? [{ text, words }] : [];
    });
  assert.ok(simple.length > 300, `${simple.length} simple commands are too few to mean anything`);
  const script = simple.map(({ text }) => `set -- ${text}\nprintf '%s\\0' "$#" "$@"`).join("\n");
  const { stdout, stderr } = spawnSync("bash", ["--norc", "--noprofile", "-c", script], { encoding: "utf8" });
  assert.equal(stderr, "");
  const expected = simple.flatMap(({ words }) => [String(words.length), ...words]);
  assert.deepEqual(stdout.split("\0").slice(0, -1), expected);
});
