import { keyboard } from "../../surfaces/plain/typed/lines.ts";

/** Reads a line that was typed after the prompt was there; undefined when the person leaves. */
export function promptLine(label: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const done = (text?: string) => {
      lines.close();
      resolve(text?.trim());
    };
    const lines = keyboard(process.stdin, process.stdout, { line: done, early() {}, end: done, interrupt: done });
    lines.ask(label, { fresh: true });
  });
}

/** The same for what nobody may read over a shoulder or find in a scrollback: a dot for each character. */
export function promptHidden(label: string): Promise<string | undefined> {
  const { stdin, stdout } = process;
  return new Promise((resolve) => {
    let text = "";
    const done = (result: string | undefined) => {
      stdin.off("data", hear);
      stdin.setRawMode(false);
      stdin.pause();
      stdout.write("\n");
      resolve(result?.trim());
    };
    const hear = (chunk: Buffer) => {
      // A key is usually pasted; the terminal's paste markers are not part of it.
      for (const character of chunk.toString("utf8").replaceAll(/\x1b\[20[01]~|\x1b\[[\d;]*[A-Za-z]/g, "")) {
        if (character === "\r" || character === "\n") return done(text);
        if (character === "\x03" || character === "\x04" || character === "\x1b") return done(undefined);
        if (character === "\x7f" || character === "\b") {
          if (text !== "") stdout.write("\b \b");
          text = text.slice(0, -1);
        } else if (character === "\x15") {
          stdout.write("\b \b".repeat(text.length));
          text = "";
        } else if (character >= " ") {
          text += character;
          stdout.write("•");
        }
      }
    };
    stdout.write(label);
    stdin.setRawMode(true);
    stdin.on("data", hear);
    stdin.resume();
  });
}
