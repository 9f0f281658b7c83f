import { homedir } from "node:os";
import type { Confining } from "../../agent/state/context.ts";
import type { Sandbox } from "../../config/settings/sandbox.ts";
import type { Confinement } from "../../confine/confinement.ts";
import type { Probed } from "../../confine/probe.ts";
import { judgeHost } from "../../permission/web.ts";
import { createRuleBooks } from "../../permission/rules/book.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import { reason, type Reason, SageError } from "../../protocol/reasons/reason.ts";

type Place = {
  root: string;
  home: string;
  /** The folder of Sage's state. */
  state: string;
  session: string;
  /** Folders of the state that the session may read. */
  kept: readonly string[];
  mayRead(): (path: string) => boolean;
};

/** Sandboxes of this process. A daemon reads settings anew for every turn, and what a turn started in the background continues in its sandbox. */
const made = new Map<string, { confinement: Promise<Confinement>; mayRead: Place["mayRead"] }>();

/** Confinement for sessions of one process: one sandbox each, made when the first command of a session needs it. */
export function createConfining(sandbox: Sandbox, { apart }: { /** Sessions of several people. */ apart: boolean }) {
  const make = async ({ root, home, state, session, kept }: Place, mayRead: Place["mayRead"], rested: () => void) => {
    const { createConfinement } = await import("../../confine/confinement.ts");
    return createConfinement({
      roots: [root],
      home,
      sageHome: state,
      key: apart ? `session ${session}` : root,
      readable: sandbox.readable,
      writable: sandbox.writable,
      kept,
      hiding: mayRead,
      rested,
    });
  };
  return (place: Place): Confining => {
    const { mode, outside, git } = sandbox;
    let problem: Reason | undefined = reason("confine-impossible", { problem: "other", detail: "not tried yet" });
    const ready = async () => {
      const { unfitRoot } = await import("../../confine/confinement.ts");
      const wide = unfitRoot([place.root], place.home);
      const probed = await probeOnce(place.state, place.home);
      if (wide !== undefined) problem = reason("confine-impossible", { problem: "workspace", detail: wide });
      else
        problem = probed.ok
          ? undefined
          : reason("confine-impossible", { problem: probed.problem, detail: probed.detail });
    };
    const launch: Confining["launch"] = async (command) => {
      const { root, home, state, session, kept, mayRead } = place;
      const key = JSON.stringify([root, home, state, session, kept, apart, sandbox]);
      const forget = () => void made.delete(key);
      let own = made.get(key);
      if (!own) {
        const latest = () => (made.get(key)?.mayRead ?? mayRead)();
        own = { confinement: make(place, latest, forget), mayRead };
        made.set(key, own);
        own.confinement.catch(forget); // the next command tries again
      }
      own.mayRead = mayRead;
      return (await own.confinement).launch(command);
    };
    return {
      mode: mode === "autoAllow" ? mode : "contain",
      outside,
      git,
      ready,
      problem: () => problem,
      launch,
      async writes(path) {
        // A sandbox that could not be made runs nothing.
        const sandboxes = await Promise.allSettled([...made.values()].map(({ confinement }) => confinement));
        const done = sandboxes.map((found) => (found.status === "fulfilled" ? found.value.writes(path) : undefined));
        return () => done.forEach((tell) => tell?.());
      },
      async start(argv, { cwd, env }, reach = () => ({ allowed: false })) {
        await ready();
        if (problem) throw new SageError("config-invalid", problem);
        const as = { repository: "read", hosts: [], writable: [] } as const;
        const [launched, { startConfined }] = await Promise.all([
          launch({ cwd, env, as, reach }),
          import("../../confine/start.ts"),
        ]);
        const child = startConfined(launched, argv);
        child.once("close", () => void launched.over().catch(() => {}));
        return child;
      },
    };
  };
}

/** Ends what runs in every sandbox of this process, and looks over what it left. */
export async function endConfined(): Promise<void> {
  const sandboxes = [...made.values()].map(({ confinement }) => confinement.then((sandbox) => sandbox.end()));
  await Promise.allSettled(sandboxes);
}

let probing: Promise<Probed> | undefined;

/** Tried once for a process. */
export function probeOnce(state: string, home: string): Promise<Probed> {
  return (probing ??= import("../../confine/probe.ts").then(({ probe }) => probe(state, home)));
}

/** Starts servers that a folder's own settings name: confined as its commands are, with the hosts that rules allow. */
export function startServers(
  sandbox: Sandbox,
  { root, state, rules }: { root: string; state: string; rules: readonly Rule[] },
): Confining["start"] {
  const place = { root, home: homedir(), state, session: "servers", kept: [], mayRead: () => () => true };
  const confining = createConfining(sandbox, { apart: false })(place);
  const books = createRuleBooks();
  return (argv, where) =>
    confining.start(argv, where, (host) => {
      const { behavior, named } = judgeHost(host, books.of(rules, homedir()));
      return behavior === "allow" ? { allowed: true, named } : { allowed: false };
    });
}
