import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attachTerminal, type TerminalEnd, type TerminalOptions } from "../../src/surfaces/terminal/index.ts";
import { overWire } from "./over-wire.ts";
import { createScreen } from "./screen.ts";
import { sageWith, workspace, type TestConfig, type TestSage } from "./sage.ts";
import { untilText } from "./until.ts";

/** `npm run test:remote`: the same stories over a WebSocket. */
const overRemote = process.env["TEST_OVER"] === "remote";

type Given = Partial<TerminalOptions> & { cols?: number; rows?: number; sage?: TestSage };

/** The terminal surface over the real host, on an emulated terminal; or one more of them on the same session. */
export async function sageOnScreen(script: TestConfig["script"], given: Given & Partial<TestConfig> = {}) {
  const own = given.sage ? undefined : workspace();
  const sage = given.sage ?? (await sageWith({ ...given, script, dir: own?.dir ?? "", watched: false }));
  const { cols = 80, rows = 24 } = given;
  const logs = mkdtempSync(join(tmpdir(), "sage-test-"));
  const screen = createScreen({ cols, rows, scrollback: 20_000 });
  const leaving = new AbortController();
  const wire = overRemote ? await overWire(sage.host, { by: given.by ?? "Lin", surface: "tui" }) : undefined;
  const surface = attachTerminal(wire?.host ?? sage.host, {
    session: sage.session,
    lang: "en",
    by: "Lin",
    header: "Sage",
    model: "scripted",
    env: { TERM: "xterm-256color" },
    logDirectory: logs,
    device: screen.terminal,
    signal: leaving.signal,
    ...given,
  });
  let ended: TerminalEnd | undefined;
  void surface.done.then((end) => (ended = end));
  const until = async (pattern: RegExp | string): Promise<string> => (await untilText(pattern, screen.all)).text;
  const type = (text: string) => {
    for (const letter of text) screen.press(letter);
  };
  return {
    sage,
    screen,
    surface,
    until,
    ended: () => ended,
    /** Keys, one after the other. */
    press(...keys: string[]) {
      for (const key of keys) screen.press(key);
    },
    type,
    /** Letters, then Enter. */
    enter(text: string) {
      type(text);
      screen.press("\r");
    },
    /** At a panel: after the silence that it wants. */
    async answer(...keys: string[]) {
      await new Promise((resolve) => setTimeout(resolve, 400));
      for (const key of keys) screen.press(key);
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await surface.done;
      await wire?.close();
      if (!given.sage) await sage[Symbol.asyncDispose]();
      screen[Symbol.dispose]();
      own?.[Symbol.dispose]();
      rmSync(logs, { recursive: true, force: true });
    },
  };
}
