import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { Redaction } from "../../../config/secrets/redact.ts";
import { version } from "../../../config/version.ts";
import type { Replica } from "../../../journal/replica/replica.ts";
import type { Command, Host, WatchEvent } from "../../../protocol/host/host.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import type { LocalHost } from "../../host.ts";
import { veilText } from "../../person/veil.ts";
import { lineWire } from "../../socket/line-wire.ts";
import { createWireServer, onlyTells, processLimits, type Limits } from "../../socket/serve.ts";
import { createGatewayHost } from "./gateway.ts";
import { KEY_BYTES, secureServer } from "./secure-wire.ts";

/** Gateways, and connections that are not authenticated yet. */
const MAX_CONNECTIONS = 64;
/** Bytes of a gateway's call: an id and a few words. */
const MAX_CALL_BYTES = 16 * 1024;
/** A gateway takes a worker for gone that says nothing for three of these. */
export const HEARTBEAT_MS = 5_000;

const limits: Limits = {
  ...processLimits,
  all: MAX_CONNECTIONS,
  unknown: MAX_CONNECTIONS,
  watches: 10_000, // a gateway keeps one for each session that somebody watches there
  commands: 32,
  beatMs: HEARTBEAT_MS,
};

/** Commands that read, and are answered at the place where the files are. Nobody speaks, answers or stops anything through the door. */
const readCommands: readonly Command["type"][] = ["output"];

/** Address at which gateways reach a worker, and the key that lets them in. */
export type StreamServer = { address: string; key: string; close(): Promise<void> };

export type StreamServerParts = {
  host: LocalHost;
  /** Sessions are tracked while somebody streams their output. */
  replica: Pick<Replica, "look">;
  process: string;
  journal: string;
  listen: { host: string; port: number };
  /** Under which gateways reach it, where that is another. */
  address?: { host: string; port?: number } | undefined;
  redaction: Redaction;
  /** How long somebody may take to prove that they know the key. */
  handshakeMs?: number;
};

/** Lets gateways follow what this worker runs: its deltas, which are in no journal. */
export async function openStreamServer({
  host,
  process,
  journal,
  listen,
  address,
  ...rest
}: StreamServerParts): Promise<StreamServer> {
  const { replica, redaction, handshakeMs } = rest;
  const key = randomBytes(KEY_BYTES);
  const wires = createWireServer(limits);
  const served = followerHost(host, replica, redaction);
  const server = secureServer({ process, key, handshakeMs }, (socket) =>
    wires.serve(
      (hear) => lineWire(socket, hear, { longest: MAX_CALL_BYTES }),
      () => ({ host: served, version, journal, me: { by: "gateway", surface: "process" }, may: [] }),
    ),
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(listen.port, listen.host, () => resolve(void server.off("error", reject)));
  });
  server.on("error", () => {}); // one connection could not be taken
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    address: joinHostPort(address?.host ?? listen.host, address?.port || port),
    key: key.toString("base64url"),
    async close() {
      wires.close();
      server.close();
    },
  };
}

/** The host as a gateway may use it. Facts go without their content: the gateway reads them where everybody does. */
function followerHost(host: LocalHost, replica: StreamServerParts["replica"], redaction: Redaction): Host {
  const { send, ...rest } = onlyTells(createGatewayHost(host, replica), readCommands);
  return {
    ...rest,
    send: async (command) => redaction.value(await send(command)),
    async *watch(session, options) {
      const veil = veilText(redaction);
      for await (const event of host.watch(session, options)) {
        const told = bare(event, veil);
        if (told) yield told;
      }
    },
    // oxlint-disable-next-line require-yield
    async *inbox() {
      throw new SageError("request-invalid", reason("not-here", { command: "inbox" }));
    },
  };
}

function bare(event: WatchEvent, veiled: ReturnType<typeof veilText>): WatchEvent | undefined {
  switch (event.type) {
    case "fact":
      return { type: "fact", fact: { ...event.fact, data: {} } as typeof event.fact };
    case "ready":
      return { type: "ready", requests: [], live: true, owned: true };
    case "delta": {
      const delta = veiled(event.delta);
      return delta && { type: "delta", delta };
    }
    case "owner":
    case "link":
      return undefined;
    default:
      return event satisfies never;
  }
}

function joinHostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
