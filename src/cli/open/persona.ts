import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { persona } from "../../sdk/persona.ts";
import type { Model } from "../../models/model.ts";
import type { ExecutionMode } from "../../protocol/host/options.ts";
import type { Lang } from "../../texts/language.ts";
import { recordingTexts } from "../../texts/commands/recording.ts";
import { usage } from "../process/flags.ts";
import { unreadable } from "../record/recording.ts";

/** A persona stands in for the person. Its name is that of the file, and the file describes it. */
export function personaMode(path: string, model: () => Promise<Model>, lang: Lang): ExecutionMode {
  let description: string;
  try {
    description = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw unreadable("--persona", path, error, lang);
  }
  if (description === "") throw usage(recordingTexts(lang).emptyPersona(path));
  const name = basename(path, extname(path));
  return { type: "nonInteractive", autoResponse: persona({ name, description, model }) };
}
