import { setTimeout as sleep } from "node:timers/promises";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { Host } from "../../protocol/host/host.ts";
import { shortRequestId } from "../../protocol/key.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { inboxTexts } from "../../texts/commands/inbox.ts";
import type { Lang } from "../../texts/language.ts";
import { headline } from "../../texts/shared/resolution.ts";
import { texts } from "../../texts/shared/texts.ts";
import { pendingOf } from "./find-request.ts";
import { writeStdout } from "../process/stdout.ts";

const POLL_MS = 500;
/** A host elsewhere is asked less often. */
const REMOTE_POLL_MS = 2_000;

type Watched = {
  lang: Lang;
  json: boolean;
  elsewhere: boolean;
  show(request: InputRequest): Promise<void>;
  signal: AbortSignal;
};

/** Shows requests of all sessions as they open and end, until the output is closed. */
export async function watchInbox(host: Host, { lang, json, elsewhere, show, signal }: Watched): Promise<void> {
  const w = inboxTexts(lang);
  const line = (value: object) => void writeStdout(`${JSON.stringify(value)}\n`);
  let open = new Map<string, InputRequest>();
  const look = async (requests: readonly InputRequest[]) => {
    const now = new Map(requests.map((request) => [request.id, request]));
    for (const [id, request] of now)
      if (!open.has(id)) {
        if (json) line({ type: "requested", request });
        else await show(request);
      }
    for (const id of open.keys())
      if (!now.has(id)) {
        const found = await host.send({ type: "request", id });
        const resolution = found.ok ? found.resolution : undefined;
        if (json) line({ type: "resolved", requestId: id, ...(resolution && { resolution }) });
        else console.log(w.ended(shortRequestId(id), resolution ? headline(resolution, texts(lang)) : w.gone));
      }
    open = now;
  };
  const first = await pendingOf(host);
  if (!json) console.error(w.watching(first.length));
  await look(first);
  let failed = "";
  while (!signal.aborted) {
    await sleep(elsewhere ? REMOTE_POLL_MS : POLL_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    try {
      await look(await pendingOf(host));
      failed = "";
    } catch (error) {
      // The journal is briefly busy: retry. If it stays busy, report it once.
      const why = thrownText(error, lang);
      if (why !== failed) console.error(`sage: ${(failed = why)}`);
    }
  }
}
