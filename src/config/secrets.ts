import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute } from "node:path";
import { isInside } from "../permission/paths/canonical.ts";

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
const SHORTEST = 8;

// Git's configuration in the environment may hold a secret, and in part it would be worse than not at all.
const NOT_THEIRS = /^(SAGE|ANTHROPIC|OPENAI|FEISHU)_|^GIT_CONFIG_(COUNT|KEY|VALUE|PARAMETERS)/;

/**
 * What children inherit: the environment without names that look like secrets and without Sage's own. Programs are looked
 * for where the person has them, and not where the agent may have put one of the same name.
 */
export function childEnv(env: NodeJS.ProcessEnv, workspace: string): NodeJS.ProcessEnv {
  const kept = Object.fromEntries(
    Object.entries(env).filter(([name]) => !SECRET_NAME.test(name) && !NOT_THEIRS.test(name)),
  );
  const root = followed(workspace);
  // In home, or above it, the person's own programs are inside as well.
  const isHome = isInside(root, followed(homedir()));
  const isTheirs = (folder: string) =>
    isAbsolute(folder) && (isHome || ![folder, followed(folder)].some((one) => isInside(root, one)));
  if (kept["PATH"] !== undefined) kept["PATH"] = kept["PATH"].split(delimiter).filter(isTheirs).join(delimiter);
  return kept;
}

function followed(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Takes the values of secret variables out of text. Very short ones stay: replacing them would eat ordinary words. */
export function redactor(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(env)
    .filter(([name, value]) => SECRET_NAME.test(name) && value !== undefined && value.length >= SHORTEST)
    .flatMap(([name, value = ""]) => spellings(value).map((spelling) => ({ name, spelling })))
    .sort((a, b) => b.spelling.length - a.spelling.length);
  if (secrets.length === 0) return (text) => text;
  return (text) =>
    secrets.reduce(
      (clean, { name, spelling }) =>
        clean.includes(spelling) ? clean.replaceAll(spelling, `[secret: ${name}]`) : clean,
      text,
    );
}

function spellings(value: string): string[] {
  return [...new Set([value, Buffer.from(value).toString("base64"), encodeURIComponent(value)])];
}
