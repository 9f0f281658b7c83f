import { prose } from "../../../protocol/index.ts";
import type { Log } from "../../../surfaces/feishu/transport/config.ts";

/** One line for each thing that happened, on stderr, without secrets. What is for those who look for a mistake needs SAGE_DEBUG. */
export function createLog(redact: (text: string) => string): Log {
  return (level, text) => {
    if (level === "debug" && process.env["SAGE_DEBUG"] !== "1") return;
    const line = prose(redact(text)).replaceAll(/[\r\n]+\s*/g, " · ");
    process.stderr.write(`${new Date().toISOString()} ${level.padEnd(5)} ${line}\n`);
  };
}
