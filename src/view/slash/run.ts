import { oneLine } from "../../base/visible.ts";
import { sessionRules } from "../../protocol/facts/session.ts";
import type { Named } from "../../protocol/host/about.ts";
import type { SessionSummary } from "../../protocol/host/host.ts";
import { ask, factsOf } from "../../protocol/host/refusal.ts";
import { modeWords, type SessionMode } from "../../protocol/mode.ts";
import { reason, reasonOf } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { SlashTexts } from "../../texts/surfaces/slash.ts";
import { dollars, nameOf, spentOf, titleOf } from "../items/summary.ts";
import { doubtful, overwriting, planLines, pointLines, rewindKinds, readTurn } from "../lines/rewind.ts";
import { isOf, queueLines } from "../queue.ts";
import type { FollowedSession, Session } from "../session.ts";
import type { SaidItem } from "../transcript/item.ts";
import { helpLines, lackedRight, type Offer, type TypedSlash } from "./read.ts";
import type { HostSlash, OwnSlash, SlashPlace, SlashRight } from "./table.ts";
import { entryOf, modeNamed, removedRule } from "./table.ts";

/** Texts of one language. A surface with readers of several languages calls this for each. */
export type SlashWords = {
  t: Texts;
  slash: SlashTexts;
  /** Stands above the commands in `/help`. */
  intro?: readonly string[];
};

type TypedSession = Pick<FollowedSession, "id" | "send">;

/** A person at a surface, with a session before them. */
export type Typist<P extends SlashPlace = SlashPlace> = {
  session: TypedSession & Pick<Session, "progress" | "queue">;
  sender: Sender;
  offer: Offer<P>;
  /** Where the surface knows what a person may do. The host checks it in any case. */
  may?(right: SlashRight): boolean;
};

export type Reply = (words: SlashWords) => readonly string[];

/** A surface's part in shared commands, and what it makes of them. A forgotten command does not compile. */
export type Hand<P extends SlashPlace, R> = {
  own: (name: OwnSlash<P>, args: string) => R | Promise<R>; // no method: those would take fewer names
  say(reply: Reply, tone: "dim" | "danger"): R | Promise<R>;
  /** A message to the agent follows. */
  speak(text: string, reply: Reply, when: "now" | "next"): R | Promise<R>;
  /** For surfaces that show the fact which tells it; the others say it. */
  done?(): R | Promise<R>;
  /** A withdrawn message, for surfaces that can put it back into the editor. */
  back?(words: string): R | Promise<R>;
  /** The person switches to this session; on other surfaces they are told how to. */
  go?(session: string): R | Promise<R>;
};

type Outcome =
  | { type: "reply"; tone: "dim" | "danger"; reply: Reply }
  | { type: "done"; reply: Reply }
  | { type: "back"; words: string; reply: Reply }
  | { type: "speak"; text: string; reply: Reply; when?: "now" }
  | { type: "go"; session: string };

/** Runs a typed command and reports failures. */
export async function runSlash<P extends SlashPlace, R>(
  typed: TypedSlash,
  typist: Typist<P>,
  hand: Hand<P, R>,
): Promise<R> {
  const { name, args } = typed;
  const { place } = typist.offer;
  const lacked = typist.may && lackedRight(typed, place, typist.may);
  if (lacked) return hand.say(({ slash }) => [slash.refused[lacked]], "danger");
  const { on, takes } = entryOf(name);
  const way = on[place];
  try {
    // The type of the table says which commands are a surface's own.
    if (way === "own" || (way === "picks" && args === "")) return await hand.own(name as OwnSlash<P>, args);
    if (way === "answer") return await hand.say(({ slash }) => [slash.nothingToAnswer], "dim");
    if (takes === "required" && args === "") return await hand.say(({ slash }) => [slash.needs(name)], "danger");
    return await handed(await runs[name as HostSlash](args, typist), hand);
  } catch (error) {
    return hand.say(({ t, slash }) => [slash.failed(name, oneLine(t.because(reasonOf(error))))], "danger");
  }
}

function handed<P extends SlashPlace, R>(outcome: Outcome, hand: Hand<P, R>): R | Promise<R> {
  switch (outcome.type) {
    case "reply":
      return hand.say(outcome.reply, outcome.tone);
    case "done":
      return hand.done ? hand.done() : hand.say(outcome.reply, "dim");
    case "back":
      return hand.back ? hand.back(outcome.words) : hand.say(outcome.reply, "dim");
    case "speak":
      return hand.speak(outcome.text, outcome.reply, outcome.when ?? "next");
    case "go":
      return hand.go ? hand.go(outcome.session) : hand.say(({ slash }) => [slash.elsewhere(outcome.session)], "dim");
    default:
      return outcome satisfies never;
  }
}

type Run = (args: string, typist: Typist) => Promise<Outcome>;

/** Commands that are the same everywhere: what they send to the host, and how they report the reply. */
const runs: { [K in HostSlash]: Run } = {
  help: async (_, { offer }) =>
    replies(({ slash, intro = [] }) => [...intro, ...(intro.length > 0 ? [""] : []), ...helpLines(offer, slash)]),

  async inbox(_, { session }) {
    const { requests } = await ask(session, { type: "pending" });
    return replies(({ t }) =>
      orNone(
        requests.flatMap(({ request }) => [`◆ ${oneLine(nameOf(request, t))}`, `  ${t.answerWith(request.id)}`]),
        t.inboxEmpty,
      ),
    );
  },

  async status(_, { session }) {
    const { sessions } = await ask(session, { type: "sessions", session: session.id });
    const { model = "" } = (await about(session)) ?? {};
    const { state = "idle", cwd = "" } = sessions[0] ?? {};
    return replies(({ t, slash }) => [
      ...slash.status(session.id, slash.state[state], oneLine(cwd), oneLine(model)),
      ...queueLines(session.queue, t),
    ]);
  },

  async sessions(_, { session }) {
    const { sessions } = await ask(session, { type: "sessions", limit: MAX_SESSIONS });
    const line = ({ id, state, title }: SessionSummary, w: SlashTexts) =>
      `${id}  ${w.state[state]}  ${oneLine(titleOf({ title })) || w.untitled}`;
    return replies(({ slash }) =>
      orNone(
        sessions.map((session) => line(session, slash)),
        slash.noSessions,
      ),
    );
  },

  async resume(start, { session }) {
    if (start === "") {
      await ask(session, { type: "resume", session: session.id });
      return { type: "done", reply: ({ slash }) => [slash.continues] };
    }
    const found = (await ask(session, { type: "sessions" })).sessions.filter(({ id }) => id.startsWith(start));
    const [first] = found;
    if (first && found.length === 1) return { type: "go", session: first.id };
    return replies(({ slash }) => [first ? slash.severalSessions(start) : slash.noSuchSession(start)], "danger");
  },

  async fork(at, { session, sender }) {
    const reply = await ask(session, { type: "fork", session: session.id, ...(at !== "" && { at }), ...sender });
    return { type: "go", session: reply.session };
  },

  async rename(title, { session, sender }) {
    await ask(session, { type: "rename", session: session.id, title, ...sender });
    return replies(({ slash }) => [slash.renamed(oneLine(title))]);
  },

  async model(model, { session, sender }) {
    if (model === "") {
      const now = (await about(session))?.model ?? "";
      return replies(({ slash }) => [slash.modelIs(oneLine(now))]);
    }
    await ask(session, { type: "choose", session: session.id, model, checked: true, ...sender });
    return { type: "done", reply: ({ slash }) => [slash.modelSet(oneLine(model))] };
  },

  async mode(word, typist) {
    const mode = modeNamed(word);
    const words = Object.keys(modeWords);
    if (mode) return chooseMode(mode, typist);
    if (word === "") return replies(({ t, slash }) => [slash.modeIs(t.modes[typist.session.progress.mode], words)]);
    return replies(({ slash }) => [slash.modeUnknown(oneLine(word), words)], "danger");
  },

  async plan(task, typist) {
    const chosen = await chooseMode("plan", typist);
    return task === "" ? chosen : { type: "speak", text: task, reply: chosen.reply };
  },

  async compact(_, { session }) {
    await ask(session, { type: "compact", session: session.id });
    return { type: "done", reply: ({ slash }) => [slash.compacted] };
  },

  rewind,

  async now(text, { session, sender }) {
    if (text !== "") return { type: "speak", text, reply: ({ slash }) => [slash.readingNow], when: "now" };
    const { to } = await ask(session, { type: "interrupt", session: session.id, to: "now", ...sender });
    if (to === "nothing") return replies(({ slash }) => [slash.nothingWaits]);
    return { type: "done", reply: ({ slash }) => [slash.readingNow] };
  },

  async withdraw(nth, { session, sender }) {
    const last = nth === "" ? newestOf(session, sender) : session.queue[Number(nth) - 1];
    if (!last) return replies(({ slash }) => [slash.nothingToWithdraw]);
    await ask(session, { type: "withdraw", session: session.id, message: last.key, ...sender });
    const words = last.text;
    return { type: "back", words, reply: ({ slash }) => [slash.withdrawn(oneLine(words))] };
  },

  async revoke(_, { session, sender }) {
    const { removed, restored, mode } = await ask(session, { type: "undo", session: session.id, ...sender });
    const named = (rules: readonly string[]) => rules.map(oneLine).join(", ");
    return replies(({ t, slash }) => [
      slash.revoked(named(removed), named(restored), mode === undefined ? "" : t.modes[mode]),
    ]);
  },

  async stop(_, { session, sender }) {
    const { to } = await ask(session, { type: "interrupt", session: session.id, ...sender });
    if (to === "nothing") return replies(({ slash }) => [slash.nothingRuns]);
    return { type: "done", reply: ({ slash }) => [to === "now" ? slash.readingNow : slash.stopping[to]] };
  },

  async permissions(args, { session, sender }) {
    const rule = removedRule(args);
    if (rule === undefined && args !== "") return replies(({ slash }) => [slash.permissionsHow], "danger");
    if (rule === undefined) {
      const rules = (await about(session))?.rules ?? [];
      return replies(({ t, slash }) =>
        orNone(
          rules.map(
            ({ rule: text, behavior, source }) =>
              `${slash.behaviors[behavior]}  ${oneLine(text)}  (${t.destination[source]})`,
          ),
          slash.noRules,
        ),
      );
    }
    if (!sessionRules(await factsOf(session, session.id)).some(({ text }) => text === rule))
      return replies(({ slash }) => [slash.noSuchRule(oneLine(rule))], "danger");
    await ask(session, { type: "removeRule", session: session.id, rule, destination: "session", ...sender });
    return { type: "done", reply: ({ slash }) => [slash.ruleRemoved(oneLine(rule))] };
  },

  async agents(_, { session }) {
    const { subagents = [] } = (await about(session)) ?? {};
    return replies(({ slash }) => orNone(namedLines(subagents), slash.noAgents));
  },

  async skills(_, { session }) {
    const { skills = [] } = (await about(session)) ?? {};
    return replies(({ slash }) => orNone(namedLines(skills, "/"), slash.noSkills));
  },

  async cost(_, { session }) {
    const { turns, usage, cost } = spentOf(await factsOf(session, session.id));
    return replies(({ slash }) => [slash.cost(turns, usage.inputTokens, usage.outputTokens, dollars(cost))]);
  },
};

const MAX_SESSIONS = 20;

async function chooseMode(mode: SessionMode, { session, sender }: Pick<Typist, "session" | "sender">) {
  await ask(session, { type: "chooseMode", session: session.id, mode, ...sender });
  return { type: "done", reply: ({ t, slash }: SlashWords) => [slash.modeSet(t.modes[mode])] } as const;
}

function orNone(lines: readonly string[], none: string): readonly string[] {
  return lines.length > 0 ? lines : [none];
}

function namedLines(all: readonly Named[], slash = ""): string[] {
  return all.map(({ name, description }) => `${slash}${oneLine(name)}: ${oneLine(description)}`);
}

async function about(session: TypedSession) {
  return (await ask(session, { type: "about", session: session.id })).session;
}

/** `/rewind` in lines of text: the messages to go back to, then what would change, then a `yes` at the end. */
async function rewind(args: string, { session, sender }: Typist): Promise<Outcome> {
  const words = args.split(/\s+/).filter(Boolean);
  const turn = readTurn(words[0] ?? "");
  const what = rewindKinds.find((kind) => words.includes(kind)) ?? "both";
  const { points, paused } = await ask(session, { type: "rewindPoints", session: session.id }); // refused while a turn runs
  if (turn !== undefined && words.includes("yes")) {
    const { plan } = await ask(session, { type: "planRewind", session: session.id, turn, what });
    const overwrite = words.includes("overwrite") ? overwriting(plan.files) : {};
    await ask(session, { type: "rewind", session: session.id, turn, what, overwrite, ...sender });
    if (what === "files") return { type: "done", reply: ({ slash: { rewind: w } }) => [w.kinds.files] };
    return { type: "back", words: plan.message, reply: ({ slash: { rewind: w } }) => [w.lineAgain(plan.message)] };
  }
  if (paused) return replies(({ t }) => [t.because(reason("rewind-turn-open", {}))], "danger");
  if (turn === undefined)
    return replies(({ slash: { rewind: w } }) => [
      ...pointLines(points, w),
      ...(points.length > 0 ? [w.lineNext] : []),
    ]);
  const { plan } = await ask(session, { type: "planRewind", session: session.id, turn, what });
  const { sessions } = await ask(session, { type: "sessions", session: session.id });
  const again = `/rewind t${turn}${what === "both" ? "" : ` ${what}`} yes`;
  const overwrite = doubtful(plan.files).length > 0 ? `${again} overwrite` : undefined;
  return replies(({ slash: { rewind: w }, t }) => [
    ...planLines(plan, sessions[0]?.cwd ?? "", { w, t }),
    w.lineYes(again, overwrite),
  ]);
}

function replies(lines: Reply, tone: "dim" | "danger" = "dim"): Outcome {
  return { type: "reply", tone, reply: lines };
}

/** The person's newest message that waits to be read. */
export function newestOf({ queue }: Pick<Session, "queue">, sender: Sender): SaidItem | undefined {
  return queue.findLast(isOf(sender));
}

/** Opens a session like this one: in its folder, with the model that was chosen for it. */
export async function openLike(session: TypedSession, { byName }: { byName: boolean }): Promise<string> {
  const { session: old, folders } = await ask(session, { type: "about", session: session.id });
  const cwd = old?.cwd ?? "";
  // From elsewhere a folder is called by its name.
  const folder = byName ? (folders.find((found) => found.cwd === cwd)?.name ?? cwd) : cwd;
  const model = old?.chosen === undefined ? {} : { model: old.chosen };
  return (await ask(session, { type: "open", cwd: folder, ...model })).session;
}
