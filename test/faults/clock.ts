import { syncBuiltinESMExports } from "node:module";
import os from "node:os";

/** Time that passes only when it is told to: both clocks and all timers of this process, until it is disposed of. */
export type VirtualTime = {
  now(): { mono: number; wall: number };
  /** Time passes: whatever is due happens, in order. */
  pass(ms: number): Promise<void>;
  /** Somebody sets the clock on the wall. */
  jump(ms: number): void;
  /** The machine sleeps: the wall clock and its uptime go on, timers and the monotonic clock stand still. */
  sleep(ms: number): Promise<void>;
} & Disposable;

type Timer = { due: number; order: number; every: number | undefined; fire: () => void };

export function virtualTime(): VirtualTime {
  let mono = 10_000;
  let wall = Date.UTC(2026, 2, 29); // the night in which Europe's clocks are put forward
  let asleep = 0;
  let order = 0;
  const timers = new Map<number, Timer>();
  const real = {
    setTimeout,
    setInterval,
    clearTimeout,
    clearInterval,
    now: Date.now,
    monotonic: performance.now,
    hrtime: process.hrtime.bigint,
    uptime: os.uptime,
  };
  const arm = (fire: () => void, ms: number | undefined, repeat: boolean) => {
    const id = ++order;
    const wait = Math.max(1, ms !== undefined && ms < 2 ** 31 ? ms : 1); // Node fires at once what it cannot count
    timers.set(id, { due: mono + wait, order: id, every: repeat ? wait : undefined, fire });
    const handle = { id, ref: () => handle, unref: () => handle, [Symbol.toPrimitive]: () => id };
    return handle;
  };
  const disarm = (handle: unknown) => void timers.delete((handle as { id?: number } | undefined)?.id ?? 0);
  const bind = (fn: (...args: unknown[]) => void, args: unknown[]) => () => fn(...args);
  type Fn = (...args: unknown[]) => void;
  Object.assign(globalThis, {
    setTimeout: (fn: Fn, ms?: number, ...args: unknown[]) => arm(bind(fn, args), ms, false),
    setInterval: (fn: Fn, ms?: number, ...args: unknown[]) => arm(bind(fn, args), ms, true),
    clearTimeout: disarm,
    clearInterval: disarm,
  });
  Date.now = () => wall;
  performance.now = () => mono;
  process.hrtime.bigint = () => BigInt(Math.round((mono + 60_000) * 1e6)); // the machine was started a minute before
  os.uptime = () => (mono + asleep + 60_000) / 1_000;
  syncBuiltinESMExports();
  const next = () => {
    let first: [number, Timer] | undefined;
    for (const entry of timers)
      if (!first || entry[1].due < first[1].due || (entry[1].due === first[1].due && entry[1].order < first[1].order))
        first = entry;
    return first;
  };
  const breathe = () => new Promise((resolve) => setImmediate(resolve));
  const run = async (until: number) => {
    for (let first = next(); first && first[1].due <= until; first = next()) {
      const [id, timer] = first;
      if (timer.due > mono) {
        wall += timer.due - mono;
        mono = timer.due;
      }
      if (timer.every === undefined) timers.delete(id);
      else timer.due = mono + timer.every;
      timer.fire();
      await breathe();
    }
    wall += Math.max(0, until - mono);
    mono = Math.max(mono, until);
  };
  return {
    now: () => ({ mono: mono + asleep, wall }),
    pass: (ms) => run(mono + ms),
    jump: (ms) => void (wall += ms),
    async sleep(ms) {
      asleep += ms;
      wall += ms;
      await run(mono);
    },
    [Symbol.dispose]() {
      Object.assign(globalThis, {
        setTimeout: real.setTimeout,
        setInterval: real.setInterval,
        clearTimeout: real.clearTimeout,
        clearInterval: real.clearInterval,
      });
      Date.now = real.now;
      performance.now = real.monotonic;
      process.hrtime.bigint = real.hrtime;
      os.uptime = real.uptime;
      syncBuiltinESMExports();
    },
  };
}
