import type { Lang } from "./language.ts";

const en = {
  written: (path: string) => `saved to ${path}`,
  removed: (n: number) => `${n} ${n === 1 ? "secret" : "secrets"} removed`,
};

export type ExportTexts = typeof en;

const zh: ExportTexts = {
  written: (path) => `已保存到 ${path}`,
  removed: (n) => `已移除 ${n} 处机密`,
};

const tables = { en, zh } satisfies Record<Lang, ExportTexts>;

export function exportTexts(lang: Lang): ExportTexts {
  return tables[lang];
}
