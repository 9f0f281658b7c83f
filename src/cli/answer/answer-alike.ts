import { ask } from "../../protocol/host/refusal.ts";
import { oneLine } from "../../base/visible.ts";
import type { InputRequest, PermissionRequest } from "../../protocol/facts/request.ts";
import type { Host, SharedAnswer } from "../../protocol/host/host.ts";
import { shortRequestId, splitRequestId } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { errorText } from "../../texts/shared/error.ts";
import { inboxTexts } from "../../texts/commands/inbox.ts";
import type { Lang } from "../../texts/language.ts";
import { ending, headline } from "../../texts/shared/resolution.ts";
import { texts } from "../../texts/shared/texts.ts";
import { alikeTo, codeOfList } from "../../view/request/alike.ts";
import { requestLines } from "../../view/lines/request.ts";
import { fitted } from "../../view/lines/safe.ts";
import { styleOf, fail, exitCodes } from "../process/stdout.ts";
import { pendingOf } from "./find-request.ts";
import type { Opened } from "../host/open-host.ts";
import { agrees } from "../host/journal.ts";
import { continueAfterAnswer } from "./resume-session.ts";

/** Answers all requests like this one, once the whole list was seen: asked about at a terminal, by `seen` and its letters elsewhere. */
export async function answerAlike(
  { lang, ...opened }: Pick<Opened, "host" | "me" | "local" | "store"> & { lang: Lang },
  request: InputRequest,
  { answer, seen }: { answer: SharedAnswer; seen: string | undefined },
): Promise<number> {
  const { host, me } = opened;
  const [t, w] = [texts(lang), inboxTexts(lang)];
  const alike = alikeTo(request, await pendingOf(host));
  if (alike.length === 0) return fail(`sage: ${w.noneAlike}`);
  if (seen !== undefined && seen !== codeOfList(alike))
    throw new SageError("input-invalid", reason("list-changed", {}));
  if (seen === undefined) {
    console.log((await alikeLines(host, alike, lang)).join("\n"));
    const question = answer.type === "granted" ? t.permitAll(alike.length) : w.refuseAll(alike.length);
    if (!(await agrees(`${question} > `)))
      return fail(`sage: ${w.notAgreed(shortRequestId(request.id), codeOfList(alike))}`);
  }
  const { results } = await ask(host, { type: "respondAll", requestIds: alike.map(({ id }) => id), answer, ...me });
  for (const result of results) {
    const id = shortRequestId(result.requestId);
    if (result.ok) console.log(cliTexts(lang).recorded(id, oneLine(ending(result.resolution, t))));
    else
      console.error(
        `sage: ${w.ended(id, result.resolution ? headline(result.resolution, t, me) : errorText(result, t))}`,
      );
  }
  const asleep = results.flatMap((result) =>
    result.ok && !result.running ? [splitRequestId(result.requestId).session] : [],
  );
  const next = [...new Set(asleep)].map((session) => continueAfterAnswer(opened, { session, running: false }, lang));
  for (const line of new Set(await Promise.all(next))) console.log(line);
  return results.every(({ ok }) => ok) ? exitCodes.success : exitCodes.failure;
}

/** The whole list, with the letters that say that it was seen. */
export async function alikeLines(host: Host, alike: readonly PermissionRequest[], lang: Lang): Promise<string[]> {
  const style = styleOf(process.stdout, lang);
  const w = inboxTexts(lang);
  const { sessions } = await ask(host, { type: "sessions" });
  const folders = new Map(sessions.map(({ id, cwd }) => [id, cwd]));
  const lines = alike.flatMap((request, n) => {
    const cwd = folders.get(request.session);
    const place = `${style.t.place(n + 1, alike.length)} · ${shortRequestId(request.id)}`;
    return [
      ...requestLines(request, style, { place, cwd }),
      ...(cwd === undefined ? [] : [style.paint.dim(oneLine(cwd))]),
    ];
  });
  const [first] = alike;
  return fitted(
    [...lines, "", w.allLike(alike.length, shortRequestId(first?.id ?? ""), codeOfList(alike))],
    style.width,
  );
}
