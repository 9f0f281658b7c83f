import { loadConfig } from "../../../config/config.ts";
import { oneLine, reasonOf, sessionRules, type Rule, type RuleDestination } from "../../../protocol/index.ts";
import type { Picked, Picking } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { pickerTexts } from "../../../texts/picker.ts";
import { texts } from "../../../texts/texts.ts";
import { checkApprover, person } from "../../account.ts";
import { rulesIn } from "../../rules-in.ts";
import { checkRule, give, takeBack } from "../../session-rules.ts";
import type { Sage } from "../../wiring.ts";

/** `/model`: what each provider offers, as the answers come in. */
export function pickModel(sage: Sage, session: string, lang: Lang): Picking {
  const w = pickerTexts(lang);
  const t = texts(lang);
  return {
    title: w.models,
    async load(show) {
      const current = sage.modelOf(session);
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
      await sage.offered((offer) => {
        if ("models" in offer) for (const name of offer.models) names.add(`${offer.provider}/${name}`);
        else problems.push(w.modelsFailed(offer.provider, oneLine(t.because(reasonOf(offer.problem)))));
        list(true);
      });
      list(false);
    },
    async choose({ value }) {
      await sage.chooseModel(session, value, { by: person(), surface: "tui" }); // a fact, which every surface shows
    },
  };
}

type Place = { rule: string; behavior: Rule["behavior"]; source: RuleDestination };

/** `/permissions`: every rule that applies here, each to be edited or removed, and a new one to be added. */
export function pickRule(sage: Sage, session: string, lang: Lang): Picking {
  const w = pickerTexts(lang);
  const t = texts(lang);
  const rules = (): Place[] => [
    ...sessionRules(sage.store.load(session)).map(({ text, ...one }) => ({ rule: text, ...one })),
    ...rulesIn(loadConfig(sage.home, sage.cwd, process.env), sage.home.settings).filter(({ counts }) => counts),
  ];
  const found = rules();
  return {
    title: w.rules,
    load: (show) =>
      show({
        entries: [
          { value: "", label: `＋ ${w.addRule}` },
          ...found.map(({ rule, behavior, source }, n) => ({
            value: `${n}`,
            label: `${w.behaviors[behavior]}  ${rule}`,
            detail: t.destination[source],
          })),
        ],
      }),
    async choose({ value }) {
      const one = value === "" ? undefined : found[Number(value)];
      return { pick: one ? changeRule(one) : newRule() };
    },
  };

  function changeRule(one: Place): Picking {
    return {
      title: w.oneRule(one.rule),
      load: (show) =>
        show({
          entries: [
            { value: "edit", label: w.editRule },
            { value: "drop", label: w.dropRule },
          ],
        }),
      async choose({ value }): Promise<Picked> {
        if (value === "drop") return removed(one);
        const { title } = changeRule(one);
        return { pick: { title, query: one.rule, typed: (text) => edited(one, text) } };
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
          return { pick: placeOf({ rule, behavior }) };
        };
        return { pick: { title: `${w.behaviors[behavior]}:`, placeholder: w.ruleText, typed } };
      },
    };
  }

  function placeOf(rule: Omit<Place, "source">): Picking {
    const places = ["session", "local", "project", "user"] as const;
    return {
      title: w.whereRule(rule.rule),
      load: (show) => show({ entries: places.map((place) => ({ value: place, label: t.destination[place] })) }),
      choose: ({ value }) => added({ ...rule, source: value as RuleDestination }),
    };
  }

  async function added(one: Place): Promise<Picked> {
    checkApprover();
    const { rule, behavior, source } = one;
    if (source === "session") return give(sage.store, session, one, person()); // a fact, which every surface shows
    sage.config.saveRule({ rule, behavior, destination: source });
    return { text: w.ruleSaved(rule, t.destination[source]) };
  }

  async function removed(one: Place): Promise<Picked> {
    const { rule, source } = one;
    checkApprover();
    if (source === "session") return takeBack(sage.store, session, one, { by: person(), surface: "tui" });
    sage.config.dropRule(rule, source);
    return { text: w.ruleRemoved(rule, t.destination[source]) };
  }

  /** The new rule is there before the old one goes. */
  async function edited(one: Place, rule: string): Promise<Picked> {
    if (rule === one.rule) return undefined;
    const result = await added({ ...one, rule });
    await removed(one);
    return result;
  }
}
