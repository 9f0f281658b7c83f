import { createHmac, randomBytes } from "node:crypto";
import { lazy } from "../../base/lazy.ts";
import type { PreviewLine } from "../../protocol/facts/call.ts";
import { secretField, secretPatterns } from "./secret-patterns.ts";
import { redactor } from "./secrets.ts";

/** Takes secrets out of whatever leaves the state directory: receipts, exports, cards, logs. */
export type Redaction = {
  text(text: string): string;
  /** Redacts every string in data, and any `password`. Not what a shell would run in a permission: an agent could hide there. */
  value<T>(value: T): T;
  /** Number of places from which something was taken out so far. */
  removed(): number;
};

/** Shorter strings are never treated as secrets, by shape or by name. */
const SHORTEST = 8;
/** Field names seen before: there are few, and facts repeat them. */
const MAX_NAMES = 1_000;

// Equal secrets get equal placeholders within one process, which reveal nothing about them.
const salt = lazy(() => randomBytes(16));

export function createRedaction(env: NodeJS.ProcessEnv): Redaction {
  const redactKnown = redactor(env);
  let removed = 0;
  const hide = (secret: string): string => {
    removed++;
    return `[secret #${createHmac("sha256", salt()).update(secret).digest("hex").slice(0, 6)}]`;
  };
  const text = (given: string, decides = false): string => {
    if (given.length < SHORTEST) return given;
    const clean = redactKnown(given);
    if (clean !== given) removed++;
    return secretPatterns.reduce(
      (rest, { pattern, worth }) =>
        rest.replace(pattern, (...found) => {
          const { before = "", secret = "", after = "" } = found.at(-1) as Record<string, string | undefined>;
          if (secret.startsWith("[secret") || (worth && !worth(secret))) return found[0];
          const hidden = decides && mayRun(secret, before) ? secret.replaceAll(longWord, hide) : hide(secret);
          return `${before}${hidden}${after}`;
        }),
      clean,
    );
  };
  const harmless = new Set<string>();
  const named = (field: string): string => {
    if (harmless.has(field)) return field;
    const clean = text(field);
    if (clean === field && harmless.size < MAX_NAMES) harmless.add(field);
    return clean;
  };
  const value = (given: unknown, name = "", decides = false): unknown => {
    if (typeof given === "string") {
      const clean = text(given, decides);
      return clean === given && secretField.test(name) && given.length >= 4 ? hide(given) : clean;
    }
    if (areLines(given)) return lines(given, decides);
    if (Array.isArray(given)) return given.map((item) => value(item, "", decides));
    if (given === null || typeof given !== "object") return given;
    const asks = decides || ("kind" in given && given.kind === "permission");
    return Object.fromEntries(Object.entries(given).map(([field, inner]) => [named(field), value(inner, field, asks)]));
  };
  /** Lines of one kind in a row may hold one secret together, such as a private key. */
  const lines = (given: readonly PreviewLine[], decides: boolean): unknown[] => {
    const shown: unknown[] = [];
    for (let from = 0; from < given.length;) {
      const { mark } = given[from] as PreviewLine;
      let end = from + 1;
      while (end < given.length && given[end]?.mark === mark && given[end]?.line === undefined) end++;
      const run = given.slice(from, end);
      const whole = run.map((line) => line.text).join("\n");
      const clean = text(whole, decides);
      shown.push(
        ...(clean === whole ? run : clean.split("\n").map((line, n) => ({ ...(run[n] ?? { mark }), text: line }))),
      );
      from = end;
    }
    return shown;
  };
  return { text: (given) => text(given), value: <T>(given: T) => value(given) as T, removed: () => removed };
}

function areLines(given: unknown): given is readonly PreviewLine[] {
  const isLine = (entry: unknown) =>
    typeof entry === "object" && entry !== null && "mark" in entry && "text" in entry && typeof entry.text === "string";
  return Array.isArray(given) && given.length > 0 && given.every(isLine);
}

/** Does a shell do more with it than to read one word? A key may have many lines, as long as each of them is of a key. */
function mayRun(secret: string, before: string): boolean {
  const [first = "", ...more] = secret.split(/\r?\n|\\n/);
  if (first.startsWith("-----BEGIN"))
    return !/^-----BEGIN [A-Z0-9 ]+-----$/.test(first) || more.length === 0 || !more.every((line) => ofKey.test(line));
  const stands = more.length > 0 || before.endsWith("\n"); // on lines of its own
  return stands ? ![first, ...more].every((line) => ofKey.test(line)) : /[`|;&<>"']|\$[({]/.test(secret);
}

const ofKey =
  /^(?:[A-Za-z0-9+/=]{20,}|[A-Za-z0-9+/]*={1,2}|-----END [A-Z0-9 ]+-----|(?:Proc-Type|DEK-Info): [\w,-]+|)$/;
/** Matches a word that looks like a line of a key, and hardly like a path. */
const longWord = /(?=[A-Za-z0-9+/]*\d)(?=[A-Za-z0-9+/]*[A-Z])(?=[A-Za-z0-9+/]*[a-z])[A-Za-z0-9+/]{20,}={0,2}/g;
