import { expandMessage } from "../../context/skills.ts";
import { version } from "../../config/version.ts";
import type { SessionRow, Store } from "../../journal/store/store.ts";
import type { Model } from "../../models/model.ts";
import { noticeOf, type Reason } from "../../protocol/reasons/reason.ts";
import { canonicalJson } from "../../base/canonical-json.ts";
import { createAgent, endSandboxes, flushTraces } from "./agent.ts";
import type { Agent, AgentParts, RunSettings } from "./agent-parts.ts";
import type { Guard, PersonOf } from "../guard.ts";
import { createHost, type HostParts, type LocalHost } from "../host.ts";

const SLEEP_AFTER_MS = 60_000;

/** The parts of a host: store, model, rules, and what else differs from the defaults. */
export type Parts = AgentParts &
  RunSettings & {
    store: Store;
    /** Loaded when the first turn begins. */
    model(): Promise<Model>;
    /** Told when a turn of a session has ended and that is on disk. */
    turnEnded?: ((session: string) => void) | undefined;
  };

/** Wires a store, a model, tools, rules and options into a host. */
export function assemble({ store, options, channel, turnEnded, ...parts }: Parts): LocalHost {
  const agent = createAgent({ ...parts, model: loadOnce(parts.model) });
  const run = { agent, options, ...(channel && { channel }) };
  return assembleEach(store, () => run, { namer: parts.smallModel, turnEnded });
}

type Besides = {
  guard?: Guard | undefined;
  personOf?: PersonOf | undefined;
  namer?: (() => Promise<Model>) | undefined;
  sleepAfterMs?: number | undefined;
  letsGo?: boolean | undefined;
  taskEnds?: HostParts["taskEnds"];
  elsewhere?: HostParts["elsewhere"] | undefined;
  home?: HostParts["home"] | undefined;
  surroundings?: HostParts["surroundings"] | undefined;
  rulesKept?: HostParts["rulesKept"] | undefined;
  /** Told when a turn of a session has ended and that is on disk. */
  turnEnded?: ((session: string) => void) | undefined;
};

/** The same for sessions that differ: agent and settings of each are asked for when a turn of it begins. */
export function assembleEach(
  store: Store,
  runOf: (session: SessionRow) => RunSettings & { agent: Agent },
  {
    guard,
    personOf,
    namer,
    sleepAfterMs = SLEEP_AFTER_MS,
    letsGo,
    taskEnds,
    elsewhere,
    turnEnded,
    home,
    surroundings,
    rulesKept,
  }: Besides = {},
): LocalHost {
  const warned = new Set<string>();
  const warn = (session: string, why: Reason) => {
    const once = `${session}\n${canonicalJson(why)}`;
    if (warned.has(once)) return;
    warned.add(once);
    store.hub.delta({ session, key: "instructions", attempt: 0, n: warned.size, ...noticeOf(why) });
  };
  /** Read for a message, and used by the turn that it begins in the same breath. */
  const justRead = new Map<string, ReturnType<typeof runOf>>();
  const made = createHost({
    store,
    version,
    expand(session, text) {
      const run = runOf(session);
      justRead.set(session.id, run);
      setImmediate(() => justRead.delete(session.id));
      const expanded = expandMessage(run.agent, text);
      const { outside, keepDir } = run.agent;
      return outside?.expand(text, expanded ?? text, { session: session.id, keepDir: keepDir(session.id) }) ?? expanded;
    },
    keepDir: (session) => (justRead.get(session.id) ?? runOf(session)).agent.keepDir(session.id),
    rulesIn: (session) => runOf(session).agent.rules,
    ...(namer && { namer }),
    ...(guard && { guard }),
    ...(personOf && { personOf }),
    ...(home && { home }),
    ...(surroundings && { surroundings }),
    ...(rulesKept && { rulesKept }),
    sleepAfterMs,
    ...(letsGo && { letsGo }),
    taskEnds,
    ...(elsewhere && { elsewhere }),
    ...(turnEnded && { turnEnded }),
    async executor(session) {
      const { agent, ...run } = justRead.get(session.id) ?? runOf(session);
      return agent.executor(session, run, { store, warn: (why) => warn(session.id, why) });
    },
  });
  open.add(made);
  const close: LocalHost["close"] = async (options) => {
    await made.close(options);
    // Another host of this process may still run commands.
    if (open.delete(made) && open.size === 0) await endSandboxes();
    await flushTraces();
  };
  return { ...made, close };
}

/** Hosts of this process that are not closed. */
const open = new Set<LocalHost>();

/** A model that could not be loaded is tried again by the next turn: a key was set, a server came up. */
export function loadOnce(load: () => Promise<Model>): () => Promise<Model> {
  let model: Promise<Model> | undefined;
  return () =>
    (model ??= load().catch((error: unknown) => {
      model = undefined;
      throw error;
    }));
}
