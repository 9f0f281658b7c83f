// Ctrl-V: the picture in the clipboard, through whatever program there is to read it.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { systemClipboard } from "../../src/cli/open/terminal/clipboard.ts";
import { pixel } from "../support/picture.ts";
import { workspace } from "../support/sage.ts";
import { sageOnScreen } from "../support/terminal.ts";

test("the picture becomes a file of its owner alone; older ones are removed; without one, or a program, that is said", async () => {
  using here = workspace();
  mkdirSync(here.path("bin"));
  writeFileSync(here.path("pixel"), pixel);
  const program = (name: string, script: string) => {
    writeFileSync(here.path(`bin/${name}`), `#!/bin/sh\n${script}\n`);
    chmodSync(here.path(`bin/${name}`), 0o755);
  };
  const read = (env: Record<string, string>, platform: NodeJS.Platform = "linux") =>
    systemClipboard(here.path("clipboard"), { PATH: `${here.path("bin")}:/bin:/usr/bin`, ...env }, platform)();
  const pathOf = async (found: ReturnType<typeof read>) => {
    const one = await found;
    return "path" in one ? one.path : assert.fail(one.problem);
  };

  assert.deepEqual(await read({}), { problem: "no-program" });
  assert.deepEqual(await systemClipboard(here.dir, { PATH: here.dir, DISPLAY: ":0" }, "linux")(), {
    problem: "no-program",
  });

  program("xclip", `case "$*" in *image/png*) cat ${here.path("pixel")};; esac`);
  const first = await pathOf(read({ DISPLAY: ":0" }));
  assert.deepEqual(readFileSync(first), pixel);
  program("wl-paste", "echo 'No suitable type of content copied' >&2; exit 1");
  assert.deepEqual(await read({ WAYLAND_DISPLAY: "wayland-0" }), { problem: "no-image" });
  await pathOf(read({ WAYLAND_DISPLAY: "wayland-0", DISPLAY: ":0" }));

  program("osascript", `printf '«data PNGf%s»\\n' ${pixel.toString("hex").toUpperCase()}`);
  utimesSync(first, 0, 0);
  const last = await pathOf(read({}, "darwin"));
  assert.deepEqual(readFileSync(last), pixel);
  assert.equal(existsSync(first), false);
});

test("on the screen Ctrl-V names the file where the cursor is, and says why where it cannot", async () => {
  let found: Awaited<ReturnType<ReturnType<typeof systemClipboard>>> = { path: "/tmp/my shots/a.png" };
  await using at = await sageOnScreen([{ text: "ok" }], { clipboard: async () => found });
  await at.until("What would you like to do?");
  at.type("look at ");
  at.press("\x16");
  await at.until('look at @"/tmp/my shots/a.png"');
  found = { problem: "no-image" };
  at.press("\x16");
  await at.until("There is no picture in the clipboard.");
});
