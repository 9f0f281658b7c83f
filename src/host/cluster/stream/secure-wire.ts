import { connect, createServer, type Server, type TLSSocket } from "node:tls";

export const KEY_BYTES = 32;
/** The only name under which somebody is let in. */
const GATEWAY = "gateway";
/** A connection that has not proved by then that it knows the key is ended. */
const HANDSHAKE_MS = 5_000;
/** TCP keep-alive: a machine that vanished is noticed after this much silence and ten probes. */
const PROBE_MS = 20_000;

/** TLS by a shared key instead of certificates. ECDHE: a later leak of the key opens nothing old. Node has this with TLS 1.2 alone. */
const tls = {
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
} as const;

/** A server that only holders of the key get through to. */
export function secureServer(
  { process, key, handshakeMs = HANDSHAKE_MS }: { process: string; key: Buffer; handshakeMs?: number | undefined },
  welcome: (socket: TLSSocket) => void,
): Server {
  const server = createServer(
    {
      ...tls,
      handshakeTimeout: handshakeMs,
      pskIdentityHint: process,
      pskCallback: (_socket, identity) => (identity === GATEWAY ? key : null),
    },
    (socket) => {
      socket.on("error", () => socket.destroy());
      welcome(steady(socket));
    },
  );
  // Scanners, other programs, wrong keys: each ends its own connection.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return server;
}

/** Errors arrive as events of the socket. A worker that is silent for this long counts as gone. */
export function secureConnect(
  { host, port }: { host: string; port: number },
  key: Buffer,
  { silenceMs }: { silenceMs: number },
): TLSSocket {
  const socket = connect({
    ...tls,
    host,
    port,
    pskCallback: () => ({ psk: key, identity: GATEWAY }),
    checkServerIdentity: () => undefined, // there is no certificate: the key proves who it is
  });
  socket.setTimeout(silenceMs, () => socket.destroy());
  return steady(socket);
}

function steady(socket: TLSSocket): TLSSocket {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, PROBE_MS);
  socket.unref();
  return socket;
}
