import type { HookMoment, Hooks } from "../../hooks/hook.ts";
import type { SessionRow, Store } from "../../journal/store/store.ts";
import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import { whyText } from "../../hooks/hooks.ts";
import { noticeOf } from "../../protocol/reasons/reason.ts";

const LEAVING_MS = 5_000;
const asking: ReadonlySet<FactType> = new Set(["input.requested"]);
const moments: readonly HookMoment[] = ["sessionStart", "waiting", "sessionEnd"];

/** Hooks that are notified and cannot decide: a session starts, ends, or waits for a person. */
export type Moments = {
  start(session: SessionRow, hooks: Hooks): void;
  /** True if a hook listens to the session. */
  follow(session: string): boolean;
  readonly types: ReadonlySet<FactType>;
  fact(fact: Fact): void;
  /** Waits for them only briefly: exiting must stay quick. */
  end(): Promise<void>;
};

export function createMoments(store: Store): Moments {
  const started = new Map<string, { session: SessionRow; hooks: Hooks }>();
  const tell = async (
    moment: HookMoment,
    { session, hooks }: { session: SessionRow; hooks: Hooks },
    more: Record<string, unknown>,
    signal: AbortSignal,
  ) => {
    if (!hooks.has(moment)) return;
    const { problems } = await hooks.run(moment, { session: session.id, cwd: session.cwd, ...more }, signal);
    for (const [n, why] of problems.entries())
      store.hub.delta({ session: session.id, key: `hooks/${moment}`, attempt: 0, n, ...noticeOf(why) });
  };
  const never = new AbortController().signal;
  return {
    start(session, hooks) {
      if (started.has(session.id)) return;
      // Sessions without such hooks are not tracked: a host may have very many.
      if (!moments.some((moment) => hooks.has(moment))) return;
      const entry = { session, hooks };
      started.set(session.id, entry);
      void tell("sessionStart", entry, {}, never);
    },
    follow: (session) => started.has(session),
    types: asking,
    fact(fact) {
      const entry = started.get(fact.session);
      if (fact.type !== "input.requested" || !entry || store.resolution(fact.data.id)) return;
      const { id, kind, why, agent } = fact.data;
      void tell("waiting", entry, { request: { id, kind, why: whyText(why) }, agent }, never);
    },
    async end() {
      const signal = AbortSignal.timeout(LEAVING_MS);
      await Promise.all([...started.values()].map((entry) => tell("sessionEnd", entry, {}, signal)));
      started.clear();
    },
  };
}
