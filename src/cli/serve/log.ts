import { prose } from "../../base/visible.ts";
import type { Log } from "../../surfaces/feishu/transport/api/config.ts";

/** Logs a line for each event, on stderr, without secrets. Lines that help to find a mistake need SAGE_DEBUG. */
export function createLog(redact: (text: string) => string, format: "text" | "json" = "text"): Log {
  return (level, text) => {
    if (level === "debug" && process.env["SAGE_DEBUG"] !== "1") return;
    const line = prose(redact(text)).replaceAll(/[\r\n]+\s*/g, " · ");
    const time = new Date().toISOString();
    process.stderr.write(
      format === "json"
        ? `${JSON.stringify({ time, level, message: line })}\n`
        : `${time} ${level.padEnd(5)} ${line}\n`,
    );
  };
}
