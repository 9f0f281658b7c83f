import type { InputRequest, SessionSummary } from "../protocol/index.ts";
import { createPaint, type Style } from "../surfaces/plain/paint.ts";
import { wholeRequest } from "../surfaces/plain/request.ts";
import { fitted } from "../surfaces/plain/safe.ts";
import { cliTexts, type CliTexts } from "../texts/cli.ts";
import type { Lang } from "../texts/language.ts";
import { texts } from "../texts/texts.ts";
import { exitCodes } from "./exit-codes.ts";
import { noWords, readFlags } from "./flags.ts";
import { ask, openJournal } from "./journal.ts";

/** Every open request of every session, with enough to answer it from here. */
export async function inbox(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, { json: { type: "boolean" } });
  noWords("inbox", positionals, t);
  const { host } = openJournal(process.env);
  const { requests } = await ask(host, { type: "pending" });
  const { sessions } = await ask(host, { type: "sessions" });
  await host.close();
  if (values.json) console.log(JSON.stringify(requests, undefined, 2));
  else if (requests.length === 0) console.log(t.inboxEmpty);
  else {
    const style = styleOf(process.stdout, lang);
    for (const { request } of requests) {
      const session = sessions.find(({ id }) => id === request.session);
      const alone = requests.filter((one) => one.request.session === request.session).length === 1;
      const lines = [...openLines(request, style, { lang, alone }), whereLine(request, session, lang)];
      console.log(fitted(lines, style.width).join("\n"));
    }
  }
  return exitCodes.success;
}

/** A request with what to type to answer it. The only one of its session is named by the session, which is short. */
export function openLines(
  request: InputRequest,
  style: Style,
  { lang, alone }: { lang: Lang; alone: boolean },
): string[] {
  const t = cliTexts(lang);
  const how = t.howToAnswer(alone ? request.session : request.id, flagsFor(request, t));
  return [...wholeRequest(request, style), how, ...howLines(request, t)];
}

function howLines(request: InputRequest, t: CliTexts): string[] {
  switch (request.kind) {
    case "permission":
      return [t.alsoPermission];
    case "question":
      return [request.questions.length > 1 ? t.alsoQuestions : t.alsoQuestion];
    case "text":
      return [t.alsoText];
    default:
      return request satisfies never;
  }
}

function whereLine(request: InputRequest, session: SessionSummary | undefined, lang: Lang): string {
  return cliTexts(lang).inSession(
    request.session,
    session?.cwd ?? "?",
    texts(lang).duration(Math.max(1_000, Date.now() - request.at)),
  );
}

function flagsFor(request: InputRequest, t: CliTexts): string {
  switch (request.kind) {
    case "permission":
      return "--yes | --no";
    case "question":
      return request.questions.length === 1
        ? `--choose "${t.anOption}"`
        : request.questions.map((_, n) => `--choose "${n + 1}=${t.anOption}"`).join(" ");
    case "text":
      return '--text "…"';
    default:
      return request satisfies never;
  }
}

export function styleOf(stream: NodeJS.WriteStream, lang: Lang): Style {
  return { t: texts(lang), paint: createPaint(wantsColor(stream)), width: stream.isTTY ? stream.columns : undefined };
}

export function wantsColor(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}
