import type { Rule } from "../protocol/facts/permission.ts";
import { reason, type Reason } from "../protocol/reasons/reason.ts";
import type { RuleBook, RuleGroup } from "./rules/book.ts";
import { type CompiledRule, firstOf } from "./rules/compile.ts";
import { looksSecret } from "./text/secret.ts";
import { matchesGlob, star } from "./text/wild.ts";

const MAX_QUERY_LENGTH = 256;

/** Judgement on one address. `mustAsk`: why a person must see it, whatever rule covers it. */
type WebView = { host?: string; deny?: Rule; ask?: Rule; allow?: Rule; mustAsk?: Reason; reason: Reason };

/** True if only the look-up of a name told this: whoever allowed the call before does not know it. */
export function isFromLookup({ code, args }: Reason): boolean {
  return code === "host-private" && args.address !== undefined;
}

/** `addresses` are what the host resolves to, where that is known. */
export function judgeWeb(address: unknown, rules: RuleGroup, addresses: readonly string[] = []): WebView {
  const url = typeof address === "string" ? parse(address) : undefined;
  const host = url && hostOf(url);
  const whole = (list: readonly CompiledRule[]) => list.filter((rule) => rule.whole);
  if (url === undefined || host === undefined) {
    const hit = (list: readonly CompiledRule[]) => firstOf(list);
    // The host is not known, so any rule against a host may be about it.
    const [deny, ask] = [hit(rules.deny), hit(rules.ask)];
    const mustAsk = reason("address-unusable", {});
    return { reason: mustAsk, mustAsk, ...(deny && { deny }), ...(ask && { ask }) };
  }
  const deny = firstOf(rules.deny.filter((rule) => rule.whole || mayName(rule, host)));
  const ask = firstOf(rules.ask.filter((rule) => rule.whole || mayName(rule, host)));
  const named = rules.allow.filter((rule) => names(rule, host));
  const allow = firstOf([...named, ...whole(rules.allow)]);
  const isNamed = named.some((rule) => !rule.glob.includes(star));
  const mustAsk = nearness(host, addresses, isNamed) ?? concern(url, isNamed);
  return {
    host,
    reason: reason("no-rule-host", { host }),
    ...(deny && { deny }),
    ...(ask && { ask }),
    ...(allow && { allow }),
    ...(mustAsk && { mustAsk }),
  };
}

/**
 * Why an address is too near to be read under a rule. A broad rule is about the web, and this machine and its own network are not on
 * it. A rule that names a host is good for a server on the local network, but a name on the web that leads to this very machine or to
 * a cloud's metadata is an attack.
 */
function nearness(host: string, addresses: readonly string[], isNamed: boolean): Reason | undefined {
  if (isPrivateHost(host)) return isNamed ? undefined : reason("host-private", { host });
  const address = addresses.find((address) => (isNamed ? isOwnMachine(address) : isPrivateAddress(address)));
  return address === undefined ? undefined : reason("host-private", { host, address });
}

/** Does a redirect stay where it was allowed to go? The same host and port; from http to https is no step away. */
export function isSameSite(from: string, to: string): boolean {
  const [first, next] = [URL.parse(from), URL.parse(to)];
  if (!first || !next || hostOf(first) !== hostOf(next)) return false;
  if (first.protocol === next.protocol) return first.port === next.port;
  return first.protocol === "http:" && next.protocol === "https:" && first.port === "" && next.port === "";
}

function parse(address: string): URL | undefined {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  return url.username === "" && url.password === "" && plainHost.test(url.hostname) ? url : undefined;
}

/** An address in brackets, or labels of which none is empty. */
const plainHost = /^(\[[0-9a-f:.]+\]|[\w-]+(\.[\w-]+)*\.?)$/;

function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, "");
}

/** The rule's host: whole, or with `*.` for at least one more label. */
function names({ glob, whole }: CompiledRule, host: string): boolean {
  if (whole) return false;
  const text = glob
    .map((unit) => (unit === star ? "*" : unit))
    .join("")
    .replace(/^domain:/, "")
    .toLowerCase()
    .replace(/\.$/, "");
  if (!text.startsWith("*.")) return text === host;
  const suffix = text.slice(1);
  return !text.slice(1).includes("*") && host.endsWith(suffix) && host.length > suffix.length;
}

function mayName({ glob }: CompiledRule, host: string): boolean {
  const text = glob.map((unit) => (typeof unit === "string" ? unit.toLowerCase() : unit));
  const at = text.slice(0, 7).join("") === "domain:" ? 7 : 0;
  if (matchesGlob(text.slice(at), host)) return true;
  if (text.includes(star)) return false;
  // The host as a browser would spell it: ASCII, and without the last dot.
  const spelled = URL.parse(`http://${text.slice(at).join("")}`)?.hostname ?? "";
  return spelled.replace(/\.+$/, "") === host;
}

function concern(url: URL, isNamed: boolean): Reason | undefined {
  if (url.search.length > MAX_QUERY_LENGTH) return reason("query-long", { length: url.search.length });
  // Looking a name up tells it to whoever answers for its domain; a host that a rule names whole was written by the person.
  const carries = looksSecret(decoded(url)) || (!isNamed && looksSecret(url.hostname));
  return carries ? reason("address-secret", {}) : undefined;
}

function decoded({ search, hash, pathname }: URL): string {
  try {
    return decodeURIComponent(`${pathname} ${search.replace(/[?&]/g, " ")} ${hash}`);
  } catch {
    return `${pathname} ${search} ${hash}`;
  }
}

/** Names and addresses that lead to this machine or the network it stands in, as far as the name tells. */
function isPrivateHost(host: string): boolean {
  if (host.startsWith("[")) return isPrivateAddress(host.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isPrivateAddress(host);
  return (
    !host.includes(".") ||
    /\.(localhost|localdomain|local|svc|internal|lan|home|corp|intranet|home\.arpa|test|onion)$/.test(host)
  );
}

/** Loopback, link-local, metadata services, no address at all, and every IPv6 form that stands for an IPv4 address. */
function isOwnMachine(address: string): boolean {
  if (address.includes(":")) return metadata.has(address) || (isPrivateAddress(address) && !/^f[cd]/i.test(address));
  return metadata.has(address) || (isPrivateAddress(address) && !/^(10|100|172|192|198)\./.test(address));
}

/** Metadata services outside of the link-local range: Alibaba, Azure, Oracle. */
const metadata: ReadonlySet<string> = new Set(["100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"]);

/** For what a name resolves to as well. */
export function isPrivateAddress(address: string): boolean {
  if (metadata.has(address)) return true;
  const v4 = /^(\d+)\.(\d+)\.\d+\.\d+$/.exec(address);
  if (v4 !== null) {
    const [a, b] = [Number(v4[1]), Number(v4[2])];
    if (a === 0 || a === 10 || a === 127 || a >= 224) return true;
    if (a === 100) return b >= 64 && b < 128;
    if (a === 169) return b === 254;
    if (a === 172) return b >= 16 && b < 32;
    if (a === 192) return b === 168 || b === 0;
    return a === 198 && (b === 18 || b === 19);
  }
  const v6 = address.toLowerCase().replace(/%.*$/, "");
  // Only the global range is public, and of it not the parts that stand for an IPv4 address or are for examples.
  return !/^[23]/.test(v6) || v6.startsWith("2002:") || /^2001:(0{0,4}:|db8)/.test(v6);
}

/** Judgement of the rules on one host. `named`: a rule names this very host, and not a pattern that it fits. */
type HostJudgement = { behavior: "allow" | "deny" | "ask" | "none"; named: boolean };

/** May a confined command connect to this host? A host that must not be fetched from must not be reached either. */
export function judgeHost(host: string, book: RuleBook): HostJudgement {
  const rules = book.about("Network");
  const spelled = host.includes(":") ? `[${host}]` : host;
  const against = [...rules.deny, ...book.about("WebFetch").deny];
  const behaviorOf = (): HostJudgement["behavior"] => {
    if (against.some((rule) => rule.whole || mayName(rule, spelled))) return "deny";
    if (rules.ask.some((rule) => rule.whole || mayName(rule, spelled))) return "ask";
    return rules.allow.some((rule) => rule.whole || names(rule, spelled)) ? "allow" : "none";
  };
  const named = rules.allow.some((rule) => names(rule, spelled) && !rule.glob.includes(star));
  return { behavior: behaviorOf(), named };
}
