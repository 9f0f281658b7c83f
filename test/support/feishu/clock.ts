/** Real time that a test can push forward: what is due then happens at once. */
export type FakeClock = {
  now(): number;
  after(ms: number, work: () => void): () => void;
  advance(ms: number): void;
  stop(): void;
};

export function createClock(): FakeClock {
  let ahead = 0;
  let due: { at: number; work: () => void; timer: NodeJS.Timeout | undefined }[] = [];
  const now = () => Date.now() + ahead;
  const run = () => {
    for (;;) {
      const [next] = due.filter(({ at }) => at <= now()).sort((a, b) => a.at - b.at);
      if (!next) return;
      clearTimeout(next.timer);
      due = due.filter((one) => one !== next);
      next.work();
    }
  };
  const arm = (one: (typeof due)[number]) => {
    clearTimeout(one.timer);
    one.timer = setTimeout(run, Math.min(one.at - now(), 2 ** 30));
    one.timer.unref();
  };
  return {
    now,
    after(ms, work) {
      const one = { at: now() + ms, work, timer: undefined };
      due.push(one);
      arm(one);
      return () => {
        clearTimeout(one.timer);
        due = due.filter((other) => other !== one);
      };
    },
    advance(ms) {
      ahead += ms;
      run();
      due.forEach(arm);
    },
    stop() {
      for (const { timer } of due) clearTimeout(timer);
      due = [];
    },
  };
}
