import { oneLine } from "../../base/visible.ts";
import type { Named } from "../../protocol/host/about.ts";
import { unseenMessages } from "../../protocol/facts/unseen.ts";
import type { Host, SessionSummary } from "../../protocol/host/host.ts";
import { ask, factsOf } from "../../protocol/host/ask.ts";
import { modeWords, type SessionMode } from "../../protocol/mode.ts";
import { reasonOf } from "../../protocol/reasons/error.ts";
import type { SlashTexts } from "../../texts/surfaces/slash.ts";
import { dollars, nameOf, spentOf, titleOf } from "../items/summary.ts";
import { told, type Outcome, type Run, type SlashWords, type Typist } from "./outcome.ts";
import { helpLines, lackedRight, type TypedSlash } from "./read.ts";
import { rewind } from "./rewind.ts";
import { entryOf, modeOf, removedRule, type HostSlash, type OwnSlash, type SlashPlace } from "./table.ts";

/** Does what was typed. What fails is told, too. */
export async function runSlash<P extends SlashPlace>(typed: TypedSlash, typist: Typist<P>): Promise<Outcome<P>> {
  const { name, args } = typed;
  const { place } = typist.offer;
  const lacked = typist.may && lackedRight(typed, place, typist.may);
  if (lacked) return told(({ slash }) => [slash.refused[lacked]], "danger");
  const { on, takes } = entryOf(name);
  const way = on[place];
  if (way === "own" || (way === "picks" && args === "")) return { type: "own", name: name as OwnSlash<P>, args };
  if (way === "answer") return told(({ slash }) => [slash.nothingToAnswer]);
  if (takes === "required" && args === "") return told(({ slash }) => [slash.needs(name)], "danger");
  try {
    return (await runs[name as HostSlash](args, typist)) as Outcome<P>;
  } catch (error) {
    return failed(name, error);
  }
}

/** A command that did not work, as an outcome. */
export function failed(name: string, error: unknown): Outcome & { type: "told" } {
  return told(({ t, slash }) => [slash.failed(name, oneLine(t.because(reasonOf(error))))], "danger");
}

/** Commands that are the same everywhere: what they send to the host, and what is told of the reply. */
const runs: { [K in HostSlash]: Run } = {
  help: async (_, { offer }) =>
    told(({ slash, intro = [] }) => [...intro, ...(intro.length > 0 ? [""] : []), ...helpLines(offer, slash)]),

  async inbox(_, { host }) {
    const { requests } = await ask(host, { type: "pending" });
    return told(({ t }) =>
      listed(
        requests.flatMap(({ request }) => [`◆ ${oneLine(nameOf(request, t))}`, `  ${t.answerWith(request.id)}`]),
        t.inboxEmpty,
      ),
    );
  },

  async status(_, { host, session }) {
    const { sessions } = await ask(host, { type: "sessions", session });
    const { model = "" } = (await about(host, session)) ?? {};
    const { state = "idle", cwd = "" } = sessions[0] ?? {};
    return told(({ slash }) => slash.status(session, slash.state[state], oneLine(cwd), oneLine(model)));
  },

  async sessions(_, { host }) {
    const { sessions } = await ask(host, { type: "sessions", limit: MAX_SESSIONS });
    const line = ({ id, state, title }: SessionSummary, w: SlashTexts) =>
      `${id}  ${w.state[state]}  ${oneLine(titleOf({ title })) || w.untitled}`;
    return told(({ slash }) =>
      listed(
        sessions.map((session) => line(session, slash)),
        slash.noSessions,
      ),
    );
  },

  async resume(start, { host, session }) {
    if (start === "") {
      await ask(host, { type: "resume", session });
      return { type: "done", told: ({ slash }) => [slash.continues] };
    }
    const found = (await ask(host, { type: "sessions" })).sessions.filter(({ id }) => id.startsWith(start));
    const [first] = found;
    if (first && found.length === 1) return { type: "go", session: first.id };
    return told(({ slash }) => [first ? slash.severalSessions(start) : slash.noSuchSession(start)], "danger");
  },

  async fork(at, { host, session, sender }) {
    const reply = await ask(host, { type: "fork", session, ...(at !== "" && { at }), ...sender });
    return { type: "go", session: reply.session };
  },

  async rename(title, { host, session, sender }) {
    await ask(host, { type: "rename", session, title, ...sender });
    return told(({ slash }) => [slash.renamed(oneLine(title))]);
  },

  async model(model, { host, session, sender }) {
    if (model === "") {
      const now = (await about(host, session))?.model ?? "";
      return told(({ slash }) => [slash.modelIs(oneLine(now))]);
    }
    await ask(host, { type: "choose", session, model, checked: true, ...sender });
    return { type: "done", told: ({ slash }) => [slash.modelSet(oneLine(model))] };
  },

  async mode(word, { mode: now, ...typist }) {
    const mode = modeOf(word);
    const words = Object.keys(modeWords);
    if (mode) return choose(mode, typist);
    if (word === "") return told(({ t, slash }) => [slash.modeIs(t.modes[now()], words)]);
    return told(({ slash }) => [slash.modeUnknown(oneLine(word), words)], "danger");
  },

  async plan(task, typist) {
    const chosen = await choose("plan", typist);
    return task === "" ? chosen : { type: "say", text: task, told: chosen.told };
  },

  async compact(_, { host, session }) {
    await ask(host, { type: "compact", session });
    return { type: "done", told: ({ slash }) => [slash.compacted] };
  },

  rewind,

  async withdraw(_, { host, session, sender }) {
    const { facts } = await ask(host, { type: "facts", session, before: Number.MAX_SAFE_INTEGER });
    const last = unseenMessages(facts).findLast(
      ({ data: { by, surface } }) => by === sender.by && surface === sender.surface,
    );
    if (!last) return told(({ slash }) => [slash.nothingToWithdraw]);
    await ask(host, { type: "withdraw", session, message: last.key, ...sender });
    const words = last.data.text;
    return { type: "back", words, told: ({ slash }) => [slash.withdrawn(oneLine(words))] };
  },

  async stop(_, { host, session, sender }) {
    const { to } = await ask(host, { type: "interrupt", session, ...sender });
    if (to === "nothing") return told(({ slash }) => [slash.nothingRuns]);
    return { type: "done", told: ({ slash }) => [slash.stopping[to]] };
  },

  async permissions(args, { host, session, sender }) {
    const rule = removedRule(args);
    if (rule === undefined && args !== "") return told(({ slash }) => [slash.permissionsHow], "danger");
    const rules = (await about(host, session))?.rules ?? [];
    if (rule === undefined)
      return told(({ t, slash }) =>
        listed(
          rules.map((one) => `${slash.behaviors[one.behavior]}  ${oneLine(one.rule)}  (${t.destination[one.source]})`),
          slash.noRules,
        ),
      );
    if (!rules.some((one) => one.rule === rule && one.source === "session"))
      return told(({ slash }) => [slash.noSuchRule(oneLine(rule))], "danger");
    await ask(host, { type: "removeRule", session, rule, destination: "session", ...sender });
    return { type: "done", told: ({ slash }) => [slash.ruleRemoved(oneLine(rule))] };
  },

  async agents(_, { host, session }) {
    const { subagents = [] } = (await about(host, session)) ?? {};
    return told(({ slash }) => listed(named(subagents), slash.noAgents));
  },

  async skills(_, { host, session }) {
    const { skills = [] } = (await about(host, session)) ?? {};
    return told(({ slash }) => listed(named(skills, "/"), slash.noSkills));
  },

  async cost(_, { host, session }) {
    const { turns, usage, cost } = spentOf(await factsOf(host, session));
    return told(({ slash }) => [slash.cost(turns, usage.inputTokens, usage.outputTokens, dollars(cost))]);
  },
};

const MAX_SESSIONS = 20;

async function choose(mode: SessionMode, { host, session, sender }: Pick<Typist, "host" | "session" | "sender">) {
  await ask(host, { type: "chooseMode", session, mode, ...sender });
  return { type: "done", told: ({ t, slash }: SlashWords) => [slash.modeSet(t.modes[mode])] } as const;
}

function listed(lines: readonly string[], none: string): readonly string[] {
  return lines.length > 0 ? lines : [none];
}

function named(all: readonly Named[], slash = ""): string[] {
  return all.map(({ name, description }) => `${slash}${oneLine(name)}: ${oneLine(description)}`);
}

async function about(host: Host, session: string) {
  return (await ask(host, { type: "about", session })).session;
}
