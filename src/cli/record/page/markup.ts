/** Markup, as opposed to text: only `markup` makes it, and it escapes every text it is given. */
export type Markup = { readonly markup: string };

type Value = string | Markup | readonly Markup[];

/** A template for a page. Text becomes text; markup, or a list of it, goes in as it is. */
export function markup(parts: TemplateStringsArray, ...values: Value[]): Markup {
  return { markup: parts.reduce((text, part, n) => `${text}${spelled(values[n - 1] ?? "")}${part}`) };
}

/** For a constant of our own that is no text, such as a style sheet. */
export function verbatim(text: string): Markup {
  return { markup: text };
}

function spelled(value: Value): string {
  if (typeof value === "string") return value.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
  return "markup" in value ? value.markup : value.map((one) => one.markup).join("\n");
}
