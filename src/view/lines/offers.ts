import type { PermissionRequest } from "../../protocol/facts/request.ts";
import { rulesFor } from "../request/answering.ts";
import { destinationName } from "../request/origin.ts";
import type { Style } from "./paint.ts";
import { exact, framed } from "./safe.ts";

/** The exact rules that are offered, with their notes, and the files that could keep them. */
export function offerLines(
  request: PermissionRequest,
  { paint, width, ...style }: Style,
): { rules: string[]; files: string[] } {
  const offers = rulesFor(request);
  const narrow = { ...style, paint, width: width && width - 3 };
  const rules = offers.flatMap(({ rule, note }, n) => [
    ...exact(rule, narrow).map((row, part) => (part === 0 ? `${`${n + 1}`.padStart(3)}${row}` : `   ${row}`)),
    ...(note === undefined ? [] : framed(style.t.because(note), narrow).map((row) => paint.dim(`   ${row}`))),
  ]);
  const places = new Map(offers.flatMap(({ places }) => places.map(({ destination, file }) => [destination, file])));
  const files = [...places].flatMap(([destination, file]) =>
    file === undefined
      ? []
      : exact(`${destination.padEnd(8)}${destinationName(destination, request, style.t)}: ${file}`, narrow).map((row) =>
          paint.dim(`   ${row}`),
        ),
  );
  return { rules, files };
}
