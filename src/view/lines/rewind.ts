import { oneLine } from "../../base/visible.ts";
import type { RewindPoint, PlannedFile, RewindPlan } from "../../protocol/facts/rewound.ts";
import { timeOf } from "../../texts/shared/resolution.ts";
import type { RewindTexts } from "../../texts/commands/rewind.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import { near } from "../items/near.ts";
import { clipped } from "./safe.ts";

const MAX_LINES = 20;

export const rewindKinds = ["both", "conversation", "files"] as const;

/** The messages to choose from, newest last. */
export function pointLines(points: readonly RewindPoint[], w: RewindTexts): string[] {
  if (points.length === 0) return [w.none];
  const lines = points.map(({ turn, text, at }) => `  t${turn}  ${timeOf(at)}  ${clipped(oneLine(text), 80)}`);
  return [w.points, ...lines];
}

/** Everything that would change, before anybody says yes. */
export function planLines(plan: RewindPlan, cwd: string, { w, t }: { w: RewindTexts; t: Texts }): string[] {
  const { files, commands, what } = plan;
  const shown = (path: string) => oneLine(near(path, cwd));
  const line = (file: PlannedFile): string => {
    const path = shown(file.path);
    switch (file.will) {
      case "restore":
        return `  ${w.restore(path)}`;
      case "remove":
        return `  ${w.remove(path)}`;
      case "nothing":
        return `  ${w.same(path)}`;
      case "leave":
        return `  ${w.leave(path, t.restoreProblem[file.why])}`;
      default:
        return file satisfies never;
    }
  };
  const doubts = doubtful(files);
  const sure = files.filter((file) => !doubts.some(({ path }) => path === file.path));
  return [
    w.before(`t${plan.turn}`, clipped(oneLine(plan.message), 80)),
    ...(what === "files" ? [] : [w.conversation]),
    ...(what === "conversation" ? [] : files.length === 0 ? [w.noFiles] : sure.map(line)),
    ...(doubts.length > 0 ? [w.inDoubt] : []),
    ...doubts.map((file) => `${line(file)} (${w.doubt[file.asks]})`),
    ...(commands.length > 0 ? [w.commands] : []),
    ...commands.slice(0, MAX_LINES).map((command) => `  ${clipped(oneLine(command), 100)}`),
    ...(commands.length > MAX_LINES ? [`  ${w.more(commands.length - MAX_LINES)}`] : []),
  ];
}

type Doubtful = PlannedFile & {
  will: "restore" | "remove";
  asks: NonNullable<(PlannedFile & { will: "restore" })["asks"]>;
};

export function doubtful(files: readonly PlannedFile[]): Doubtful[] {
  return files.filter((file): file is Doubtful => "asks" in file && file.asks !== undefined);
}

/** Files in doubt as they were when the person saw the list. */
export function overwriting(files: readonly PlannedFile[]): Record<string, string> {
  return Object.fromEntries(doubtful(files).map(({ path, file }) => [path, file.from]));
}

/** `3` or `t3`. */
export function readTurn(word: string): number | undefined {
  const [, digits] = /^t?(\d{1,9})$/.exec(word) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
