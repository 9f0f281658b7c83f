import type { HookMoment, Hooks } from "../hooks/hook.ts";
import type { SessionRow, Store } from "../journal/store.ts";
import type { Fact } from "../protocol/index.ts";

const LEAVING_MS = 5_000;

/** Hooks that are told and not asked: a session starts, ends, or waits for a person. */
export type Moments = {
  start(session: SessionRow): void;
  fact(fact: Fact): void;
  /** Gives them a moment, not more: leaving must stay as quick as it is safe. */
  end(): Promise<void>;
};

export function createMoments(hooks: Hooks, store: Store): Moments {
  const started = new Map<string, SessionRow>();
  const tell = async (moment: HookMoment, session: SessionRow, more: Record<string, unknown>, signal: AbortSignal) => {
    if (!hooks.has(moment)) return;
    const { problems } = await hooks.run(moment, { session: session.id, cwd: session.cwd, ...more }, signal);
    for (const [n, text] of problems.entries())
      store.hub.delta({ session: session.id, key: `hooks/${moment}`, attempt: 0, n, kind: "notice", text });
  };
  const never = new AbortController().signal;
  return {
    start(session) {
      if (started.has(session.id)) return;
      started.set(session.id, session);
      void tell("sessionStart", session, {}, never);
    },
    fact(fact) {
      const session = started.get(fact.session);
      if (fact.type !== "input.requested" || !session || store.resolution(fact.data.id)) return;
      const { id, kind, why, agent } = fact.data;
      void tell("waiting", session, { request: { id, kind, why }, agent }, never);
    },
    async end() {
      const signal = AbortSignal.timeout(LEAVING_MS);
      await Promise.all([...started.values()].map((session) => tell("sessionEnd", session, {}, signal)));
      started.clear();
    },
  };
}
