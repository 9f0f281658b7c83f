import { createHmac, randomBytes } from "node:crypto";
import { redactor } from "./secrets.ts";

/** Takes secrets out of whatever leaves the state directory: receipts, exports, cards, logs. */
export type Redaction = {
  text(text: string): string;
  /** The same in every string of plain data; a field called `password` loses its value whatever that is. */
  value<T>(value: T): T;
  /** In how many places something was taken out so far. */
  removed(): number;
};

// Equal secrets look equal to whoever reads one process's output, and tell nothing about themselves.
const salt = randomBytes(16);

export function createRedaction(env: NodeJS.ProcessEnv): Redaction {
  const known = redactor(env);
  let removed = 0;
  const hide = (secret: string): string => {
    removed++;
    return `[secret #${createHmac("sha256", salt).update(secret).digest("hex").slice(0, 6)}]`;
  };
  const text = (given: string): string => {
    const clean = known(given);
    if (clean !== given) removed++;
    return patterns.reduce(
      (rest, { pattern, worth }) =>
        rest.replace(pattern, (...found) => {
          const { before = "", secret = "", after = "" } = found.at(-1) as Record<string, string | undefined>;
          if (secret.startsWith("[secret") || (worth && !worth(secret))) return found[0];
          return `${before}${hide(secret)}${after}`;
        }),
      clean,
    );
  };
  const value = (given: unknown, name = ""): unknown => {
    if (typeof given === "string") {
      const clean = text(given);
      return clean === given && secretField.test(name) && given.length >= 4 ? hide(given) : clean;
    }
    if (Array.isArray(given)) return given.map((one) => value(one));
    if (given === null || typeof given !== "object") return given;
    return Object.fromEntries(Object.entries(given).map(([field, one]) => [text(field), value(one, field)]));
  };
  return { text, value: <T>(given: T) => value(given) as T, removed: () => removed };
}

const words = "pass(?:word|wd|phrase)|pwd|secret|(?:api|access|private|secret|auth)[-_]?key|token|credentials?|cookie";
const secretField = new RegExp(`(?:${words}|authorization)$`, "i");
const tokens = String.raw`(?:sk|pk|rk)[-_](?:[a-z]+[-_])*|gh[pousr]_|github_pat_|glpat-|xox[abpr]-|xapp-|ya29\.|npm_|pypi-|hf_|dop_v1_|AKIA|ASIA|AIza`;

type Pattern = { pattern: RegExp; worth?: (secret: string) => boolean };

const patterns: Pattern[] = [
  { pattern: /(?<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----[^]{0,20000}?(?:-----END [A-Z ]*PRIVATE KEY-----|$))/g },
  { pattern: new RegExp(String.raw`(?<![A-Za-z0-9])(?<secret>(?:${tokens})[A-Za-z0-9_\-]{12,})`, "g") },
  { pattern: /(?<![A-Za-z0-9])(?<secret>eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,})/g },
  { pattern: /(?<before>:\/\/[^\s/:@]{1,200}:)(?<secret>[^\s/@]{1,500})(?<after>@)/g },
  { pattern: /(?<before>\b(?:bearer|basic)\s+)(?<secret>[A-Za-z0-9._~+/=-]{8,})/gi, worth: (s) => /[^a-z]/.test(s) },
  // `password=…` and `--password …` as a shell or an address writes them: whatever follows is it.
  {
    pattern: new RegExp(String.raw`(?<before>\b[\w.-]{0,60}(?:${words})=["']?)(?<secret>[^\s"'&;,]{4,})`, "gi"),
    worth: literal,
  },
  {
    pattern: new RegExp(
      String.raw`(?<before>--?[\w-]{0,60}(?:${words})\s+["']?)(?<secret>[^\s"'&;,-][^\s"'&;,]{3,})`,
      "gi",
    ),
    worth: literal,
  },
  // `"token": "…"`: prose and programs write so too, so only what no word looks like.
  {
    pattern: new RegExp(
      String.raw`(?<before>\b[\w.-]{0,60}(?:${words})["']?\s*[:=]\s*["']?)(?<secret>[^\s"'&;,()<>{}]{6,})`,
      "gi",
    ),
    worth: random,
  },
];

/** Not the name of where the secret is kept. */
function literal(text: string): boolean {
  return !/^[$%{(<]/.test(text);
}

function random(text: string): boolean {
  return literal(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && !/[.(]\w*\(?$/.test(text);
}
