import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeLines } from "../../src/archive/trajectory.ts";

/** What stands at the path before it is written to, what it is afterwards, and where the lines are. */
const places: Record<string, { make(path: string): void; stays: "isFile" | "isSymbolicLink"; at?: string }> = {
  nothing: { make: () => {}, stays: "isFile" },
  "a file of others": { make: (path) => writeFileSync(path, "a longer text", { mode: 0o644 }), stays: "isFile" },
  "a link": {
    make: (path) => (writeFileSync(`${path}.far`, "a longer text"), symlinkSync(`${path}.far`, path)),
    stays: "isSymbolicLink",
    at: ".far",
  },
  "a link to nothing": { make: (path) => symlinkSync(`${path}.far`, path), stays: "isSymbolicLink", at: ".far" },
};

test("a regular file is replaced whole and a link is written through", () => {
  const dir = mkdtempSync(join(tmpdir(), "sage-lines-"));
  for (const [name, { make, stays, at = "" }] of Object.entries(places)) {
    const path = join(dir, name.replaceAll(" ", "-"));
    make(path);
    writeLines(path, ["eins\n", "二\n"]);
    assert.ok(lstatSync(path)[stays](), name);
    assert.equal(readFileSync(`${path}${at}`, "utf8"), "eins\n二\n", name);
    if (stays === "isFile") assert.equal(statSync(path).mode & 0o777, 0o600, name);
  }
  assert.ok(!readdirSync(dir).some((name) => name.endsWith(".tmp")));
  assert.throws(() => writeLines(dir, ["x"]), { code: "EISDIR" });
  rmSync(dir, { recursive: true });
});

test("a pipe and a device stay what they are: a reader gets the lines, and without one nobody waits", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sage-lines-"));
  const [pipe, copy, device] = ["pipe", "copy", "device"].map((name) => join(dir, name)) as [string, string, string];
  if (spawnSync("mkfifo", [pipe]).status !== 0) return t.skip("no pipes with names here");
  assert.throws(() => writeLines(pipe, ["x"]), { code: "ENXIO" });
  const text = "a line of some length\n".repeat(20_000); // more than a pipe holds
  const reader = spawn("sh", ["-c", `echo >&2; exec cat "${pipe}" >"${copy}"`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await once(reader.stderr, "data");
  for (let tries = 0; ; tries++) {
    try {
      writeLines(pipe, [text]);
      break;
    } catch (error) {
      if (tries > 500) throw error; // `cat` has not opened it yet
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  await once(reader, "exit");
  assert.ok(readFileSync(copy, "utf8") === text);
  assert.ok(lstatSync(pipe).isFIFO());
  // A null device of our own: those of the machine are not for tests.
  if (spawnSync("mknod", [device, "c", "1", "3"]).status === 0) {
    try {
      writeLines(device, ["x"]);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "EACCES"); // mounted without devices
    }
    assert.ok(lstatSync(device).isCharacterDevice());
  }
  rmSync(dir, { recursive: true });
});
