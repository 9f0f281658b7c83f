import { connect, type Socket } from "node:net";
import type { Store } from "../../journal/store/store.ts";
import type { Host } from "../../protocol/host/host.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { connectHost, type RemoteHost } from "../../remote/client.ts";
import { version } from "../../config/version.ts";
import { lineWire } from "./line-wire.ts";
import { createWireServer, onlyTells, processLimits } from "./serve.ts";

/** Tells a process on the same journal what happens in this one. */
export function letIn(socket: Socket, host: Host, store: Store): void {
  store.member(serverOf).serve(
    (hear) => lineWire(socket, hear),
    () => ({
      host: onlyTells(host),
      version,
      journal: store.journalId(),
      me: { by: "process", surface: "process" },
      may: [],
    }),
  );
}

function serverOf() {
  return createWireServer(processLimits);
}

/** The host of another process on this machine. */
export function reachHost(address: string, signal: AbortSignal): Promise<RemoteHost> {
  const socket = connect(address);
  socket.unref();
  return connectHost((hear) => lineWire(socket, hear), {
    hello: { surface: "process", client: `sage ${version}` },
    signal,
    lost: reason("process-unreachable", {}),
  });
}
