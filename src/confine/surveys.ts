import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Blocked } from "../protocol/confine.ts";
import { isAlive } from "./status.ts";
import { clearAway, gitSettingsOf, surveyOf, type FilePolicy, type Survey } from "./survey.ts";

/** A survey is renewed after each command; older than this it is made anew before one, so that it knows what others wrote meanwhile. */
const FRESH_MS = 2_000;

/** Surveys of a workspace before and after its commands. */
type Surveys = {
  before(): Promise<Survey>;
  /** Moves aside what a command must not leave, and removes its note. Rejects when nobody could look: then the next survey does. */
  after(noted: Noted, note: string): Promise<Blocked[]>;
};

/** The workspace before a command. Its note is on disk while the command runs, for whoever comes after a kill. */
type Noted = { since: number; before: Survey };

export function createSurveys(runs: string, roots: readonly string[], policy: FilePolicy): Surveys {
  /** Notes of commands after which nobody could look. */
  const unseen = new Set<string>();
  let latest: Promise<{ found: Survey; at: number }> | undefined;

  return {
    async before() {
      if (latest && performance.now() - (await latest).at < FRESH_MS) return (await latest).found;
      const looking = look();
      latest = looking;
      looking.catch(() => (latest = latest === looking ? undefined : latest)); // the next command tries again
      return (await looking).found;
    },
    async after({ since, before }, note) {
      const cleared = await clearAway(before, since, roots, policy).catch((error: unknown) => {
        latest = undefined;
        unseen.add(basename(note));
        throw error;
      });
      // Things that were moved have other names now.
      latest = cleared.aside.length > 0 ? undefined : Promise.resolve({ found: cleared.survey, at: performance.now() });
      rmSync(note, { force: true });
      return cleared.aside;
    },
  };

  async function look(): Promise<{ found: Survey; at: number }> {
    await lookAfter();
    const found = await surveyOf(roots, policy);
    return { found: { ...found, guarded: [...found.guarded, ...gitSettingsOf(roots)] }, at: performance.now() };
  }

  /** Commands ended with the process that was killed, or could not be looked after: nobody has seen what they left. */
  async function lookAfter(): Promise<void> {
    for (const name of readdirSync(runs)) {
      const owner = Number(name.split("-")[0]);
      if (isAlive(owner) && !unseen.has(name)) continue;
      const path = join(runs, name);
      if (name.endsWith(".json")) {
        const noted = noteIn(path);
        if (noted) await clearAway(noted.before, noted.since, roots, policy);
      }
      rmSync(path, { force: true });
      unseen.delete(name);
    }
  }
}

export function writeNote(path: string, noted: Noted): void {
  writeFileSync(path, JSON.stringify(noted), { mode: 0o600 });
}

/** Undefined when the process was killed while it wrote the note: then nothing had begun. */
function noteIn(path: string): Noted | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Noted;
  } catch {
    return undefined;
  }
}
