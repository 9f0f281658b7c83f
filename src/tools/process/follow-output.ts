import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

const CHUNK = 64 * 1024;
/** Time between two looks: short while something comes, longer while nothing does. */
const SOONEST_MS = 10;
const LATEST_MS = 100;

/** The output of a kept command, from its beginning, as it grows in the folder of its entry; until the command has ended. */
export function followOutput(folder: string, ended: Promise<unknown>): Readable {
  return Readable.from(grown(folder, ended), { objectMode: false });
}

async function* grown(folder: string, ended: Promise<unknown>): AsyncGenerator<Buffer> {
  let isOver = false;
  let wake = () => {};
  const end = () => {
    isOver = true;
    wake();
  };
  void ended.then(end, end);
  let file: number | undefined;
  let waitMs = SOONEST_MS;
  try {
    for (;;) {
      const isLast = isOver; // what came before the end was told is read once more
      file ??= openIfThere(join(folder, "output"));
      for (let bytes = readNext(file); bytes; bytes = readNext(file)) {
        waitMs = SOONEST_MS;
        yield bytes;
      }
      if (isLast) break;
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), sleep(waitMs)]);
      waitMs = Math.min(LATEST_MS, waitMs * 2);
    }
    yield* rest(folder);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The end of an output that was cut, because it was too long or the disk was full. */
function* rest(folder: string): Generator<Buffer> {
  const path = join(folder, "rest");
  if (!existsSync(path)) return;
  yield Buffer.from("\n[From here on the output was not kept: it is too long, or the disk is full. Its end:]\n");
  yield readFileSync(path);
}

function readNext(file: number | undefined): Buffer | undefined {
  if (file === undefined) return undefined;
  const bytes = Buffer.allocUnsafe(CHUNK);
  const length = readSync(file, bytes, 0, CHUNK, null);
  return length === 0 ? undefined : bytes.subarray(0, length);
}

function openIfThere(path: string): number | undefined {
  try {
    // A command of the same user could have put a link or a pipe there: neither is followed or waited for.
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
