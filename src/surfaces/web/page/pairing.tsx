import { useSignal } from "@preact/signals";
import { render } from "preact";
import { deviceName, pairWith } from "./state/pair.ts";
import type { Words } from "./words/words.ts";
import { Form, Trouble } from "./components/form.tsx";

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
