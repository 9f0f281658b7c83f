import { fstatSync } from "node:fs";
import type { CliTexts } from "../../texts/commands/cli.ts";

const CAP = 1_000_000;
const TIMEOUT_MS = 3_000;

/** Task: the words of the command line, with piped text as context; or the piped text itself. */
export async function readTask(
  words: string | undefined,
  { mayBeMissing }: { mayBeMissing: boolean },
  t: CliTexts,
): Promise<string | undefined> {
  const piped = await readPiped(words !== undefined || mayBeMissing, t);
  if (piped === undefined || piped.text.trim() === "") return words;
  const text = piped.cut ? `${piped.text}\n${t.stdinCut(CAP)}` : piped.text;
  if (words === undefined) return text;
  const ticks = text.match(/`{3,}/g)?.reduce((longest, run) => Math.max(longest, run.length + 1), 3) ?? 3;
  const fence = "`".repeat(ticks);
  return `${words}\n\n${fence}stdin\n${text.trimEnd()}\n${fence}`;
}

async function readPiped(hasTask: boolean, t: CliTexts): Promise<{ text: string; cut: boolean } | undefined> {
  if (!isReadable()) return undefined; // before a look at `process.stdin`, which takes 2 ms to be made
  const chunks: Buffer[] = [];
  let size = 0;
  // Programs often start others with an open pipe that they never write to.
  const impatient = hasTask
    ? setTimeout(() => {
        console.error(`sage: ${t.noStdin}`);
        process.stdin.destroy();
      }, TIMEOUT_MS)
    : undefined;
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      clearTimeout(impatient);
      chunks.push(chunk);
      size += chunk.length;
      if (size > CAP) break;
    }
  } catch {
    // Destroyed by us or closed by the writer: use what has arrived.
  } finally {
    clearTimeout(impatient);
  }
  const whole = Buffer.concat(chunks);
  // A character torn in two at the end is left out.
  const text = new TextDecoder().decode(whole.subarray(0, CAP), { stream: true });
  return { text, cut: size > CAP };
}

/** False for a terminal and for /dev/null. */
function isReadable(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false;
  }
}
