import type { InputRequest } from "../../protocol/facts/request.ts";
import type { Host, Refused } from "../../protocol/host/host.ts";
import { splitRequestId } from "../../protocol/key.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { replyNote } from "../../view/inquiry.ts";
import { noteLines } from "../../view/lines/note.ts";
import { followSession } from "../../view/session.ts";
import type { InquiryItem } from "../../view/transcript/item.ts";
import { styleOf, succeed, exitCodes } from "../process/stdout.ts";
import type { Opened } from "../host/open-host.ts";
import { openToResume, sessionPlace } from "./resume-session.ts";

type Options = {
  values: { run?: boolean | undefined; model?: string | undefined };
  lang: Lang;
  refused(reply: Refused, lang: Lang): number;
};

export async function inquire(
  { host, me, local }: Pick<Opened, "host" | "me" | "local">,
  { id: requestId }: InputRequest,
  text: string,
  { values, lang, refused }: Options,
): Promise<number> {
  const sent = await host.send({ type: "inquire", requestId, text, ...me });
  if (!sent.ok) return refused(sent, lang);
  const { session } = splitRequestId(requestId);
  const row = local?.store.session(session);
  if (!sent.running && (!values.run || !row)) {
    const place = await sessionPlace(host, session);
    return succeed(place ? clusterTexts(lang).inquiredAt(place.name) : cliTexts(lang).inquiryRecorded(session));
  }
  const { inquiry } = sent;
  if (sent.running || !row || !local) return show(host, requestId, inquiry, { lang, waits: true });
  const sage = await openToResume(local.store, row, { model: values.model, lang });
  try {
    await sage.host.run(session); // it ends where a person is needed, with the reply on disk
    return await show(host, requestId, inquiry, { lang, waits: false });
  } finally {
    await sage.host.close();
  }
}

/** Prints the reply, or that the request ended before there was one. `waits`: it may still come. */
async function show(host: Host, requestId: string, inquiry: string, { lang, waits }: { lang: Lang; waits: boolean }) {
  const over = new AbortController();
  let item: InquiryItem | undefined;
  const session = followSession(host, splitRequestId(requestId).session, {
    signal: over.signal,
    keep: "turn",
    changed(change) {
      const items = change.type === "fact" ? change.items : [];
      for (const found of items)
        if (found.type === "inquiry" && found.request.id === requestId && found.made.inquiry === inquiry) item = found;
      if (item?.reply || item?.over || (change.type === "joined" && !waits)) over.abort();
    },
  });
  await session.done;
  const note = item && replyNote(item, texts(lang));
  if (!note) throw new Error(`the reply to ${inquiry} is not in the journal`);
  console.log(noteLines(note, styleOf(process.stdout, lang)).join("\n"));
  return item?.reply && !item.reply.problem ? exitCodes.success : exitCodes.failure;
}
