import { sageHome } from "../../config/home/home.ts";
import { createGatewayHost } from "../../host/cluster/stream/gateway.ts";
import { openObserver } from "../../host/cluster/observer.ts";
import { createHost } from "../../host/host.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import type { Lang } from "../../texts/language.ts";
import { usage } from "../process/flags.ts";
import { hostParts, type Journal } from "./journal.ts";

/** A journal that machines share, for commands that look and answer: sessions run where their workers are. */
export async function openSharedJournal(url: string, env: NodeJS.ProcessEnv, lang: Lang): Promise<Journal> {
  const home = sageHome(env);
  const shared = await openObserver(url);
  if ("missing" in shared) throw usage(clusterTexts(lang).journalNotThere(shared.missing));
  const { store } = shared.replica;
  const wake = (session: string) => void shared.wake(session).catch(() => {}); // recorded; the next look finds it
  const host = createGatewayHost(createHost({ ...hostParts(store, home, env), elsewhere: { wake } }), shared.replica);
  let closing: Promise<void> | undefined;
  const closeAll = async () => {
    await host.close();
    await shared.close();
  };
  const close = () => (closing ??= closeAll());
  return { store, home, host: { ...host, close }, [Symbol.asyncDispose]: close };
}
