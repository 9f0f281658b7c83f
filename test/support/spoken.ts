import type { Model } from "../../src/models/model.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";

/** A model whose words come when the test says so; `undefined` ends a reply. */
export function spoken(): { model: Model; speak(words: string): void; finish(): void; asked(): number } {
  const words: (string | undefined)[] = [];
  let wake = () => {};
  let asked = 0;
  const model: Model = {
    id: "spoken",
    async reply(_request, scope) {
      asked++;
      let text = "";
      for (;;) {
        scope.signal.throwIfAborted();
        if (words.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            scope.signal.addEventListener("abort", () => resolve(), { once: true });
          });
          continue;
        }
        const next = words.shift();
        if (next === undefined)
          return { parts: [{ type: "text", text }], usage: noUsage, finish: "stop", model: "spoken" };
        text += next;
        scope.text(next);
      }
    },
  };
  const add = (one: string | undefined) => {
    words.push(one);
    wake();
  };
  return { model, speak: add, finish: () => add(undefined), asked: () => asked };
}
