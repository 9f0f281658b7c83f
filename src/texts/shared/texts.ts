import { en } from "./en.ts";
import type { Lang } from "../language.ts";
import { zh } from "./zh.ts";

/** Texts of every surface. */
export type Texts = typeof en;

const tables = { en, zh } satisfies Record<Lang, Texts>;

export function texts(lang: Lang): Texts {
  return tables[lang];
}
