import type { Surroundings } from "../../src/host/commands/parts.ts";
import type { Command, Host } from "../../src/protocol/host/host.ts";
import type { TerminalActs } from "../../src/surfaces/terminal/index.ts";
import type { Lang } from "../../src/texts/language.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { slashTexts } from "../../src/texts/surfaces/slash.ts";
import { followSession, type FollowedSession } from "../../src/view/session.ts";
import type { SlashWords } from "../../src/view/slash/run.ts";

export function slashWords(lang: Lang): SlashWords {
  return { t: texts(lang), slash: slashTexts(lang) };
}

/** A screen whose caller can do these commands alone. */
export function actsOf(acts: Partial<TerminalActs>): TerminalActs {
  const names = ["resume", "sessions", "new", "model", "permissions", "rewind", "tasks", "export"] as const;
  return { ...(Object.fromEntries(names.map((name) => [name, undefined])) as TerminalActs), ...acts };
}

/** A project with a skill, a subagent and a command of the person's own. */
export const surroundings: Surroundings = {
  folders: () => [],
  async about({ cwd }) {
    return {
      cwd,
      model: "scripted",
      contextWindow: 1_000,
      rules: [],
      commands: [{ name: "undo", description: "mine" }],
      skills: [{ name: "tidy", description: "tidies up", invocable: true }],
      subagents: [{ name: "explorer", description: "looks" }],
    };
  },
  model: async (_, spec) => spec,
  providers: async () => [],
  modelsOf: async () => [],
  saveRule: () => "",
  dropRule: () => undefined,
};

/** Keeps what a surface sends. */
export function between(sent: Command[]) {
  return (host: Host): Host => ({
    watch: (...given) => host.watch(...given),
    inbox: (...given) => host.inbox(...given),
    send(command) {
      sent.push(command);
      return host.send(command);
    },
  });
}

/** A session that somebody has before them. */
export async function joined(host: Host, id: string): Promise<FollowedSession> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  const session = followSession(host, id, { signal, changed: ({ type }) => type === "joined" && resolve() });
  await Promise.race([promise, session.done]);
  return session;
}
