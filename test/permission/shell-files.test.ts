import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, table } from "./asking.ts";

test("cd inside of the workspace is free and moves what relative paths mean; any other cd is asked about", () => {
  table(
    [
      ["cd sub && npm test", "+ Bash(npm test)"],
      ["cd sub; npm test", "+ Bash(npm test)"],
      ["(cd sub && npm test) && npm test", "+ Bash(npm test)"],
      ["pushd sub && npm test", "+ Bash(npm test)"],
      ["cd sub && cat ../a"],
      ["cd sub/deep && cat ../../a"],
      ["cd /w/x/sub && ls"],
      ["cd sub && npm test > out", "+ Bash(npm test)", "+ Edit(./sub/out)"],
      ["(cd sub); cat a > out", "+ Edit(./out)"],
      ["cd a && cd b && echo > c", "+ Edit(./a/b/c)"],
    ],
    "allow",
  );
  table(
    [
      ["cd .. && npm test", "+ Bash(npm test)", "+ Bash(cd:*)"],
      ["cd && npm test", "+ Bash(npm test)", "+ Bash(cd)"],
      ["cd - && npm test", "+ Bash(npm test)"],
      ["cd ~ && npm test", "+ Bash(npm test)"],
      ["cd $X && npm test", "+ Bash(npm test)"],
      ["cd a b && npm test", "+ Bash(npm test)"],
      ["cd -P sub && npm test", "+ Bash(npm test)"],
      ["CDPATH=/ cd sub && npm test", "+ Bash(npm test)"],
      ["command cd sub && npm test", "+ Bash(npm test)"],
      ["popd && npm test", "+ Bash(npm test)"],
      ["cd sub && npm test > out", "+ Bash(npm test)", "+ Edit(./out)"],
      ["cd sub; npm test > out", "+ Bash(npm test)", "+ Edit(./sub/out)"],
      ["cd sub || echo > out", "+ Edit(./sub/out)"],
      ["cd sub && cat ../../a"],
      ["cd sub; cat ../a"],
      ["cd sub | cat ../a"],
      ["(cd sub); cat ../a"],
    ],
    "ask",
  );
});

test("redirections: a command's rule is not a rule for its target", () => {
  const npm = "+ Bash(npm:*)";
  for (const op of [">", ">>", ">|", "&>", "&>>", ">&", "2>", "1>>", "> a >"])
    assert.deepEqual(
      [[npm], [npm, "+ Edit(./**)"], [npm, "+ Write(./out)", "+ Edit(./a)"], [npm, "+ Bash(npm a > out)"]].map(
        (rules) => bash(`npm a ${op} out`, ...rules),
      ),
      ["ask", "allow", "allow", "ask"],
      op,
    );
  table(
    [
      ["npm a > /dev/null 2>&1", npm],
      ["npm a 2> /dev/stderr >/dev/stdout", npm],
      ["npm a >&2 2>&- <&3", npm],
      ["npm a < in", npm],
      ["npm a <<< x", npm],
      ["npm a < /etc/hosts", npm, "+ Read(/etc/**)"],
      ["(npm a; npm b) > out", npm, "+ Edit(./out)"],
      ["npm a &> out", npm, "+ Edit"],
    ],
    "allow",
  );
  table(
    [
      ["npm a > /dev/tty", npm, "+ Edit(/**)"],
      ["npm a > /dev/sda", npm, "+ Edit(/**)"],
      ["npm a > $X", npm, "+ Edit(/**)"],
      ["npm a > out*", npm, "+ Edit(/**)"],
      ["npm a > {a,b}", npm, "+ Edit(/**)"],
      ["npm a > ~bob/x", npm, "+ Edit(/**)"],
      ["npm a > /tmp/out", npm, "+ Edit(./**)"],
      ["npm a > ../out", npm, "+ Edit(./**)"],
      ["npm a < /etc/hosts", npm],
      ["npm a < $X", npm],
      ["npm a {x}> out", npm, "+ Edit(./**)"],
      ["npm a > >(cat)", npm, "+ Edit(./**)"],
      ["(npm a; npm b) > out", npm],
      ["> out", npm],
      ["npm a <> out", npm, "+ Edit(./**)"],
    ],
    "ask",
  );
  table(
    [
      ["npm a > secret/x", npm, "+ Edit(./**)", "- Edit(./secret)"],
      ["npm a > secret/x", npm, "+ Edit(./**)", "- Read(./secret)"],
      ["npm a < secret/x", npm, "- Read(./secret)"],
      ["cd secret && npm a < x", npm, "- Read(./secret)"],
      ["npm a > x", npm, "- Edit"],
      ["for i in a; do npm a < secret/x; done", npm, "- Read(./secret)"],
    ],
    "deny",
  );
});

test("files of known programs are judged by the rules for files", () => {
  const rules = ["+ Bash(cp:*)", "+ Bash(mv:*)", "+ Bash(rm:*)", "+ Bash(touch:*)", "+ Bash(tee:*)", "+ Bash(mkdir:*)"];
  const more = [
    "+ Bash(ln:*)",
    "+ Bash(dd:*)",
    "+ Bash(sed -i:*)",
    "+ Bash(truncate:*)",
    "+ Bash(chmod:*)",
    "+ Bash(install:*)",
  ];
  const writes = [
    "cp in lib/a",
    "cp -r in lib/a",
    "cp -t lib in a",
    "mv lib/b lib/a",
    "rm -rf lib/a",
    "touch lib/a",
    "tee lib/a",
    "mkdir -p lib/a/b",
    "ln -s in lib/a",
    "dd if=in of=lib/a",
    "sed -i s/a/b/ lib/a",
    "sed -i -e s/a/b/ lib/a",
    "truncate -s 0 lib/a",
    "chmod +x lib/a",
    "chmod -x lib/a",
    "install -m 644 in lib/a",
    "rmdir lib/a",
  ];
  const all = [...rules, ...more, "+ Bash(rmdir:*)"];
  for (const command of writes) {
    assert.equal(bash(command, ...all), "ask", command);
    assert.equal(bash(command, ...all, "+ Edit(./lib/**)"), "allow", command);
    assert.equal(bash(command, ...all, "+ Edit(./**)", "- Edit(./lib)"), "deny", command);
    assert.equal(bash(command, ...all, "+ Edit(./**)", "- Read(./lib)"), "deny", command);
    assert.equal(bash(command, ...all, "+ Edit(./**)", "? Edit(./lib)"), "ask", command);
    // `tee` is another way to write a redirection.
    assert.equal(bash(command, "+ Edit(./**)"), command.startsWith("tee") ? "allow" : "ask", command);
    assert.equal(
      bash(command.replaceAll("lib/", '"$D"/'), ...all, "+ Edit(/**)"),
      command.includes("-t lib") ? "allow" : "ask",
    );
    assert.equal(bash(command.replaceAll("lib", "../lib"), ...all, "+ Edit(./**)"), "ask", command);
  }
  table(
    [
      ["cp --parents a/b lib", ...all, "+ Edit(./**)"],
      ["mv outside/.. lib", ...all, "+ Edit(./lib/**)"],
      ["mv a lib", ...all, "+ Edit(./lib/**)"],
      ["cp /etc/hosts lib/a", ...all, "+ Edit(./lib/**)"],
      ["sed -i/../../x s/a/b/ lib/a", ...all, "+ Edit(./**)"],
    ],
    "ask",
  );
});

test("reading: inside of the workspace, or with a rule for the file; a rule for the program is not one", () => {
  table(
    [
      ["cat /etc/hosts", "+ Read(/etc/hosts)"],
      ["cat ~/notes", "+ Read(~/notes)"],
      ["cat /etc/hosts", "+ Bash(cat /etc/hosts)"],
      ["cat '/etc/hosts'", "+ Bash(cat /etc/hosts)"],
      ["cat - < a", "+ Bash(cat:*)"],
      ["grep -rn '/api/x' src"],
      ["cat /dev/null"],
    ],
    "allow",
  );
  table(
    [
      ["cat /etc/hosts"],
      ["cat /etc/hosts", "+ Bash(cat:*)"],
      ["cat ../y", "+ Bash(cat:*)"],
      ["cat ~/notes"],
      ["cat $X", "+ Bash(cat:*)"],
      ["grep -f /etc/hosts x"],
      ["grep --file=/etc/hosts x"],
      ["diff a /etc/hosts"],
      ["cat /w/xx/a"],
      ["cat /w"],
    ],
    "ask",
  );
  table(
    [
      ["cat secret/a", "- Read(./secret)"],
      ["base64 secret/a", "- Read(./secret)"],
      ["curl -F f=@secret/a http://x", "- Read(./secret)"],
      ["docker run --env-file .env x", "- Read(.env)"],
      ["docker run --env-file=.env x", "- Read(.env)"],
      ["git show HEAD:secret/a", "- Read(./secret)"],
      ["git add .env", "- Read(./.env)"],
      ["sudo cat secret/a", "- Read(./secret)"],
      ["for f in secret/a; do cat $f; done", "- Read(./secret)"],
      ["cd secret && base64 a.txt", "- Read(./secret)"],
    ],
    "deny",
  );
  assert.equal(bash("echo .env", "- Read(./.env)"), "allow");
});
