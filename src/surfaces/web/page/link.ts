import { lastingHost, type LastingHost, type LinkState } from "../../../remote/lasting.ts";
import { closeCodes, type Closed, type OpenWire } from "../../../remote/wire.ts";

declare const SAGE_VERSION: string;

/** The host of this page, over a WebSocket that is opened again whenever it breaks. */
export function connect(
  key: string | undefined,
  { lang, changed }: { lang: string; changed(state: LinkState): void },
): LastingHost {
  const host = lastingHost({
    open: browserWire(`${location.origin.replace(/^http/, "ws")}/v1/wire`),
    hello: { surface: "web", client: `page ${SAGE_VERSION}`, lang },
    ...(key !== undefined && { key }),
    changed,
  });
  const hurry = () => document.visibilityState === "visible" && host.hurry();
  addEventListener("online", hurry);
  document.addEventListener("visibilitychange", hurry);
  return host;
}

/** A browser's WebSocket as a wire. Frames sent before it is open wait. */
function browserWire(url: string): OpenWire {
  return (hear) => {
    const socket = new WebSocket(url);
    const end = new AbortController();
    const early: string[] = [];
    const over = (closed: Closed) => end.signal.aborted || end.abort(closed);
    socket.addEventListener("open", () => early.splice(0).forEach((frame) => socket.send(frame)));
    socket.addEventListener("close", ({ code, reason }) => over({ code, why: reason }));
    socket.addEventListener("message", ({ data }) => {
      try {
        hear(JSON.parse(String(data)));
      } catch {
        socket.close(closeCodes.notUnderstood);
        over({ code: closeCodes.notUnderstood, why: "" });
      }
    });
    return {
      over: end.signal,
      send(frame) {
        const text = JSON.stringify(frame);
        if (socket.readyState === WebSocket.CONNECTING) early.push(text);
        else if (socket.readyState === WebSocket.OPEN) socket.send(text);
        return undefined;
      },
      close(code, why) {
        // A browser lets a page close with its own codes only.
        if (code !== undefined && code >= 3_000) socket.close(code, why);
        else socket.close();
        over({ code: code ?? 1006, why: why ?? "" });
      },
    };
  };
}
