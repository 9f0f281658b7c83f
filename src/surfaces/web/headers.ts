/** Addresses under which the page is reached, such as `http://127.0.0.1:8787` and `https://sage.example.org`. */
export type Origins = readonly string[];

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** On everything that is answered here: a page that runs its own scripts alone, in no frame, known to nobody else. */
export const guardHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
};

/** Properties of a request that decide whether it is handled. `rawHeaders` are unparsed: names and values in turn. */
type Approach = { rawHeaders: readonly string[] };

/** Refuses another host's name, which foreign DNS may lead here, and other pages, before anything of the request is read. */
export function refuse({ rawHeaders }: Approach, origins: Origins, { ambient = false } = {}): 403 | 421 | undefined {
  const [host, ...more] = valuesOf(rawHeaders, "host");
  if (host === undefined || more.length > 0 || !origins.some((origin) => hostIn(origin) === host)) return 421;
  const from = valuesOf(rawHeaders, "origin");
  if (from.some((origin) => !origins.includes(origin))) return 403;
  // A proxy that signs people in adds their name to everybody's requests: only our own page's count.
  return ambient && from.length !== 1 ? 403 : undefined;
}

/** A browser says so when another page has made the request. */
export function isForeign({ rawHeaders }: Approach): boolean {
  return valuesOf(rawHeaders, "sec-fetch-site").some((site) => site !== "same-origin" && site !== "none");
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, n) => n % 2 === 1 && rawHeaders[n - 1]?.toLowerCase() === name);
}

/** `https://sage.example.org` → `sage.example.org`, to the letter: browsers send it so. */
function hostIn(origin: string): string {
  return origin.slice(origin.indexOf("//") + 2);
}
