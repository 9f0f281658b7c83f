import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Characters at the end of an output that are looked at. */
const TAIL = 2_000;
/** The same question so often is a program that takes "no input" for "ask again". */
const AGAIN = 10;
const MAX_PROMPT_LENGTH = 160;
/** More questions than this of one command are told to nobody. */
const MAX_PROMPTS = 5;

/** Watches one command for the moment in which it waits for somebody to type, which nobody can here. */
type PromptWatch = {
  output(text: string): void;
  /** Its question when it last seemed to wait; undefined if it never did, or continued. */
  asked(): string | undefined;
  /** Its output looks like a question that went unanswered. */
  ended(): string | undefined;
  stop(): void;
};

/** Only tells: a command that merely takes its time must not die of a guess. */
export function watchForPrompt(leader: number, quietMs: number, tell: (question: string) => void): PromptWatch {
  let tail = "";
  let asked: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let floods = 0;
  const told = new Set<string>();
  const look = (again: number) => {
    // A flood that rests for a moment ends in a line of nothing but the same question.
    const question = repeatedIn(tail) ?? promptAt(tail) ?? readerOf(leader);
    if (question !== undefined) return found(question);
    timer = setTimeout(look, again, 2 * again).unref(); // it may come to it later, without a word
    return undefined;
  };
  const found = (question: string) => {
    asked = question;
    if (told.has(question) || told.size === MAX_PROMPTS) return;
    told.add(question);
    tell(question);
  };
  const rest = () => {
    clearTimeout(timer);
    timer = setTimeout(look, quietMs, 2 * quietMs).unref();
  };
  rest();
  return {
    output(text) {
      tail = (tail + text).slice(-TAIL);
      floods += text.length;
      if (floods >= TAIL) {
        floods = 0;
        const question = repeatedIn(tail);
        if (question !== undefined) return found(question);
      }
      asked = undefined;
      rest();
    },
    asked: () => asked,
    ended: () => asked ?? repeatedIn(tail) ?? leftOpenIn(tail),
    stop: () => clearTimeout(timer),
  };
}

/** A line that is a question to whoever sits at a terminal, whether or not it was ended. */
const questions = [
  /[[(（]\s*(?:y(?:es)?\s*\/\s*no?|no?\s*\/\s*y(?:es)?|是\s*\/\s*否|y\s*\/\s*n\s*\/[^\])]{1,30})\s*[\])）]/i,
  /\(yes\/no\/\[fingerprint\]\)/i,
  /[?？]\s*[[(（][yn是否][\])）]$/i,
  /\b(?:press|hit)\s+(?:any key|\W?(?:enter|return)\b)/i,
  /按\s*(?:任意键|任何键|回车|enter)/i,
];

/** And those that are only so while the cursor stands behind them. */
const openQuestions = [
  /[?？]$/,
  /^\?\s/, // the mark with which many programs begin a question
  /(?:pass(?:word|phrase|code)|\bpin\b|user ?name|login|token|one-time|verification|otp)\b.*[:：]$/i,
  /(?:密码|口令|用户名|验证码|令牌|密钥).*[:：]?$/,
  /(?:\b(?:enter|type|choose|select|confirm|proceed|continue|overwrite)\b|输入|选择|确认|继续|覆盖|是否).*[:：>？?]$/i,
  /^(?:--More--.*|\(END\)|:|lines \d+-\d+.*)$/,
  /^(?:>>>|\.\.\.|>|\$|#|\w{0,12}>|\(\w{2,5}\))$/, // a shell, an interpreter or a debugger that wants the next line
];

/** Last line of the output, if it looks like a question. */
export function promptAt(output: string): string | undefined {
  const text = plain(output);
  const open = !/\n\s*$/.test(text);
  const line = lastLine(text);
  if (line === "") return undefined;
  if (questions.some((pattern) => pattern.test(line))) return shown(line);
  return open && openQuestions.some((pattern) => pattern.test(line)) ? shown(line) : undefined;
}

/** The question that is printed over and over, if there is one. */
function repeatedIn(output: string): string | undefined {
  const text = plain(output);
  const pieces = text.split(/(?<=[\])）])\s*|(?<=[?？:：])\s*(?![\s[(（])|\n/).map((piece) => piece.trim());
  const last = pieces.findLast((piece, n) => piece !== "" && n < pieces.length - 1) ?? "";
  if (pieces.filter((piece) => piece === last).length < AGAIN) return undefined;
  return [...questions, ...openQuestions].some((pattern) => pattern.test(last)) ? shown(last) : undefined;
}

/** A question in the last line with something after it: "[Y/n] Abort." */
function leftOpenIn(output: string): string | undefined {
  const line = lastLine(plain(output));
  return questions.some((pattern) => pattern.test(line)) || promptAt(output) !== undefined ? shown(line) : undefined;
}

function lastLine(text: string): string {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  return (line.split("\r").findLast((part) => part.trim() !== "") ?? "").trim();
}

function shown(line: string): string {
  return line.length > MAX_PROMPT_LENGTH ? `…${line.slice(-MAX_PROMPT_LENGTH)}` : line;
}

/** Without what only moves the cursor or colours it. */
function plain(text: string): string {
  return text
    .replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g, "")
    .replaceAll("\x07", "");
}

const readCall: Partial<Record<NodeJS.Architecture, string>> = {
  x64: "0",
  arm64: "63",
  riscv64: "63",
  ia32: "3",
  arm: "3",
};

/** The program below `leader` that reads its own terminal. Reading a pipe is how pipelines work. Only Linux tells. */
function readerOf(leader: number): string | undefined {
  const read = readCall[process.arch];
  if (process.platform !== "linux" || read === undefined) return undefined;
  for (const pid of familyOf(leader)) {
    try {
      const [call, fd] = readFileSync(`/proc/${pid}/syscall`, "utf8").split(" ");
      if (call !== read || fd === undefined) continue;
      if (!/^\/dev\/(?:pts\/\d+|tty\w*|console)$/.test(readlinkSync(`/proc/${pid}/fd/${Number(fd)}`))) continue;
      return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
    } catch {
      // it has ended, or is not ours to look at
    }
  }
  return undefined;
}

/** A process, what it started, and so on; wherever they went. */
function familyOf(leader: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, "utf8");
      const parent = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // it has just ended
    }
  }
  const family = [leader];
  for (const pid of family) family.push(...(children.get(pid) ?? []));
  return family;
}
