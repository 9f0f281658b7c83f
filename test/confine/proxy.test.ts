import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { after, before, test } from "node:test";
import { text } from "node:stream/consumers";
import { isLocal, isOwn, isPrivate, createProxy } from "../../src/confine/network/proxy.ts";

const refused: string[] = [];
const allowed = new Map<string, boolean>();
const proxy = createServer(
  createProxy({
    judge: (host) => (allowed.has(host) ? { allowed: true, named: allowed.get(host)! } : { allowed: false }),
    refused: (host, port, final) => void refused.push(`${host}:${port}${final ? " final" : ""}`),
  }),
);
const far = createHttp((asked, answer) => answer.end(`${asked.method} ${asked.url} ${asked.headers.host}`));
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

before(async () => {
  await Promise.all([once(proxy.listen(0, "127.0.0.1"), "listening"), once(far.listen(0, "127.0.0.1"), "listening")]);
});
after(() => {
  proxy.close();
  far.close().closeAllConnections();
});

/** Writes pieces with a pause between them, and gives everything that came back. */
async function talk(...pieces: (string | Buffer)[]): Promise<string> {
  const socket = connect(portOf(proxy), "127.0.0.1");
  const said = text(socket);
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return said;
}

test("a plain request reaches an address that a rule names, with the host that was judged", async () => {
  allowed.set("127.0.0.1", true);
  const answer = await talk(
    `GET http://127.0.0.1:${portOf(far)}/x HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n`,
  );
  assert.match(answer, new RegExp(`GET /x 127.0.0.1:${portOf(far)}$`, "m"));
  allowed.clear();
});

test("headers that speak of one connection only are not passed on, and an answer that cannot be passed on ends the request alone", async () => {
  allowed.set("127.0.0.1", true);
  const odd = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (asked) =>
      socket.end(
        `HTTP/1.1 ${String(asked).includes("/odd") ? "099 Odd" : "200 OK"}\r\nTrailer: x\r\n\r\n${String(asked)}`,
      ),
    );
  });
  await once(odd.listen(0, "127.0.0.1"), "listening");
  const ask = (path: string) =>
    talk(
      `GET http://127.0.0.1:${portOf(odd)}${path} HTTP/1.1\r\nHost: a\r\nTrailer: x\r\nTE: trailers\r\nConnection: close\r\n\r\n`,
    );
  const answer = await ask("/plain");
  assert.match(answer, /GET \/plain/);
  assert.doesNotMatch(answer, /trailer/i);
  assert.match(await ask("/odd"), /^HTTP\/1.1 502/);
  odd.close();
  allowed.clear();
});

test("a tunnel and SOCKS do, too, also when their first packet comes in pieces", async () => {
  allowed.set("127.0.0.1", true);
  const asked = "GET /y HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  assert.match(await talk("C", `ONNECT 127.0.0.1:${portOf(far)} HTTP/1.1\r\n`, "\r\n", asked), /200 OK[^]*GET \/y/);
  const port = Buffer.alloc(2);
  port.writeUInt16BE(portOf(far));
  const address = Buffer.concat([Buffer.from([5, 1, 0, 1, 127, 0, 0, 1]), port]);
  assert.match(
    await talk(Buffer.from([5]), Buffer.from([1, 0]), address.subarray(0, 6), address.subarray(6), asked),
    /GET \/y/,
  );
  allowed.clear();
});

test("nobody is left connected for a command that hung up while its host was dialled", async () => {
  for (const line of ["CONNECT 127.0.0.1:PORT", "GET http://127.0.0.1:PORT/"]) {
    let near: Socket | undefined;
    const judge = () => {
      near?.destroy();
      return { allowed: true, named: true } as const;
    };
    const accept = createProxy({ judge, refused: () => {} });
    const own = createServer((socket) => accept((near = socket)));
    const silent = createServer();
    await Promise.all([own, silent].map((one) => once(one.listen(0, "127.0.0.1"), "listening")));
    const client = connect(portOf(own), "127.0.0.1").on("error", () => {});
    client.write(`${line.replace("PORT", `${portOf(silent)}`)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const [dialled] = (await once(silent, "connection")) as [Socket];
    await once(dialled.resume(), "close");
    for (const one of [own, silent]) one.close();
  }
});

test("a host without a rule is refused with 403 and noted once it is known; nothing is dialled", async () => {
  refused.length = 0;
  assert.match(
    await talk("CONNECT packages.example:443 HTTP/1.1\r\n\r\n"),
    /^HTTP\/1\.1 403 Blocked by confinement: packages\.example:443/,
  );
  assert.match(
    await talk("GET http://Files.Example./a HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n\r\n"),
    /^HTTP\/1\.1 403/,
  );
  const name = Buffer.from("socks.example");
  await talk(
    Buffer.from([5, 1, 0]),
    Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([1, 187])]),
  );
  assert.deepEqual(refused, ["packages.example:443", "files.example:80", "socks.example:443"]);
});

test("this machine is not reached by a name that resolves to it, nor by a broad rule", async () => {
  refused.length = 0;
  allowed.set("localhost", true).set("127.0.0.1", false).set("::1", false);
  for (const host of ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1"])
    assert.match(await talk(`CONNECT ${host}:${portOf(far)} HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 (403|400)/, host);
  assert.ok(
    refused.every((one) => one.endsWith(" final")),
    refused.join(),
  );
  allowed.clear();
});

test("addresses of this machine, of a cloud's metadata and of private networks are told apart from public ones", () => {
  for (const address of [
    "127.8.8.8",
    "::1",
    "::ffff:7f00:1",
    "169.254.169.254",
    "fe80::1%eth0",
    "224.0.0.1",
    "0.0.0.0",
    "64:ff9b::7f00:1",
    "x",
  ])
    assert.ok(isLocal(address), address);
  for (const address of ["10.1.1.1", "192.168.0.1", "172.16.0.1", "fd00::1", "100.64.0.1", "::ffff:10.0.0.1"])
    assert.ok(isPrivate(address) && !isLocal(address), address);
  for (const address of ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
    assert.ok(!isPrivate(address) && !isLocal(address), address);
});

test("every address of this machine is this machine", () => {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  for (const { address, family } of own) {
    assert.ok(isOwn(address), address);
    if (family === "IPv4") assert.ok(isOwn(`::ffff:${address}`), address);
  }
  assert.ok(!isOwn("192.0.2.1"));
});
