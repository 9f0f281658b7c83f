import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute } from "node:path";
import { attempt } from "../../base/attempt.ts";
import { isInside } from "../../permission/paths/canonical.ts";
import { holdsSecret, urlPassword } from "./secret-patterns.ts";

// SSH_AUTH_SOCK names a socket, which the person's own git needs.
const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|(?:^|_)(?:PASS|PAT|AUTH(?!_SOCK))(?:$|_)|_PWD$/i;
const SHORTEST = 8;

// Git's configuration in the environment may hold a secret, and in part it would be worse than not at all.
const NOT_THEIRS = /^(SAGE|ANTHROPIC|OPENAI|FEISHU)_|^GIT_CONFIG_(COUNT|KEY|VALUE|PARAMETERS)/;

/**
 * The environment for children, without Sage's own variables and without secrets: by name, by what a value looks like, and out of
 * addresses, which stay without their password. Programs are looked for where the person has them, and not where the agent may have
 * put one of the same name.
 */
export function childEnv(env: NodeJS.ProcessEnv, workspace: string): NodeJS.ProcessEnv {
  const kept: NodeJS.ProcessEnv = Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => !SECRET_NAME.test(name) && !NOT_THEIRS.test(name))
      .map(([name, value = ""]) => [name, value.replace(urlPassword, withoutPassword)] as const)
      .filter(([, value]) => !holdsSecret(value)),
  );
  const root = followed(workspace);
  // In home, or above it, the person's own programs are inside as well.
  const isHome = isInside(root, followed(homedir()));
  const isTheirs = (folder: string) =>
    isAbsolute(folder) && (isHome || ![folder, followed(folder)].some((path) => isInside(root, path)));
  if (kept["PATH"] !== undefined) kept["PATH"] = kept["PATH"].split(delimiter).filter(isTheirs).join(delimiter);
  return kept;
}

function followed(path: string): string {
  return attempt(() => realpathSync.native(path)) ?? path;
}

/** Takes the values of secret variables out of text. Very short ones stay: replacing them would eat ordinary words. */
export function redactor(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(env)
    .flatMap(([name, value = ""]) => [
      ...(SECRET_NAME.test(name) ? [{ name, value }] : []),
      ...[...value.matchAll(urlPassword)].map(({ groups }) => ({ name, value: groups?.["secret"] ?? "" })),
    ])
    .filter(({ value }) => value.length >= SHORTEST)
    .flatMap(({ name, value }) => spellings(value).map((spelling) => ({ name, spelling })))
    .sort((a, b) => b.spelling.length - a.spelling.length);
  if (secrets.length === 0) return (text) => text;
  return (text) =>
    secrets.reduce(
      (clean, { name, spelling }) =>
        clean.includes(spelling) ? clean.replaceAll(spelling, `[secret: ${name}]`) : clean,
      text,
    );
}

/** `postgres://app:secret@db` → `postgres://app@db`. */
function withoutPassword(...found: unknown[]): string {
  const { before = "" } = found.at(-1) as { before?: string };
  return `${before.slice(0, -1)}@`;
}

/** A password in an address is written with percent signs where it has to be. */
function spellings(value: string): string[] {
  const meant = attempt(() => decodeURIComponent(value)) ?? value;
  return [...new Set([value, meant, Buffer.from(meant).toString("base64"), encodeURIComponent(meant)])];
}
