import type { Played } from "./play.ts";

/** A table by kind of task, and sums over everything that Sage itself played. */
export function report(played: readonly Played[]): string {
  const kinds = [...new Set(played.map(({ kind }) => kind))];
  const lines = kinds.map((kind) =>
    line(
      kind,
      played.filter((result) => result.kind === kind),
    ),
  );
  const told = played.flatMap(({ sage }) => sage ?? []);
  const sum = (field: keyof (typeof told)[number]) => told.reduce((total, counts) => total + counts[field], 0);
  const sums =
    told.length === 0
      ? []
      : [
          "",
          `steps ${sum("steps")}, tokens in ${sum("inputTokens")} (cached ${sum("cachedTokens")}), out ${sum("outputTokens")}`,
          `invalid calls ${sum("invalidCalls")}, refused by the person ${sum("refusals")}`,
          `questions ${sum("questions")}, needless ${sum("needless")}, missed ${sum("missed")}`,
        ];
  return ["kind      solved  seconds", ...lines, line("all", played), ...sums].join("\n");
}

function line(name: string, played: readonly Played[]): string {
  const solved = played.filter((result) => result.solved).length;
  const seconds = played.reduce((total, result) => total + result.seconds, 0);
  return `${name.padEnd(10)}${`${solved}/${played.length}`.padStart(6)}  ${String(seconds).padStart(7)}`;
}
