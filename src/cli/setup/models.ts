import { readInstallation } from "../../config/home/home.ts";
import { type AboutModel, type Offer, aboutModel, offeredModels } from "../../models/choice/offered.ts";
import type { ModelSettings } from "../../models/choice/choose.ts";
import { classify } from "../../models/failure.ts";
import { oneLine } from "../../base/visible.ts";
import { modelsTexts, type ModelsTexts } from "../../texts/setup/models.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { printJson, exitCodes } from "../process/stdout.ts";
import { readFlags } from "../process/flags.ts";
import { modelOf, modelName } from "../../host/assembly/model-choice.ts";
import { tableLines } from "../../view/lines/table.ts";

type Row = AboutModel & { model: string; used: boolean };

/** Lists the models of every provider that is set up, with what is known of each. Words narrow the list down. */
export async function models(args: string[]): Promise<number> {
  const { positionals, values, lang, t } = readFlags(args, { json: { type: "boolean", default: false } });
  const own = modelsTexts(lang);
  const installation = readInstallation(process.env);
  const { env } = installation;
  const settings = installation.settings as ModelSettings;
  const choice = modelOf(installation);
  const offers: Offer[] = [];
  await offeredModels({ env, settings }, (offer) => offers.push(offer));
  const names = new Set(
    offers.flatMap((offer) => ("models" in offer ? offer.models.map((model) => `${offer.provider}/${model}`) : [])),
  );
  if (choice && choice.provider !== "scripted") names.add(modelName(choice));
  const rows = [...names]
    .filter((name) => positionals.every((word) => name.toLowerCase().includes(word.toLowerCase())))
    .map((model): Row => ({
      model,
      ...aboutModel(model, settings),
      used: choice !== undefined && model === modelName(choice),
    }));
  const failed = offers.flatMap((offer) => ("problem" in offer ? [offer] : []));
  for (const { provider, problem } of failed)
    console.error(`sage: ${oneLine(own.fails(provider, sentence(classify(problem).problem, lang)))}`);
  const isNothing = offers.length === 0 && !choice;
  if (values.json) printJson(rows);
  else if (isNothing) console.error(`sage: ${t.noModel}`);
  else console.log((rows.length === 0 ? [own.none] : [...lines(rows, own), "", own.legend, own.howToPrice]).join("\n"));
  return isNothing || (failed.length > 0 && rows.length === 0) ? exitCodes.failure : exitCodes.success;
}

function lines(rows: readonly Row[], t: ModelsTexts): string[] {
  const cells = rows.map(({ model, contextTokens, price, images, files, used }) => [
    model,
    contextTokens === undefined ? t.unknown : `${Math.round(contextTokens / 1000)}k`,
    price === undefined ? t.unknown : t.price(price.input, price.output),
    `${[...(images ? [t.images] : []), ...(files ? [t.files] : [])].join(t.and)}${used ? t.used : ""}`.trim(),
  ]);
  return tableLines(cells);
}
