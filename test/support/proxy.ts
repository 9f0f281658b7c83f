import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as forward, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";

const [key, cert] = ["key", "cert"].map((name) =>
  readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), "utf8"),
);

/** Trusts the certificate of `*.example.test` in this process. */
export function trustExample(): void {
  setDefaultCACertificates([...getCACertificates("default"), cert ?? ""]);
}

/** The server behind `*.example.test`: TLS in front of a plain server on this machine. */
export async function secured(port: number): Promise<{ port: number } & AsyncDisposable> {
  const server = createTlsServer({ key, cert }, (socket) => joined(socket, connect(port, "127.0.0.1")));
  return listening(server);
}

/** A proxy on this machine. Every name leads to one port there; without the right name and password it says 407. */
export async function proxyServer(ports: { secure: number; plain?: number }, login?: string) {
  const asked: string[] = [];
  const admits = ({ headers }: IncomingMessage) =>
    login === undefined || headers["proxy-authorization"] === `Basic ${Buffer.from(login).toString("base64")}`;
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    if (!admits(incoming)) return void response.writeHead(407).end();
    const { method, headers } = incoming;
    const { pathname, search } = new URL(incoming.url ?? "");
    const onward = forward({ port: ports.plain, method, headers, path: pathname + search }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(onward);
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (!admits(incoming)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const onward = connect(ports.secure, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      joined(socket, onward);
    });
  });
  const up = await listening(server);
  return { ...up, asked, url: `http://${login === undefined ? "" : `${login}@`}127.0.0.1:${up.port}` };
}

function joined(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const)
    from
      .on("error", () => to.destroy())
      .on("close", () => to.destroy())
      .pipe(to);
}

async function listening(server: Server): Promise<{ port: number } & AsyncDisposable> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => open.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
