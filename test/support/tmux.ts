import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { program, type Machine } from "./cli.ts";
import { untilText } from "./until.ts";

/** Why the tests that need it are skipped, where they are. */
export const noTmux = spawnSync("tmux", ["-V"]).status === 0 ? false : "tmux is not installed";

/** A shell in tmux, to start Sage in by hand and see what it leaves behind. */
export function tmux(machine: Machine, { cols = 100, rows = 40 } = {}) {
  const start = join(machine.dir, "start.sh");
  writeFileSync(start, `echo $$ > ${machine.dir}/pid; exec ${process.execPath} ${program} "$@"\n`);
  const env = {
    ...machine.env,
    SAGE_PLAIN: "",
    TMUX_TMPDIR: machine.dir,
    START: start,
  };
  const run = (...args: string[]) =>
    execFileSync("tmux", ["-L", "sage", "-f", "/dev/null", ...args], { env, encoding: "utf8" });
  const size = ["-x", `${cols}`, "-y", `${rows}`];
  run("new-session", "-d", "-s", "s", ...size, "-c", machine.cwd, "bash --norc --noprofile");
  const target = (window: number) => ["-t", `s:${window}`];
  const at = (window: number) => {
    const screen = () => run("capture-pane", "-p", ...target(window)).trimEnd();
    const all = () => run("capture-pane", "-p", "-J", "-S", "-5000", ...target(window)).trimEnd();
    const until = async (pattern: RegExp | string, text: () => string = screen): Promise<string> =>
      (await untilText(pattern, text, { everyMs: 50 })).text;
    return {
      screen,
      all,
      until,
      /** Keys by tmux's names: Enter, Escape, C-c. */
      press: (...keys: string[]) => void run("send-keys", ...target(window), ...keys),
      type: (text: string) => void run("send-keys", ...target(window), "-l", text),
      /** As a terminal does it: between marks, if the program asked for them. */
      paste(text: string) {
        run("set-buffer", "--", text);
        run("paste-buffer", "-p", ...target(window));
      },
      cursor() {
        const place = run("display-message", "-p", ...target(window), "#{cursor_x} #{cursor_y}")
          .trim()
          .split(" ");
        return { col: Number(place[0]), row: Number(place[1]) };
      },
      /** As the person does it: whatever runs in it is hung up on. */
      close: () => void run("kill-window", ...target(window)),
      /** At a panel: after the silence that it wants. */
      async answer(...keys: string[]) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        for (const key of keys) run("send-keys", ...target(window), key);
      },
      /** Types a command for the shell. */
      shell: (command: string) => void run("send-keys", ...target(window), "-l", `${command}\n`),
      /** Starts Sage from the shell, in the foreground. */
      sage: (args: string) =>
        void run(
          "send-keys",
          ...target(window),
          "-l",
          `sh "$START" ${args}
`,
        ),
    };
  };
  return {
    ...at(0),
    another() {
      run("new-window", "-d", "-t", "s:1", "-c", machine.cwd, "bash --norc --noprofile");
      return at(1);
    },
    /** Of the Sage that was started last. */
    pid: () => Number(readFileSync(join(machine.dir, "pid"), "utf8")),
    resize: (columns: number, lines: number) =>
      void run("resize-window", "-t", "s", "-x", `${columns}`, "-y", `${lines}`),
    [Symbol.dispose]() {
      spawnSync("tmux", ["-L", "sage", "kill-server"], { env });
    },
  };
}
