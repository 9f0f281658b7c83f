// For logs: one line per test file, each failure whole, what was skipped and why, and the runner's own totals.
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";
import { bySource } from "./groups.ts";

export default (events: AsyncIterable<TestEvent>): AsyncGenerator<string> => report(bySource(events));

export async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped: string[] = [];
  for await (const { type, data } of events) {
    switch (type) {
      case "test:pass":
        if (data.skip === undefined || data.skip === false) break;
        skipped.push(`skipped: ${data.name} (${data.skip === true ? "no reason given" : data.skip})\n`);
        break;
      case "test:stdout":
      case "test:stderr":
        yield data.message;
        break;
      case "test:diagnostic":
        yield `# ${data.message}\n`;
        break;
      case "test:fail": {
        const { error } = data.details;
        // A parent fails for what its subtest has told already.
        if ("failureType" in error && error.failureType === "subtestsFailed") break;
        const place = data.file === undefined ? "" : `${short(data.file)}:${data.line ?? 1} `;
        yield `✖ ${place}${data.name}\n${inspect(error.cause ?? error).replaceAll(/^/gm, "    ")}\n`;
        break;
      }
      case "test:summary":
        if (data.file === undefined) {
          yield* skipped;
          break;
        }
        yield `${data.success ? "✔" : "✖"} ${short(data.file)} (${data.counts.tests} in ${Math.round(data.duration_ms)} ms)\n`;
        break;
      default:
    }
  }
}

function short(file: string): string {
  return relative(process.cwd(), file);
}
