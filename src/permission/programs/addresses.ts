import { matchesGlob, star, type Glob } from "../text/wild.ts";

export function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Addresses among the words of a command, undefined for one that is not known. Of curl and its like any operand is one. */
export function addressesIn(program: string, args: readonly (string | undefined)[]): (string | undefined)[] {
  const isFetcher = /^(curl|wget|http|https|xh|aria2c)$/.test(program);
  return args.flatMap((arg, n): (string | undefined)[] => {
    if (arg === undefined) return [undefined];
    const value = /^--[\w-]+=(.*)$/.exec(arg)?.[1] ?? arg;
    if (isAddress(value)) return [value];
    if (!isFetcher || arg.startsWith("-") || arg === "") return [];
    return takesValue.test(args[n - 1] ?? "") ? [] : [arg];
  });
}

/** Options of curl and wget whose value is no address. Those that take one, or a file, have to stand in the rule anyway. */
const takesValue =
  /^(-[sSkLIifvgGjnaqN]*[HXdmuAeborwyYzCE]|--(header|request|data|data-raw|data-urlencode|json|max-time|connect-timeout|retry|retry-delay|user|user-agent|referer|cookie|output|write-out|range|limit-rate|timeout|tries|method|body-data|post-data|quota|wait|level|accept|reject))$/;

/** A token of a rule names this address: the very one, or with a star behind a host that is spelled out. */
export function sameAddress(token: Glob, address: string): boolean {
  if (!matchesGlob(token, address)) return false;
  const [rule, given] = [URL.parse(token.map((unit) => (unit === star ? "x" : unit)).join("")), URL.parse(address)];
  if (!token.includes(star)) return true;
  const fixed = token.slice(0, token.indexOf(star)).join("");
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)[/?#]/i.exec(fixed)?.[1];
  // The star stands in the host itself: then the host ends where the star begins.
  const named = host ?? /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)$/i.exec(fixed)?.[1];
  return (
    rule !== null &&
    given !== null &&
    named !== undefined &&
    given.host === named.toLowerCase() &&
    given.username === "" &&
    given.password === ""
  );
}
