import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { asks, Machine, program } from "../../support/cli.ts";
import { existsSync } from "node:fs";

/** A client of the protocol by other people: `ACPX` names it, or it is on the PATH. */
const acpx =
  process.env["ACPX"] ??
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "acpx"))
    .find((path) => existsSync(path));

test("acpx drives a conversation: everything allowed, and everything refused", { skip: !acpx && "no acpx" }, () => {
  for (const [flag, written] of [
    ["--approve-all", "hello\n"],
    ["--deny-all", undefined],
  ] as const) {
    using here = new Machine();
    const write = { tool: "Write", input: { file_path: "a.txt", content: "hello\n" } };
    const colour = asks({ question: "Which colour?", labels: ["Red", "Blue"] });
    const model = here.script({ text: "I will write.", calls: [write] }, { calls: [colour] }, { text: "All done." });
    const agent = join(here.dir, "agent.sh");
    writeFileSync(agent, `#!/bin/sh\nexec "${process.execPath}" "${program}" acp --model "${model}"\n`, {
      mode: 0o755,
    });
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [acpx ?? "", "--cwd", here.cwd, "--agent", agent, flag, "--format", "text", "exec", "go"],
      { env: here.env, encoding: "utf8", timeout: 60_000 },
    );
    assert.match(stdout, /All done\.[^]*end_turn/, stderr);
    assert.equal(here.file("a.txt"), written);
    assert.equal(/Which colour\? → "Red"/.test(stdout), written !== undefined);
  }
});
