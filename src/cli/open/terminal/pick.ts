import { ask } from "../../../protocol/host/refusal.ts";
import { oneLine } from "../../../base/visible.ts";
import type { RuleInForce } from "../../../protocol/host/about.ts";
import type { RuleDestination } from "../../../protocol/decision.ts";
import type { Rule } from "../../../protocol/facts/permission.ts";
import type { Picked, Picking } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { errorText } from "../../../texts/shared/error.ts";
import { pickerTexts } from "../../../texts/surfaces/picker.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { type HostClient, senderAt } from "../../host/host-client.ts";
import { readRule } from "../../../permission/rules/rules.ts";
import type { FactData } from "../../../protocol/facts/fact.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";

/** `/model`: what each provider offers, as the answers come in. */
export function pickModel(seat: HostClient, session: string, lang: Lang): Picking {
  const { host } = seat;
  const w = pickerTexts(lang);
  const t = texts(lang);
  return {
    title: w.models,
    async load(show) {
      const { model: current } = await seat.look(session);
      const names = new Set([current]);
      const problems: string[] = [];
      const list = (loading: boolean) => {
        const entries = [...names].map((name) => ({
          value: name,
          label: name,
          ...(name === current && { detail: w.current }),
        }));
        show({ entries, loading, note: problems.join(" · ") });
      };
      list(true);
      const { providers } = await ask(host, { type: "models" });
      await Promise.all(
        providers.map(async (provider) => {
          const offer = await host.send({ type: "models", provider });
          if (offer.ok) for (const name of offer.models ?? []) names.add(`${provider}/${name}`);
          else problems.push(w.modelsFailed(provider, oneLine(errorText(offer, t))));
          list(true);
        }),
      );
      list(false);
    },
    async choose({ value }) {
      await ask(host, { type: "choose", session, model: value, ...senderAt(seat, "tui") }); // a fact, which every surface shows
    },
  };
}

type Place = { rule: string; behavior: Rule["behavior"]; source: RuleDestination };

/** `/permissions`: every rule that applies here, each to be edited or removed, and a new one to be added. */
export function pickRule(seat: HostClient, session: string, lang: Lang): Picking {
  const w = pickerTexts(lang);
  const t = texts(lang);
  const { host } = seat;
  const sender = senderAt(seat, "tui");
  let found: readonly RuleInForce[] = [];
  return {
    title: w.rules,
    async load(show) {
      found = (await ask(host, { type: "about", session })).session?.rules ?? [];
      show({
        entries: [
          { value: "", label: `＋ ${w.addRule}` },
          ...found.map(({ rule, behavior, source }, n) => ({
            value: `${n}`,
            label: `${w.behaviors[behavior]}  ${rule}`,
            detail: t.destination[source],
          })),
        ],
      });
    },
    async choose({ value }) {
      const chosen = value === "" ? undefined : found[Number(value)];
      if (!chosen) return { pick: newRule() };
      const { source } = chosen;
      // The policy of the machine is changed by whoever runs the machine.
      return { pick: source === "managed" ? pickRule(seat, session, lang) : changeRule({ ...chosen, source }) };
    },
  };

  function changeRule(place: Place): Picking {
    return {
      title: w.oneRule(place.rule),
      load: (show) =>
        show({
          entries: [
            { value: "edit", label: w.editRule },
            { value: "drop", label: w.dropRule },
          ],
        }),
      async choose({ value }): Promise<Picked> {
        if (value === "drop") return removed(place);
        const { title } = changeRule(place);
        return { pick: { title, query: place.rule, typed: (text) => edited(place, text) } };
      },
    };
  }

  function newRule(): Picking {
    const kinds = ["allow", "ask", "deny"] as const;
    return {
      title: w.howRule,
      load: (show) =>
        show({
          entries: kinds.map((kind) => ({ value: kind, label: w.behaviors[kind], detail: w.behaviorHints[kind] })),
        }),
      async choose({ value }) {
        const behavior = value as Rule["behavior"];
        const typed = async (rule: string): Promise<Picked> => {
          checkRule(rule, behavior);
          return { pick: pickPlace({ rule, behavior }) };
        };
        return { pick: { title: `${w.behaviors[behavior]}:`, placeholder: w.ruleText, typed } };
      },
    };
  }

  function pickPlace(rule: Omit<Place, "source">): Picking {
    const places = ["session", "local", "project", "user"] as const;
    return {
      title: w.whereRule(rule.rule),
      load: (show) => show({ entries: places.map((place) => ({ value: place, label: t.destination[place] })) }),
      choose: ({ value }) => added({ ...rule, source: value as RuleDestination }),
    };
  }

  async function added({ rule, behavior, source }: Place): Promise<Picked> {
    await ask(host, { type: "addRule", session, rule, behavior, destination: source, ...sender });
    if (source === "session") return undefined; // a fact, which every surface shows
    return { text: w.ruleSaved(rule, t.destination[source]) };
  }

  async function removed({ rule, behavior, source }: Place): Promise<Picked> {
    await ask(host, { type: "removeRule", session, rule, behavior, destination: source, ...sender });
    if (source === "session") return undefined;
    return { text: w.ruleRemoved(rule, t.destination[source]) };
  }

  /** The new rule is there before the old one goes. */
  async function edited(place: Place, rule: string): Promise<Picked> {
    if (rule === place.rule) return undefined;
    const result = await added({ ...place, rule });
    await removed(place);
    return result;
  }
}

function checkRule(rule: string, behavior: FactData["rule.added"]["behavior"]): void {
  const reading = readRule(rule, behavior);
  if (!reading.ok) throw new SageError("config-invalid", reason("rule-not-read", { rule, problem: reading.problem }));
}
