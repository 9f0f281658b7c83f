import type { Agent } from "node:http";
import { BlockList, isIP } from "node:net";
import { reason, SageError } from "../protocol/reasons/reason.ts";

export type Env = Readonly<Record<string, string | undefined>>;

// `import` would read every export of node:http, and the one named WebSocket loads undici: 20 ms and 10 MB.
const http = process.getBuiltinModule("node:http");

// A machine that slept comes back with sockets that look open and are dead: do not keep idle ones for long.
const keepAlive = { keepAlive: true, noDelay: true, timeout: 30_000 };
const agents = new Map<string, Agent>();

/** Connections to where this address is, by way of the proxy that the environment names. Shared by all that go the same way. */
export function agentFor(url: URL, env: Env): Agent {
  const proxy = proxyFor(url, env);
  const secure = /^(https|wss):$/.test(url.protocol);
  const way = `${secure ? "secure" : "plain"} ${proxy ?? ""}`;
  const known = agents.get(way);
  if (known) return known;
  // Loading TLS costs 4 ms, which a server on this machine does not need.
  const AgentClass = secure ? process.getBuiltinModule("node:https").Agent : http.Agent;
  const made = new AgentClass({ ...keepAlive, ...(proxy !== undefined && { proxyEnv: throughProxy(proxy) }) });
  agents.set(way, made);
  return made;
}

/** The proxy for an address, as curl reads the variables: small letters before capitals, and straight to this machine itself. */
export function proxyFor(url: URL, env: Env): string | undefined {
  const scheme = /^(https|wss):$/.test(url.protocol) ? "https" : "http";
  const [name, value] = firstSet([`${scheme}_proxy`, "all_proxy"], env) ?? [];
  if (name === undefined || value === undefined || isExempt(url, env)) return undefined;
  const proxy = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (!proxy || !/^https?:$/.test(proxy.protocol))
    throw new SageError(
      "config-invalid",
      reason("proxy-unfit", { variable: name, ...(proxy && { scheme: proxy.protocol }) }),
    );
  return proxy.href;
}

function throughProxy(proxy: string): { http_proxy: string; https_proxy: string } {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major === 24 && minor < 5)
    throw new SageError("config-invalid", reason("proxy-needs-node", { version: process.versions.node }));
  return { http_proxy: proxy, https_proxy: proxy };
}

function isExempt({ hostname, port, protocol }: URL, env: Env): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
  if (host === "localhost" || host.endsWith(".localhost") || isInRange("127.0.0.0/8", host) || isInRange("::1", host))
    return true;
  const at = port || (/^(https|wss):$/.test(protocol) ? "443" : "80");
  const [, list = ""] = firstSet(["no_proxy"], env) ?? [];
  return list.split(/[\s,]+/).some((entry) => entry !== "" && exempts(entry.toLowerCase(), host, at));
}

/** A name is for itself and everything below it; an address or a range of them for what is written as an address. */
function exempts(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  const [, bracketed, name = bracketed ?? "", itsPort] = /^(?:\[([^\]]*)\]|(.*?))(?::(\d+))?$/.exec(entry) ?? [];
  const plain = isIP(entry) === 6 ? entry : name; // its colons begin no port
  if (isIP(entry) !== 6 && itsPort !== undefined && itsPort !== port) return false;
  if (isIP(host) !== 0) return isInRange(plain, host);
  const domain = plain.replace(/^\*?\./, "");
  return domain !== "" && (host === domain || host.endsWith(`.${domain}`));
}

function isInRange(range: string, host: string): boolean {
  const [address = "", bits] = range.split("/");
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (isIP(address) === 0 || isIP(address) !== isIP(host)) return false;
  const list = new BlockList();
  const length = bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > (family === "ipv6" ? 128 : 32)) return false;
  list.addSubnet(address, length, family);
  return list.check(host, family);
}

/** The first of these variables that says something, in small letters or in capitals. */
function firstSet(names: readonly string[], env: Env): [name: string, value: string] | undefined {
  for (const name of names.flatMap((variable) => [variable, variable.toUpperCase()])) {
    const value = env[name]?.trim();
    if (value) return [name, value];
  }
  return undefined;
}
