/** What leaves the machine is redacted; `redact` knows the values of this machine's secrets, the patterns are everybody's. */
export type Redact = (text: string) => string;

const secretName = String.raw`[\w-]*(?:api[_-]?key|access[_-]?key|token|secret|password|passwd)`;
const secretValue = String.raw`[^\s"'\x60;|&<>$(){},]{8,}`;

const patterns: readonly RegExp[] = [
  /()-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /()\b(?:sk-|sk_live_|rk_live_|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xox[abpr]-|xapp-|npm_|pypi-|hf_|dop_v1_)[\w-]{16,}/g,
  /()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /()\bAIza[\w-]{30,}/g,
  /()\bya29\.[\w-]{20,}/g,
  /()\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g,
  // The name stays, and so do program, path and host.
  new RegExp(`(${secretName}["']?\\s*[=:]\\s*["']?)${secretValue}`, "gi"),
  new RegExp(`(\\s--?${secretName}\\s+["']?)${secretValue}`, "gi"),
  /(\bauthorization:\s*(?:bearer|basic)\s+)[^\s"'`]{8,}/gi,
  /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
];

export function redactText(text: string, redact: Redact): string {
  return patterns.reduce((clean, pattern) => clean.replace(pattern, "$1[secret]"), redact(text));
}

/** Every text in a value, and how many places were covered. */
export function redactAll<T>(value: T, redact: Redact): { value: T; masked: number } {
  let masked = 0;
  const visit = (one: unknown): unknown => {
    if (typeof one === "string") {
      const clean = redactText(one, redact);
      masked += Math.max(0, count(clean) - count(one));
      return clean;
    }
    if (Array.isArray(one)) return one.map(visit);
    if (one === null || typeof one !== "object") return one;
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, visit(inner)]));
  };
  return { value: visit(value) as T, masked };
}

const count = (text: string) => text.split("[secret").length - 1;
