import { WebSocket } from "ws";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { version } from "../../config/version.ts";
import type { ClientSurface } from "../../remote/frames.ts";
import { lastingHost, type LastingHost, type LastingOptions } from "../../remote/lasting.ts";
import { closeCodes } from "../../remote/wire.ts";
import { webWire } from "./web-wire.ts";

const MAX_FRAME_BYTES = 64 * 1024 * 1024;

type WebHostOptions = Pick<LastingOptions, "changed"> & { surface?: ClientSurface; lang?: string };

/** The host behind the web address of a `sage serve`, which comes back by itself. `key` is a device's. */
export function connectWeb(url: string, key: string, options: WebHostOptions = {}): LastingHost {
  const { surface = "sdk", lang, ...rest } = options;
  const address = wireAddress(url);
  return lastingHost({
    ...rest,
    key,
    hello: { surface, client: `sage ${version}`, ...(lang !== undefined && { lang }) },
    open(hear) {
      const socket = new WebSocket(address, { perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES });
      const wire = webWire(socket, hear);
      // Refused before any frame: unknown host name, foreign origin, or no such page.
      socket.on("unexpected-response", (request, { statusCode }) => {
        if (statusCode !== undefined && statusCode < 500 && statusCode !== 429)
          wire.close(closeCodes.notPermitted, `HTTP ${statusCode}`);
        request.destroy();
      });
      return wire;
    },
  });
}

/** The key travels in the first frame: over a network only encrypted. */
function wireAddress(url: string): string {
  const insecure = () => new SageError("config-invalid", reason("host-insecure", { address: url }));
  if (!URL.canParse(url)) throw insecure();
  const { protocol, hostname, host, pathname } = new URL(url);
  const isHere = hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
  if (protocol !== "https:" && !(protocol === "http:" && isHere)) throw insecure();
  return `${protocol === "https:" ? "wss" : "ws"}://${host}${pathname.replace(/\/+$/, "")}/v1/wire`;
}
