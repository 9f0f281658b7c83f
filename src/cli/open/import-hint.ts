import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { Home } from "../../config/home/home.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";

const MAX_FILE_BYTES = 1_000_000;
const files = [".claude/settings.json", ".claude/settings.local.json"];

/** Rules of Claude Code in this project could be imported. Told once for a project, and not before its own settings count. */
export function importHint(home: Home, { trust: { state, root } }: Config, lang: Lang): string | undefined {
  if (state !== "trusted" && state !== "nothing-to-trust") return undefined;
  const there = files.filter((name) => existsSync(join(root, name)));
  const mark = join(home.dir, "hinted", hash("sha256", root).slice(0, 16));
  if (there.length === 0 || existsSync(mark)) return undefined;
  const file = there.find((name) => hasRules(join(root, name)));
  if (file === undefined) return undefined;
  try {
    mkdirSync(join(home.dir, "hinted"), { recursive: true, mode: 0o700 });
    writeFileSync(mark, "", { mode: 0o600 });
  } catch {
    return undefined; // otherwise it would be shown at every start
  }
  return cliTexts(lang).importHint(file);
}

function hasRules(path: string): boolean {
  try {
    const text = readFileSync(path, "utf8");
    const { permissions } = JSON.parse(text.slice(0, MAX_FILE_BYTES)) as { permissions?: Record<string, unknown> };
    return ["allow", "ask", "deny"].some((kind) => {
      const rules = permissions?.[kind];
      return Array.isArray(rules) && rules.length > 0;
    });
  } catch {
    return false;
  }
}
