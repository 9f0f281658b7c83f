/** Objections of the platform to a card of the 2.0 dialect, or nothing. Unknown properties are errors there. */
export type CardProblem = { code: number; message: string };

type Json = Record<string, unknown>;

export function checkCard(card: unknown): CardProblem | undefined {
  try {
    new Check().card(card);
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return { code: error.code, message: error.message };
    throw error;
  }
}

/** Every component of a card with its tag, depth first. */
export function* components(node: unknown): Generator<Json> {
  if (Array.isArray(node)) for (const one of node) yield* components(one);
  else if (isObject(node)) {
    if (typeof node["tag"] === "string") yield node;
    for (const value of Object.values(node)) yield* components(value);
  }
}

class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const layout = ["direction", "padding", "horizontal_spacing", "horizontal_align", "vertical_spacing", "vertical_align"];
const pressable = ["disabled", "disabled_tips", "hover_tips", "confirm", "behaviors"];
const field = ["name", "required", "placeholder", "width", "value", ...pressable];

/** Properties that each component may hold beside `tag`, `element_id` and `margin`. */
const known: Record<string, string[]> = {
  markdown: ["content", "text_align", "text_size", "icon", "i18n_content"],
  plain_text: ["content", "i18n_content", "text_size", "text_color", "text_align", "lines"],
  lark_md: ["content", "i18n_content", "text_size", "text_color", "text_align", "lines"],
  div: ["text", "icon", "fields", "width"],
  hr: [],
  img: ["img_key", "alt", "title", "corner_radius", "scale_type", "size", "transparent", "preview", "mode"],
  standard_icon: ["token", "color", "size"],
  text_tag: ["text", "color"],
  column_set: ["columns", "flex_mode", "background_style", "action", ...layout],
  column: ["elements", "width", "weight", "background_style", "action", ...layout],
  collapsible_panel: ["expanded", "header", "elements", "border", "background_color", ...layout],
  interactive_container: ["elements", "width", "height", "background_style", "has_border", ...pressable, ...layout],
  form: ["name", "elements", ...layout],
  button: ["type", "size", "width", "text", "icon", "name", "form_action_type", "required", "value", ...pressable],
  input: [
    ...["default_value", "max_length", "input_type", "show_icon", "rows", "auto_resize", "max_rows", "label"],
    ...["label_position", "fallback", ...field],
  ],
  select_static: ["options", "initial_option", "initial_index", "type", ...field],
  multi_select_static: ["options", "selected_values", "type", ...field],
  checker: [
    ...["name", "checked", "text", "overall_checkable", "button_area", "checked_style", "padding"],
    ...["value", ...pressable],
  ],
  table: ["columns", "rows", "page_size", "row_height", "row_max_height", "header_style", "freeze_first_column"],
  person: ["user_id", "size", "show_avatar", "show_name", "style"],
  person_list: ["persons", "size", "lines", "show_avatar", "show_name", "drop_invalid_user_id", "icon"],
};

const placed = new Set([
  ...["markdown", "div", "hr", "img", "column_set", "collapsible_panel", "interactive_container", "form", "button"],
  ...["input", "select_static", "multi_select_static", "checker", "table", "person", "person_list"],
]);
const interactive = new Set(["button", "input", "select_static", "multi_select_static", "checker"]);
const templates = "blue wathet turquoise green yellow orange red carmine violet purple indigo grey default".split(" ");
const tagColors = "neutral blue turquoise lime orange violet indigo wathet green yellow red purple carmine".split(" ");
const buttonTypes = "default primary danger text primary_text danger_text primary_filled danger_filled laser".split(
  " ",
);

class Check {
  #ids = new Set<string>();
  #names = new Set<string>();
  #count = 0;
  #tables = 0;

  card(card: unknown): void {
    const root = this.#object(card, "card");
    if (root["schema"] !== "2.0") throw new Refused(200621, 'schema should be "2.0"');
    this.#only(root, "card", ["schema", "config", "card_link", "header", "body"]);
    if (root["config"] !== undefined) this.#config(root["config"]);
    if (root["header"] !== undefined) this.#header(root["header"]);
    const body = this.#object(root["body"], "body");
    this.#only(body, "body", ["elements", ...layout]);
    this.#elements(body["elements"], { depth: 0, form: false, root: true });
    if (this.#count > 200) throw new Refused(11310, `element exceeds the limit: ${this.#count}`);
    if (this.#tables > 3) throw new Refused(11310, `card table number over limit: ${this.#tables}`);
    // The platform's own limit, after expansion; messages are measured as they come.
    const size = Buffer.byteLength(JSON.stringify(card));
    if (size > 30 * 1024) throw new Refused(230025, `card is ${size} bytes, the limit is 30 KB`);
  }

  #config(value: unknown): void {
    const config = this.#object(value, "config");
    const all = ["streaming_mode", "streaming_config", "summary", "locales", "enable_forward", "update_multi"];
    this.#only(config, "config", [
      ...all,
      "width_mode",
      "use_custom_translation",
      "enable_forward_interaction",
      "style",
    ]);
    if (config["update_multi"] === false) throw new Refused(300302, "update_multi should be true");
    if (config["summary"] !== undefined) {
      const summary = this.#object(config["summary"], "summary");
      this.#only(summary, "summary", ["content", "i18n_content"]);
      this.#string(summary["content"], "summary.content");
    }
    if (config["streaming_config"] !== undefined)
      this.#only(this.#object(config["streaming_config"], "streaming_config"), "streaming_config", [
        "print_frequency_ms",
        "print_step",
        "print_strategy",
      ]);
  }

  #header(value: unknown): void {
    const header = this.#object(value, "header");
    const all = ["title", "subtitle", "text_tag_list", "i18n_text_tag_list", "template", "icon", "padding"];
    this.#only(header, "header", all);
    this.#text(header["title"], "header.title");
    if (header["subtitle"] !== undefined) this.#text(header["subtitle"], "header.subtitle");
    this.#one(header["template"], "header.template", templates);
    for (const tag of this.#array(header["text_tag_list"] ?? [], "text_tag_list")) {
      const one = this.#object(tag, "text_tag");
      this.#only(one, "text_tag", ["tag", "element_id", "text", "color"]);
      this.#text(one["text"], "text_tag.text");
      this.#one(one["color"], "text_tag.color", tagColors);
    }
    if (this.#array(header["text_tag_list"] ?? [], "text_tag_list").length > 3)
      throw new Refused(200621, "at most 3 text tags");
  }

  #elements(value: unknown, at: { depth: number; form: boolean; root?: boolean }): void {
    if (at.depth > 5) throw new Refused(200621, "containers are nested more than 5 deep");
    for (const element of this.#array(value, "elements")) this.#element(this.#object(element, "element"), at);
  }

  #element(element: Json, at: { depth: number; form: boolean; root?: boolean }): void {
    const tag = element["tag"];
    if (tag === "action" || tag === "note") throw new Refused(200861, `unsupported tag ${tag} of schema V2`);
    if (typeof tag !== "string" || !placed.has(tag)) throw new Refused(200861, `unsupported tag ${String(tag)}`);
    this.#count++;
    this.#only(element, tag, ["tag", "element_id", "margin", ...(known[tag] ?? [])]);
    this.#id(element["element_id"]);
    if (element["name"] !== undefined) {
      const name = this.#string(element["name"], `${tag}.name`);
      if (name === "") throw new Refused(200530, "name is empty");
      if (this.#names.has(name)) throw new Refused(200621, `name "${name}" is there twice`);
      this.#names.add(name);
    } else if (at.form && interactive.has(tag)) throw new Refused(200530, `a ${tag} inside of a form needs a name`);
    if (tag === "button" && !at.form && (element["name"] ?? element["form_action_type"]) !== undefined)
      throw new Refused(200621, "name and form_action_type belong to buttons inside of a form");
    this.#actions(element, tag);
    const inside = { depth: at.depth + 1, form: at.form };
    switch (tag) {
      case "markdown":
        this.#markdown(this.#string(element["content"], "markdown.content"));
        return;
      case "div":
        if (element["text"] !== undefined) this.#text(element["text"], "div.text");
        return;
      case "table":
        if (at.form) throw new Refused(200621, "a table inside of a form");
        this.#tables++;
        return;
      case "column_set":
        for (const column of this.#array(element["columns"], "columns")) {
          const one = this.#object(column, "column");
          if (one["tag"] !== "column") throw new Refused(200861, "a column_set holds columns");
          this.#count++;
          this.#only(one, "column", ["tag", "element_id", "margin", ...(known["column"] ?? [])]);
          this.#id(one["element_id"]);
          this.#elements(one["elements"], inside);
        }
        return;
      case "collapsible_panel": {
        const header = this.#object(element["header"], "collapsible_panel.header");
        const all = ["title", "background_color", "vertical_align", "padding", "position", "width", "icon"];
        this.#only(header, "collapsible_panel.header", [...all, "icon_position", "icon_expanded_angle"]);
        this.#text(header["title"], "collapsible_panel.title");
        this.#elements(element["elements"], inside);
        return;
      }
      case "interactive_container":
        this.#elements(element["elements"], inside);
        return;
      case "form": {
        if (!at.root) throw new Refused(200621, "a form stands at the root of the card");
        this.#string(element["name"], "form.name");
        this.#elements(element["elements"], { depth: 1, form: true });
        const submits = [...components(element["elements"])].filter((one) => one["form_action_type"] === "submit");
        if (submits.length === 0) throw new Refused(200621, "a form needs a button that submits it");
        return;
      }
      case "button":
        this.#short(this.#text(element["text"], "button.text"), "button.text");
        this.#one(element["type"], "button.type", buttonTypes);
        this.#one(element["size"], "button.size", ["tiny", "small", "medium", "large"]);
        this.#one(element["form_action_type"], "button.form_action_type", ["submit", "reset"]);
        return;
      case "input": {
        const longest = element["max_length"] ?? 1000;
        if (typeof longest !== "number" || longest < 1 || longest > 1000)
          throw new Refused(200621, "max_length should be 1 to 1000");
        if (element["placeholder"] !== undefined)
          this.#short(this.#text(element["placeholder"], "placeholder"), "placeholder");
        return;
      }
      case "select_static":
      case "multi_select_static": {
        if (tag === "multi_select_static" && !at.form) throw new Refused(200621, `${tag} stands only inside of a form`);
        if (element["placeholder"] !== undefined)
          this.#short(this.#text(element["placeholder"], "placeholder"), "placeholder");
        const values = this.#array(element["options"], "options").map((option) => {
          const one = this.#object(option, "option");
          this.#only(one, "option", ["text", "value", "icon"]);
          this.#text(one["text"], "option.text");
          return this.#string(one["value"], "option.value");
        });
        if (values.length === 0) throw new Refused(200621, `${tag} has no options`);
        if (new Set(values).size < values.length) throw new Refused(200621, "two options have the same value");
        return;
      }
      case "checker":
        if (element["text"] !== undefined) this.#text(element["text"], "checker.text");
    }
  }

  #actions(element: Json, tag: string): void {
    for (const behavior of this.#array(element["behaviors"] ?? [], "behaviors")) {
      const one = this.#object(behavior, "behavior");
      if (one["type"] === "callback") {
        this.#only(one, "behavior", ["type", "value"]);
        if (!isObject(one["value"])) throw new Refused(200621, `the value of a ${tag} should be an object`);
      } else if (one["type"] === "open_url") {
        this.#only(one, "behavior", ["type", "default_url", "pc_url", "ios_url", "android_url"]);
        if (!/^https?:\/\//.test(this.#string(one["default_url"], "default_url")))
          throw new Refused(200621, "a link should be http or https");
      } else throw new Refused(200621, `unknown behavior ${String(one["type"])}`);
    }
    if (element["confirm"] !== undefined) {
      // The platform takes it, and opens nothing.
      if (element["form_action_type"] !== "submit") throw new Refused(200621, "only a button that submits asks again");
      const confirm = this.#object(element["confirm"], "confirm");
      this.#only(confirm, "confirm", ["title", "text"]);
      this.#text(confirm["title"], "confirm.title");
      this.#text(confirm["text"], "confirm.text");
    }
  }

  #markdown(content: string): void {
    this.#tables += content
      .replace(/^```[^]*?^```/gm, "") // in code it is none
      .split("\n")
      .filter((line) => /^\s*\|?(\s*:?-{3,}:?\s*\|)+\s*(:?-{3,}:?)?\s*$/.test(line)).length;
  }

  #id(id: unknown): void {
    if (id === undefined) return;
    if (typeof id !== "string" || !/^[A-Za-z][A-Za-z0-9_]{0,19}$/.test(id))
      throw new Refused(300301, `element_id ${JSON.stringify(id)} is not a name`);
    if (this.#ids.has(id)) throw new Refused(300301, `element_id "${id}" is there twice`);
    this.#ids.add(id);
  }

  #text(value: unknown, where: string): string {
    const text = this.#object(value, where);
    if (text["tag"] !== "plain_text" && text["tag"] !== "lark_md")
      throw new Refused(200621, `${where} should be a text`);
    this.#only(text, where, ["tag", "element_id", ...(known["plain_text"] ?? [])]);
    return this.#string(text["content"], where);
  }

  #short(text: string, where: string): void {
    if ([...text].length > 100) throw new Refused(200621, `${where} is longer than 100 characters`);
  }

  #only(value: Json, where: string, keys: string[]): void {
    const strange = Object.keys(value).filter((key) => !keys.includes(key));
    if (strange.length > 0) throw new Refused(200621, `unknown property ${strange.join(", ")} of ${where}`);
  }

  #one(value: unknown, where: string, list: string[]): void {
    if (value !== undefined && !list.some((one) => one === value))
      throw new Refused(200621, `${where} is ${JSON.stringify(value)}`);
  }

  #object(value: unknown, where: string): Json {
    if (!isObject(value)) throw new Refused(200621, `${where} should be an object`);
    return value;
  }

  #array(value: unknown, where: string): unknown[] {
    if (!Array.isArray(value)) throw new Refused(200621, `${where} should be a list`);
    return value;
  }

  #string(value: unknown, where: string): string {
    if (typeof value !== "string") throw new Refused(200621, `${where} should be a text`);
    return value;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
