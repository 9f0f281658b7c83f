// npm run bench                  everything, in some ten minutes
// npm run bench -- approvals     one part: peers (other coding agents), library (other libraries), approvals, elsewhere, blocked, resume, context, permission, confined, past, terminal, cli, long, mcp, sdk, web or page
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approvals } from "./approvals.ts";
import { blocked } from "./blocked.ts";
import { cli, long, mcp } from "./cli.ts";
import { confined } from "./confined.ts";
import { context } from "./context.ts";
import { elsewhere } from "./elsewhere.ts";
import { table, type Row } from "./measure.ts";
import { page } from "./page.ts";
import { peers } from "./peers/commands.ts";
import { library } from "./peers/libraries.ts";
import { past } from "./past.ts";
import { permission } from "./permission.ts";
import { resume } from "./resume.ts";
import { sdk } from "./sdk.ts";
import { terminal } from "./terminal.ts";
import { web } from "./web.ts";

const parts: Record<string, (dir: string) => Promise<Row[]>> = {
  approvals,
  elsewhere,
  blocked,
  resume,
  context,
  permission,
  confined,
  past,
  terminal,
  cli,
  peers,
  library,
  long,
  mcp,
  sdk,
  web,
  page,
};

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
const stranger = chosen.find((name) => !Object.hasOwn(parts, name));
if (stranger !== undefined) {
  console.error(`bench: there is no part "${stranger}"; the parts are ${Object.keys(parts).join(", ")}`);
  process.exit(1);
}

const dir = mkdtempSync(join(tmpdir(), "sage-bench-"));
try {
  const rows: Row[] = [];
  for (const name of chosen) rows.push(...(await parts[name]!(dir)));
  console.log(table(rows));
} finally {
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
}
