import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lifeOf, startOf } from "../processes/identity.ts";
import type { Blocked } from "../protocol/confine.ts";
import { clearAway, gitSettingsOf, surveyOf, type Hiding, type Noted, type Survey } from "./survey.ts";

/** A survey is renewed after each command; older than this it is made anew before one, so that it knows what others wrote meanwhile. */
const FRESH_MS = 2_000;
/** Time for a sandbox to end with the process that was killed. */
const DYING_MS = 5_000;

/** Surveys of a workspace before, while and after its commands run. */
type Surveys = {
  before(): Promise<Survey>;
  /** Moves aside what these commands must not leave, and returns it for each. */
  during(commands: readonly Noted[]): Promise<Blocked[][]>;
  /** As `during`, for a command that has ended: removes its note. Rejects when nobody could look: then the next survey does. */
  after(noted: Noted, note: string): Promise<Blocked[]>;
};

/** A note, with the process that wrote it and the one that leads its sandbox. */
type Note = Noted & { owner?: Process; inner?: Process };
type Process = { pid: number; started: string };

export function createSurveys(runs: string, roots: readonly string[], hiding: Hiding): Surveys {
  /** Notes of commands after which nobody could look. */
  const unseen = new Set<string>();
  let latest: Promise<{ found: Survey; at: number }> | undefined;

  const during: Surveys["during"] = async (commands) => {
    if (commands.length === 0) return [];
    const { survey, aside } = await clearAway(commands, roots, hiding);
    // Things that were moved have other names now.
    const isClean = aside.every((moved) => moved.length === 0);
    latest = isClean ? Promise.resolve({ found: survey, at: performance.now() }) : undefined;
    return aside;
  };

  return {
    during,
    async before() {
      if (latest && performance.now() - (await latest).at < FRESH_MS) return (await latest).found;
      const looking = look();
      latest = looking;
      looking.catch(() => (latest = latest === looking ? undefined : latest)); // the next command tries again
      return (await looking).found;
    },
    async after(noted, note) {
      const [aside = []] = await during([noted]).catch((error: unknown) => {
        latest = undefined;
        unseen.add(basename(note));
        throw error;
      });
      rmSync(note, { force: true });
      return aside;
    },
  };

  async function look(): Promise<{ found: Survey; at: number }> {
    await lookAfter(runs, { roots, hiding, unseen });
    const found = await surveyOf(roots, hiding);
    return { found: { ...found, guarded: [...found.guarded, ...gitSettingsOf(roots)] }, at: performance.now() };
  }
}

/** Looks over every workspace in which commands ran when their Sage was killed: nobody has seen what they left. */
export async function lookAfterKilled(sageHome: string): Promise<void> {
  const state = join(sageHome, "confine");
  if (!existsSync(state)) return;
  for (const name of readdirSync(state)) {
    const runs = join(state, name, "runs");
    if (existsSync(runs)) await lookAfter(runs, { hiding: () => () => true }).catch(() => {}); // its next command tries again
  }
}

/** `roots`: of notes that do not name their own. */
type After = { roots?: readonly string[]; hiding: Hiding; unseen?: Set<string> };

/** Commands ended with the process that was killed, or could not be looked after. */
async function lookAfter(runs: string, { roots, hiding, unseen = new Set() }: After): Promise<void> {
  for (const name of readdirSync(runs)) {
    const path = join(runs, name);
    const note = name.endsWith(".json") ? noteIn(path) : undefined;
    const owner = note?.owner ?? writerOf(runs, name);
    if (owner && isSame(owner) && !unseen.has(name)) continue;
    const places = note?.roots ?? roots;
    if (note && places === undefined) continue; // the next command in there knows its place
    if (note?.inner && !(await ended(note.inner))) continue;
    if (note && places) await clearAway([note], places, hiding);
    rmSync(path, { force: true });
    unseen.delete(name);
  }
}

async function ended(process: Process): Promise<boolean> {
  for (const until = performance.now() + DYING_MS; performance.now() < until; await sleep(20))
    if (!isSame(process)) return true;
  return false;
}

/** Arguments of a command belong to whoever wrote its note. */
function writerOf(runs: string, name: string): Process | undefined {
  const noted = noteIn(join(runs, name.replace(/\.(args|json\.tmp)$/, ".json")))?.owner;
  return noted ?? { pid: Number(name.split("-")[0]), started: "" };
}

/** A note of version 0.2.0 has the start without the boot. */
function isSame({ pid, started }: Process): boolean {
  if (started === "") return startOf(pid) !== "";
  return started.includes(":") ? lifeOf({ pid, started }) === "alive" : startOf(pid).split(":")[1] === started;
}

export function writeNote(path: string, noted: Noted, inner?: number): void {
  const processOf = (pid: number): Process => ({ pid, started: startOf(pid) });
  const note: Note = {
    ...noted,
    owner: processOf(process.pid),
    ...(inner !== undefined && { inner: processOf(inner) }),
  };
  // It is written again while its command runs, and must be whole at every moment.
  writeFileSync(`${path}.tmp`, JSON.stringify(note), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

/** Undefined when the process was killed while it wrote the note: then nothing had begun. */
function noteIn(path: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Note;
  } catch {
    return undefined;
  }
}
