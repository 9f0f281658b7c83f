import type { Greet, WireServer } from "../../src/host/socket/serve.ts";
import type { Clock } from "../../src/remote/lasting.ts";
import { closeCodes, type Closed, type CloseCode, type OpenWire, type Wire } from "../../src/remote/wire.ts";

/** A network in memory that delivers frames in order, and can be cut at any of them. */
export function network(server: WireServer, greet: Greet) {
  let cutIn = Infinity;
  let down = false;
  let dials = 0;
  const standing = new Set<() => void>();
  const open: OpenWire = (hear) => {
    dials++;
    const ends: End[] = [];
    const cut = () => {
      standing.delete(cut);
      for (const end of ends) end.over({ code: 1006, why: "" });
    };
    /** The frame at which it breaks is lost, and so is everything behind it. */
    const passes = () => {
      if (--cutIn > 0) return true;
      cutIn = Infinity;
      cut();
      return false;
    };
    const [client, far] = [createEnd(hear), createEnd(() => {})];
    ends.push(client, far);
    const join = (from: End, to: End) => {
      from.wire.send = (frame) => {
        const text = JSON.stringify(frame);
        setImmediate(() => {
          if (!from.wire.over.aborted && !to.wire.over.aborted && passes()) to.hears(JSON.parse(text));
        });
        return undefined;
      };
      from.wire.close = (code: CloseCode | 1000 = 1000, why = "") => {
        standing.delete(cut);
        from.over({ code, why });
        setImmediate(() => to.over({ code, why }));
      };
    };
    join(client, far);
    join(far, client);
    standing.add(cut);
    if (down) setImmediate(cut);
    else
      server.serve((listen) => {
        far.hears = (frame) => {
          try {
            listen(frame);
          } catch {
            far.wire.close(closeCodes.notUnderstood);
          }
        };
        return far.wire;
      }, greet);
    return client.wire;
  };
  return {
    open,
    dials: () => dials,
    /** Breaks at the nth frame from now, in whichever direction it goes. */
    cutAfter: (frames: number) => void (cutIn = frames),
    cut: () => [...standing].forEach((one) => one()),
    setDown(now: boolean) {
      down = now;
      if (down) for (const one of [...standing]) one();
    },
  };
}

type End = { wire: { -readonly [K in keyof Wire]: Wire[K] }; hears(frame: unknown): void; over(closed: Closed): void };

function createEnd(hears: (frame: unknown) => void): End {
  const over = new AbortController();
  return {
    wire: { send: () => undefined, close() {}, over: over.signal },
    hears,
    over: (closed) => over.abort(closed),
  };
}

/** Time that passes when the test says so. */
export function manualClock(): Clock & { advance(ms: number): void } {
  let now = 1_000_000;
  let timers: { at: number; act: () => void }[] = [];
  return {
    now: () => now,
    later(ms, act) {
      const timer = { at: now + ms, act };
      timers.push(timer);
      return () => void (timers = timers.filter((one) => one !== timer));
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        timers = timers.filter((one) => one !== next);
        now = Math.max(now, next.at);
        next.act();
      }
      now = end;
    },
  };
}

/** Lets everything happen that needs no time to pass. */
export async function settled(rounds = 25): Promise<void> {
  for (let n = 0; n < rounds; n++) await new Promise((resolve) => setImmediate(resolve));
}
