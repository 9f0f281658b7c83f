import type { Lang } from "./language.ts";

const en = {
  written: (path: string) => `written to ${path}`,
  removed: (n: number) => `${n} ${n === 1 ? "secret was" : "secrets were"} left out`,
};

export type ExportTexts = typeof en;

const zh: ExportTexts = {
  written: (path) => `已写入 ${path}`,
  removed: (n) => `略去了 ${n} 处机密`,
};

const tables = { en, zh } satisfies Record<Lang, ExportTexts>;

export function exportTexts(lang: Lang): ExportTexts {
  return tables[lang];
}
