import { canonicalJson } from "../../base/canonical-json.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import type { PastCall, RuleIdea, RuleTrial } from "../../protocol/host/past.ts";
import type { Judgement } from "../decide.ts";
import type { CommandReading } from "../shell/judge/flow/command-reading.ts";

/** Judges a call of the past by today's rules; `reading`: its command, read before. */
type JudgePast = (call: PastCall, rules: readonly Rule[], reading?: CommandReading) => Judgement;

export type Trials = {
  /** Holds rules against the past before they are kept: those that would be kept together, together. */
  of(rule: Idea, ...others: Idea[]): RuleTrial;
  /** Would the call be allowed with these, and is it not without them? */
  allows(call: PastCall, texts: readonly string[]): boolean;
  /** The fewest rules that would have spared the most questions, and allowed nothing that a person refused. */
  ideas(offers: (call: PastCall) => readonly (readonly string[])[]): RuleIdea[];
};

type Idea = Pick<Rule, "text" | "behavior">;

const MAX_SURPRISING = 10;
const MAX_IDEAS = 10;
const MAX_CANDIDATES = 60;

export function createTrials(past: readonly PastCall[], rules: readonly Rule[], judge: JudgePast): Trials {
  const { groups, keyOf } = grouped(past);
  const readings = new Map<string, CommandReading | undefined>();
  const judgeWith = (call: PastCall, given: readonly Rule[]): Judgement => {
    const key = keyOf.get(call)!;
    const judgement = judge(call, given, readings.get(key));
    if (!readings.has(key)) readings.set(key, judgement.finding?.shell?.reading);
    return judgement;
  };
  const all = [...groups.values()];
  const isAllowedBy = (call: PastCall, more: readonly Rule[]) => {
    const { result, finding } = judgeWith(call, [...rules, ...more]);
    return result.behavior === "allow" && more.some((rule) => finding?.allow?.some(({ text }) => text === rule.text));
  };
  return {
    of(first, ...more) {
      const { text, behavior } = first;
      const ideas = [first, ...more];
      const texts = ideas.map((idea) => idea.text);
      const isIdea = (rule: Idea) => ideas.some((idea) => idea.text === rule.text && idea.behavior === rule.behavior);
      const others = rules.filter((rule) => !isIdea(rule));
      const tried = ideas.map((idea): Rule => ({ ...idea, source: "session" }));
      const changes = (call: PastCall): boolean => {
        const { result, finding } = judgeWith(call, [...others, ...tried]);
        if (behavior !== "allow") return result.behavior === behavior && texts.includes(result.rule ?? "");
        return result.behavior === "allow" && finding?.allow?.some((rule) => texts.includes(rule.text)) === true;
      };
      // A call that was refused is looked at in any case: nothing may be missed among those.
      const isWorthALook = (call: PastCall) =>
        mayChange(call, behavior) &&
        (behavior !== "allow" || call.asked?.answer === "no" || texts.some((rule) => mayConcern(rule, call)));
      const changed = all.filter((calls) => calls.some(isWorthALook) && changes(calls[0]!));
      const met = changed.flatMap((calls) => calls.filter((call) => mayChange(call, behavior)));
      const contrary = (call: PastCall) => call.asked?.answer === (behavior === "allow" ? "no" : "yes");
      return {
        rule: text,
        ...(more.length > 0 && { rules: texts }),
        behavior,
        calls: past.length,
        ...(past[0] && { since: past[0].at }),
        changed: met.length,
        against: met.filter(contrary).length,
        surprising: surprising(met, contrary),
      };
    },
    allows(call, texts) {
      const { result } = judge(call, rules);
      const more = texts.map(allowing);
      return result.behavior === "ask" && judge(call, [...rules, ...more]).result.behavior === "allow";
    },
    ideas(offers) {
      const asked = all.filter(([call]) => call!.asked !== undefined);
      const refused = asked.flatMap((calls) => calls.filter((call) => call.asked?.answer === "no").slice(0, 1));
      let open = asked
        .map((calls) => calls.filter((call) => call.asked?.answer === "yes"))
        .filter((calls) => calls.length > 0);
      let candidates = offered(open, offers);
      const kept: Rule[] = [];
      const ideas: RuleIdea[] = [];
      while (candidates.length > 0 && ideas.length < MAX_IDEAS) {
        const rated = candidates.map((texts) => {
          const more = [...kept, ...texts.map(allowing)];
          const spared = open.filter(
            ([call]) => texts.some((text) => mayConcern(text, call!)) && isAllowedBy(call!, more),
          );
          return { texts, more, spared, count: spared.reduce((sum, calls) => sum + calls.length, 0) };
        });
        // A rule for one call is not worth a line in anybody's settings.
        const worth = rated
          .filter(({ count }) => count > 1)
          .sort(
            (a, b) =>
              b.count / b.texts.length - a.count / a.texts.length || a.texts.join().length - b.texts.join().length,
          );
        const best = worth.find(({ more }) => !refused.some((call) => isAllowedBy(call, more)));
        if (!best) break;
        const examples = best.spared.toSorted((a, b) => b.length - a.length).map(([call]) => call!);
        ideas.push({ rules: best.texts, spared: best.count, examples: examples.slice(0, 3) });
        kept.push(...best.texts.map(allowing));
        open = open.filter((calls) => !best.spared.includes(calls));
        candidates = worth.filter((candidate) => candidate !== best && candidate.count > 1).map(({ texts }) => texts);
      }
      return ideas;
    },
  };
}

/** Calls that are alike are judged once. */
function grouped(past: readonly PastCall[]): { groups: Map<string, PastCall[]>; keyOf: Map<PastCall, string> } {
  const groups = new Map<string, PastCall[]>();
  const keyOf = new Map<PastCall, string>();
  for (const call of past) {
    const key = `${call.tool}\0${call.cwd}\0${canonicalJson(call.input)}`;
    keyOf.set(call, key);
    const group = groups.get(key);
    if (group) group.push(call);
    else groups.set(key, [call]);
  }
  return { groups, keyOf };
}

/** An allow rule spares questions; a deny or ask rule stops what ran. */
function mayChange({ decision, asked }: PastCall, behavior: Rule["behavior"]): boolean {
  switch (behavior) {
    case "allow":
      return decision === "asked";
    case "ask":
      return decision === "allowed";
    case "deny":
      return decision === "allowed" || asked?.answer === "yes";
    default:
      return behavior satisfies never;
  }
}

function allowing(text: string): Rule {
  return { text, behavior: "allow", source: "session" };
}

/** Sets of rules that would have allowed one of the calls, those that were offered most often first. */
function offered(open: readonly (readonly PastCall[])[], offers: (call: PastCall) => readonly (readonly string[])[]) {
  const counted = new Map<string, { texts: string[]; count: number }>();
  for (const calls of open)
    for (const texts of offers(calls[0]!)) {
      const found = counted.get(texts.join("\n"));
      if (found) found.count += calls.length;
      else counted.set(texts.join("\n"), { texts: [...texts], count: calls.length });
    }
  const often = [...counted.values()].sort((a, b) => b.count - a.count);
  return often.slice(0, MAX_CANDIDATES).map(({ texts }) => texts);
}

/** A quick look that leaves out most of what a rule is not about. Only the judge says what it allows. */
function mayConcern(rule: string, { tool, input }: PastCall): boolean {
  const [, named = rule, specifier = ""] = /^([^(]+)\(([^]*)\)$/.exec(rule) ?? [];
  if (named !== "Bash") return tool !== "Bash" || /^(Edit|Write|Read)$/.test(named);
  const { command } = input;
  if (tool !== "Bash" || typeof command !== "string") return false;
  return specifier.split(/[\s:]+/).every((word) => !/^[\w./-]+$/.test(word) || command.includes(word));
}

/** Contrary ones first, the latest first; then those that have the fewest like them. */
function surprising(calls: readonly PastCall[], contrary: (call: PastCall) => boolean): PastCall[] {
  const kinds = new Map<string, number>();
  for (const call of calls) kinds.set(pastLikeness(call), (kinds.get(pastLikeness(call)) ?? 0) + 1);
  const sorted = calls.toSorted(
    (a, b) =>
      Number(contrary(b)) - Number(contrary(a)) ||
      kinds.get(pastLikeness(a))! - kinds.get(pastLikeness(b))! ||
      b.at - a.at,
  );
  const shown = new Map<string, PastCall>();
  for (const call of sorted) {
    const key = `${call.tool}\0${canonicalJson(call.input)}`;
    if (!shown.has(key)) shown.set(key, call);
    if (shown.size === MAX_SURPRISING) break;
  }
  return [...shown.values()];
}

/** The first words of a command, without options; the folder of a file. */
function pastLikeness({ tool, input }: PastCall): string {
  const { command, file_path: path } = input;
  if (typeof command === "string") return command.split(/\s+/).slice(0, 3).join(" ");
  return `${tool} ${typeof path === "string" ? path.slice(0, path.lastIndexOf("/")) : ""}`;
}
