import { factsOf } from "../../protocol/host/refusal.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { Host, Refused } from "../../protocol/host/host.ts";
import { splitRequestId } from "../../protocol/key.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { replyNote } from "../../view/inquiry.ts";
import { noteLines } from "../../view/lines/note.ts";
import { transcriptOf } from "../../view/transcript/transcript.ts";
import { exitCodes } from "../process/exit-codes.ts";
import type { Opened } from "../host/open-host.ts";
import { openToGoOn } from "./resume-session.ts";
import { placeOf } from "./continue-session.ts";
import { styleOf } from "../process/style.ts";

type Options = {
  values: { run?: boolean | undefined; model?: string | undefined };
  lang: Lang;
  refused(reply: Refused, lang: Lang): number;
};

/** Asks about a request, and prints the reply of whoever runs its session: another process, or with --run this one. */
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
    const place = await placeOf(host, session);
    console.log(place ? clusterTexts(lang).inquiredAt(place.name) : cliTexts(lang).inquiryRecorded(session));
    return exitCodes.success;
  }
  const { inquiry } = sent;
  if (sent.running || !row || !local) {
    await replied(host, requestId, inquiry);
    return show(host, requestId, inquiry, lang);
  }
  const sage = await openToGoOn(local.store, row, { model: values.model, lang });
  try {
    await sage.host.run(session); // it ends where a person is needed, with the reply on disk
    return await show(host, requestId, inquiry, lang);
  } finally {
    await sage.host.close();
  }
}

/** Waits for the reply, or for the end of the request. */
async function replied(host: Host, requestId: string, inquiry: string): Promise<void> {
  const over = new AbortController();
  for await (const event of host.watch(splitRequestId(requestId).session, { signal: over.signal })) {
    if (event.type !== "fact") continue;
    const { type, data } = event.fact;
    const ended = type === "input.resolved" && data.requestId === requestId;
    if (ended || (type === "inquiry.replied" && data.requestId === requestId && data.inquiry === inquiry)) return;
  }
}

async function show(host: Host, requestId: string, inquiry: string, lang: Lang): Promise<number> {
  const { session } = splitRequestId(requestId);
  const item = transcriptOf(await factsOf(host, session)).find(
    (one) => one.type === "inquiry" && one.request.id === requestId && one.made.inquiry === inquiry,
  );
  const note = item?.type === "inquiry" ? replyNote(item, texts(lang)) : undefined;
  if (item?.type !== "inquiry" || !note) throw new Error(`the reply to ${inquiry} is not in the journal`);
  console.log(noteLines(note, styleOf(process.stdout, lang)).join("\n"));
  return item.reply && !item.reply.problem ? exitCodes.success : exitCodes.failure;
}
