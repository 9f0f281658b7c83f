import { oneLine } from "../../../base/visible.ts";

/** A card of the dialect 2.0. A property it does not know makes the platform refuse it, so everything is built here. */
export type Card = {
  schema: "2.0";
  config: Record<string, unknown>;
  header: Record<string, unknown>;
  body: { vertical_spacing: string; elements: Element[] };
};

export type Element = { tag: string; [field: string]: unknown };

export type Template = "blue" | "wathet" | "green" | "orange" | "red" | "grey";

/** Value of a button: a kind, a random id that only this bridge can look up, what is to be done, and which card it was. */
type CardValue = { k: "perm" | "ask" | "run"; rid: string; act: string; g: number };

/** The platform refuses 30 KB of its own counting; this much of ours is safe. */
export const MAX_CARD_BYTES = 24 * 1024;
const MAX_ELEMENTS = 180;
const MAX_LABEL_LENGTH = 100;

type Heading = {
  title: string;
  subtitle?: string;
  template: Template;
  /** Summary for the list of chats. */
  summary: string;
  forward?: boolean;
};

export function card(heading: Heading, elements: Element[], config: Record<string, unknown> = {}): Card {
  const { title, subtitle, template, summary, forward = false } = heading;
  return {
    schema: "2.0",
    config: {
      update_multi: true,
      enable_forward: forward,
      summary: { content: short(oneLine(summary.replace(/\s+/g, " "))) },
      ...config,
    },
    header: {
      title: plain(title),
      ...(subtitle !== undefined && { subtitle: plain(subtitle) }),
      template,
    },
    body: { vertical_spacing: "8px", elements },
  };
}

/** Shown as it is, on one line; nothing in it is obeyed. */
const plain = (content: string) => ({ tag: "plain_text", content: short(oneLine(content)) });

/** `content` is Markdown that is safe already: see escape.ts. */
export const markdown = (content: string, id?: string): Element => ({
  tag: "markdown",
  ...(id !== undefined && { element_id: id }),
  content,
});

export const note = (content: string): Element => ({ tag: "markdown", text_size: "notation", content });

export const line = (): Element => ({ tag: "hr" });

export function panel(
  title: string,
  elements: Element[],
  { expanded = false, id }: { expanded?: boolean; id?: string } = {},
): Element {
  return {
    tag: "collapsible_panel",
    ...(id !== undefined && { element_id: id }),
    expanded,
    header: { title: plain(title) },
    border: { color: "grey", corner_radius: "5px" },
    elements,
  };
}

type Button = { id: string; text: string; value: CardValue; type?: string };

export function button({ id, text, value, type = "default" }: Button): Element {
  return {
    tag: "button",
    element_id: id,
    type,
    text: plain(short(text, MAX_LABEL_LENGTH)),
    behaviors: [{ type: "callback", value }],
  };
}

export function link(text: string, url: string): Element {
  return {
    tag: "button",
    type: "primary_text",
    text: plain(short(text, MAX_LABEL_LENGTH)),
    behaviors: [{ type: "open_url", default_url: url }],
  };
}

/** `confirm`: the client asks again, and does so for buttons of a form alone. A courtesy, never the safety check. */
type Submit = Button & { confirm?: { title: string; text: string } };

function submit({ id, confirm, ...rest }: Submit): Element {
  const { element_id: _id, ...made } = button({ id, ...rest });
  return {
    ...made,
    name: id,
    form_action_type: "submit",
    ...(confirm && { confirm: { title: plain(confirm.title), text: plain(confirm.text) } }),
  };
}

/** Side by side; they wrap on a phone. */
export function row(buttons: Element[]): Element {
  return {
    tag: "column_set",
    flex_mode: "flow",
    horizontal_spacing: "8px",
    columns: buttons.map((button) => ({ tag: "column", width: "auto", elements: [button] })),
  };
}

/** Nothing in it fires before one of its buttons is pressed, which all send the whole form. */
export function form(name: string, elements: Element[], submits: readonly Submit[]): Element {
  return { tag: "form", name, vertical_spacing: "8px", elements: [...elements, row(submits.map(submit))] };
}

export function input(
  name: string,
  placeholder: string,
  { required = false, longest = 1000 }: { required?: boolean; longest?: number } = {},
): Element {
  return {
    tag: "input",
    name,
    ...(required && { required: true }),
    width: "fill",
    max_length: longest,
    placeholder: plain(short(placeholder, MAX_LABEL_LENGTH)),
  };
}

/** The values are places in the list: labels may be long, and may repeat those of another question. */
export function select(
  name: string,
  options: readonly { text: string; value: string }[],
  { several, placeholder }: { several: boolean; placeholder: string },
): Element {
  return {
    tag: several ? "multi_select_static" : "select_static",
    name,
    width: "fill",
    placeholder: plain(placeholder),
    options: options.map(({ text, value }) => ({ text: plain(short(text, MAX_LABEL_LENGTH)), value })),
  };
}

export function bytesOf(value: object): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** The platform counts everything that has a tag. */
function elementsOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + elementsOf(item), 0);
  if (value === null || typeof value !== "object") return 0;
  const inside = Object.values(value).reduce<number>((sum, item) => sum + elementsOf(item), 0);
  return inside + ("tag" in value ? 1 : 0);
}

export function fits(card: object): boolean {
  return bytesOf(card) <= MAX_CARD_BYTES && elementsOf(card) <= MAX_ELEMENTS;
}

/** Cuts between code points, with a sign that there was more. */
export function short(text: string, longest = 200): string {
  const characters = [...text];
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join("")}…`;
}
