import { relative } from "node:path";
import { existingSession } from "../../journal/session/existing-session.ts";
import { sessionRules } from "../../protocol/facts/session.ts";
import { type CommandParts, type Handlers, given } from "./parts.ts";
import { ripgrep } from "../../tools/search/ripgrep.ts";

/** Folders whose files are remembered; the one that was asked for longest ago is forgotten. */
const MAX_FOLDERS = 16;
const MAX_FILES = 50_000;
const FRESH_MS = 5_000;
const SHOWN = 30;

/** The surroundings of sessions: what a surface offers people to type and to choose. */
export function surroundingsCommands({ store, surroundings }: CommandParts): Handlers<"about" | "models" | "files"> {
  const listed = new Map<string, ReturnType<typeof createFiles>>();
  return {
    async about({ session, prompts = false }) {
      const { folders, about } = given(surroundings, "about");
      const found = { ok: true, folders: folders?.() ?? [] } as const;
      if (session === undefined) return found;
      const told = await about(existingSession(store, session), { prompts });
      const own = sessionRules(store.load(session)).map(({ text, behavior }) => ({
        rule: text,
        behavior,
        source: "session" as const,
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
      const files = listed.get(cwd) ?? createFiles(cwd);
      listed.delete(cwd);
      listed.set(cwd, files);
      const [oldest] = listed.keys();
      if (listed.size > MAX_FOLDERS && oldest !== undefined) listed.delete(oldest);
      return { ok: true, files: await files(query) };
    },
  };
}

/** The project's files that fit a few letters, best first. What git ignores is not among them. */
export function createFiles(cwd: string): (query: string) => Promise<string[]> {
  let listed: { at: number; files: Promise<string[]> } | undefined;
  return async (query) => {
    if (!listed || performance.now() - listed.at > FRESH_MS) listed = { at: performance.now(), files: list(cwd) };
    return rank(await listed.files, query).slice(0, SHOWN);
  };
}

/** Not ended by one query: the next letter needs the same list. */
async function list(cwd: string): Promise<string[]> {
  const found: string[] = [];
  const args = ["--files", "--null", "--no-require-git", "--no-messages", "--", cwd];
  try {
    for await (const path of ripgrep(args, "\0", AbortSignal.timeout(10_000))) {
      found.push(relative(cwd, path));
      if (found.length >= MAX_FILES) break;
    }
  } catch {
    // A folder that may not be read: what was found until then is better than nothing.
  }
  return found.sort();
}

export function rank(files: readonly string[], query: string): string[] {
  const letters = query.normalize("NFC").toLowerCase();
  if (letters === "") return [...files].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
  return files
    .flatMap((file) => {
      const score = fit(file.normalize("NFC").toLowerCase(), letters);
      return score === undefined ? [] : [{ file, score }];
    })
    .sort((a, b) => b.score - a.score || a.file.length - b.file.length || (a.file < b.file ? -1 : 1))
    .map(({ file }) => file);
}

function depth(file: string): number {
  return file.split("/").length;
}

/** All letters in their order; together, at the start of a word and in the file's own name they count more. */
function fit(path: string, letters: string): number | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(letters)) return 1_000 - name.length;
  if (name.includes(letters)) return 800 - name.indexOf(letters);
  if (path.includes(letters)) return 600 - path.indexOf(letters);
  let score = 0;
  let at = -1;
  for (const letter of letters) {
    const next = path.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    if (next === at + 1) score += 5;
    else if (next === 0 || "/-_. ".includes(path[next - 1] ?? "")) score += 3;
    at = next;
  }
  return score;
}
