import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket, BlockList, isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/** `named`: a rule names this very host or address, and not a pattern that it fits. */
export type HostVerdict = { allowed: true; named: boolean } | { allowed: false };

type Gate = {
  judge(host: string, port: number): HostVerdict;
  /** `final`: no rule would help. */
  refused(host: string, port: number, final: boolean): void;
};

/** Decides and dials for the connections of confined commands. They come from a network that has nothing else in it. */
type Proxy = (connection: Socket) => void;

const HEAD_MS = 30_000;
const DIAL_MS = 30_000;

/** SOCKS and HTTP share a port: the first byte of SOCKS is 5, everything else is HTTP. */
export function createProxy(gate: Gate): Proxy {
  const http = createServer({ headersTimeout: HEAD_MS, requestTimeout: 0 });
  http.on("connect", (asked: IncomingMessage, socket: Socket, head: Buffer) => void tunnel(asked, socket, head, gate));
  http.on("request", (asked: IncomingMessage, answer: ServerResponse) => void forward(asked, answer, gate));
  return (socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (first[0] === 5) void socks(socket, gate).catch(() => socket.destroy());
      else {
        http.emit("connection", socket);
        socket.resume();
      }
    });
  };
}

async function tunnel(asked: IncomingMessage, socket: Socket, head: Buffer, gate: Gate): Promise<void> {
  const { host, port } = authorityOf(asked.url ?? "");
  const far = await dial(host, port, gate);
  if (typeof far === "string") {
    socket.end(
      `HTTP/1.1 ${far === "refused" ? 403 : 502} ${phrase(far, host, port)}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    return;
  }
  socket.write("HTTP/1.1 200 OK\r\n\r\n");
  far.write(head);
  join(socket, far);
}

async function forward(asked: IncomingMessage, answer: ServerResponse, gate: Gate): Promise<void> {
  const url = URL.parse(asked.url ?? "");
  if (url === null || url.protocol !== "http:") {
    answer.writeHead(400).end();
    return;
  }
  const [host, port] = [hostIn(url), Number(url.port || 80)];
  const far = await dial(host, port, gate);
  if (typeof far === "string") {
    const text = phrase(far, host, port);
    answer.writeHead(far === "refused" ? 403 : 502, text).end(`${text}\n`);
    return;
  }
  if (answer.destroyed) {
    far.destroy();
    return;
  }
  const sent = request(
    // The host of the address that was judged, whatever the request says.
    {
      createConnection: () => far,
      path: url.pathname + url.search,
      method: asked.method,
      headers: { ...passedOn(asked.headers), host: url.host },
    },
    (reply) => {
      const { statusCode: code = 502 } = reply;
      answer.writeHead(code < 200 || code > 999 ? 502 : code, passedOn(reply.headers));
      reply.pipe(answer);
    },
  );
  sent.on("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
  answer.on("close", () => far.destroy());
  asked.pipe(sent);
}

/** Without those that speak of one connection only: with some of them Node would refuse to send the others. */
function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));
}

const ofConnection: ReadonlySet<string> = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer upgrade".split(" "),
);

/** SOCKS 5 without a password: a name or an address, TCP only. */
async function socks(socket: Socket, gate: Gate): Promise<void> {
  const { take, rest } = reader(socket);
  const [, methods = 0] = await take(2);
  await take(methods);
  socket.write(Buffer.from([5, 0]));
  const [, command, , type] = await take(4);
  const length = type === 1 ? 4 : type === 4 ? 16 : type === 3 ? (await take(1))[0]! : 0;
  const name = await take(length);
  const port = (await take(2)).readUInt16BE(0);
  const reply = (code: number) => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (command !== 1 || length === 0) {
    socket.end(reply(7));
    return;
  }
  const host = type === 3 ? name.toString("latin1").toLowerCase().replace(/\.$/, "") : writtenAddress(name);
  const far = await dial(host, port, gate);
  if (typeof far === "string") {
    socket.end(reply(far === "refused" ? 2 : 4));
    return;
  }
  socket.write(reply(0));
  rest();
  join(socket, far);
}

/** Resolves a host once and dials the very address that was checked. */
async function dial(host: string, port: number, gate: Gate): Promise<Socket | "refused" | "unreachable"> {
  const verdict = plainHost.test(host) && port > 0 && port < 65_536 ? gate.judge(host, port) : undefined;
  const refuse = (final: boolean) => {
    gate.refused(host, port, final);
    return "refused" as const;
  };
  const isAddress = isIP(host) !== 0;
  if (verdict?.allowed !== true) return refuse(verdict === undefined || isThisMachine(host));
  const addresses = isAddress
    ? [host]
    : await lookup(host, { all: true }).then(
        (all) => all.map(({ address }) => address),
        () => [],
      );
  if (addresses.length === 0) return "unreachable";
  const address = addresses.find((candidate) => {
    if (isLocal(candidate) || isOwn(candidate)) return isAddress && verdict.named;
    return verdict.named || !isPrivate(candidate);
  });
  if (address === undefined) return refuse(addresses.every((candidate) => isLocal(candidate) || isOwn(candidate)));
  return new Promise((resolve) => {
    const far = connect({ port, host: address, timeout: DIAL_MS });
    far.once("connect", () => resolve(far.setTimeout(0)));
    const fail = () => {
      far.destroy();
      resolve("unreachable");
    };
    far.once("error", fail);
    far.once("timeout", fail);
  });
}

const plainHost = /^([0-9a-f:.]+|[\w-]+(\.[\w-]+)*)$/i;

/** True for this machine by name or address. A name that only resolves to it is found when it is dialled. */
function isThisMachine(host: string): boolean {
  return isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : isLocal(host);
}

function phrase(why: "refused" | "unreachable", host: string, port: number): string {
  return why === "refused" ? `Blocked by confinement: ${host}:${port}` : `No connection to ${host}:${port}`;
}

function join(near: Socket, far: Socket): void {
  if (near.destroyed) far.destroy(); // it hung up while the other was dialled
  far.on("error", () => near.destroy());
  near.on("close", () => far.destroy());
  far.on("close", () => near.destroy());
  near.pipe(far).pipe(near);
  near.resume();
}

function authorityOf(text: string): { host: string; port: number } {
  const url = URL.parse(`http://${text}`);
  const port = /:(\d+)$/.exec(text)?.[1];
  return { host: url === null ? "" : hostIn(url), port: Number(port ?? 443) };
}

function hostIn({ hostname }: URL): string {
  return hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

function writtenAddress(bytes: Buffer): string {
  if (bytes.length === 4) return [...bytes].join(".");
  const groups = Array.from({ length: 8 }, (_, n) => bytes.readUInt16BE(n * 2).toString(16));
  return hostIn(new URL(`http://[${groups.join(":")}]`));
}

/** Takes exactly so many bytes, however they come; what came beyond them is given back to the socket in the end. */
function reader(socket: Socket): { take(count: number): Promise<Buffer>; rest(): void } {
  let held = Buffer.alloc(0);
  const more = () =>
    new Promise<Buffer>((resolve, reject) => {
      const off = () => socket.off("data", came).off("close", gone).off("end", gone).pause();
      const came = (chunk: Buffer) => resolve((off(), chunk));
      const gone = () => reject((off(), new Error("it hung up")));
      socket.on("data", came).on("close", gone).on("end", gone).resume();
    });
  return {
    async take(count) {
      while (held.length < count) held = Buffer.concat([held, await more()]);
      const taken = held.subarray(0, count);
      held = held.subarray(count);
      return taken;
    },
    rest: () => void (held.length > 0 && socket.unshift(held)),
  };
}

/** This machine and its nearest surroundings: reached only where a rule names the very address. */
export function isLocal(address: string): boolean {
  return isIn(local, address);
}

/** An address of this machine in a network, past its firewall: a person may allow it, a name leading there may not. Asked each time. */
export function isOwn(address: string): boolean {
  const own = new BlockList();
  for (const network of Object.values(networkInterfaces()).flatMap((all) => all ?? []))
    own.addAddress(network.address, network.family === "IPv4" ? "ipv4" : "ipv6");
  return isIn(own, address);
}

/** A network that is not the public one: reached only where a rule names the host. */
export function isPrivate(address: string): boolean {
  return isIn(privately, address);
}

function isIn(list: BlockList, address: string): boolean {
  const plain = address.replace(/%.*$/, "");
  if (isIPv4(plain)) return list.check(plain, "ipv4");
  if (!isIPv6(plain)) return true;
  const mapped = mappedIn(plain);
  return mapped === undefined ? list.check(plain, "ipv6") : list.check(mapped, "ipv4");
}

/** A `BlockList` with the range of mapped addresses would refuse every IPv4 address: so they are taken apart here. */
function mappedIn(address: string): string | undefined {
  const whole = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const digits = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(whole);
  if (digits === null) return undefined;
  const [high, low] = [Number.parseInt(digits[1]!, 16), Number.parseInt(digits[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

const local = new BlockList();
for (const [range, bits] of [
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 3],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
] as const)
  local.addSubnet(range, bits, "ipv4");
for (const [range, bits] of [
  ["::", 127],
  ["fe80::", 10],
  ["ff00::", 8],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
  ["fd00:ec2::254", 128],
] as const)
  local.addSubnet(range, bits, "ipv6");

const privately = new BlockList();
for (const [range, bits] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
] as const)
  privately.addSubnet(range, bits, "ipv4");
for (const [range, bits] of [
  ["fc00::", 7],
  ["fec0::", 10],
] as const)
  privately.addSubnet(range, bits, "ipv6");
