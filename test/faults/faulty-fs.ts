// node:fs/promises of which the nth call fails. The file tools are loaded over it; nothing in them knows.
import * as fs from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

export const disk = { calls: 0, failAt: 0, until: Infinity, code: "EIO" };

/** The nth call from now fails, or every call from it on. */
export function fail({ at, code, forGood }: { at: number; code: string; forGood: boolean }): void {
  Object.assign(disk, { calls: 0, failAt: at, until: forGood ? Infinity : at, code });
}

function turn(what: string): void {
  disk.calls++;
  if (disk.failAt === 0 || disk.calls < disk.failAt || disk.calls > disk.until) return;
  throw Object.assign(new Error(`${disk.code}: ${what} failed`), { code: disk.code, syscall: what });
}

type Fn = (...args: never[]) => Promise<unknown>;
const wrap = <F extends Fn>(name: string, fn: F): F =>
  (async (...args: never[]) => {
    turn(name);
    return fn(...args);
  }) as unknown as F;

export const mkdir = wrap("mkdir", fs.mkdir as Fn) as typeof fs.mkdir;
export const readlink = wrap("readlink", fs.readlink as Fn) as typeof fs.readlink;
export const realpath = wrap("realpath", fs.realpath as Fn) as typeof fs.realpath;
export const readdir = wrap("readdir", fs.readdir as Fn) as typeof fs.readdir;
export const rename = wrap("rename", fs.rename);
export const rm = wrap("rm", fs.rm);

export async function open(...args: Parameters<typeof fs.open>): Promise<FileHandle> {
  turn("open");
  const handle = await fs.open(...args);
  return new Proxy(handle, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        try {
          if (name !== "close") turn(String(name)); // closing frees the descriptor whatever it says
        } catch (error) {
          // A disk that is full has taken some of it.
          if (name === "writeFile") await target.write(Buffer.from(given[0] as Buffer).subarray(0, 3));
          throw error;
        }
        return (value as (...all: unknown[]) => unknown).apply(target, given);
      };
    },
  });
}
