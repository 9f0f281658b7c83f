import type { Installation } from "../../../config/home/home.ts";
import { searchEngine, type SearchSettings } from "../../../host/assembly/search-engine.ts";
import { chooseModel } from "../../../models/choice/choose.ts";
import { offeredModels, type Offer } from "../../../models/choice/offered.ts";
import { classify } from "../../../models/failure.ts";
import { oneLine } from "../../../base/visible.ts";
import { reasonOf, SageError } from "../../../protocol/reasons/reason.ts";
import type { Lang } from "../../../texts/language.ts";
import { modelsTexts } from "../../../texts/setup/models.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { modelOf } from "../../../host/assembly/model-choice.ts";

/** Asks every provider that is set up for its models: that shows whether its address and its key are right. */
export async function checkProviders(
  { settings, env }: Pick<Installation, "settings" | "env">,
  { ok, bad, note }: { ok(text: string): void; bad(text: string): void; note(text: string): void },
  lang: Lang,
): Promise<void> {
  const t = modelsTexts(lang);
  const own = settings as SearchSettings;
  const used = modelOf({ settings, env });
  const offers: Offer[] = [];
  await offeredModels({ env, settings: own }, (offer) => offers.push(offer));
  for (const offer of offers.toSorted((left, right) => (left.provider < right.provider ? -1 : 1))) {
    const { provider } = offer;
    const name = own.providers?.[provider]?.package;
    if (name !== undefined) {
      // Loading the model shows whether the package is there; nothing is sent.
      const problem = await chooseModel({ spec: `${provider}/x`, env, settings: { providers: own.providers ?? {} } })
        ?.load()
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      if (problem instanceof SageError) bad(oneLine(t.fails(provider, sentence(reasonOf(problem), lang))));
      else ok(t.package(provider, name));
    } else if ("models" in offer) {
      const { models } = offer;
      ok(t.provider(provider, models.length));
      const isListed = models.length === 0 || used?.provider !== provider || models.includes(used.modelId);
      if (!isListed) note(t.unlisted(provider, used.modelId)); // it may know the name as another one for a model in the list
    } else {
      const { problem } = classify(offer.problem);
      const kind = problem.code === "request-failed" ? problem.args.kind : undefined;
      // A key that is refused is for the person to mend; a network that is away says nothing about the settings.
      const isWrong = kind === "key-refused" || kind === "access-refused" || kind === "proxy-refused";
      (isWrong ? bad : note)(oneLine(t.fails(provider, sentence(problem, lang))));
    }
  }
  const search = searchEngine(own, env);
  if (search && "problem" in search) bad(oneLine(sentence(search.problem, lang)));
  else if (search) ok(t.search(search.name));
}
