import type { SessionRow, Store } from "../../journal/store/store.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { said } from "../../protocol/reasons/reason.ts";
import { readInstallation } from "../../config/home/installation.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { guestChoice, absoluteModelSpec, modelOf, modelOfSession } from "../assemble/model-choice.ts";
import { chooseModel, openSage, type Sage } from "../assemble/open-sage.ts";

/** A Sage that continues a session until a person is needed. The caller closes its host. */
export async function openToResume(
  store: Store,
  { id, cwd }: SessionRow,
  { model, lang }: { model: string | undefined; lang: Lang },
): Promise<Sage> {
  const installation = readInstallation(process.env);
  const guest = store.opened(id)?.agent;
  const choice =
    guest === undefined
      ? modelOf(installation, absoluteModelSpec(model) ?? modelOfSession(store, id))
      : guestChoice(guest);
  if (!choice) throw new SageError("config-invalid", said(cliTexts(lang).noModel));
  const options = { mode: { type: "batch" } } as const;
  const sage = await openSage({ installation, choice, store, cwd, lang, permissionMode: "default", options });
  await chooseModel(sage, id, model);
  return sage;
}
