import { createInterface, type Interface } from "node:readline";
import { Writable, type Readable } from "node:stream";

export type Input = Readable & { isTTY?: boolean };
export type Output = Writable & { isTTY?: boolean; columns?: number };

type Ask = {
  /** Nothing typed before this was shown, or within a moment after, may answer it. */
  fresh: boolean;
  /** For a message: lines that were pasted together are one, and what was typed before is there. */
  joined?: boolean;
  /** Text to start from, where the person can edit it. */
  prefill?: string | undefined;
};

/** Source of typed lines: a keyboard, or a pipe in which every line counts in order. */
export type Lines = {
  /** Takes one line under this label. */
  ask(label: string, ask: Ask): void;
  /** Takes the label back: what it asked for is moot. */
  hush(): void;
  close(): void;
};

type LineHandlers = {
  line(text: string): void;
  /** Typed while nothing was asked. */
  early(text: string): void;
  /** Nothing more will come, and somebody asked. */
  end(): void;
  interrupt(): void;
  /** Lines that the text before the cursor may become, at a prompt for messages. */
  complete?(typed: string): string[];
};

const QUIET_MS = 300;
const PASTE_MS = 20;

export function keyboard(input: Input, output: Output, on: LineHandlers): Lines {
  const editing = output.isTTY === true;
  const marksPastes = editing && process.env["TERM"] !== "dumb";
  let state: "hushed" | "quiet" | "asking" = "hushed";
  let asked: { label: string; ask: Ask } = { label: "", ask: { fresh: false } };
  let timer: NodeJS.Timeout | undefined;
  let pasted: string[] = [];
  /** Half a message, typed when something else was asked: it waits for the prompt that takes messages. */
  let kept = "";
  let closed = false;

  const gate = gateTo(output, () => state === "asking");
  const resized = () => gate.emit("resize");
  const completer = (typed: string) => [asked.ask.joined === true ? (on.complete?.(typed) ?? []) : [], typed];
  const rl = createInterface({ input, output: gate, terminal: editing, historySize: 100, completer });

  const clear = (): string => (editing && !closed ? takeLine(rl) : "");
  const arm = () => {
    const typed = clear();
    const { label, ask } = asked;
    state = "asking";
    rl.setPrompt(label);
    rl.prompt();
    const message = ask.joined === true ? kept : "";
    const start = ask.prefill ?? (message || (ask.fresh ? "" : typed));
    if (message !== "") kept = "";
    if (start !== "" && editing) rl.write(start);
  };
  const heard = () => {
    const text = pasted.join("\n");
    pasted = [];
    state = "hushed";
    on.line(text);
  };

  const keys = watchKeys(input, () => {
    if (state === "quiet") timer?.refresh();
  });
  if (marksPastes) output.write("\x1b[?2004h");
  output.on("resize", resized);
  rl.on("history", (history) => {
    if (asked.ask.joined !== true) history.shift(); // "y" is nothing to come back to
  });
  rl.on("line", (text) => {
    if (state !== "asking") return on.early(text);
    if (asked.ask.joined !== true && keys.pasting()) {
      on.early(text); // a paste decides nothing
      return rl.prompt();
    }
    pasted.push(text);
    if (asked.ask.joined !== true) return heard();
    clearTimeout(timer);
    if (!keys.pasting()) timer = setTimeout(heard, PASTE_MS);
  });
  rl.on("SIGINT", () => on.interrupt());
  rl.on("close", () => {
    closed = true;
    const asking = state !== "hushed";
    if (state === "asking") output.write("\n");
    state = "hushed";
    if (asking) on.end();
  });

  return {
    ask(label, ask) {
      if (closed) return void setImmediate(() => on.end());
      asked = { label, ask };
      if (!ask.fresh) return arm();
      kept ||= clear();
      state = "quiet";
      timer = setTimeout(arm, QUIET_MS);
    },
    hush() {
      clearTimeout(timer);
      if (state === "asking") {
        rl.write(null, { ctrl: true, name: "e" });
        output.write("\n");
        state = "hushed";
        const typed = clear();
        if (asked.ask.joined === true) kept = typed;
      }
      state = "hushed";
      if (pasted.length > 0) on.early(pasted.splice(0).join("\n"));
    },
    close() {
      clearTimeout(timer);
      state = "hushed";
      keys.stop();
      output.off("resize", resized);
      if (marksPastes) output.write("\x1b[?2004l");
      rl.close();
    },
  };
}

/** While nothing is asked typing is not echoed: it would tear what is being written. */
function gateTo(output: Output, isOpen: () => boolean): Writable {
  const gate = new Writable({
    write(chunk, _encoding, done) {
      if (isOpen()) output.write(chunk);
      done();
    },
  });
  return Object.defineProperty(gate, "columns", { get: () => output.columns });
}

/** Takes away the text before the person, and returns it. */
function takeLine(rl: Interface): string {
  const { line } = rl;
  rl.write(null, { ctrl: true, name: "e" });
  rl.write(null, { ctrl: true, name: "u" });
  return line;
}

/** Raw keys: `typed` is called for each, and pastes are tracked. */
function watchKeys(input: Input, typed: () => void): { pasting(): boolean; stop(): void } {
  let pasting = false;
  const pastes = (_text: unknown, key: { name?: string } | undefined) => {
    if (key?.name === "paste-start") pasting = true;
    else if (key?.name === "paste-end") pasting = false;
  };
  input.on("data", typed);
  input.on("keypress", pastes);
  return {
    pasting: () => pasting,
    stop() {
      input.off("data", typed);
      input.off("keypress", pastes);
    },
  };
}

export function pipe(
  input: Input,
  output: Output,
  on: LineHandlers & { echo: ((line: string) => string) | undefined },
): Lines {
  const { echo = (line) => line } = on;
  const queue: string[] = [];
  let asking = false;
  let ended = false;
  const deliver = () => {
    if (!asking) return;
    const line = queue.shift();
    if (line === undefined && !ended) return;
    asking = false;
    output.write(line === undefined ? "\n" : `${echo(line)}\n`);
    if (line === undefined) on.end();
    else on.line(line);
  };
  const rl = createInterface({ input, terminal: false });
  rl.on("line", (line) => {
    queue.push(line);
    deliver();
  });
  rl.on("close", () => {
    ended = true;
    deliver();
  });
  return {
    ask(label) {
      asking = true;
      output.write(label);
      setImmediate(deliver);
    },
    hush() {
      if (asking) output.write("\n");
      asking = false;
    },
    close() {
      asking = false;
      rl.close();
    },
  };
}
