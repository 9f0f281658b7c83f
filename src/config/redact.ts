import { createHmac, randomBytes } from "node:crypto";
import { lazy } from "../protocol/lazy.ts";
import { secretField, secretPatterns } from "./secret-patterns.ts";
import { redactor } from "./secrets.ts";

/** Takes secrets out of whatever leaves the state directory: receipts, exports, cards, logs. */
export type Redaction = {
  text(text: string): string;
  /** The same in every string of plain data; a field called `password` loses its value whatever that is. */
  value<T>(value: T): T;
  /** In how many places something was taken out so far. */
  removed(): number;
};

/** Nothing shorter is a secret by its looks, or with a name beside it. */
const SHORTEST = 8;
/** Names of fields that were looked at already; there are few, and every fact has the same ones. */
const MOST_NAMES = 1_000;

// Equal secrets look equal to whoever reads one process's output, and tell nothing about themselves.
const salt = lazy(() => randomBytes(16));

export function createRedaction(env: NodeJS.ProcessEnv): Redaction {
  const redactKnown = redactor(env);
  let removed = 0;
  const hide = (secret: string): string => {
    removed++;
    return `[secret #${createHmac("sha256", salt()).update(secret).digest("hex").slice(0, 6)}]`;
  };
  const text = (given: string): string => {
    if (given.length < SHORTEST) return given;
    const clean = redactKnown(given);
    if (clean !== given) removed++;
    return secretPatterns.reduce(
      (rest, { pattern, worth }) =>
        rest.replace(pattern, (...found) => {
          const { before = "", secret = "", after = "" } = found.at(-1) as Record<string, string | undefined>;
          if (secret.startsWith("[secret") || (worth && !worth(secret))) return found[0];
          return `${before}${hide(secret)}${after}`;
        }),
      clean,
    );
  };
  const harmless = new Set<string>();
  const named = (field: string): string => {
    if (harmless.has(field)) return field;
    const clean = text(field);
    if (clean === field && harmless.size < MOST_NAMES) harmless.add(field);
    return clean;
  };
  const value = (given: unknown, name = ""): unknown => {
    if (typeof given === "string") {
      const clean = text(given);
      return clean === given && secretField.test(name) && given.length >= 4 ? hide(given) : clean;
    }
    if (Array.isArray(given)) return given.map((one) => value(one));
    if (given === null || typeof given !== "object") return given;
    return Object.fromEntries(Object.entries(given).map(([field, one]) => [named(field), value(one, field)]));
  };
  return { text, value: <T>(given: T) => value(given) as T, removed: () => removed };
}
