import { fail, succeed, exitCodes } from "../process/stdout.ts";
import { ask, factsOf } from "../../protocol/host/refusal.ts";
import type { Store } from "../../journal/store/store.ts";
import { oneLine } from "../../base/visible.ts";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { Approved, InputRequest, Resolution } from "../../protocol/facts/request.ts";
import type { CommandReply, Host, Refused, SharedAnswer } from "../../protocol/host/host.ts";
import { isOutsideRequest } from "../../protocol/host/outside.ts";
import { shortRequestId, splitRequestId } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { sageHome } from "../../config/home/home.ts";
import { readInstallation } from "../../config/home/home.ts";
import { errorText } from "../../texts/shared/error.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { ending, headline } from "../../texts/shared/resolution.ts";
import { cliTexts, type CliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { readFlags, usage, type Flags } from "../process/flags.ts";
import { consentSoFar } from "../../view/request/consent.ts";
import { clipped } from "../../view/lines/safe.ts";
import { nameOf } from "../../view/items/summary.ts";
import { person } from "../host/journal.ts";
import { requestBy } from "./find-request.ts";
import { openHost, type Opened } from "../host/open-host.ts";
import { asksToType, typedHere } from "./challenge.ts";
import { continueAfterAnswer } from "./resume-session.ts";
import { answerOptions, readInquiry, readResponse } from "./response.ts";

const MAX_NAME_LENGTH = 80;

/** Answers a request whether or not any Sage is running: the answer is recorded before anybody is notified. */
export async function answer(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, answerOptions);
  // `--always 2`: the number is not the flag's own, for it may be left out.
  const nth = values.always && positionals.length > 1 ? positionals.find((word) => /^\d+$/.test(word)) : undefined;
  const [target, stray] = positionals.filter((word) => word !== nth);
  if (!target?.trim() || stray !== undefined) throw usage(t.answerWhat);
  const opened = await openHost(values, { lang, looks: false });
  const { host, me } = opened;
  const refused = (reply: Omit<Refused, "ok" | "code">) => tooLate(reply, me, lang);
  try {
    const request = await requestBy(host, target, t);
    if ("outcome" in request) return await repeat(opened, request, { values, nth, lang, refused });
    const inquiry = readInquiry(values, t);
    if (inquiry !== undefined) {
      const { inquire } = await import("./inquire.ts");
      return await inquire(opened, request, inquiry, { values, lang, refused });
    }
    const response = await readResponse(request, { ...values, nth }, t);
    if (values["all-like"]) return await allLike({ opened, lang }, request, { response, values, t });
    if (values.seen !== undefined) throw usage(t.only("--seen", "--all-like"));
    const carried = await isCarried(host, request);
    const typed = opened.store && asksToType(request, response) ? typedHere(request, lang) : "not asked";
    if (typed !== "typed" && typed !== "not asked") return fail(`sage: ${typed}`);
    const reply = await host.send({ type: "respond", response, ...me, ...(typed === "typed" && { typed: true }) });
    if (!reply.ok) return refused(reply);
    if (!reply.resolution) return signed(request, reply.approved, me, lang);
    return await afterwards(opened, request, { ...reply, resolution: reply.resolution }, { values, lang, carried });
  } finally {
    await host.close();
  }
}

/** An answer for all alike requests takes no rule and no edit, and resumes no session here. */
async function allLike(
  { opened, lang }: { opened: Opened; lang: Lang },
  request: InputRequest,
  {
    response,
    values: { always, input, outside, seen, run, "accept-edits": acceptEdits },
    t,
  }: { response: InputResponse; values: Flags<typeof answerOptions>["values"]; t: CliTexts },
): Promise<number> {
  for (const [flag, given] of Object.entries({ always, input, outside, run, "accept-edits": acceptEdits }))
    if (given !== undefined) throw usage(t.conflict("--all-like", `--${flag}`));
  const { answerAlike } = await import("./answer-alike.ts");
  const { requestId: _, ...answer } = response;
  return answerAlike({ ...opened, lang }, request, { answer: answer as SharedAnswer, seen });
}

function tooLate(reply: Omit<Refused, "ok" | "code">, me: Opened["me"], lang: Lang): number {
  const t = texts(lang);
  const text = reply.resolution ? cliTexts(lang).tooLate(headline(reply.resolution, t, me)) : errorText(reply, t);
  return fail(`sage: ${text}`);
}

/** It has ended: the same answer by the same person is told the same, whichever of two came first, and any other that it is too late. */
async function repeat({ host, me }: Opened, ended: Resolution, { values, nth, lang, refused }: Repeating) {
  const late = () => refused({ message: "", resolution: ended });
  const found = await host.send({ type: "request", id: ended.requestId });
  if (!found.ok || values["all-like"] || readInquiry(values, cliTexts(lang)) !== undefined) return late();
  const response = await readResponse(found.request, { ...values, nth }, cliTexts(lang)).catch(() => undefined);
  const reply = response && (await host.send({ type: "respond", response, ...me }));
  if (!reply?.ok || !reply.resolution) return late();
  recorded(found.request, reply.resolution, lang, false);
  return exitCodes.success;
}

type Repeating = {
  values: Flags<typeof answerOptions>["values"];
  nth: string | undefined;
  lang: Lang;
  refused(reply: Omit<Refused, "ok" | "code">): number;
};

type Answered = CommandReply<"respond"> & { ok: true; resolution: Resolution };
/** Was the agent that asks stopped since? Answered, a request does not tell any more. */
async function isCarried(host: Host, { id, agent }: InputRequest): Promise<boolean> {
  if (agent.length === 0) return false;
  const found = await host.send({ type: "request", id });
  return found.ok && found.carried === true;
}

function recorded(request: InputRequest, resolution: Resolution, lang: Lang, carried: boolean): void {
  const name = clipped(nameOf(asAnswered(request, resolution), texts(lang)), MAX_NAME_LENGTH);
  console.log(cliTexts(lang).recorded(name, oneLine(ending(resolution, texts(lang)))));
  const [agent = ""] = request.agent;
  if (carried && resolution.outcome !== "cancelled") console.log(sentence(reason("guest-carried", { agent }), lang));
}

type Given = { values: { run?: boolean | undefined; model?: string | undefined }; lang: Lang; carried: boolean };

/** A session that nothing runs is taken up by a host that is elsewhere: it has the folder, and the model. Here `--run` does that. */
async function afterwards(
  opened: Opened,
  request: InputRequest,
  { resolution, running }: Answered,
  { values, lang, carried }: Given,
): Promise<number> {
  const { host, me, local } = opened;
  recorded(request, resolution, lang, carried);
  if (isOutsideRequest(request)) {
    const t = cliTexts(lang);
    return succeed((request.asker === "returning" ? t.keptOutside : t.heardOutside)(oneLine(request.agent[0] ?? "")));
  }
  const { session } = splitRequestId(resolution.requestId);
  // A person who stopped the turn does not want to continue it.
  if (resolution.outcome === "cancelled") {
    if (!running && local) await endTurn(local.store, session, lang);
    else if (!running) await ask(host, { type: "interrupt", session, cancel: true, ...me });
    return exitCodes.success;
  }
  if (local && !running && values.run) return goOn(local.store, session, values.model, lang);
  const next = await continueAfterAnswer(opened, { session, running }, lang);
  if ((running || !local) && rulesIn(resolution) > 0) await tellAlsoDecided(host, resolution, lang);
  return succeed(next);
}

function rulesIn(resolution: Resolution): number {
  const response = "response" in resolution ? resolution.response : undefined;
  return response?.type === "granted" ? (response.rules?.length ?? 0) : 0;
}

/** The running session saves the rules and judges its other requests again. That takes a moment; report it afterwards. */
async function tellAlsoDecided(host: Host, { requestId, at }: Resolution, lang: Lang): Promise<void> {
  const { session } = splitRequestId(requestId);
  const facts = await factsOf(host, session);
  for (let n = 0; n < 20; n++) {
    facts.push(...(await ask(host, { type: "facts", session, after: facts.at(-1)?.seq ?? 0 })).facts);
    const since = facts.filter((fact) => fact.at >= at);
    if (since.some(({ type }) => type === "rule.added")) {
      const ended = since.flatMap((fact) =>
        fact.type === "input.resolved" && fact.data.surface === "rule" ? [shortRequestId(fact.data.requestId)] : [],
      );
      const { inboxTexts } = await import("../../texts/commands/inbox.ts");
      if (ended.length > 0) console.log(inboxTexts(lang).alsoDecided(ended.length, ended.join(", ")));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The line after a yes that others must follow: the session continues once they have. */
function signed(request: InputRequest, approved: Approved, me: Opened["me"], lang: Lang): number {
  const t = texts(lang);
  const name = clipped(nameOf(request, t), MAX_NAME_LENGTH);
  if (approved.again) console.log(t.approvedAgain);
  return succeed(cliTexts(lang).recorded(name, consentSoFar(approved, t, me)));
}

function asAnswered(request: InputRequest, resolution: Resolution): InputRequest {
  const response = "response" in resolution ? resolution.response : undefined;
  if (request.kind !== "permission" || response?.type !== "granted" || !response.input) return request;
  return { ...request, input: response.input };
}

/** Nobody runs it, so the turn is ended here: no model is needed for that. */
async function endTurn(store: Store, session: string, lang: Lang): Promise<void> {
  const { assemble } = await import("../../host/assembly/assemble.ts");
  const { inboxTexts } = await import("../../texts/commands/inbox.ts");
  const { anchorEndedTurns } = await import("../assemble/open-sage.ts");
  const home = sageHome(process.env);
  const nobody = { id: "none", reply: () => Promise.reject(new Error("a stopped turn asks no model")) };
  const host = assemble({
    store,
    model: async () => nobody,
    rules: [],
    permissionMode: "default",
    options: { mode: { type: "batch" } },
    env: process.env,
    output: home.output,
    turnEnded: anchorEndedTurns(store, { home, env: process.env }),
    async guest(name, cwd) {
      const { guestOf } = await import("../../host/guests/guests.ts");
      const { agents = {} } = readInstallation(process.env).settings;
      return guestOf(name, { cwd, home, env: process.env, settings: agents });
    },
  });
  try {
    await host.send({ type: "interrupt", session, cancel: true, by: person(), surface: "cli" });
    await host.run(session);
    console.log(inboxTexts(lang).turnEnded);
  } catch (error) {
    // Another process has taken the session in the meantime and will end it.
    if (!(error instanceof SageError && error.code === "session-owned")) throw error;
  } finally {
    await host.close();
  }
}

async function goOn(store: Store, session: string, model: string | undefined, lang: Lang): Promise<number> {
  const { openToResume } = await import("./resume-session.ts");
  const { print } = await import("../open/print/print.ts");
  const takenUp = () => {
    return succeed(cliTexts(lang).takenUp);
  };
  const row = store.session(session);
  if (!row || isTakenUp(store, session)) return takenUp();
  const sage = await openToResume(store, row, { model, lang });
  try {
    return await print(sage, { session, task: undefined, format: "text", lang });
  } catch (error) {
    if (isTakenUp(store, session)) return takenUp(); // between the look and the claim
    throw error;
  } finally {
    await sage.host.close();
  }
}

/** A process that only waited for this answer continues the turn, and may be at its end already. */
function isTakenUp(store: Store, session: string): boolean {
  const row = store.session(session);
  return row?.owned === true || !(row?.open || row?.unheard);
}
