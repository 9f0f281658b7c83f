import { spawnSync } from "node:child_process";
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, loadedGrammar, loadGrammar, wasmFile } from "../../src/permission/shell/read/grammar.ts";

test("the grammar is loaded once, and then at hand", async () => {
  const [one, other] = await Promise.all([loadGrammar(), loadGrammar()]);
  assert.ok(one);
  assert.equal(one, other);
  assert.equal(one, loadedGrammar());
});

test("I3: an altered file is refused, whichever of the two it is, and so is a missing one", async () => {
  for (const altered of ["web-tree-sitter.wasm", "tree-sitter-bash.wasm"]) {
    const read = async (name: Parameters<typeof wasmFile>[0]) => {
      const bytes = Uint8Array.from(await wasmFile(name));
      if (name === altered) bytes[bytes.length - 1]! ^= 1;
      return bytes;
    };
    await assert.rejects(load(read), /is not the file that was reviewed/);
  }
  await assert.rejects(
    load(() => Promise.reject(new Error("gone"))),
    /gone/,
  );
});

test("a tree is plain data, and says whether it can be relied on", async () => {
  const grammar = await loadGrammar();
  const tree = grammar?.parse("ls é");
  assert.deepEqual([tree?.sound, tree?.root.type, tree?.root.end], [true, "program", 4]);
  for (const text of ["ls (", "'", "if x", `${"$(".repeat(500)}x${")".repeat(500)}`])
    assert.equal(grammar?.parse(text)?.sound, false, text.slice(0, 20));
  for (let i = 0; i < 2_000; i++) grammar?.parse("ls && ls | ls"); // trees are freed, or this would grow by the megabyte
});

test("2,000 commands judged in one process do not set the optimising compiler on the grammar, which takes half a gigabyte", () => {
  const asking = JSON.stringify(new URL("asking.ts", import.meta.url).href);
  const program = `
    const { bash } = await import(${asking});
    for (let n = 0; n < 2_000; n++) {
      if (bash("echo " + n + " | sort > out.txt", "+ Bash(echo:*)") !== "ask") throw new Error("not judged");
      if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1)); // code that was compiled aside is put in place
    }
    console.log(process.resourceUsage().maxRSS);`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  assert.ok(Number(stdout) > 0, stderr);
  assert.ok(Number(stdout) < 300_000, `${stdout.trim()} kB`);
});
