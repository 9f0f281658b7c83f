import type { Store } from "../../../journal/store.ts";
import { messageOf, shortRequestId, type InputRequest } from "../../../protocol/index.ts";
import { inboxTexts } from "../../../texts/inbox.ts";
import type { Lang } from "../../../texts/language.ts";
import { headline } from "../../../texts/resolution.ts";
import { texts } from "../../../texts/texts.ts";
import { toStdout } from "../../stdout.ts";

const LOOK_MS = 500;

type Watched = {
  lang: Lang;
  json: boolean;
  show(request: InputRequest): void;
  signal: AbortSignal;
};

/** Shows what opens and what ends, in all sessions, until nobody looks any more. */
export async function watchInbox(store: Store, { lang, json, show, signal }: Watched): Promise<void> {
  const w = inboxTexts(lang);
  const line = (value: object) => void toStdout(`${JSON.stringify(value)}\n`);
  let open = new Map<string, InputRequest>();
  const look = () => {
    const now = new Map(store.pending().map((request) => [request.id, request]));
    for (const [id, request] of now)
      if (!open.has(id)) {
        if (json) line({ type: "requested", request });
        else show(request);
      }
    for (const id of open.keys())
      if (!now.has(id)) {
        const resolution = store.resolution(id);
        if (json) line({ type: "resolved", requestId: id, ...(resolution && { resolution }) });
        else console.log(w.ended(shortRequestId(id), resolution ? headline(resolution, texts(lang)) : w.gone));
      }
    open = now;
  };
  if (!json) console.error(w.watching(store.pending().length));
  look();
  let failed = "";
  await new Promise<void>((done) => {
    const timer = setInterval(() => {
      try {
        look();
        failed = "";
      } catch (error) {
        // A journal that is busy for a moment: look again. One that stays so is told of, and once.
        const why = messageOf(error);
        if (why !== failed) console.error(`sage: ${(failed = why)}`);
      }
    }, LOOK_MS);
    const stop = () => {
      clearInterval(timer);
      done();
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}
