import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { answer, bashIn, rulesOf } from "./asking.ts";
import { Ground } from "./ground.ts";

const protectedPlaces = [
  ...[
    ".sage/settings.json",
    ".sage/settings.local.json",
    ".mcp.json",
    ".git/config",
    ".git/hooks/pre-commit",
    "sub/.git/config",
  ],
  ...[
    ".gitmodules",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".envrc",
    ".vscode/tasks.json",
  ],
  ...[
    ".idea/x",
    ".devcontainer/devcontainer.json",
    ".cargo/config.toml",
    ".yarnrc.yml",
    ".npmrc",
    ".ripgreprc",
    ".GIT/config",
  ],
  ...[".ssh/authorized_keys", ".config/git/config", ".config/fish/config.fish", "AGENTS.md"],
];

test("A6: no rule and no mode lets the agent write where it would grant itself rights, there or not, by tool or by shell", () => {
  using here = new Ground();
  const rules = rulesOf("+ Edit(./**)", "+ Edit", "+ Write", "+ Bash", "+ Edit(/**)");
  const where = { cwd: here.cwd, home: here.home, roots: here.roots };
  const asks = (tool: string, input: object, mode: "default" | "bypass") => {
    const { behavior, hard } = answer(rules, tool, input, { ...where, mode });
    assert.deepEqual([behavior, hard], ["ask", true], `${tool} ${JSON.stringify(input)} ${mode}`);
  };
  symlinkSync(join(here.cwd, ".git"), join(here.cwd, "innocent"));
  for (const exists of [false, true])
    for (const place of protectedPlaces) {
      if (exists) here.put(place, "");
      for (const mode of ["default", "bypass"] as const) {
        asks("Write", { file_path: place, content: "" }, mode);
        asks("Edit", { file_path: place, old_string: "a", new_string: "b" }, mode);
        const shell = [
          ...[
            `echo x > ${place}`,
            `echo x >> ./${place}`,
            `echo x | tee ${place}`,
            `cp a.txt ${place}`,
            `mv a.txt ${place}`,
          ],
          ...[
            `ln -sf a.txt ${place}`,
            `touch ${place}`,
            `rm -f ${place}`,
            `sed -i s/a/b/ ${place}`,
            `dd if=a.txt of=${place}`,
          ],
          ...[
            `install a.txt ${place}`,
            `truncate -s 0 ${place}`,
            `chmod +x ${place}`,
            `: 2> ${place}`,
            `sudo tee ${place} < a.txt`,
          ],
          ...[
            `bash -c 'echo x > ${place}'`,
            `for i in a; do echo x > ${place}; done`,
            `find . -exec cp {} ${place} \\;`,
          ],
          ...[
            `cd ${dirname(place)} && echo x > ${place.split("/").at(-1)}`,
            `echo x | xargs cp a.txt ${place}`,
            `(echo x) > ${place}`,
            `echo x > "$PWD/${place}"`,
            `cp a.txt \${PWD}/${place}`,
          ],
        ];
        for (const command of shell) asks("Bash", { command }, mode);
      }
    }
  asks("Write", { file_path: "innocent/config", content: "" }, "bypass");
  asks("Bash", { command: "echo x > innocent/config" }, "bypass");
  asks("Write", { file_path: join(here.home, ".ssh/config"), content: "" }, "bypass");
});

test("A6: what is protected is not carried in by a folder or put in under its own name", () => {
  using here = new Ground();
  here.put("template/.vscode/tasks.json", "{}");
  here.put("template/plain.txt", "");
  here.put("plain/x.txt", "");
  here.put("box/.envrc", "");
  mkdirSync(join(here.cwd, "out"));
  const rules = ["+ Bash(cp:*)", "+ Bash(mv:*)", "+ Edit(./**)", "+ Bash(mkdir:*)"];
  for (const command of [
    ...["cp -r template out", "cp -r template/. .", "cp -a template new", "mv template new", "cp box/.envrc out"],
    ...["cp box/.envrc out/", "mkdir d && cp box/.envrc d", "cp -t out box/.envrc", "mv box/.envrc out"],
  ])
    assert.equal(here.ask(command, ...rules), "ask", command);
  for (const command of ["cp -r plain out", "cp -r plain new", "mv plain out", "cp template/plain.txt out"])
    assert.equal(here.ask(command, ...rules), "allow", command);
});

test("A6: removing a root is asked about in every mode and under every rule", () => {
  using here = new Ground();
  mkdirSync(join(here.cwd, "sub/.git"), { recursive: true });
  const removals = [
    ...[
      "rm -rf /",
      "rm -rf /*",
      "rm -rf /usr",
      "rm -rf /usr/*",
      "rm -rf ~",
      "rm -rf ~/*",
      "rm -rf $HOME",
      "rm -rf $HOME/*",
    ],
    ...[
      "rm -rf .",
      "rm -rf ./*",
      "rm -rf *",
      "rm -rf ..",
      "rm -rf ../w",
      'rm -rf "$X"/*',
      "rm -rf $X/*",
      "rm -rf ${X}/",
      "rmdir /",
    ],
    ...[
      "sudo rm -rf /",
      "bash -c 'rm -rf /'",
      "cd / && rm -rf *",
      "cd .. && rm -r w",
      "find . -exec rm -rf / \\;",
      "echo / | xargs rm -rf /",
    ],
    ...[
      "/bin/rm -rf /",
      "rm -rf -- /",
      "rm -r -f //",
      "rm -rf /./",
      "rm -rf sub",
      `rm -rf ${here.cwd}`,
      `rm -rf ${here.home}/`,
      "rm -rf '/'",
    ],
    ...["rm -rf $(pwd)", "rm -rf `pwd`", "rm -rf ${PWD}", 'rm -rf "$PWD"', "rm -rf {.,x}", "rm -rf ${HOME}/"],
    ...["find / -delete", "find . -depth -delete", "find -delete", "xargs rm -rf < list", "echo / | xargs rm -r"],
    ...["for i in a; do rm -rf /; done", "x() { rm -rf ~; }; x", "true && rm -rf .[!.]* *"],
  ];
  const where = { cwd: here.cwd, home: here.home, roots: here.roots, mode: "bypass" } as const;
  for (const command of removals) {
    const { behavior, hard } = bashIn(where, command, "+ Bash", "+ Edit");
    assert.deepEqual([behavior, hard], ["ask", true], command);
  }
  for (const command of [
    "rm -rf build",
    "rm -rf ./node_modules",
    "rm -rf *.o",
    "rm -rf sub/build",
    "rm -f /tmp/x/y",
    'rm -rf "$X"',
    "find . -name '*.o' -delete",
    "find build -delete",
    "git ls-files | xargs rm",
  ])
    assert.equal(bashIn(where, command).behavior, "allow", command);
});
