import { existingSession } from "../../journal/session/existing-session.ts";
import { sessionRules } from "../../protocol/facts/session.ts";
import type { createFiles } from "./files.ts";
import { given, type CommandParts, type Handlers } from "./parts.ts";

/** Folders whose files are remembered; the one that was asked for longest ago is forgotten. */
const MAX_FOLDERS = 16;

/** The surroundings of sessions: what a surface offers people to type and to choose. */
export function aboutCommands({ store, surroundings }: CommandParts): Handlers<"about" | "models" | "files"> {
  const listed = new Map<string, ReturnType<typeof createFiles>>();
  return {
    async about({ session, prompts = false }) {
      const { folders, about } = given(surroundings, "about");
      const found = { ok: true, folders: folders?.() ?? [] } as const;
      if (session === undefined) return found;
      const row = existingSession(store, session);
      const told = await about(row, { prompts });
      const own = sessionRules(store.load(session)).map(({ text, behavior }) => ({
        ...{ rule: text, behavior, source: "session" as const },
      }));
      return { ...found, session: { ...told, rules: [...own, ...told.rules] } };
    },
    async models({ provider }) {
      const { providers, modelsOf } = given(surroundings, "models");
      if (provider === undefined) return { ok: true, providers: await providers() };
      return { ok: true, providers: [provider], models: await modelsOf(provider) };
    },
    async files({ session, query }) {
      const { cwd } = existingSession(store, session);
      const { createFiles } = await import("./files.ts");
      const files = listed.get(cwd) ?? createFiles(cwd);
      listed.delete(cwd);
      listed.set(cwd, files);
      const [oldest] = listed.keys();
      if (listed.size > MAX_FOLDERS && oldest !== undefined) listed.delete(oldest);
      return { ok: true, files: await files(query) };
    },
  };
}
