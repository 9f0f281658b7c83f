import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Rule } from "../../protocol/facts/permission.ts";
import type { ProtectedKind } from "../../protocol/reasons/permission.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import { isFolder, isInside, statOf, type CanonicalPath, type Disk, type Place } from "../paths/canonical.ts";
import type { RuleBook } from "./book.ts";
import { firstOf, type CompiledRule } from "./compile.ts";
import { diskTree, mayNotAppear } from "../appear/appear.ts";
import { anchorsOf, bothOf, isCovered, isMeant, mayMatchBelow, namesOf, type NamedPath } from "../paths/pattern.ts";
import { isPrivate, lostKind, privatePlaces, protectedKind } from "../paths/protected.ts";
import { runsLater } from "../paths/runs-later.ts";

/** Verdict of the rules on one path. `allow` is true where no rule is needed. */
export type Access = {
  deny?: Rule;
  ask?: Rule;
  allow?: Rule | true;
  /** Why a person decides whatever rule or mode allows it. */
  mustAsk?: Reason;
  /** It runs later: only a rule that names it allows a write. */
  later?: true;
};

export type Reach = {
  /** Below one of the roots, after every link. */
  inside(path: CanonicalPath): boolean;
  read(path: CanonicalPath, tool?: string): Access;
  /** Rules against a use of the path, whatever allows it. */
  against(path: CanonicalPath, tool: "Read" | "Write"): Pick<Access, "deny" | "ask">;
  /** `content`: false when nothing is put into the file, as when it is removed. */
  write(path: CanonicalPath, options?: { tool?: string; content?: boolean }): Access;
  /** Private files below a folder that holds the home folder. */
  privateBelow(folder: CanonicalPath): Reason | undefined;
  /** Why a write there is asked about whatever rule allows it. */
  guarded(path: CanonicalPath): Reason | undefined;
  /** A rule against something below a folder, or that there is too much of it to tell. */
  ruledBelow(folder: CanonicalPath, tool: "Read" | "Write"): { found?: Rule; tooMuch?: Reason };
  /** A rule against reading that may be about something below a folder, whatever is there now. */
  ruleBelow(folder: string): Rule | undefined;
  /** A rule against reading one of these files. */
  ruledAmong(files: readonly string[]): Rule | undefined;
  /** A link below a folder with which one who follows it gets to where this tool may not, or out of sight. */
  leavesBelow(folder: CanonicalPath, tool: "Read" | "Write"): { found?: Reason; tooMuch?: Reason };
  /** Reason against losing a folder in passing, if there is one. */
  lostWith(folder: CanonicalPath): { found?: Reason; tooMuch?: Reason };
  /** A name below a folder that others would take apart, or for an option. */
  oddBelow(folder: CanonicalPath): { found?: Reason; tooMuch?: Reason };
  /** Protected paths below a folder once it stands at `target`. */
  protectedBelow(folder: string, target: string): { found?: Reason; tooMuch?: Reason; later?: Reason };
  /** True if any rule is against a path: without one nobody has to look. */
  watchful: boolean;
};

type Where = Place & { roots: readonly string[]; disk: Disk; sageHome: string | undefined };

const MAX_ENTRIES = 20_000;

/** Everything the decision knows about files, for one call. */
export function createReach(book: RuleBook, where: Where): Reach {
  const scene = sceneOf(book, where);
  const { inside, read, against, write, guarded } = accessOf(scene);
  const { ruledBelow, ruleBelow, ruledAmong } = rulesBelow(scene);
  const { leavesBelow, oddBelow, lostWith, privateBelow, protectedBelow } = placesBelow(scene, { read, write });
  const watchful = ["Read", "Write"].some((tool) => book.about(tool).deny.length + book.about(tool).ask.length > 0);
  // Without spreads: it is made for every decision.
  return {
    inside,
    read,
    against,
    write,
    guarded,
    ruledBelow,
    ruleBelow,
    ruledAmong,
    leavesBelow,
    oddBelow,
    lostWith,
    privateBelow,
    protectedBelow,
    watchful,
  };
}

/** Rules and folders of one call, with what was looked up for it. */
type Scene = {
  book: RuleBook;
  anchors: ReturnType<typeof anchorsOf>;
  sageHome: string | undefined;
  named(path: string): NamedPath;
  /** A link that leads nowhere stands for itself. */
  followed(path: string): string;
  /** The roots, where they really are. */
  places: readonly string[];
  homeFolder: string;
  /** The home folder is below one of the roots. */
  isHome: boolean;
  walk: Walk;
};

function sceneOf(book: RuleBook, { cwd, home, roots, disk, sageHome }: Where): Scene {
  const names = new Map<string, NamedPath>();
  const named = (path: string) => {
    let name = names.get(path);
    if (name === undefined) names.set(path, (name = namesOf(path)));
    return name;
  };
  const followed = (path: string) => {
    try {
      return disk.follow(path);
    } catch {
      return path;
    }
  };
  const anchors = anchorsOf({ cwd, home }, disk);
  const places = roots.map(followed);
  const homeFolder = followed(home);
  const isHome = places.some((root) => isInside(root, homeFolder));
  return { book, anchors, sageHome, named, followed, places, homeFolder, isHome, walk: createWalk() };
}

type PathAccess = Pick<Reach, "inside" | "read" | "against" | "write" | "guarded">;

/** Rules and protection of one path. */
function accessOf({ book, anchors, sageHome, named, places, isHome }: Scene): PathAccess {
  const inside = ({ real }: CanonicalPath) => places.some((root) => isInside(root, real));
  const isSecret = ({ lexical, real }: CanonicalPath) =>
    isHome && (isPrivate(real, sageHome) || (lexical !== real && isPrivate(lexical, sageHome)));
  const against = (path: CanonicalPath, tool: string): Pick<Access, "deny" | "ask"> => {
    const { deny, ask } = book.about(tool);
    const both = bothOf(path).map(named);
    const hit = (list: readonly CompiledRule[]) =>
      firstOf(
        list.filter(
          (rule) => rule.whole || (rule.path && both.some((name) => isMeant(rule.path!, name, anchors))) === true,
        ),
      );
    const [denied, asked] = [hit(deny), hit(ask)];
    return { ...(denied && { deny: denied }), ...(asked && { ask: asked }) };
  };
  const judge = (path: CanonicalPath, tool: string, byName = false): Access => {
    const { allow } = book.about(tool);
    const both = bothOf(path).map(named);
    // The path as written and where it leads must each be allowed, by whichever rule.
    const covering = both.map((name) =>
      allow.filter((rule) => {
        if (byName && rule.path?.literal !== true) return false;
        return rule.whole || (rule.path && isCovered(rule.path, name, anchors)) === true;
      }),
    );
    const allowed = covering.every((list) => list.length > 0) ? firstOf(covering.flat()) : undefined;
    return { ...against(path, tool), ...(allowed && { allow: allowed }) };
  };

  const read = (path: CanonicalPath, tool = "Read"): Access => {
    const access = judge(path, tool);
    return inside(path) && !isSecret(path) ? { ...access, allow: true } : access;
  };
  const guarded = ({ lexical, real }: CanonicalPath) => {
    const kind = protectedKind(real, sageHome) ?? (lexical === real ? undefined : protectedKind(lexical, sageHome));
    if (kind) return reason("protected", { path: real, kind });
    const root = places.find((place) => isInside(place, real));
    if (root === undefined) return undefined;
    const entry = { path: real, kind: "file", mode: 0 } as const;
    const found = mayNotAppear(entry, diskTree(root, entry));
    return found && reason("protected", { path: found.path, kind: found.why as ProtectedKind }); // a plain file has no bits
  };
  const write = (path: CanonicalPath, { tool = "Write", content = true } = {}): Access => {
    const mustAsk = guarded(path);
    const later = content && (runsLater(path.real) || runsLater(path.lexical));
    return { ...judge(path, tool, later), ...(mustAsk && { mustAsk }), ...(later && { later }) };
  };
  return { inside, read, against, write, guarded };
}

/** Rules that are about something below a folder, or about one of many files. */
function rulesBelow({ book, anchors, named, walk }: Scene): Pick<Reach, "ruledBelow" | "ruleBelow" | "ruledAmong"> {
  return {
    ruledBelow(folder, tool) {
      const { deny, ask } = book.about(tool);
      const start = named(folder.real);
      const relevant = [...deny, ...ask].filter(({ path }) => path && mayMatchBelow(path, start, anchors));
      if (relevant.length === 0) return {};
      return walk(folder.real, (path) => {
        const name = namesOf(path);
        return relevant.find((rule) => isMeant(rule.path!, name, anchors))?.rule;
      });
    },
    ruleBelow(folder) {
      const { deny, ask } = book.about("Read");
      const start = named(folder);
      return [...deny, ...ask].find(({ path }) => path && mayMatchBelow(path, start, anchors))?.rule;
    },
    ruledAmong(files) {
      const { deny, ask } = book.about("Read");
      const relevant = [...deny, ...ask].filter(({ path }) => path !== undefined);
      if (relevant.length === 0) return undefined;
      for (const file of files) {
        const name = namesOf(file);
        const found = relevant.find((rule) => isMeant(rule.path!, name, anchors));
        if (found) return found.rule;
      }
      return undefined;
    },
  };
}

type PlacesBelow = Pick<Reach, "leavesBelow" | "oddBelow" | "lostWith" | "privateBelow" | "protectedBelow">;

/** Links, names and places below a folder that a person has to know of. */
function placesBelow(
  { sageHome, followed, places, homeFolder, isHome, walk }: Scene,
  { read, write }: Pick<Reach, "read" | "write">,
): PlacesBelow {
  return {
    leavesBelow: (folder, tool) =>
      walk(folder.real, (path, isLink) => {
        if (!isLink) return undefined;
        const led = { lexical: path, real: followed(path) };
        const { deny, ask, mustAsk, allow } = tool === "Read" ? read(led) : write(led);
        // Paths below another folder were not looked at.
        const seen = isInside(folder.real, led.real) || !isFolder(led.real);
        return seen && allow && !deny && !ask && !mustAsk
          ? undefined
          : reason("link-leads", { path, target: led.real });
      }),
    oddBelow: (folder) =>
      walk(folder.real, (path) =>
        /[\s'"\\]|\/-/.test(path.slice(folder.real.length)) ? reason("odd-name", { path }) : undefined,
      ),
    lostWith(folder) {
      const root = places.find((place) => isInside(folder.real, place));
      if (root !== undefined) {
        const path = folder.real;
        return { found: reason("removes", { path, ...(path !== root && { holds: root }) }) };
      }
      return walk(folder.real, (path) => {
        const kind = lostKind(path, sageHome);
        return kind && reason("protected", { path, kind });
      });
    },
    privateBelow(folder) {
      if (!isHome || !isInside(folder.real, homeFolder)) return undefined;
      const place = privatePlaces().find((name) => statOf(join(homeFolder, name)) !== undefined);
      return place === undefined
        ? undefined
        : reason("holds-private", { path: folder.real, place: join(homeFolder, place) });
    },
    protectedBelow(folder, target) {
      let later: Reason | undefined;
      const seen = walk(folder, (path) => {
        const there = join(target, path.slice(folder.length));
        const kind = protectedKind(there, sageHome);
        if (kind === undefined && runsLater(there)) later ??= reason("runs-later", { path: there });
        return kind && reason("protected", { path: there, kind });
      });
      return { ...seen, ...(later && { later }) };
    },
  };
}

/** Looks through folders, without following links, until something is found or all of it together gets too much. */
type Walk = <T>(
  folder: string,
  look: (path: string, isLink: boolean) => T | undefined,
) => { found?: T; tooMuch?: Reason };

function createWalk(): Walk {
  let seen = 0;
  return (folder, look) => {
    const ahead = [folder];
    for (let here = ahead.pop(); here !== undefined; here = ahead.pop()) {
      let entries;
      try {
        entries = readdirSync(here, { withFileTypes: true });
      } catch {
        continue; // a file, or nothing that could be read anyway
      }
      for (const entry of entries) {
        if (++seen > MAX_ENTRIES) return { tooMuch: reason("too-much-below", { path: folder }) };
        const path = join(here, entry.name);
        const found = look(path, entry.isSymbolicLink());
        if (found !== undefined) return { found };
        if (entry.isDirectory()) ahead.push(path);
      }
    }
    return {};
  };
}
