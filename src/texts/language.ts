/** Languages that Sage speaks. */
export type Lang = "en" | "zh";

/** SAGE_LANG, else what the locale says. */
export function languageOf(env: Readonly<Record<string, string | undefined>>): Lang {
  const locale = env["SAGE_LANG"] || env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"] || "";
  return /^zh/i.test(locale) ? "zh" : "en";
}

/** Gives a table of texts in the language that is asked for. */
export function inBoth<T>(en: T, zh: T): (lang: Lang) => T {
  return (lang) => (lang === "zh" ? zh : en);
}
