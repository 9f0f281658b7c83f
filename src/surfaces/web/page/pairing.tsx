import { useSignal } from "@preact/signals";
import { render } from "preact";
import { deviceName, pairWith } from "./state/pair.ts";
import type { Words } from "./words/words.ts";
import { Form, Trouble } from "./components/form.tsx";
import { lastingHost, type LastingHost, type LinkState } from "../../../remote/lasting.ts";
import { closeCodes, type Closed, type OpenWire } from "../../../remote/wire.ts";

/** `busy`: a link or a code is being traded for a key, and somebody at a terminal may have to say yes first. */
type Trading = "idle" | "busy" | "failed";

/** Instead of the page, until this browser has a key. */
export function drawPairing(root: HTMLElement, words: Words, begun: Trading): void {
  render(null, root);
  render(<Pairing words={words} begun={begun} />, root);
}

function Pairing({ words: { web }, begun }: { words: Words; begun: Trading }) {
  const code = useSignal("");
  const state = useSignal<Trading>(begun);
  const pair = async () => {
    if (code.value.trim() === "" || state.value === "busy") return;
    state.value = "busy";
    if (await pairWith({ code: code.value.trim(), name: deviceName() })) location.reload();
    else state.value = "failed";
  };
  return (
    <main class="pairing">
      <p class="mark">Sage</p>
      <h1>{state.value === "busy" ? web.pair.pairing : web.pair.title}</h1>
      {state.value === "busy" ? (
        <p role="status">{web.pair.waits}</p>
      ) : (
        <>
          <p>{web.pair.how.split("`").map((part, n) => (n % 2 === 1 ? <code>{part}</code> : part))}</p>
          <Form class="writing" submit={() => void pair()}>
            <label>
              <span>{web.pair.code}</span>
              <input
                class="code"
                autocomplete="one-time-code"
                autocapitalize="characters"
                spellcheck={false}
                value={code.value}
                onInput={(event) => (code.value = event.currentTarget.value)}
              />
            </label>
            <div class="row">
              <button type="submit" class="yes" aria-disabled={code.value.trim() === ""}>
                {web.pair.go}
              </button>
            </div>
          </Form>
        </>
      )}
      {state.value === "failed" && <Trouble text={web.pair.failed} />}
    </main>
  );
}

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
