// T4: the nth call of the file tools to the disk fails, for every n, once and from then on. The journal's own full disk is
// played in the simulation and in test/journal.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readdirSync } from "node:fs";
import { registerHooks } from "node:module";
import { test } from "node:test";
import { Workspace } from "../tools/workspace.ts";
import { disk, fail } from "./faulty-fs.ts";

const faulty = new URL("faulty-fs.ts", import.meta.url).href;
const patched = new URL("../../src/tools/files/file-state.ts", import.meta.url).href;
let loaded = 0;
registerHooks({
  load(url, context, next) {
    const found = next(url, context);
    if (url !== patched) return found;
    const parts = Buffer.from(found.source as Uint8Array)
      .toString()
      .split('} from "node:fs/promises";\n');
    loaded = parts.length;
    return { ...found, source: parts.join(`} from ${JSON.stringify(faulty)};\n`) };
  },
});
const { write } = await import("../../src/tools/files/write.ts");
const { edit } = await import("../../src/tools/files/edit.ts");
const { read } = await import("../../src/tools/files/read.ts");

const [before, after] = ["the old content\n", "the new content\n"];
const sha = (text: string) => hash("sha256", text, "hex");

for (const forGood of [false, true])
  test(`whichever call to the disk fails ${forGood ? "and all after it" : "once"}, a file is old or new and never half`, async () => {
    assert.ok(loaded > 1, "the file tools stand on the faulty disk");
    for (const code of ["ENOSPC", "EIO", "EMFILE"])
      for (const tool of [write, edit]) {
        let passed = false;
        for (let at = 1; !passed; at++) {
          using work = new Workspace({ "a.txt": before });
          const input =
            tool === write
              ? { file_path: "a.txt", content: after }
              : { file_path: "a.txt", old_string: before, new_string: after };
          fail({ at: 0, code, forGood: false });
          await work.run(read, { file_path: "a.txt" });
          fail({ at, code, forGood });
          const result = await work.run(tool as typeof write, input).catch((error: unknown) => error as Error);
          passed = disk.calls < at;
          const there = work.get("a.txt");
          const where = `${tool.name}, ${code} at call ${at}`;
          assert.ok(there === before || there === after, `${where}: ${JSON.stringify(there)}`);
          if ("ok" in result && result.ok) assert.equal(there, after, where);
          if (!forGood) assert.deepEqual(readdirSync(work.root), ["a.txt"], `${where} leaves nothing behind`);
          // A look after a crash says what is true, whatever was said of it.
          fail({ at: 0, code, forGood: false });
          const look = await tool.reconcile?.(tool.inputSchema.parse(input) as never, {
            ...work.place,
            before: sha(before),
          });
          assert.equal(look === "again", there === before, where);
        }
      }
  });
